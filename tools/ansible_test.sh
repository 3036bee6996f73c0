#!/usr/bin/env bash
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# tools/ansible_test.sh sanity|units [CORE...]: runs ansible-test on every release of ansible-core that tools/pythons.sh lists
# (or on those named), each from .cache/venv-core-CORE, on a copy of the checkout,
# two at a time: most of ansible-test keeps one processor busy.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/pythons.sh
. tools/pythons.sh
what=$1
shift
top=$PWD
reports=$top/.cache/reports
mkdir -p "$reports"

# make_home DIRECTORY: ansible-test keeps caches and virtual environments under HOME. It gets one of its own, with the user's pip settings.
make_home() {
  local home=$1 file version
  mkdir -p "$home/.ansible/test/cache" "$home/.config"
  for file in .config/pip .pip; do
    if [ -e "$HOME/$file" ] && [ ! -e "$home/$file" ]; then ln -s "$HOME/$file" "$home/$file"; fi
  done
  # The versions of get-pip that ansible-core 2.16 to 2.21 ask for; another one shows as a failed download that names it.
  for version in 20_3_4 21_3_1 23_1_2 24_2 25_2; do
    cp tools/get_pip.py "$home/.ansible/test/cache/get_pip_$version.py"
  done
}

# run_core CORE: one ansible-test run on a fresh copy; the exit status says whether it passed.
run_core() {
  local core=$1 venv=$top/.cache/venv-core-$1 home=$top/.cache/home-$1 copy version
  copy=$(tools/collection_copy.sh "$top/.cache/core-$core")
  make_home "$home"
  version=$("$venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  local arguments=(--venv --color no)
  case $what in
    sanity) ;; # no --python: the compile and import tests run on every Python that is here
    units) arguments+=(--requirements --python "$version" --num-workers 1) ;;
  esac
  (
    cd "$copy"
    env -u ANSIBLE_COLLECTIONS_PATH HOME="$home" PYENV_ROOT="${PYENV_ROOT:-}" PATH="$venv/bin:$(python_path)" \
      "$venv/bin/ansible-test" "$what" "${arguments[@]}"
  )
}

# judge CORE: run_core with its output in a log, and beside it how long it took and what came of it.
judge() {
  local log=$reports/$what-$1.log started=$SECONDS verdict=failed
  # ansible-test calls it a success when it found no tests at all, and when it skipped some.
  if run_core "$1" >"$log" 2>&1 && { [ "$what" != units ] || grep -qE '^=+ [0-9]+ passed(, [0-9]+ warnings?)? in .* =+$' "$log"; }; then
    verdict=passed
  fi
  printf '%s %s\n' "$verdict" "$((SECONDS - started))" >"$reports/$what-$1.verdict"
}

present=() missing=() passed=() failed=()
while read -r core pythons; do
  if [ "$#" -gt 0 ] && [[ " $* " != *" $core "* ]]; then continue; fi
  if [ -f ".cache/venv-core-$core/.made-from" ]; then present+=("$core"); else missing+=("$core (Python $pythons)"); fi
done < <(cores)

for core in "${present[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n || true; done
  printf -- '--- ansible-test %s, ansible-core %s, %s\n' "$what" "$core" "$(".cache/venv-core-$core/bin/python" --version)"
  judge "$core" &
done
wait

for core in "${present[@]}"; do
  log=$reports/$what-$core.log
  read -r verdict seconds <"$reports/$what-$core.verdict"
  if [ "$verdict" = passed ]; then
    # The log in full only when something is wrong; what ansible-test left out is said always.
    grep -E '^WARNING' "$log" | grep -vE 'Reviewing previous|All targets|Using locale' | sort -u || true
    grep -E '^=+ .*passed.* =+$' "$log" || true
    passed+=("$core")
  else
    # Without what pip says while it makes ansible-test's environments; the rest stands in the log.
    grep -vE '^(Collecting|Installing|Looking|Processing|Successfully|Using cached|Running sanity|Requirement already|  )' "$log" || true
    printf 'full log: %s\n' "$log"
    failed+=("$core")
  fi
  printf 'ansible-core %s: %s %s after %s s\n' "$core" "$what" "$verdict" "$seconds"
done

for core in "${missing[@]}"; do
  printf 'NOT RUN: ansible-test %s on ansible-core %s: this machine has none of these Pythons\n' "$what" "$core"
done
printf 'ansible-test %s: passed on %s; failed on %s\n' "$what" "${passed[*]:-none}" "${failed[*]:-none}"
[ "${#failed[@]}" -eq 0 ] && [ "${#passed[@]}" -gt 0 ]
