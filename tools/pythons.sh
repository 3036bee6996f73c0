# shellcheck shell=bash
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# To be sourced: which ansible-core releases are tested, and where this machine keeps the Pythons for them.

# One line a release: ansible-core, then the Pythons its controller runs on, best first.
cores() {
  cat <<'LIST'
2.16 3.11 3.10 3.12
2.19 3.11 3.12 3.13
2.21 3.12 3.13 3.14
LIST
}

# Folders with real interpreters: pyenv's own folders first, then PATH without pyenv's shims, which exist for versions that are not active.
python_folders() {
  local folder
  for folder in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin; do
    [ -d "$folder" ] && printf '%s\n' "$folder"
  done
  tr ':' '\n' <<<"$PATH" | grep -v -e '/shims$' -e '^$' -e "^$PWD/"
}

# first_python VERSION...: the first of these versions that is here and can make virtual environments.
first_python() {
  local version folder
  for version in "$@"; do
    while read -r folder; do
      if [ -x "$folder/python$version" ] && "$folder/python$version" -c 'import ensurepip, venv' 2>/dev/null; then
        printf '%s\n' "$folder/python$version"
        return 0
      fi
    done < <(python_folders)
  done
  return 1
}

# PATH for tools that start "pythonX.Y" by name.
python_path() {
  { python_folders | grep -v "^$HOME/.pyenv/versions/.*envs/" || true; } | awk '!seen[$0]++' | paste -sd:
}
