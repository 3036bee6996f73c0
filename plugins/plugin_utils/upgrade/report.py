# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The blockers of an upgrade and its plan, as text, JSON and a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from ..drain.groups import groups
from ..drain.json_report import plain_report
from ..drain.page import FINDINGS, shown_findings
from ..drain.report import Report
from ..drain.text import summary
from ..outputs import page
from .plan import Plan, Row

_HEAD = ("BATCH", "NODE", "INSTANCE", "ZONE", "KUBELET", "VERSION", "PODS", "STATE")
_WAYS = {"replace": "replace the instances", "in_place": "upgrade in place", "managed": "EKS replaces the instances"}
_MAIN = f"""\
{FINDINGS}<section aria-labelledby="plan">
<h2 id="plan">Plan</h2>
{{{{ items(steps) }}}}
{{{{ table("Nodes in order", titles, rows, caption, "") }}}}</section>
"""


def text(plan: Plan, found: Report) -> str:
    """For a terminal."""
    return "\n".join([*_findings(found), summary(found), "", *_plan(plan), ""])


def json_report(plan: Plan, found: Report) -> str:
    """For programs."""
    content = {"plan": plan.plain(), **plain_report(found)}
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def html(plan: Plan, found: Report) -> str:
    """For a browser."""
    return page.page(
        f"Upgrade of {plan.group}",
        [headline(plan), summary(found)],
        _MAIN,
        findings=list(shown_findings(found)),
        steps=plan.steps,
        titles=[title.capitalize() for title in _HEAD],
        rows=[_cells(row) for row in plan.rows],
        caption=_caption(plan),
    )


REPORTS: Mapping[str, Callable[[Plan, Report], str]] = {"text": text, "json": json_report, "html": html}


def headline(plan: Plan) -> str:
    """The upgrade in one sentence."""
    begun = "an interrupted upgrade continues; " if plan.is_interrupted else ""
    if not plan.rows:
        return f"{plan.group}: {begun}no node has to be upgraded ({plan.upgraded} have version {plan.target})"
    change = f"version {plan.current} to {plan.target}" if plan.current != plan.target else f"version {plan.target}"
    number = f"{len(plan.rows)} of {len(plan.rows) + plan.upgraded} nodes"
    return f"{plan.group}: {begun}{_WAYS[plan.way]} of {number}, {change}"


def _caption(plan: Plan) -> str:
    number = max(0, plan.unavailable)
    names = f": {', '.join(plan.unavailable_nodes)}" if plan.unavailable_nodes else ""
    begins = f" The upgrade does not begin: {plan.obstacle}." if plan.obstacle else ""
    return f"Up to {plan.max_unavailable} of {plan.desired} nodes may be unavailable; {number} are now{names}.{begins}"


def _plan(plan: Plan) -> Iterator[str]:
    yield headline(plan)
    if not plan.rows:
        return
    yield _caption(plan)
    yield from plan.steps
    yield ""
    rows = [_HEAD, *(_cells(row) for row in plan.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _cells(row: Row) -> Sequence[str]:
    return (
        str(row.batch), row.node or "-", row.instance or "-", row.zone or "-", row.kubelet or "-", row.version or "-", str(row.pods),
        row.state,
    )  # fmt: skip


def _findings(found: Report) -> Iterator[str]:
    for group in groups(found.findings):
        yield f"{group.severity}: {group.subject()}: {group.reason} [{group.id}]"
        yield f"  fix: {group.fix}"
        yield ""
