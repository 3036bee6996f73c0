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

pytestmark = pytest.mark.docker

CLUSTER = {"service_cidr": "fd40:6404:f93b::/108"}
DNS = "fd40:6404:f93b::a"

#: What a play does differently from user data lies in the strategy, and each has its own way to the address.
LIVE = ["al2-static", "al2023-stand-in", "ubuntu-bootstrap"]


#: The same strategies and families again, booted by user data only.
REPEATED = [case for case in CASES if case not in LIVE]


@pytest.mark.parametrize("cases", [LIVE, pytest.param(REPEATED, marks=pytest.mark.matrix)], ids=["each-family", "repeated"])
def test_user_data_registers_ipv6_addresses(lab: Lab, cases: list[str]) -> None:
    """The address, the name server that pods get, a serving certificate for the address; a play on the same families ends alike."""
    with ExitStack() as stack:
        born = {case: stack.enter_context(boot(lab, case, CLUSTER)) for case in cases}
        for case, node in born.items():
            node.wait_ready(PATIENCE)
            has_ipv6(node, case)
        if cases != LIVE:
            return
        with all_booted(lab, LIVE, ipv6=True) as live:
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
