# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a fleet as one HTML page."""

from __future__ import annotations

from collections.abc import Iterator

from ..outputs import page
from ..outputs.page import Cell, Span
from .model import Cause, Fleet, Row
from .text import summary, with_unit

_MAX_MESSAGES = 50
"""Nodes of a cause whose own message is shown, so that the page of a large fleet stays small. JSON has all messages."""

_MAIN = """\
<section aria-labelledby="causes">
<h2 id="causes">Causes</h2>
{% for cause, nodes in causes -%}
<article id="cause-{{ loop.index }}">
<h3><span class="{{ cause.rule.severity }}">{{ cause.rule.severity }}</span>: {{ cause.message }}</h3>
<p>Fix: {{ cause.fix }}</p>
<p>Why: {{ cause.rule.why }} <code>{{ cause.rule.id }}</code></p>
<details><summary>{{ nodes | length }} node{{ "" if nodes | length == 1 else "s" }}</summary>
{{ items(nodes) }}</details>
</article>
{% else -%}
<p>There are no findings.</p>
{% endfor -%}
</section>
<section aria-labelledby="nodes">
<h2 id="nodes">Nodes</h2>
{{ table("Table of all nodes", titles, rows, caption, "") }}</section>
"""
_CAPTION = "Support and certificates: days that are left. Disk: free space of the fullest file system."
_TITLES = (
    "Node",
    "State",
    "Kubelet",
    "Support",
    "Certificates",
    "Disk",
    "Clock",
    "Instance type",
    "Image",
    "Errors",
    "Warnings",
    "Notes",
    "Causes",
)


def html(fleet: Fleet) -> str:
    """The page. Nodes and causes are in the order of the fleet."""
    tables = {"causes": _causes(fleet), "titles": _TITLES, "rows": _rows(fleet), "caption": _CAPTION}
    return page.page("Fleet doctor", [summary(fleet)], _MAIN, **tables)


def _causes(fleet: Fleet) -> list[tuple[Cause, list[str]]]:
    """Each cause with its nodes, and their own messages if they differ from the message of the cause."""
    nodes: list[list[str]] = [[] for _cause in fleet.causes]
    for row in fleet.rows:
        for index, message in dict(row.findings).items():
            found = nodes[index]
            is_same = message == fleet.causes[index].message or len(found) >= _MAX_MESSAGES
            found.append(row.name if is_same else f"{row.name}: {message}")
    return list(zip(fleet.causes, nodes, strict=True))


def _rows(fleet: Fleet) -> Iterator[list[Cell]]:
    """The cells of each node. The last one has links to its causes."""
    for row in fleet.rows:
        values = row.values
        skew = "-" if values.clock_skew is None else f"{values.clock_skew:+.1f} s"
        yield [
            row.name, row.state, values.kubelet or "-", with_unit(values.support_days, "d"), with_unit(values.certificate_days, "d"),
            with_unit(values.disk_percent, "%"), skew, values.instance_type or "-", values.image or "-",
            *map(str, fleet.counts(row).values()), _links(fleet, row),
        ]  # fmt: skip


def _links(fleet: Fleet, row: Row) -> list[Span]:
    links = [Span(fleet.causes[index].rule.id, "link", f"#cause-{index + 1}") for index in dict(row.findings)]
    return [span for link in links for span in (Span(", "), link)][1:]
