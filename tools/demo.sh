#!/usr/bin/env bash
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Renders the examples into out/ and prints the table; then brings a node in Docker into a cluster, where there is Docker.
# Called by "make demo", which has made the virtual environment.
set -euo pipefail
cd "$(dirname "$0")/.."
# The checkout as an installed collection, so that the playbooks run as a user's would.
mkdir -p .cache/ansible_collections/nodebootstrap
ln -sfn "$PWD" .cache/ansible_collections/nodebootstrap/eks
export PATH="$PWD/.venv/bin:$PATH" ANSIBLE_COLLECTIONS_PATH="$PWD/.cache" ANSIBLE_LOCALHOST_WARNING=false ANSIBLE_INVENTORY_UNPARSED_WARNING=false
ansible-playbook examples/demo.yml
echo "The files are in out/. Run it again: the digests stay the same."

heading() { printf '\n== %s\n' "$*"; }

heading "A live node: Amazon Linux 2023, played by a container"
if ! docker version >/dev/null 2>&1; then
  cat <<'HOW'
No Docker engine answers here, so this part is left out. To get one on Debian or Ubuntu:

  sudo apt-get install docker.io mmdebstrap debian-archive-keyring
  sudo python3 tests/oracle/docker/nodelab up

HOW
  exit 0
fi
node=nodebootstrap-demo
lab=tests/oracle/docker/nodelab
trap 'python3 "$lab" stop "$node"' EXIT
python3 "$lab" stop "$node"
echo "Booting it. The first time, its image is built from Debian packages, which takes a minute or two."
printf '[{"name": "%s", "family": "al2023", "files": {"/etc/nodelab/kubelet-healthy": "", "/etc/nodelab/kubelet-version": "v1.32.9"}}]' "$node" |
  python3 "$lab" start
bootstrap=(ansible-playbook nodebootstrap.eks.bootstrap -i tools/demo-inventory.yml)

heading "1. What would change: ansible-playbook nodebootstrap.eks.bootstrap --check --diff"
"${bootstrap[@]}" --check --diff
heading "2. Bootstrap: ansible-playbook nodebootstrap.eks.bootstrap"
"${bootstrap[@]}"
heading "3. The same again: nothing changes, nothing restarts"
"${bootstrap[@]}" | tee "out/second-run.txt"
grep -q 'changed=0 ' out/second-run.txt || { echo "the second run changed something" >&2; exit 1; }
heading "What systemd gave to kubelet"
docker exec "$node" sh -c "tr '\\0' '\\n' < /proc/\$(systemctl show -p MainPID --value kubelet)/cmdline" | grep -e ^--
echo
echo "The container is removed now. Your own nodes: docs/bootstrap.md."
