# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a fleet as text: a table with one line for each node, and the causes with their nodes and fixes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .model import Fleet, Row, count

_HEAD = ("NODE", "STATE", "KUBELET", "SUPPORT", "CERTS", "DISK", "FINDINGS", "WORST CAUSE")
_MAX_NODES = 5
"""Nodes of a cause that are named."""


def text(fleet: Fleet) -> str:
    """The whole report. Nodes and causes are in the order of the fleet."""
    lines = [*_table(fleet), "", *(line for index in range(len(fleet.causes)) for line in _cause(fleet, index)), summary(fleet), ""]
    return "\n".join(lines)


def summary(fleet: Fleet) -> str:
    """The number of nodes in each state and the number of findings."""
    states = [row.state for row in fleet.rows]
    parts = [f"{states.count(state)} {state}" for state in dict.fromkeys(states)]
    found = _counted(count(fleet.causes[index].rule for row in fleet.rows for index, _message in row.findings))
    return f"{_plural(len(states), 'node')}: {', '.join(parts) or 'none was examined'}; findings: {found or 'none'}"


def _counted(number: dict[str, int]) -> str:
    return ", ".join(_plural(count, severity) for severity, count in number.items() if count)


def _plural(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _table(fleet: Fleet) -> Iterator[str]:
    rows = [_HEAD, *(_cells(fleet, row) for row in fleet.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _cells(fleet: Fleet, row: Row) -> Sequence[str]:
    values, number = row.values, fleet.counts(row)
    worst = fleet.causes[row.findings[0][0]].rule if row.findings else None
    return (
        row.name,
        row.state,
        values.kubelet or "-",
        with_unit(values.support_days, "d"),
        with_unit(values.certificate_days, "d"),
        with_unit(values.disk_percent, "%"),
        " ".join(f"{count}{severity[0].upper()}" for severity, count in number.items() if count) or "-",
        worst.id if worst else "-",
    )


def with_unit(value: int | None, unit: str) -> str:
    """A number for people."""
    return "-" if value is None else f"{value} {unit}"


def _cause(fleet: Fleet, index: int) -> Iterator[str]:
    cause = fleet.causes[index]
    yield f"{cause.rule.severity}: {cause.message} [{cause.rule.id}]"
    yield f"  fix:   {cause.fix}"
    yield f"  nodes: {len(cause.nodes)} ({_named(cause.nodes)})"
    yield ""


def _named(names: Iterable[str]) -> str:
    names = tuple(names)
    more = f" and {len(names) - _MAX_NODES} more" if len(names) > _MAX_NODES else ""
    return ", ".join(names[:_MAX_NODES]) + more
