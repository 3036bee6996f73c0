# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a live node, as the action C(apply) sends it there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..artifacts.node_plan import Plan
from ..families.registry import resolve


def node_plan(cluster: Any, node_group: Any, instance: Mapping[str, Any] | None = None) -> Plan:
    """The plan of a node of C(node_group) in C(cluster). Raises C(SpecError).

    instance: what the node's metadata service says of it; C(instance_type) is used where a value has to be computed from it.
    """
    spec, family = resolve(cluster, node_group)
    return family.plan(spec)
