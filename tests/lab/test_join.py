# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes join through what the library rendered, set up by their real consumers: Ready, and what was asked for."""

from __future__ import annotations

import platform
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabError, LabNode
from ansible_collections.nodebootstrap.eks.tests.lab.binaries import KUBELETS
from ansible_collections.nodebootstrap.eks.tests.lab.joining import CASES, GROUP, LIVE, PATIENCE, boot, booted, play
from ansible_collections.nodebootstrap.eks.tests.lab.progress import wait_for

pytestmark = pytest.mark.docker

KUBELET_UNITS = {"al2": "kubelet.service", "ubuntu": "snap.kubelet-eks.daemon.service"}


@pytest.mark.parametrize("case", CASES)
def test_user_data_joins(lab: Lab, case: str) -> None:
    """Real cloud-init, and on Amazon Linux 2023 the real nodeadm; no Ansible at all."""
    with boot(lab, case) as node:
        node.wait_ready(PATIENCE)
        is_what_was_asked_for(node, case)


@pytest.mark.parametrize("case", LIVE)
def test_a_play_joins_a_live_node_as_user_data_does(lab: Lab, case: str) -> None:
    with booted(lab, case) as live, boot(lab, case) as born:
        play(live, case)
        live.wait_ready(PATIENCE)
        is_what_was_asked_for(live, case)
        born.wait_ready(PATIENCE)
        assert effective(live) == effective(born)


@pytest.mark.parametrize("case", ["al2-static", "ubuntu-bootstrap"])
def test_another_number_of_pods_is_one_restart(lab: Lab, case: str) -> None:
    with booted(lab, case) as node:
        play(node, case)
        node.wait_ready(PATIENCE)
        unit = KUBELET_UNITS[CASES[case].family]
        before = node.starts(unit)
        play(node, case, max_pods=25)
        wait_for("the new number of pods", lambda: node.wait_ready(PATIENCE)["status"]["allocatable"]["pods"] == "25", PATIENCE)
        assert node.starts(unit) == before + 1
        play(node, case, max_pods=25)
        assert node.starts(unit) == before + 1, "nothing to do is nothing done"


def test_a_node_of_another_cluster_does_not_join(lab: Lab) -> None:
    """The proof that the others prove something: one wrong word, and the API server does not know the node."""
    with boot(lab, "al2-static", cluster={"name": "other"}) as node:
        wait_for("a refused kubelet", lambda: "Unable to register node" in node.journal("kubelet.service"), PATIENCE)
        assert 'err="Unauthorized"' in node.journal("kubelet.service")
        assert node.object() is None
        with pytest.raises(LabError, match="it did not register") as failure:
            node.wait_ready(0)
        assert "Unauthorized" in str(failure.value), "the reason is in the message"


def is_what_was_asked_for(node: LabNode, case: str) -> None:
    """The Node says all that the group said, and kubelet serves with a certificate of the cluster."""
    found = node.lab.node_object(node.name)
    assert found["status"]["nodeInfo"]["kubeletVersion"] == KUBELETS[CASES[case].minor].version
    assert found["metadata"]["labels"] == GROUP["labels"] | everybodys_labels(node)
    assert found["spec"]["taints"] == GROUP["taints"]
    assert {"type": "InternalIP", "address": node.address} in found["status"]["addresses"]
    assert found["spec"]["providerID"] == f"aws:///eu-central-1a/{node.instance}"
    assert found["status"]["allocatable"]["pods"] == "17"
    assert reserved_cpu(found) == 70, "kubeReserved of two CPUs"
    assert node.serving_names() == {node.name, node.address}, "the certificate that it serves on 10250"
    assert node.configz()["maxPods"] == 17


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


def effective(node: LabNode) -> dict[str, Any]:
    """The configuration that kubelet runs with, without what names the instance."""
    return {key: value for key, value in node.configz().items() if key != "providerID"}
