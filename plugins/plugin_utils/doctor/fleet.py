# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts the reports on nodes together, one after the other: of each node, only its row stays in memory."""

from __future__ import annotations

from collections.abc import Iterable

from ..rules import SEVERITIES
from .model import FAILED, NOT_JOINED, NOT_READY, READY, UNREACHABLE, Cause, Finding, Fleet, NodeReport, Row

_STATES = (UNREACHABLE, FAILED, NOT_JOINED, NOT_READY, READY)
"""Worst first. A node that cannot be examined can have any problem."""


class _Group:
    """The findings of one cause so far."""

    def __init__(self, first: Finding) -> None:
        self.first = first
        self.is_same = True
        self.nodes: list[str] = []

    def include(self, name: str, finding: Finding) -> str:
        """Add a finding of a node. Returns its message; equal messages are one object."""
        if not self.nodes or self.nodes[-1] != name:
            self.nodes.append(name)
        if finding.message == self.first.message:
            return self.first.message
        self.is_same = False
        return finding.message

    def cause(self) -> Cause:
        """The cause, once all nodes are known."""
        message = self.first.message if self.is_same else self.first.general
        return Cause(self.first.rule, message, self.first.fix, tuple(self.nodes))


def fleet(reports: Iterable[NodeReport]) -> Fleet:
    """The report on all nodes."""
    groups: dict[tuple[str, str], _Group] = {}
    rows = []
    for report in reports:
        found = []
        for finding in report.findings:
            key = (finding.rule.id, finding.general)
            found.append((key, groups.setdefault(key, _Group(finding)).include(report.name, finding)))
        rows.append((report.name, report.state, found, report.values))
    order = sorted(groups, key=lambda key: _rank(groups[key]))
    index = {key: position for position, key in enumerate(order)}
    shown = [Row(name, state, tuple((index[key], message) for key, message in found), values) for name, state, found, values in rows]
    causes = tuple(groups[key].cause() for key in order)
    return Fleet(tuple(sorted(shown, key=lambda row: _badness(row, causes))), causes)


def _rank(group: _Group) -> tuple[int, int, str, str]:
    return (SEVERITIES.index(group.first.rule.severity), -len(group.nodes), group.first.rule.id, group.first.general)


def _badness(row: Row, causes: tuple[Cause, ...]) -> tuple[int, tuple[int, ...], str]:
    severities = [causes[index].rule.severity for index, _message in row.findings]
    return (_STATES.index(row.state), tuple(-severities.count(severity) for severity in SEVERITIES), row.name)
