# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet uses the value that wins: one setting for every kind of pair of places, all of them on the same nodes.

tests/unit/plugins/plugin_utils/test_one_winner.py has every pair, with a second reader instead of kubelet.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabNode
from ansible_collections.nodebootstrap.eks.tests.lab.joining import PATIENCE, boot

pytestmark = pytest.mark.docker


def document(**kubelet: Any) -> str:
    return yaml.dump({"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {"kubelet": kubelet}})


GROUP: dict[str, Any] = {
    "max_pods": 58,
    "reserved": {"kube": "auto"},
    "kubelet": {
        "config": {
            "podPidsLimit": 1024,
            "containerLogMaxFiles": 6,
            "evictionHard": {"memory.available": "101Mi", "nodefs.available": "4%"},
            "registryPullQPS": 9,
        },
        "flags": {"image-gc-high-threshold": 91, "event-burst": 111, "registry-burst": 44, "kube-api-burst": 55},
    },
}
USER_DATA = document(
    config={"imageGCHighThresholdPercent": 88, "containerLogMaxFiles": 7, "eventRecordQPS": 12, "kubeAPIQPS": 21},
    flags=[
        "--max-pods=20",
        "--cluster-dns=9.9.9.9",
        "--pod-max-pids=2048",
        "--event-burst=112",
        "--eviction-hard=memory.available<102Mi,nodefs.inodesFree<3%",
        "--container-log-max-size=21Mi",
        "--event-qps=12",
    ],
)
OVERRIDE = document(
    config={"registryBurst": 33, "containerLogMaxSize": "31Mi", "kubeAPIQPS": 22}, flags=["--registry-qps=7", "--kube-api-burst=56"]
)

ALWAYS = {
    # Computed name servers do not replace a flag of the user; equal values of a flag and a field are one value.
    "clusterDNS": ["9.9.9.9"],
    "eventRecordQPS": 12,
    # Override against a flag and a field of the group, and against a flag and a field of the user data.
    "registryBurst": 33,
    "registryPullQPS": 7,
    "kubeAPIBurst": 56,
    "containerLogMaxSize": "31Mi",
    "kubeAPIQPS": 22,
}
DIFFERENT = {
    "ours": {
        "maxPods": 58,
        "podPidsLimit": 1024,
        "imageGCHighThresholdPercent": 91,
        "containerLogMaxFiles": 6,
        "eventBurst": 111,
        "evictionHard": {"memory.available": "101Mi", "nodefs.available": "4%", "nodefs.inodesFree": "3%"},
    },
    "theirs": {
        "maxPods": 20,
        "podPidsLimit": 2048,
        "imageGCHighThresholdPercent": 88,
        "containerLogMaxFiles": 7,
        "eventBurst": 112,
        "evictionHard": {"memory.available": "102Mi", "nodefs.available": "4%", "nodefs.inodesFree": "3%"},
    },
}
"""Field and flag, in both directions; field and field; flag and flag; a map, key by key."""

CALL = """#!/bin/bash
source /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh
/etc/eks/bootstrap.sh "$CLUSTER_NAME" --apiserver-endpoint "$API_SERVER_URL" --b64-cluster-ca "$B64_CLUSTER_CA" \\
  --dns-cluster-ip "$CLUSTER_DNS" --use-max-pods false --kubelet-extra-args "$KUBELET_EXTRA_ARGS --max-pods=23"
"""


@pytest.fixture(scope="module")
def nodes(lab: Lab) -> Iterator[dict[str, LabNode]]:
    """A node for each precedence, and one whose override calls the script of the image."""
    with ExitStack() as stack:
        found = {
            choice: stack.enter_context(
                boot(lab, "al2023-stand-in", **GROUP, user_data=USER_DATA, override=OVERRIDE, user_data_precedence=choice)
            )
            for choice in DIFFERENT
        }
        found["call"] = stack.enter_context(boot(lab, "al2-bootstrap", override=CALL, reserved={"kube": "auto"}))
        for node in found.values():
            node.wait_ready(PATIENCE)
        yield found


def memory(pods: int) -> str:
    """kubeReserved for a number of pods, by the formula of EKS."""
    return f"{255 + 11 * pods}Mi"


@pytest.mark.parametrize("choice", DIFFERENT)
def test_kubelet_uses_the_declared_winner(nodes: dict[str, LabNode], choice: str) -> None:
    seen = nodes[choice].configz()
    expected = ALWAYS | DIFFERENT[choice]
    assert {key: seen[key] for key in expected} == expected
    assert seen["kubeReserved"]["memory"] == memory(expected["maxPods"])


def test_kubelet_uses_the_arguments_of_the_call_in_override(nodes: dict[str, LabNode]) -> None:
    seen = nodes["call"].configz()
    assert (seen["maxPods"], seen["kubeReserved"]["memory"]) == (23, memory(23))
