# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data that the library rendered, booted by its real consumers: the node is Ready and is what was asked for."""

from __future__ import annotations

import platform
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.sinks.user_data import render
from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabError, LabNode
from ansible_collections.nodebootstrap.eks.tests.lab.binaries import KUBELETS
from ansible_collections.nodebootstrap.eks.tests.lab.progress import wait_for

pytestmark = pytest.mark.docker

#: The machine under test may have swap; a node of EKS has none.
LAB_ONLY = {"failSwapOn": False}
GROUP: dict[str, Any] = {
    "max_pods": 17,
    "instance": {"type": "m5.large"},
    "labels": {"example.com/pool": "web", "tier": "front"},
    "taints": [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}],
    "kubelet": {"config": LAB_ONLY},
}
#: Seconds; a busy machine is no failure, a node that never joins is.
PATIENCE = 180
STATIC, SCRIPT = {"strategy": "static"}, {"strategy": "bootstrap_script"}
#: By the name of the case: family, what else its group says, and minor version of kubelet.
CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "al2-static": ("al2", STATIC, "1.30"),
    "al2-bootstrap": ("al2", SCRIPT, "1.30"),
    "al2023": ("al2023", {}, "1.30"),
    "ubuntu-static": ("ubuntu", STATIC, "1.36"),
    "ubuntu-bootstrap": ("ubuntu", SCRIPT, "1.30"),
}


@pytest.mark.parametrize("case", CASES)
def test_user_data_joins(lab: Lab, case: str) -> None:
    family, fields, minor = CASES[case]
    text = render(lab.cluster(minor), {"family": family, **GROUP, **fields}).document.text
    with lab.node(family, user_data=text, kubelet=minor) as node:
        found = node.wait_ready(PATIENCE)
        assert found["status"]["nodeInfo"]["kubeletVersion"] == KUBELETS[minor].version
        assert found["metadata"]["labels"] == GROUP["labels"] | everybodys_labels(node)
        assert found["spec"]["taints"] == [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}]
        assert {"type": "InternalIP", "address": node.address} in found["status"]["addresses"]
        assert found["spec"]["providerID"] == f"aws:///eu-central-1a/{node.instance}"
        assert found["status"]["allocatable"]["pods"] == "17"
        assert reserved_cpu(found) == 70, "kubeReserved of two CPUs"
        assert node.serving_names() == {node.name, node.address}
        assert node.configz()["maxPods"] == 17


def test_a_node_of_another_cluster_does_not_join(lab: Lab) -> None:
    """The proof that the others prove something: one wrong word, and the API server does not know the node."""
    text = render(lab.cluster("1.30") | {"name": "other"}, {"family": "al2", **GROUP, **STATIC}).document.text
    with lab.node("al2", user_data=text) as node:
        wait_for("a refused kubelet", lambda: "Unable to register node" in node.journal("kubelet.service"), PATIENCE)
        assert 'err="Unauthorized"' in node.journal("kubelet.service")
        assert node.object() is None
        with pytest.raises(LabError, match="it did not register") as failure:
            node.wait_ready(0)
        assert "Unauthorized" in str(failure.value), "the reason is in the message"


def everybodys_labels(node: LabNode) -> dict[str, str]:
    """What kubelet and the cloud provider give every node of the lab."""
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
    """Thousandths of a CPU that pods cannot have."""
    return int(node["status"]["capacity"]["cpu"]) * 1000 - int(node["status"]["allocatable"]["cpu"].removesuffix("m"))
