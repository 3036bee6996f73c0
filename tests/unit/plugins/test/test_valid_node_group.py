# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The test valid_node_group never fails itself."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.test.valid_node_group import TestModule as Plugin

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
CLUSTER = {"name": "demo", "endpoint": "https://abc.example.com", "certificate_authority": CA, "service_cidr": "10.100.0.0/16"}
valid_node_group = Plugin().tests()["valid_node_group"]


def test_valid() -> None:
    assert valid_node_group({"family": "al2023"}, CLUSTER) is True
    assert valid_node_group({"family": "al2023", "mode": "managed"}) is True


@pytest.mark.parametrize("group", [{}, {"family": "al2024"}, {"family": "al2023", "max_pods": 0}, None, 5, [], "al2023", {1: 2}])
def test_invalid(group: Any) -> None:
    assert valid_node_group(group, CLUSTER) is False


def test_recursive() -> None:
    group: dict[str, Any] = {"family": "al2023"}
    group["labels"] = group
    assert valid_node_group(group, CLUSTER) is False
