# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of user data with its findings below their lines, for a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...formats.secrets import find_secrets
from ...lint.finding import Finding
from ...readers.model import Place
from .source import Source, file_place, line_at
from .text import excerpt, is_withheld

MACROS = """\
{% macro finding(one) -%}
<div class="finding {{ one.rule.severity }}"><strong>{{ one.rule.severity }}</strong>: {{ one.message }} <code>{{ one.rule.id }}</code>
{%- if one.fix %}<p>Fix: {{ one.fix }}</p>{% endif %}<p>Why: {{ one.rule.why }}</p></div>
{%- endmacro -%}
{% macro text(excerpt, name) -%}
{% if excerpt.note %}<p>{{ excerpt.note }}</p>
{% endif -%}
{% if excerpt.rows -%}
<div class="text" role="region" aria-label="Text of {{ excerpt.name }}: {{ name }}" tabindex="0"><div class="lines">
{%- for row in excerpt.rows -%}
{% if row.text is not none %}<div class="line" data-line="{{ row.number }}">{{ row.text }}</div>{% endif -%}
{% if row.finding -%}
{% if row.carets %}<div class="carets {{ row.finding.rule.severity }}" aria-hidden="true">{{ row.carets }}</div>{% endif -%}
{{ finding(row.finding) }}
{%- endif -%}
{% endfor -%}
</div></div>
{% endif -%}
{% endmacro -%}
"""
"""Macros of a page: C(finding), and C(text) for an excerpt of the source C(name)."""
_MOST_LINES = 500
"""Lines of a text that is shown as a whole."""
_AROUND = 3
"""Lines before and after a finding that are shown of a longer text."""


@dataclass(frozen=True)
class Row:
    """A line, with the carets below it and its finding.

    number: of the line in the file, or in the decoded text. text: None if the row above has the same.
    """

    number: str
    text: str | None
    carets: str = ""
    finding: Finding | None = None


@dataclass(frozen=True)
class Excerpt:
    """The rows of a part, or of the document itself. note: why lines are left out, or C('')."""

    name: str
    rows: tuple[Row, ...]
    note: str


_LEFT_OUT = Row("", "…")


def excerpts(source: Source) -> list[Excerpt]:
    """The parts, and before them the lines of the document that have findings of their own."""
    if not source.has_text:
        return []
    found = []
    if any(finding.where.part is None for finding in source.findings) or not source.user_data.parts:
        found.append(_excerpt(source, None, source.user_data.document))
    for part in source.user_data.parts:
        found.append(_excerpt(source, part.index, part.text))
    return found


def _excerpt(source: Source, part: int | None, text: str) -> Excerpt:
    findings: dict[int, list[Finding]] = {}
    for finding in source.findings:
        if finding.where.part == part:
            findings.setdefault(finding.where.line, []).append(finding)
    lines = text.removesuffix("\n").split("\n")
    shown, note = _lines_to_show(source, part, text, len(lines), sorted(findings))
    rows: list[Row] = []
    last = 0
    for number in shown:
        if number != last + 1:
            rows.append(_LEFT_OUT)
        rows += _rows(source, Place(part, number, 1, 0), findings.get(number, []))
        last = number
    if last < len(lines):
        rows.append(_LEFT_OUT)
    name = "the document" if part is None else "the user data" if len(source.user_data.parts) == 1 else f"part {part + 1}"
    return Excerpt(name, tuple(rows), note)


def _lines_to_show(source: Source, part: int | None, text: str, number: int, found: list[int]) -> tuple[list[int], str]:
    """The numbers of the lines, and why others are left out."""
    if source.is_secret:
        return found, "The file marks this user data as sensitive, so its text is not shown."
    if find_secrets(text):
        return found, "The text may contain a secret, so only lines with findings are shown."
    if number <= _MOST_LINES and part is not None:
        # Findings about the end of a text are behind its last line.
        return sorted({*range(1, number + 1), *found}), ""
    around = {line for one in found for line in range(max(1, one - _AROUND), min(number, one + _AROUND) + 1)}
    note = "" if part is None else f"The text has {number} lines, so only those near findings are shown."
    return sorted({*around, *found}), note


def _rows(source: Source, where: Place, findings: list[Finding]) -> Iterator[Row]:
    """The line and its findings. The line is repeated if carets are below another piece of a long line."""
    place = file_place(source, where)
    number, line = str(where.line if place.length is None else place.line), line_at(source, where)
    if not findings:
        yield Row(number, excerpt(line, 1, 0, is_secret=False)[0])
    previous = None
    for finding in findings:
        at = finding.where
        piece, carets = excerpt(line, at.column, at.length, is_secret=is_withheld(source, finding))
        yield Row(number, None if piece == previous else piece, carets, finding)
        previous = piece
