#!/usr/bin/env bash
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# tools/collection_copy.sh DIRECTORY [shipped]: copies the files of the checkout, uncommitted ones too and git-ignored ones not, to
# DIRECTORY/ansible_collections/nodebootstrap/eks, a git repository of its own, and prints that path.
# "shipped" leaves out what build_ignore in galaxy.yml lists, so the copy has the files of the artifact.
# ansible-test resolves symbolic links, so it must be run in a tree that really stands at such a path.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=$1/ansible_collections/nodebootstrap/eks
rm -rf "$target"
mkdir -p "$target"
wanted=(.)
if [ "${2:-}" = shipped ]; then
  while IFS= read -r pattern; do wanted+=(":(exclude)$pattern"); done < <(sed -n '/^build_ignore:/,/^[a-z]/s/^  - "\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' galaxy.yml)
fi
git ls-files -z --cached --others --exclude-standard -- "${wanted[@]}" | while IFS= read -r -d '' file; do
  # A file deleted but not yet committed is still listed.
  if [ -e "$file" ]; then printf '%s\0' "$file"; fi
done | tar --null --files-from=- --create --file=- | tar --extract --file=- --directory="$target"
# Not shipped, but git and ansible-test must not see what tests write to the copy.
cp .gitignore "$target/"
git -C "$target" -c init.defaultBranch=main init --quiet
git -C "$target" add --all
git -C "$target" -c user.name=check -c user.email=check@localhost -c commit.gpgSign=false commit --quiet --no-verify --message=copy
(cd "$target" && pwd)
