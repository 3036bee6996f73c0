#!/usr/bin/env bash
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# tools/ansible_test.sh sanity|units [CORE...]: runs ansible-test on every release of ansible-core that tools/pythons.sh lists
# (or on those named), each from .cache/venv-core-CORE and on a copy of the checkout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/pythons.sh
. tools/pythons.sh
what=$1
shift
top=$PWD
ran=() missing=() failed=()

# ansible-test keeps caches and virtual environments under HOME: give it one in the project, with the user's pip settings.
home=$top/.cache/home
mkdir -p "$home/.ansible/test/cache" "$home/.config"
for file in .config/pip .pip; do
  if [ -e "$HOME/$file" ] && [ ! -e "$home/$file" ]; then ln -s "$HOME/$file" "$home/$file"; fi
done
# The versions of get-pip that ansible-core 2.16 to 2.21 ask for; another one shows as a failed download that names it.
for version in 20_3_4 21_3_1 23_1_2 24_2 25_2; do
  cp tools/get_pip.py "$home/.ansible/test/cache/get_pip_$version.py"
done

# run_core VENV COPY: one ansible-test run; the exit status says whether it passed.
run_core() {
  local venv=$1 copy=$2 version
  version=$("$venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  local arguments=(--venv --color no)
  case $what in
    sanity) ;; # no --python: the compile and import tests run on every Python that is here
    units) arguments+=(--requirements --python "$version" --num-workers 2) ;;
  esac
  (
    cd "$copy"
    env -u ANSIBLE_COLLECTIONS_PATH HOME="$home" PYENV_ROOT="${PYENV_ROOT:-}" PATH="$venv/bin:$(python_path)" \
      "$venv/bin/ansible-test" "$what" "${arguments[@]}"
  )
}

while read -r core pythons; do
  if [ "$#" -gt 0 ] && [[ " $* " != *" $core "* ]]; then continue; fi
  venv=$top/.cache/venv-core-$core
  if [ ! -f "$venv/.made-from" ]; then
    missing+=("$core (Python $pythons)")
    continue
  fi
  copy=$(tools/collection_copy.sh "$top/.cache/core-$core")
  printf -- '--- ansible-test %s, ansible-core %s, %s\n' "$what" "$core" "$("$venv/bin/python" --version)"
  log=$top/.cache/reports/$what-$core.log
  mkdir -p "$(dirname "$log")"
  started=$SECONDS
  # ansible-test calls it a success when it found no tests at all, and when it skipped some.
  if run_core "$venv" "$copy" >"$log" 2>&1 && { [ "$what" != units ] || grep -qE '^=+ [0-9]+ passed(, [0-9]+ warnings?)? in .* =+$' "$log"; }; then
    # The log in full only when something is wrong; what ansible-test left out is said always.
    grep -E '^WARNING' "$log" | grep -vE 'Reviewing previous|All targets|Using locale' | sort -u || true
    grep -E '^=+ .*(passed|failed).* =+$' "$log" || true
    printf 'ansible-core %s: %s passed in %s s\n' "$core" "$what" "$((SECONDS - started))"
    ran+=("$core")
  else
    # Without what pip says while it makes ansible-test's environments; the rest stands in the log.
    grep -vE '^(Collecting|Installing|Looking|Processing|Successfully|Using cached|Running sanity|Requirement already|  )' "$log" || true
    printf 'full log: %s\n' "$log"
    printf 'ansible-core %s: %s FAILED after %s s\n' "$core" "$what" "$((SECONDS - started))"
    failed+=("$core")
  fi
done < <(cores)

for core in "${missing[@]}"; do
  printf 'NOT RUN: ansible-test %s on ansible-core %s: this machine has none of these Pythons\n' "$what" "$core"
done
printf 'ansible-test %s: passed on %s; failed on %s\n' "$what" "${ran[*]:-none}" "${failed[*]:-none}"
[ "${#failed[@]}" -eq 0 ] && [ "${#ran[@]}" -gt 0 ]
