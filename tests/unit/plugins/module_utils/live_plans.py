# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans of every family as the library makes them, and nodes as they are observed."""

from __future__ import annotations

import copy
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.manifest import Manifest
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.observe import NodeState
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.plan import Plan, parse
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.systemd import Unit
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_plan import node_plan

CLUSTER = {
    "name": "demo",
    "endpoint": "https://ABC.gr7.eu-central-1.eks.amazonaws.com",
    "certificate_authority": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=",
    "service_cidr": "10.100.0.0/16",
    "region": "eu-central-1",
    "kubernetes_version": "1.30",
}
STATIC: dict[str, Any] = {"strategy": "static", "max_pods": 29, "instance": {"type": "m5.large"}}
GROUPS: dict[str, dict[str, Any]] = {
    "al2": {"family": "al2", **STATIC},
    "al2 script": {"family": "al2"},
    "ubuntu": {"family": "ubuntu", **STATIC},
    "ubuntu script": {"family": "ubuntu"},
    "al2023": {"family": "al2023"},
}


def plan(kind: str, **fields: Any) -> dict[str, Any]:
    """The plan of a node group as plain data."""
    return copy.deepcopy(node_plan(CLUSTER, {**GROUPS[kind], **fields}).plain())


def typed_plan(kind: str, **fields: Any) -> Plan:
    """The plan of a node group as the node decodes it."""
    return parse(plan(kind, **fields))


def node_state(**observed: Any) -> NodeState:
    """A node with nothing but what a test observes of it."""
    nothing = NodeState({}, Manifest(), {}, None, (), None, None, False)
    return nothing._replace(**observed)


def unit(name: str, active: str = "active", sub: str = "running", file_state: str = "enabled", load: str = "loaded") -> Unit:
    """A unit as systemd would describe it."""
    return Unit(name, load, active, sub, file_state, 0)
