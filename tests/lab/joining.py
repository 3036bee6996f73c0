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
from typing import Any, NamedTuple

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.sinks.user_data import render
from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabNode
from ansible_collections.nodebootstrap.eks.tests.lab.progress import TOP

#: Seconds; a busy machine is no failure, a node that never joins is.
PATIENCE = 180

#: The machine under test may have swap and cgroups of the first version; a node of EKS has neither.
LAB_ONLY: dict[str, dict[str, Any]] = {"1.30": {"failSwapOn": False}, "1.36": {"failSwapOn": False, "failCgroupV1": False}}
GROUP: dict[str, Any] = {
    "max_pods": 17,
    "instance": {"type": "m5.large"},
    "labels": {"example.com/pool": "web", "tier": "front"},
    "taints": [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}],
}
STATIC, SCRIPT = {"strategy": "static"}, {"strategy": "bootstrap_script"}


class Case(NamedTuple):
    """A way of joining: what the group says beside GROUP, kubelet's minor version, which nodeadm; whether a play can do it, too."""

    family: str
    fields: dict[str, Any]
    minor: str
    real_nodeadm: bool = False
    live: bool = True


CASES = {
    "al2-static": Case("al2", STATIC, "1.30"),
    "al2-bootstrap": Case("al2", SCRIPT, "1.30"),
    # nodeadm of February 2024 reads no /etc/eks/nodeadm.d: there is nothing for a play to do.
    "al2023": Case("al2023", {}, "1.30", real_nodeadm=True, live=False),
    "al2023-stand-in": Case("al2023", {}, "1.36"),
    "ubuntu-static": Case("ubuntu", STATIC, "1.36"),
    "ubuntu-bootstrap": Case("ubuntu", SCRIPT, "1.30"),
}
LIVE = [name for name, case in CASES.items() if case.live]


def group(case: str, **fields: Any) -> dict[str, Any]:
    """The node group of a case; `fields` are added or replace."""
    own = {"family": CASES[case].family, "kubelet": {"config": LAB_ONLY[CASES[case].minor]}}
    return {**own, **GROUP, **CASES[case].fields, **fields}


def boot(lab: Lab, case: str, cluster: dict[str, Any] | None = None, **fields: Any) -> LabNode:
    """A node that boots with the user data of a case."""
    text = render(lab.cluster(CASES[case].minor) | (cluster or {}), group(case, **fields)).document.text
    return _node(lab, case, text)


def _node(lab: Lab, case: str, user_data: str = "") -> LabNode:
    family, _fields, minor, real_nodeadm, _live = CASES[case]
    return lab.node(family, user_data=user_data, kubelet=minor, real_nodeadm=real_nodeadm)


def booted(lab: Lab, case: str) -> LabNode:
    """A node as its image leaves it, for plays."""
    node = _node(lab, case)
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
        "eks_node_cluster": node.lab.cluster(CASES[case].minor),
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
