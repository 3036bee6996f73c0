# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings that say the same about several pods."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .finding import Finding, named, plural


class Group(NamedTuple):
    """Findings with the same rule, severity, reason and fix. pods, nodes: in the order of the report."""

    id: str
    severity: str
    reason: str
    fix: str
    pods: tuple[str, ...]
    nodes: tuple[str, ...]

    def subject(self, most: int = 3) -> str:
        """What the findings are about."""
        nodes = f" on {_counted(self.nodes, 'node', most)}" if self.nodes else ""
        if self.pods:
            return _counted(self.pods, "pod", most) + nodes
        return _counted(self.nodes, "node", most) if self.nodes else "cluster"


def _counted(names: tuple[str, ...], word: str, most: int) -> str:
    return names[0] if len(names) == 1 else f"{plural(len(names), word)} ({named(names, most)})"


def groups(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """The groups, in the order of their first findings."""
    found: dict[tuple[str, str, str, str], list[Finding]] = {}
    for one in findings:
        found.setdefault((one.id, one.severity, one.reason, one.fix), []).append(one)
    return tuple(
        Group(*key, tuple(one.pod for one in same if one.pod), tuple(dict.fromkeys(one.node for one in same if one.node)))
        for key, same in found.items()
    )
