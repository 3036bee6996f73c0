# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on a drain as one HTML page."""

from __future__ import annotations

from collections.abc import Iterator

from ..outputs import page
from ..rules import catalogue
from .finding import SEVERITIES
from .groups import Group, groups
from .report import Report
from .text import rows, summary

_CLASSES = dict(zip(SEVERITIES, ("error", "warning", "note"), strict=True))
"""Severities → the classes of the style of every page."""

_WORDS = dict(zip(SEVERITIES, ("blocks", "loses data", "notice"), strict=True))
_MAX_PODS = 50
"""Pods of a finding that are listed, so that the page of a large cluster stays small. JSON has all."""

FINDINGS = """\
<section aria-labelledby="findings">
<h2 id="findings">Findings</h2>
{% for style, word, group, why, pods in findings -%}
<article id="finding-{{ loop.index }}">
<h3><span class="{{ style }}">{{ word }}</span>: {{ group.subject() }}: {{ group.reason }}</h3>
<p>Fix: {{ group.fix }}</p>
<p>Why: {{ why }} <code>{{ group.id }}</code></p>
{% if pods -%}
<details><summary>{{ group.pods | length }} pods</summary>
{{ items(pods) }}</details>
{% endif -%}
</article>
{% else -%}
<p>There are no findings.</p>
{% endfor -%}
</section>
"""
"""A section of a page. Its value C(findings) is C(shown_findings)."""

_MAIN = f"""\
{FINDINGS}<section aria-labelledby="nodes">
<h2 id="nodes">Nodes</h2>
{{{{ table("Table of all nodes", titles, rows, caption, "") }}}}</section>
"""
_TITLES = ("Node", "Pods", "Blocks", "Loses data", "Notices", "Worst finding")


def html(report: Report) -> str:
    """The page. Nodes are in the order of the drain, findings are sorted with the worst first."""
    caption = "Pods: the pods that the drain evicts. Static pods and pods of DaemonSets stay."
    return page.page(
        "Drain report", [summary(report)], _MAIN, findings=list(shown_findings(report)), titles=_TITLES, rows=rows(report), caption=caption
    )


def shown_findings(report: Report) -> Iterator[tuple[str, str, Group, str, list[str]]]:
    """The style, the severity, the finding, why it matters, and its pods."""
    for group in groups(report.findings):
        pods = list(group.pods[:_MAX_PODS]) if len(group.pods) > 1 else []
        if len(group.pods) > _MAX_PODS:
            pods.append(f"and {len(group.pods) - _MAX_PODS} more")
        yield _CLASSES[group.severity], _WORDS[group.severity], group, catalogue()[group.id].why, pods
