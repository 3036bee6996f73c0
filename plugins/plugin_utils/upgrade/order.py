# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which nodes are upgraded."""

from __future__ import annotations

from collections.abc import Iterable

from .model import Node, Wanted


def in_order(nodes: Iterable[Node], wanted: Wanted) -> list[Node]:
    """Interrupted nodes first: they are unavailable until they are finished, so that others would wait for them.

    Then by zone if asked for. Then Ready nodes, because others may come back, and oldest first.
    """

    def place(node: Node) -> tuple[bool, str, bool, str, str]:
        return (node.mark is None, node.zone if wanted.by_zone else "", not node.is_ready, node.created, node.name)

    return sorted(nodes, key=place)


def sizes(number: int, wanted: Wanted, most: int) -> list[int]:
    """The sizes of the batches: the canary nodes one by one, then as many as may be unavailable."""
    batches = [1] * min(wanted.canary, number)
    while sum(batches) < number:
        batches.append(min(most, number - sum(batches)))
    return batches
