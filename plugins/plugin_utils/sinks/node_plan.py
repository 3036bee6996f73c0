# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a live node, as the action C(apply) sends it there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..artifacts.node_plan import Plan
from ..errors import Problem, SpecError
from ..families.registry import resolve
from ..spec.compute import needs_running_node


def node_plan(cluster: Any, node_group: Any, instance: Mapping[str, Any] | None = None) -> Plan:
    """The plan of a node of C(node_group) in C(cluster). Raises C(SpecError).

    instance: what the node's metadata service says of it. Its C(instance_type) is what C(max_pods: auto) asks for, and
    what reservations are computed from; without it the node group has to say enough.
    """
    running = None if instance is None else instance.get("instance_type")
    if running is not None and not isinstance(running, str):
        raise SpecError([Problem("instance.instance_type", "is not the name of an instance type", value=running)])
    spec, family = resolve(cluster, node_group, running)
    return family.plan(spec)


def needs_instance(node_group: Any) -> bool:
    """Whether C(node_plan) of this group needs the instance type of the node. Never raises."""
    return isinstance(node_group, Mapping) and needs_running_node(node_group)
