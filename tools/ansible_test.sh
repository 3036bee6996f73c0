#!/usr/bin/env bash
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# tools/ansible_test.sh sanity|sanity-all-files|units CORE [WORD...]: runs ansible-test, with WORDs as further arguments, on one release of
# ansible-core that tools/pythons.sh lists, from .cache/venv-core-CORE, on a copy of the checkout. "sanity" checks the files of the artifact on
# one Python, by default that of the environment. Exits with 77 where this machine has no Python for it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/pythons.sh
. tools/pythons.sh
what=$1
core=$2
shift 2
venv=$PWD/.cache/venv-core-$core
home=$PWD/.cache/home-$core

pythons=$(cores | sed -n "s/^$core //p")
[ -n "$pythons" ] || { printf 'tools/pythons.sh lists no ansible-core %s\n' "$core" >&2; exit 2; }
if [ ! -f "$venv/.made-from" ]; then
  # shellcheck disable=SC2086 # a list of versions: one word each
  if first_python $pythons >/dev/null; then
    printf '%s is missing: make setup\n' "${venv#"$PWD"/}" >&2
    exit 1
  fi
  printf 'NOT RUN: ansible-core %s needs one of Python %s, and this machine has none of them\n' "$core" "$pythons"
  exit 77
fi

# ansible-test keeps caches and virtual environments under HOME. It gets one of its own, with the user's pip settings.
mkdir -p "$home/.ansible/test/cache" "$home/.config"
for file in .config/pip .pip; do
  if [ -e "$HOME/$file" ] && [ ! -e "$home/$file" ]; then ln -s "$HOME/$file" "$home/$file"; fi
done
# The versions of get-pip that ansible-core 2.16 to 2.21 ask for; another one shows as a failed download that names it.
for version in 20_3_4 21_3_1 23_1_2 24_2 25_2; do
  cp tools/get_pip.py "$home/.ansible/test/cache/get_pip_$version.py"
done
# One ansible-test at a time there: two would make the same virtual environments.
exec 9>"$home/lock"
flock 9

files=
[ "$what" != sanity ] || files=shipped
copy=$(tools/collection_copy.sh ".cache/$what-$core" $files)
arguments=(--venv --color no)
version=$("$venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
case $what in
  sanity) [[ " $* " == *" --python "* ]] || arguments+=(--python "$version") ;;
  sanity-all-files) ;; # no --python: the compile and import tests run on every Python that is here
  units) arguments+=(--requirements --python "$version" --num-workers 1) ;;
esac
# Before HOME changes: pyenv may be there.
path="$venv/bin:$(python_path)"
cd "$copy"
# Without what pip says while it makes ansible-test's environments.
env -u ANSIBLE_COLLECTIONS_PATH HOME="$home" PYENV_ROOT="${PYENV_ROOT:-}" PATH="$path" \
  "$venv/bin/ansible-test" "${what%-all-files}" "${arguments[@]}" "$@" 2>&1 |
  { grep --line-buffered -vE '^(Collecting|Installing|Looking|Processing|Successfully|Using cached|Requirement already|  )' || true; }
