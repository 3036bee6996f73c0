# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports as one HTML page, which needs nothing from other machines and no script: the frame, the style and the elements of every page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

_FRAME = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
:root { color-scheme: light dark; --line: #8888; --error: #b00020; --warning: #7a4b00; --note: #0b5394 }
@media (prefers-color-scheme: dark) { :root { --error: #ff8a95; --warning: #ffc266; --note: #8ec5ff } }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 75rem; padding: 1rem; overflow-wrap: anywhere }
article, main > section + section { border-top: 1px solid var(--line) }
article { padding: .5rem 0 }
h3 { font-size: 1rem; margin: 1rem 0 .25rem }
article h3 { margin-top: .5rem }
p, ul { margin: .25rem 0 }
summary { cursor: pointer; padding: .25rem 0 }
.error { color: var(--error) }
.warning { color: var(--warning) }
.note { color: var(--note) }
.table, .text { overflow-x: auto; overflow-wrap: normal }
table { border-collapse: collapse }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top; white-space: nowrap }
.prose th, .prose td { max-width: min(36rem, 75vw); overflow-wrap: break-word; white-space: pre-wrap }
.prose td { min-width: 3rem }
.prose td:last-child { min-width: 12rem }
@media (max-width: 40rem) { .prose table { width: max-content } }
.prose th[scope=row] { font-weight: normal }
code, .text { font-family: ui-monospace, monospace; font-size: .875rem }
.text { border: 1px solid var(--line); container-type: inline-size; margin: .25rem 0; padding: .25rem 0; tab-size: 4; white-space: pre }
.lines { min-width: 100%; width: max-content }
.line { min-height: 1.5em }
.line::before, .carets::before { content: attr(data-line); display: inline-block; margin-right: 1em;
  opacity: .8; text-align: right; width: 3.5em }
.carets { font-weight: bold }
.finding { border-left: .25rem solid; box-sizing: border-box; font-family: system-ui, sans-serif; left: 0; margin: .25rem 0 .5rem;
  padding: 0 .75rem; position: sticky; white-space: normal; overflow-wrap: anywhere; width: 100cqw }
.finding p { color: CanvasText }
</style>
</head>
<body>
<header>
<h1>{{ title }}</h1>
{% for sentence in summary %}<p>{{ sentence }}</p>
{% endfor -%}
</header>
<main>
{% block main %}{% endblock -%}
</main>
</body>
</html>
"""

_ELEMENTS = """\
{% macro inline(cell) -%}
{% if cell is string %}{{ cell }}{% else %}{% for one in cell -%}
{% if one.kind == "link" %}<a href="{{ one.href }}">{{ one.text }}</a>
{%- elif one.kind == "text" %}{{ one.text }}{% else %}<{{ one.kind }}>{{ one.text }}</{{ one.kind }}>{% endif -%}
{% endfor %}{% endif -%}
{% endmacro -%}

{% macro table(label, titles, rows, caption="", kind="prose") -%}
{% if caption %}<p>{{ caption }}</p>
{% endif -%}
<div class="table {{ kind }}" role="region" aria-label="{{ label }}" tabindex="0">
<table>
<thead><tr>{% for title in titles %}<th scope="col">{{ title }}</th>{% endfor %}</tr></thead>
<tbody>
{% for cells in rows -%}
<tr>{% for cell in cells %}
{%- if loop.first %}<th scope="row">{{ inline(cell) }}</th>{% else %}<td>{{ inline(cell) }}</td>{% endif %}
{%- endfor %}</tr>
{% endfor -%}
</tbody>
</table>
</div>
{% endmacro -%}

{% macro items(list) -%}
<ul>
{% for item in list -%}
<li>{{ inline(item) }}</li>
{% endfor -%}
</ul>
{% endmacro -%}
"""


@dataclass(frozen=True)
class Span:
    """A piece of a sentence. href: of a link."""

    text: str
    kind: Literal["text", "code", "strong", "link"] = "text"
    href: str = ""


_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, characters that change the direction of text, and what UTF-8 cannot encode."""

Cell = str | Sequence[Span]
"""A cell of a table, or an item of a list."""


def page(title: str, summary: Sequence[str], main: str, **values: Any) -> str:
    """A page. main: a Jinja template for its content, which can use C(inline), C(table) and C(items). All values are escaped."""
    # Imported here, because only this format needs it.
    from jinja2 import DictLoader, Environment, StrictUndefined

    imported = '{% from "elements" import inline, items, table %}'
    content = f'{{% extends "frame" %}}{{% block main %}}{imported}{main}{{% endblock %}}'
    templates = {"frame": _FRAME, "elements": _ELEMENTS, "content": content}
    # A page with "autoescape" turned off could run scripts from user data.
    environment = Environment(autoescape=True, loader=DictLoader(templates), undefined=StrictUndefined)
    text = environment.get_template("content").render(title=title, summary=summary, **values)
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text) + "\n"


def report_format(chosen: str | None, report: str | None) -> str:
    """The format of a report. Without a choice, the name of its file decides."""
    return chosen or ("html" if report is not None and report.lower().endswith(".html") else "text")
