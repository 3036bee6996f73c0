# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data of Amazon Linux 2 and what migrate makes of it for Amazon Linux 2023 register the same Node.

bootstrap.sh of the old node is the stand-in of the lab. The new node has the real nodeadm.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.migrate_user_data import migrate_user_data
from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabNode
from ansible_collections.nodebootstrap.eks.tests.lab.joining import GROUP, PATIENCE, common_labels

pytestmark = pytest.mark.docker

MARKERS = ("/var/lib/before", "/var/lib/after")

#: Fields of the effective configuration that differ: the identity of the instance, and the address that bootstrap.sh computes from the
#: addresses of the VPC instead of the service CIDR.
DIFFERENT = {"providerID", "clusterDNS"}


def original(lab: Lab) -> str:
    cluster = lab.cluster("1.30")
    extra = "--max-pods=17 --node-labels=example.com/pool=web,tier=front --register-with-taints=dedicated=web:NoSchedule"
    return f"""#!/bin/bash
set -e
touch {MARKERS[0]}
B64_CLUSTER_CA={shlex.quote(cluster["certificate_authority"])}
API_SERVER_URL={shlex.quote(cluster["endpoint"])}
/etc/eks/bootstrap.sh {cluster["name"]} --apiserver-endpoint "$API_SERVER_URL" --b64-cluster-ca "$B64_CLUSTER_CA" \\
  --use-max-pods false --kubelet-extra-args '{extra} --fail-swap-on=false --event-qps=7'
touch {MARKERS[1]}
"""


@pytest.fixture(scope="module")
def pair(lab: Lab) -> Iterator[tuple[LabNode, LabNode, dict[str, Any]]]:
    """The old node, the new node, and the report."""
    old = original(lab)
    migrated = migrate_user_data(old, {"service_cidr": lab.cluster("1.30")["service_cidr"]})
    assert migrated["user_data"] is not None, migrated["report"]["needs_decision"]
    with ExitStack() as stack:
        before = stack.enter_context(lab.node("al2", user_data=old, kubelet="1.30"))
        after = stack.enter_context(lab.node("al2023", user_data=migrated["user_data"], kubelet="1.30", real_nodeadm=True))
        for node in (before, after):
            node.wait_ready(PATIENCE)
        yield before, after, migrated["report"]


def test_the_same_node_registers(lab: Lab, pair: tuple[LabNode, LabNode, dict[str, Any]]) -> None:
    before, after, _report = pair
    for node in (before, after):
        found = lab.node_object(node.name)
        assert found["metadata"]["labels"] == GROUP["labels"] | common_labels(node)
        assert found["spec"]["taints"] == GROUP["taints"]
        assert found["status"]["allocatable"]["pods"] == "17"
    one, two = (lab.node_object(node.name)["status"]["allocatable"] for node in (before, after))
    assert one == two


def test_the_report_explains_what_differs_in_the_configuration_of_kubelet(pair: tuple[LabNode, LabNode, dict[str, Any]]) -> None:
    before, after, report = pair
    old, new = before.configz(), after.configz()
    assert {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)} == DIFFERENT
    assert old["eventRecordQPS"] == 7
    [explained] = [one["message"] for one in report["warnings"] if "--dns-cluster-ip" in one["message"]]
    assert all(address in explained for address in (*old["clusterDNS"], *new["clusterDNS"]))


def test_the_scripts_around_the_call_run(pair: tuple[LabNode, LabNode, dict[str, Any]]) -> None:
    for node in pair[:2]:
        assert all(node.exists(path) for path in MARKERS)
