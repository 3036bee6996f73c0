# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the join tests share: a node group, the ways of joining, and a playbook run against a node of the lab."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.sinks.user_data import render
from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabNode
from ansible_collections.nodebootstrap.eks.tests.lab.progress import TOP

#: Seconds; a busy machine is no failure, a node that never joins is.
PATIENCE = 180

#: The machine under test may have swap; a node of EKS has none.
LAB_ONLY = {"failSwapOn": False}
GROUP: dict[str, Any] = {
    "max_pods": 17,
    "instance": {"type": "m5.large"},
    "labels": {"example.com/pool": "web", "tier": "front"},
    "taints": [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}],
    "kubelet": {"config": LAB_ONLY},
}
STATIC, SCRIPT = {"strategy": "static"}, {"strategy": "bootstrap_script"}
#: By the name of the case: family, what else its group says, and minor version of kubelet.
CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "al2-static": ("al2", STATIC, "1.30"),
    "al2-bootstrap": ("al2", SCRIPT, "1.30"),
    "al2023": ("al2023", {}, "1.30"),
    "ubuntu-static": ("ubuntu", STATIC, "1.36"),
    "ubuntu-bootstrap": ("ubuntu", SCRIPT, "1.30"),
}
#: Those that a play can set up: nodeadm of February 2024 reads user data alone, no /etc/eks/nodeadm.d.
LIVE = [case for case in CASES if case != "al2023"]


def group(case: str, **fields: Any) -> dict[str, Any]:
    """The node group of a case; `fields` are added or replace."""
    family, own, _unused = CASES[case]
    return {"family": family, **GROUP, **own, **fields}


def boot(lab: Lab, case: str, cluster: dict[str, Any] | None = None, **fields: Any) -> LabNode:
    """A node that boots with the user data of a case."""
    family, _unused, minor = CASES[case]
    text = render(lab.cluster(minor) | (cluster or {}), group(case, **fields)).document.text
    return lab.node(family, user_data=text, kubelet=minor)


def booted(lab: Lab, case: str) -> LabNode:
    """A node as its image leaves it, for plays."""
    family, _unused, minor = CASES[case]
    node = lab.node(family, kubelet=minor)
    try:
        node.wait_boot()
    except BaseException:
        node.stop()
        raise
    return node


def play(node: LabNode, case: str, *words: str, **fields: Any) -> subprocess.CompletedProcess[str]:
    """Run the collection's playbook bootstrap against one node; AssertionError shows its output when it fails."""
    host = {
        "ansible_connection": "community.docker.docker",
        "ansible_host": node.container,
        "ansible_python_interpreter": "/usr/bin/python3",
        "eks_node_cluster": node.lab.cluster(CASES[case][2]),
        "eks_node_group": group(case, **fields),
    }
    with tempfile.TemporaryDirectory() as folder:
        inventory = Path(folder, "inventory.json")
        inventory.write_text(json.dumps({"all": {"hosts": {node.name: host}}}))
        command = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", str(inventory), *words, "playbooks/bootstrap.yml"]
        environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(TOP / ".cache"), "ANSIBLE_NOCOLOR": "1"}
        done = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{node.evidence()}"
    return done
