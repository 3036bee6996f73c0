# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings as a page: for each source its text with the findings, what a node does with it, and the differences from another version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...data import kubernetes_versions
from ...difference.compare import differences
from ...difference.shown import value_text
from ...explanation.explain import explain
from ...explanation.model import Explanation, Setting
from ...explanation.outcome import Machine
from ...formats.secrets import without_secret
from ...lint.lint import stored_size
from ...readers.model import Place
from ..page import Cell, Span, page
from ..source_files import File
from .excerpts import MACROS, excerpts
from .source import Source, counts, file_place
from .text import summary

_MAIN = """\
{% if overview | length > 1 -%}
<section aria-labelledby="sources">
<h2 id="sources">Sources</h2>
{{ table("Table of all sources", ("Source", "Family", "Bytes", "Errors", "Warnings", "Notes"), overview) }}</section>
{% endif -%}
{% for one in sources %}{% set number = loop.index -%}
<section aria-labelledby="source-{{ number }}">
<h2 id="source-{{ number }}">{{ one.name }}</h2>
{% if one.parts -%}
<h3>Parts</h3>
{{ table("Parts of " ~ one.name, ("Part", "Content", "Media type", "Line", "Bytes", "Encoding"), one.parts, one.size) }}
{%- endif -%}
<h3>Findings</h3>
{% if not one.source.findings -%}
<p>There are no findings.</p>
{% endif -%}
{% for excerpt in one.excerpts -%}
{{ text(excerpt, one.name) }}
{%- else -%}
{% for row in one.source.findings %}{{ finding(row) }}{% endfor -%}
{% endfor -%}
{% if one.is_explained -%}
<h3>What a node does when it boots</h3>
{{ table("Timeline of " ~ one.name, ("Stage", "Unit", "Step", "Line"), one.timeline) if one.timeline else "It is not known." }}
<h3>Files</h3>
{% for file in one.files -%}
<details><summary>{{ file.path }} <small>({{ file.written_by }})</small></summary>
{% if file.content is string -%}
<pre class="text" tabindex="0" role="region" aria-label="{{ file.path }}: {{ one.name }}">{{ file.content }}</pre>
{% else -%}
<p>The content is not known.</p>
{% endif -%}
</details>
{% else -%}
<p>No files are written, or they are not known.</p>
{% endfor -%}
<h3>Configuration of kubelet</h3>
{% for title, rows in one.settings -%}
{{ table(title ~ " of " ~ one.name, (title, "Value", "Origin"), rows) }}
{%- else -%}
<p>It is not known.</p>
{% endfor -%}
{% if one.defaults -%}
<details><summary>{{ one.defaults | length }} defaults of kubelet</summary>
{{ table("Defaults of kubelet: " ~ one.name, ("Field", "Value"), one.defaults) }}</details>
{% endif -%}
<h3>What is not known</h3>
{{ items(one.unknown) if one.unknown else "Everything is known." }}
{% elif one.source.is_secret -%}
<p>The file marks this user data as sensitive, so what a node does with it is not shown.</p>
{% endif -%}
{% if one.compared -%}
<h3>Differences from {{ one.compared.path }}</h3>
{% if one.differences -%}
{{ table("Differences of " ~ one.name, ("Setting", "Before", "After"), one.differences) }}
{%- else -%}
<p>Both mean the same.</p>
{% endif -%}
{% endif -%}
</section>
{% endfor -%}
"""
_CONDITIONAL = " (only under a condition)"
_STAGES = {
    "early": "before cloud-init",
    "init": "cloud-init: init",
    "config": "cloud-init: config",
    "final": "cloud-init: final",
    "bootstrap": "bootstrap script",
    "nodeadm": "nodeadm",
    "settings": "settings",
    "launch": "EC2Launch",
    "kubelet": "kubelet",
}
_ORIGINS = {
    "user_data": "user data",
    "image": "the image",
    "instance_type": "computed from the instance type",
    "service_cidr": "computed from the service CIDR",
    "instance": "the instance",
    "kubelet": "default of kubelet",
}


def html(sources: Sequence[Source], machine: Machine | None = None, others: Mapping[int, File] | None = None) -> str:
    """The page. machine: what is known of the nodes. others: what sources are compared with, by their index."""
    compared = others or {}
    views = [_view(source, machine or Machine(), compared.get(index)) for index, source in enumerate(sources)]
    overview = [_overview(number, source) for number, source in enumerate(sources, 1)]
    return page("User data", [summary(sources), _known(machine or Machine())], MACROS + _MAIN, sources=views, overview=overview)


