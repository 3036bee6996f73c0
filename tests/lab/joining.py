# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by the join tests: a node group, the ways of joining, playbook runs on nodes of the lab, and the expected Node."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabNode
from ansible_collections.nodebootstrap.eks.tests.lab.binaries import KUBELETS
from ansible_collections.nodebootstrap.eks.tests.lab.progress import TOP

#: Seconds to wait: long, because the machine may be busy.
PATIENCE = 400

#: Variables of every host that a play bootstraps.
PATIENT = {"eks_node_wait_timeout": PATIENCE}

#: The machine may have swap and cgroup v1; an EKS node has neither.
LAB_ONLY: dict[str, dict[str, Any]] = {
    "1.30": {"failSwapOn": False},
    "1.35": {"failSwapOn": False, "failCgroupV1": False},
    "1.36": {"failSwapOn": False, "failCgroupV1": False},
}
GROUP: dict[str, Any] = {
    "max_pods": 17,
    "instance": {"type": "m5.large"},
    "labels": {"example.com/pool": "web", "tier": "front"},
    "taints": [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}],
}
STATIC, SCRIPT = {"strategy": "static"}, {"strategy": "bootstrap_script"}


class Case(NamedTuple):
    """A way of joining: fields of the group in addition to GROUP, kubelet's minor version, which nodeadm, and whether a play can do it."""

    family: str
    fields: dict[str, Any]
    minor: str
    real_nodeadm: bool = False
    live: bool = True


CASES = {
    "al2-static": Case("al2", STATIC, "1.30"),
    "al2-bootstrap": Case("al2", SCRIPT, "1.30"),
    "al2023-stand-in": Case("al2023", {}, "1.36"),
    "ubuntu-static": Case("ubuntu", STATIC, "1.36"),
    "ubuntu-bootstrap": Case("ubuntu", SCRIPT, "1.30"),
    # nodeadm of February 2024 reads no /etc/eks/nodeadm.d: there is nothing for a play to do.
    "al2023": Case("al2023", {}, "1.30", real_nodeadm=True, live=False),
}
#: For nodes of images that the role eks_node_image built: other nodes of the lab do not have what they need.
BAKED = {"ubuntu-unit": Case("ubuntu", {**STATIC, "ubuntu": {"kubelet": "unit"}}, "1.30")}
LIVE = [name for name, case in CASES.items() if case.live]
KUBELET_UNITS = {"al2": "kubelet.service", "al2023": "kubelet.service", "ubuntu": "snap.kubelet-eks.daemon.service"}


def group(case: str, **fields: Any) -> dict[str, Any]:
    """The node group of a case; `fields` are added or replace others, but the kubelet configuration that the lab needs stays."""
    kubelet = fields.pop("kubelet", {})
    family, of_case, minor, *_others = {**CASES, **BAKED}[case]
    own = {"family": family, "kubelet": {**kubelet, "config": {**LAB_ONLY[minor], **kubelet.get("config", {})}}}
    return {**own, **GROUP, **of_case, **fields}


def boot(lab: Lab, case: str, cluster: dict[str, Any] | None = None, **fields: Any) -> LabNode:
    """A node that boots with the user data of a case."""
    facts = lab.cluster(CASES[case].minor) | (cluster or {})
    return _node(lab, case, render(facts, group(case, **fields)).document.text, ipv6=":" in facts["service_cidr"])


def _node(lab: Lab, case: str, user_data: str = "", *, ipv6: bool = False) -> LabNode:
    family, _fields, minor, real_nodeadm, _live = CASES[case]
    return lab.node(family, user_data=user_data, kubelet=minor, real_nodeadm=real_nodeadm, ipv6=ipv6)


def booted(lab: Lab, case: str, *, ipv6: bool = False) -> LabNode:
    """A node as its image leaves it, for plays."""
    node = _node(lab, case, ipv6=ipv6)
    try:
        node.wait_boot()
    except BaseException:
        node.stop()
        raise
    return node


@contextmanager
def all_booted(lab: Lab, cases: Iterable[str], *, ipv6: bool = False) -> Iterator[dict[str, LabNode]]:
    """As `booted`, for several cases in parallel: {case: node}."""
    with ExitStack() as stack:
        nodes = {case: stack.enter_context(_node(lab, case, ipv6=ipv6)) for case in cases}
        for node in nodes.values():
            node.wait_boot()
        yield nodes


def play(node: LabNode, case: str, *words: str, **fields: Any) -> subprocess.CompletedProcess[str]:
    """Run the collection's playbook bootstrap against one node; AssertionError shows its output when it fails."""
    done = play_all({case: node}, *words, **fields)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{node.evidence()}"
    return done


