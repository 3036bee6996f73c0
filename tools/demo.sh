#!/usr/bin/env bash
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Renders the examples into out/ and prints the table. Called by "make demo", which has made the virtual environment.
set -euo pipefail
cd "$(dirname "$0")/.."
# The checkout as an installed collection, so that the playbook runs as a user's would.
mkdir -p .cache/ansible_collections/nodebootstrap
ln -sfn "$PWD" .cache/ansible_collections/nodebootstrap/eks
export ANSIBLE_COLLECTIONS_PATH="$PWD/.cache" ANSIBLE_LOCALHOST_WARNING=false ANSIBLE_INVENTORY_UNPARSED_WARNING=false
.venv/bin/ansible-playbook examples/demo.yml
echo "The files are in out/. Run it again: the digests stay the same."