def _known(machine: Machine) -> str:
    known = [] if machine.version is None else [f"Kubernetes {machine.version[0]}.{machine.version[1]}"]
    known += [] if machine.shape is None else [machine.shape.type or f"an instance type with {machine.shape.vcpus} vCPUs"]
    return f"Explained for {' and '.join(known)}." if known else "Explained for any Kubernetes version and any instance type."


def _overview(number: int, source: Source) -> list[Cell]:
    link = [Span(_name(source), "link", f"#source-{number}")]
    return [link, _family(source), str(stored_size(source.data, source.user_data)), *map(str, counts([source]).values())]


def _name(source: Source) -> str:
    return f"{source.name} {source.path}".rstrip() if source.is_file else source.title


def _family(source: Source) -> str:
    return "unknown" if source.family is None else str(kubernetes_versions()["families"][source.family]["name"])


def _view(source: Source, machine: Machine, other: File | None) -> dict[str, Any]:
    """The values of the template for one source."""
    name = _name(source)
    view: dict[str, Any] = {"source": source, "name": name, "excerpts": excerpts(source), "parts": _parts(source)}
    view["size"] = f"Family: {_family(source)}. {stored_size(source.data, source.user_data)} bytes of at most 16,384."
    view["is_explained"] = source.has_text and not source.is_secret
    view["compared"] = other if view["is_explained"] else None
    if view["is_explained"]:
        view |= _explained(source, explain(source.data, source.family, machine))
    if view["compared"] is not None:
        rows = differences(view["compared"].content, source.data, source.family)
        view["differences"] = [[row.path, value_text(row.before), value_text(row.after)] for row in rows]
    return view


def _parts(source: Source) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for part in source.user_data.parts:
        line = str(file_place(source, Place(part.index, 1, 1, 0)).line)
        encoding = ", ".join(filter(None, (*source.user_data.layers, part.encoding))) or "none"
        media_type, encoding = map(without_secret, (part.media_type or "none", encoding))
        rows.append([str(part.index + 1), part.kind, media_type, line, str(part.size), encoding])
    return rows


def _explained(source: Source, found: Explanation) -> dict[str, Any]:
    kubelet = {"Field": found.config, "Flag": found.flags, "Setting of the bootstrap program": found.settings}
    tables = [(title, [_setting(source, name, one) for name, one in _own(table)]) for title, table in kubelet.items()]
    plain = found.plain()
    steps = [
        [_STAGES[step["stage"]], step["unit"], step["does"] + (_CONDITIONAL if step["conditional"] else ""), _line(source, one.where)]
        for step, one in zip(plain["timeline"], found.timeline, strict=True)
    ]
    unknown = [_unknown(source, row, one.where) for row, one in zip(plain["unknown"], found.unknown, strict=True)]
    defaults = [[name, _value(name, one)] for name, one in sorted(found.config.items()) if one.source == "kubelet"]
    settings = [(title, rows) for title, rows in tables if rows]
    return {"timeline": steps, "files": plain["files"], "settings": settings, "defaults": defaults, "unknown": unknown}


def _own(table: Mapping[str, Setting]) -> Iterable[tuple[str, Setting]]:
    """The settings that are not defaults of kubelet; those of user data first."""
    own = [(name, one) for name, one in table.items() if one.source != "kubelet"]
    return sorted(own, key=lambda row: (row[1].source != "user_data", row[0]))


def _setting(source: Source, name: str, one: Setting) -> list[Cell]:
    line = _line(source, one.where)
    where = ", ".join(filter(None, (one.path or "", line and f"line {line}")))
    return [name, _value(name, one), _ORIGINS[one.source] + (f": {where}" if where else "")]


def _value(name: str, one: Setting) -> str:
    return "unknown" if one.value is None else value_text(one.plain(name)["value"])


def _unknown(source: Source, row: Mapping[str, Any], where: Place | None) -> Cell:
    line = _line(source, where)
    return [Span(f"{f'Line {line}: ' if line else ''}"), Span(row["what"], "code"), Span(f": {row['why']}")]


def _line(source: Source, where: Place | None) -> str:
    """The line in the file. In encoded text, the part and the line in it."""
    if where is None:
        return ""
    place = file_place(source, where)
    return str(place.line) if place.length is not None else f"{place.line} (decoded: {where.line})"
