# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a fleet as one HTML page, which needs nothing from other machines and no script."""

from __future__ import annotations

from collections.abc import Iterator

from .model import Cause, Fleet
from .text import summary, with_unit

_MAX_MESSAGES = 50
"""Nodes of a cause whose own message is shown, so that the page of a large fleet stays small. JSON has all messages."""

_TEMPLATE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fleet doctor</title>
<style>
:root { color-scheme: light dark; --line: #8888; --error: #b00020; --warning: #7a4b00; --note: #0b5394 }
@media (prefers-color-scheme: dark) { :root { --error: #ff8a95; --warning: #ffc266; --note: #8ec5ff } }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 75rem; padding: 1rem; overflow-wrap: anywhere }
article { border-top: 1px solid var(--line); padding: .5rem 0 }
h3 { font-size: 1rem; margin: .5rem 0 }
p, ul { margin: .25rem 0 }
.error { color: var(--error) }
.warning { color: var(--warning) }
.note { color: var(--note) }
.table { overflow-x: auto }
table { border-collapse: collapse; overflow-wrap: normal }
caption { text-align: left }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top; white-space: nowrap }
</style>
</head>
<body>
<header>
<h1>Fleet doctor</h1>
<p>{{ summary }}</p>
</header>
<main>
<section aria-labelledby="causes">
<h2 id="causes">Causes</h2>
{% for cause, nodes in causes -%}
<article id="cause-{{ loop.index }}">
<h3><span class="{{ cause.rule.severity }}">{{ cause.rule.severity }}</span>: {{ cause.message }}</h3>
<p>Fix: {{ cause.fix }}</p>
<p>Why: {{ cause.rule.why }} <code>{{ cause.rule.id }}</code></p>
<details><summary>{{ nodes | length }} node{{ "" if nodes | length == 1 else "s" }}</summary>
<ul>
{% for name, message in nodes -%}
<li>{{ name }}{{ ": " if message }}{{ message }}</li>
{% endfor -%}
</ul>
</details>
</article>
{% else -%}
<p>There are no findings.</p>
{% endfor -%}
</section>
<section aria-labelledby="nodes">
<h2 id="nodes">Nodes</h2>
<div class="table" role="region" aria-label="Table of all nodes" tabindex="0">
<table>
<caption>Support and certificates: days that are left. Disk: free space of the fullest file system.</caption>
<thead><tr>{% for title in titles %}<th scope="col">{{ title }}</th>{% endfor %}</tr></thead>
<tbody>
{% for cells, causes_of_node in rows -%}
<tr><th scope="row">{{ cells[0] }}</th>{% for cell in cells[1:] %}<td>{{ cell }}</td>{% endfor -%}
<td>{% for number, rule in causes_of_node %}{{ ", " if not loop.first }}<a href="#cause-{{ number }}">{{ rule }}</a>{% endfor %}</td></tr>
{% endfor -%}
</tbody>
</table>
</div>
</section>
</main>
</body>
</html>
"""

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


def page(fleet: Fleet) -> str:
    """The page. Nodes and causes are in the order of the fleet."""
    # Imported here, because only this format needs it.
    from jinja2 import Environment

    template = Environment(autoescape=True).from_string(_TEMPLATE)
    return template.render(summary=summary(fleet), causes=_causes(fleet), titles=_TITLES, rows=_rows(fleet)) + "\n"


def _causes(fleet: Fleet) -> list[tuple[Cause, list[tuple[str, str]]]]:
    """Each cause with its nodes, and their own messages if they differ from the message of the cause."""
    nodes: list[list[tuple[str, str]]] = [[] for _cause in fleet.causes]
    for row in fleet.rows:
        for index, message in dict(row.findings).items():
            found = nodes[index]
            found.append((row.name, "" if message == fleet.causes[index].message or len(found) >= _MAX_MESSAGES else message))
    return list(zip(fleet.causes, nodes, strict=True))


def _rows(fleet: Fleet) -> Iterator[tuple[list[str], list[tuple[int, str]]]]:
    """The cells of each node, and the numbers and rules of its causes."""
    for row in fleet.rows:
        values = row.values
        skew = "-" if values.clock_skew is None else f"{values.clock_skew:+.1f} s"
        cells = [
            row.name, row.state, values.kubelet or "-", with_unit(values.support_days, "d"), with_unit(values.certificate_days, "d"),
            with_unit(values.disk_percent, "%"), skew, values.instance_type or "-", values.image or "-",
            *map(str, fleet.counts(row).values()),
        ]  # fmt: skip
        yield cells, [(index + 1, fleet.causes[index].rule.id) for index in dict(row.findings)]
