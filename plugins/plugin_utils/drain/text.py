# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on a drain as text: a line for each node, then the findings, worst first."""

from __future__ import annotations

from collections.abc import Iterator

from .finding import SEVERITIES, plural
from .groups import groups
from .report import Report, counts

_HEAD = ("NODE", "PODS", "BLOCKS", "LOSES DATA", "NOTICES", "WORST FINDING")


def text(report: Report) -> str:
    """The whole report."""
    lines = [*_table(report), ""]
    for group in groups(report.findings):
        lines += [f"{group.severity}: {group.subject()}: {group.reason} [{group.id}]", f"  fix: {group.fix}", ""]
    return "\n".join([*lines, summary(report), ""])


def summary(report: Report) -> str:
    """Whether the nodes can be drained, and the number of findings."""
    number = counts(report.findings)
    words = {SEVERITIES[0]: "blocker", SEVERITIES[1]: "loss of data", SEVERITIES[2]: "notice"}
    found = ", ".join(_plural(number[name], words[name]) for name in SEVERITIES if number[name]) or "no finding"
    can = "cannot be drained now" if report.is_blocked else "can be drained"
    return f"{plural(len(report.nodes), 'node')} with {plural(sum(report.pods), 'pod')} to evict {can}: {found}"


def _plural(number: int, word: str) -> str:
    return f"{number} losses of data" if number != 1 and word == "loss of data" else plural(number, word)


def rows(report: Report) -> Iterator[tuple[str, ...]]:
    """The cells of each node."""
    by_node: dict[str, list[int]] = {name: [0] * len(SEVERITIES) for name in report.nodes}
    worst: dict[str, str] = {}
    for finding in report.findings:
        if finding.node in by_node:
            by_node[finding.node][finding.rank] += 1
            worst.setdefault(finding.node, finding.id)
    for name, pods in zip(report.nodes, report.pods, strict=True):
        yield name, str(pods), *map(str, by_node[name]), worst.get(name, "-")


def _table(report: Report) -> Iterator[str]:
    found = [_HEAD, *rows(report)]
    widths = [max(len(row[column]) for row in found) for column in range(len(_HEAD))]
    for row in found:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