def play_all(
    nodes: Mapping[str, LabNode],
    *words: str,
    variables: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    cluster: Mapping[str, Any] | None = None,
    fields_of: Callable[[str], Mapping[str, Any]] | None = None,
    **fields: Any,
) -> subprocess.CompletedProcess[str]:
    """Run the collection's playbook bootstrap once over nodes, {case: node}, and return the result.

    words: for ansible-playbook. variables: of every host. environment: of the controller. cluster, fields: as for `boot`.
    fields_of: fields that differ from case to case.
    """
    hosts = {
        node.name: {
            "ansible_connection": "community.docker.docker",
            "ansible_host": node.container,
            "ansible_python_interpreter": "/usr/bin/python3",
            "eks_node_cluster": {**node.lab.cluster(CASES[case].minor), **(cluster or {})},
            "eks_node_group": group(case, **fields, **(fields_of(case) if fields_of else {})),
            **PATIENT,
            **(variables or {}),
        }
        for case, node in nodes.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        inventory = Path(folder, "inventory.json")
        inventory.write_text(json.dumps({"all": {"hosts": hosts}}))
        command = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", str(inventory), *words, "playbooks/bootstrap.yml"]
        whole = {
            **os.environ,
            "ANSIBLE_COLLECTIONS_PATH": str(TOP / ".cache"),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_PIPELINING": "1",
            **(environment or {}),
        }
        return subprocess.run(command, cwd=TOP, env=whole, capture_output=True, text=True, check=False, timeout=600)


# --- the expected Node -----------------------------------------------------------------------------------------------------


def matches_group(node: LabNode, case: str, pods: int = 17) -> None:
    """The Node has everything that the group specifies, and kubelet serves with a certificate of the cluster."""
    found = node.lab.node_object(node.name)
    assert found["status"]["nodeInfo"]["kubeletVersion"] == KUBELETS[{**CASES, **BAKED}[case].minor].version
    assert found["metadata"]["labels"] == GROUP["labels"] | common_labels(node)
    assert found["spec"]["taints"] == GROUP["taints"]
    addresses = [each["address"] for each in found["status"]["addresses"] if each["type"] == "InternalIP"]
    assert addresses == [node.internal_ip]
    assert found["spec"]["providerID"] == f"aws:///eu-central-1a/{node.instance}"
    assert found["status"]["allocatable"]["pods"] == str(pods)
    assert reserved_cpu(found) == 70, "kubeReserved of two CPUs"
    assert node.serving_names() == {node.name, node.internal_ip}, "the certificate that it serves on 10250"
    assert node.configz()["maxPods"] == pods


def common_labels(node: LabNode) -> dict[str, str]:
    """Labels that every node of the lab gets from kubelet and the cloud provider."""
    machine = {"aarch64": "arm64", "x86_64": "amd64"}[platform.machine()]
    places = {"region": "eu-central-1", "zone": "eu-central-1a"}
    return {
        "kubernetes.io/hostname": node.name,
        **{f"{prefix}kubernetes.io/arch": machine for prefix in ("", "beta.")},
        **{f"{prefix}kubernetes.io/os": "linux" for prefix in ("", "beta.")},
        **{f"{prefix}.kubernetes.io/instance-type": "m5.large" for prefix in ("node", "beta")},
        **{f"{prefix}.kubernetes.io/{kind}": name for prefix in ("topology", "failure-domain.beta") for kind, name in places.items()},
    }


def reserved_cpu(node: dict[str, Any]) -> int:
    """Thousandths of a CPU that are reserved."""
    return int(node["status"]["capacity"]["cpu"]) * 1000 - int(node["status"]["allocatable"]["cpu"].removesuffix("m"))


def effective(node: LabNode) -> dict[str, Any]:
    """The effective configuration of kubelet, without the identity of the instance."""
    return {key: value for key, value in node.configz().items() if key != "providerID"}


def words_of(node: LabNode, unit: str) -> list[str]:
    """The words of the process that systemd runs for a unit."""
    return node.read(f"/proc/{node.property(unit, 'MainPID')}/cmdline").decode().split("\0")[:-1]


def environment_of(node: LabNode, unit: str) -> dict[str, str]:
    """The environment of that process."""
    lines = node.read(f"/proc/{node.property(unit, 'MainPID')}/environ").decode().split("\0")[:-1]
    return dict(line.partition("=")[::2] for line in lines)
