# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which nodes are upgraded."""

from __future__ import annotations

from collections.abc import Iterable

from .model import Node, Wanted


def in_order(nodes: Iterable[Node], wanted: Wanted) -> list[Node]:
    """Available nodes first: nodes that are not Ready may come back. Then by zone if asked for, oldest first."""
    return sorted(nodes, key=lambda node: (node.zone if wanted.by_zone else "", not node.is_ready, node.created, node.name))


def sizes(number: int, wanted: Wanted, most: int) -> list[int]:
    """The sizes of the batches: the canary nodes one by one, then as many as may be unavailable."""
    batches = [1] * min(wanted.canary, number)
    while sum(batches) < number:
        batches.append(min(most, number - sum(batches)))
    return batches
