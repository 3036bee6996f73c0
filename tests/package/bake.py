# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes an image in a container with the collection that is installed in ANSIBLE_COLLECTIONS_PATH. Ends with status 1 if a run fails."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from ansible_collections.nodebootstrap.eks.tests.oracle.image_builders import SERVED, ubuntu_builder
from ansible_collections.nodebootstrap.eks.tests.oracle.test_image_role import OF_THE_NODE, PROGRAMS, description


def main() -> int:
    """Run the playbook. It installs, seals and verifies."""
    with tempfile.TemporaryDirectory() as name, ubuntu_builder() as node:
        folder = Path(name)
        node.write({f"{SERVED}/{file}": content for file, content in PROGRAMS.values()})
        host = {
            "ansible_connection": "community.docker.docker",
            "ansible_host": node.container,
            "ansible_python_interpreter": "/usr/bin/python3",
            "eks_node_image": description(folder),
            "eks_node_image_ignore": sorted(OF_THE_NODE),
        }
        (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": {"builder": host}}}), encoding="utf-8")
        command = ["ansible-playbook", "nodebootstrap.eks.bake", "-i", "hosts.json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
        missing = [path for path in ("/usr/bin/kubelet", "/etc/eks/image-provenance.json") if not node.exists(path)]
    if done.returncode or missing:
        print(done.stdout, done.stderr, *missing, sep="\n")
    return 1 if done.returncode or missing else 0


if __name__ == "__main__":
    sys.exit(main())
