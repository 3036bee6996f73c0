# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many nodes of a group may be unavailable, and how many are."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..errors import Problems
from .model import Group, Node, Observed, Operation

_MAX_UNAVAILABLE = re.compile(r"(?P<number>[0-9]{1,4})(?P<percent>%?)")


def check_max_unavailable(value: object, problems: Problems, path: str = "max_unavailable") -> str:
    """The number or percentage as text, with a problem if it is neither."""
    text = str(value).strip()
    match = _MAX_UNAVAILABLE.fullmatch(text)
    number = int(match["number"]) if match else 0
    if isinstance(value, bool) or match is None or number < 1 or (match["percent"] and number > 100):
        allowed = "a number from 1, or a percentage from 1% to 100%"
        problems.add(
            "input.out_of_range", path, "is not a number of nodes", value=value, allowed=allowed, fix='set 1, or for example "33%"'
        )
    return text


def limit(max_unavailable: str, desired: int) -> int:
    """The number of nodes that may be unavailable: a percentage of the desired capacity is rounded down, and is at least 1."""
    if max_unavailable.endswith("%"):
        return max(1, desired * int(max_unavailable[:-1]) // 100)
    return max(1, int(max_unavailable))


def desired_by_others(group: Group) -> int:
    """The desired capacity without the nodes that the upgrade added."""
    return group.desired - surge(group)


def surge(group: Group) -> int:
    """The nodes that the group has in addition, with the operation that was recorded last, if it has happened."""
    operation = group.capacity.operation
    change = operation.after - operation.before if operation is not None and has_happened(group, operation) else 0
    return max(0, group.capacity.surge + change)


def has_happened(group: Group, operation: Operation) -> bool:
    """Whether an operation was carried out. If others changed the capacity meanwhile, this assumes the case in which more nodes count as
    unavailable."""
    if operation.kind != "terminate":
        return group.desired == operation.after
    is_active = any(instance.id == operation.instance and instance.is_active for instance in group.instances)
    return not is_active and (group.desired != operation.before or operation.before == operation.after)


def desired(observed: Observed) -> int:
    """The number of nodes that the group should have."""
    return len(observed.nodes) if observed.group is None else desired_by_others(observed.group)


def active_nodes(observed: Observed) -> list[Node]:
    """The nodes that belong to the group and stay in it."""
    if observed.group is None:
        return list(observed.nodes)
    active = {instance.id for instance in observed.group.instances if instance.is_active}
    return [node for node in observed.nodes if node.instance in active]


def unavailable(observed: Observed) -> int:
    """The desired capacity minus the nodes that are Ready and schedulable. Less than 0 while the group has more nodes than it needs."""
    return desired(observed) - sum(node.is_available for node in active_nodes(observed))


def unavailable_names(nodes: Iterable[Node]) -> tuple[str, ...]:
    """The nodes that are not available, each with the reason."""
    return tuple(f"{node.name} ({_reason(node)})" for node in nodes if not node.is_available)


def _reason(node: Node) -> str:
    if not node.is_ready:
        return "not Ready"
    return "cordoned" if node.is_cordoned else "tainted against new pods"


def unavailable_with(observed: Observed, node: Node) -> int:
    """The same after C(node) is cordoned."""
    return unavailable(observed) + node.is_available
