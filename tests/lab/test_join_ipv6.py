# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of a cluster whose services have IPv6 addresses. The API server itself is reached by IPv4, which such nodes have as well."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabNode
from ansible_collections.nodebootstrap.eks.tests.lab.joining import (
    CASES,
    PATIENCE,
    all_booted,
    boot,
    effective,
    matches_group,
    play_all,
)
from ansible_collections.nodebootstrap.eks.tests.matrix import repeated

pytestmark = pytest.mark.docker

CLUSTER = {"service_cidr": "fd40:6404:f93b::/108"}
DNS = "fd40:6404:f93b::a"

#: What a play does differently from user data lies in the strategy, and each has its own way to the address.
LIVE = ["al2-static", "al2023-stand-in", "ubuntu-bootstrap"]


#: The same strategies and families again, booted by user data only.
#: Cases that share a control plane and, where Ansible can manage them, a play.
TOGETHER = {
    "al2023": ["al2023-stand-in"],
    "families": ["al2-static", "ubuntu-bootstrap"],
    "repeated": [case for case in CASES if case not in LIVE],
}


@pytest.mark.parametrize("together", repeated(TOGETHER, "al2023"))
def test_user_data_registers_ipv6_addresses(lab: Lab, together: str) -> None:
    """The address, the name server that pods get, a serving certificate for the address; a play on the same families ends alike."""
    cases = TOGETHER[together]
    with ExitStack() as stack:
        born = {case: stack.enter_context(boot(lab, case, CLUSTER)) for case in cases}
        for case, node in born.items():
            node.wait_ready(PATIENCE)
            has_ipv6(node, case)
        if together == "repeated":
            return
        with all_booted(lab, cases, ipv6=True) as live:
            done = play_all(live, cluster=CLUSTER)
            assert done.returncode == 0, done.stdout
            for case, node in live.items():
                node.wait_ready(PATIENCE)
                has_ipv6(node, case)
                assert effective(node) == effective(born[case])


def has_ipv6(node: LabNode, case: str) -> None:
    assert ":" in node.internal_ip
    matches_group(node, case)
    assert node.configz()["clusterDNS"] == [DNS]
