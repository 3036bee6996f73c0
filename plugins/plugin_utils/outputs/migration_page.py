# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a migration as a page: that of migration_report, with both texts and what differs in their meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..difference.compare import differences
from ..difference.shown import value_text
from ..migration.model import Argument, Caution, Migration
from ..migration.template import Change
from ..readers.document import structure
from ..readers.model import Place, UserData
from .findings.excerpts import MACROS, excerpts
from .findings.source import Source
from .migration_report import OUTCOMES, RUNS, family_name, first_line, line_of, sentence, short, summary
from .page import Cell, Span, page

_MAIN = """\
{% if decisions -%}
<section aria-labelledby="decisions">
<h2 id="decisions">Needs a decision</h2>
{{ items(decisions) }}</section>
{% endif -%}
{% if steps -%}
<section aria-labelledby="steps">
<h2 id="steps">Next steps</h2>
<ol>
{% for step in steps %}<li>{{ step }}</li>
{% endfor -%}
</ol></section>
{% endif -%}
{% if arguments -%}
<section aria-labelledby="arguments">
<h2 id="arguments">Arguments</h2>
{{ table("Table of all arguments", ("Argument", "Line", "Value", "Outcome", "Reason"), arguments) }}</section>
{% endif -%}
{% if kept -%}
<section aria-labelledby="kept">
<h2 id="kept">Kept scripts</h2>
{{ items(kept) }}</section>
{% endif -%}
{% if cautions -%}
<section aria-labelledby="cautions">
<h2 id="cautions">Check these lines</h2>
{{ items(cautions) }}</section>
{% endif -%}
{% if changes -%}
<section aria-labelledby="template">
<h2 id="template">Launch template</h2>
<p>All other fields stay.</p>
{{ table("Fields of the launch template", ("Field", "Before", "After", "Reason"), changes) }}</section>
{% endif -%}
<section aria-labelledby="original">
<h2 id="original">Original</h2>
{% for one in original %}{{ text(one, "the original") }}{% endfor %}</section>
{% if result -%}
<section aria-labelledby="result">
<h2 id="result">New user data</h2>
{% for one in result %}{{ text(one, "the new user data") }}{% endfor %}</section>
<section aria-labelledby="differences">
<h2 id="differences">Differences in meaning</h2>
{% if rows -%}
{{ table("Table of all differences", ("Setting", "Before", "After"), rows) }}
{%- else -%}
<p>Both mean the same.</p>
{% endif -%}
</section>
{% endif -%}
"""


def html(name: str, data: str | bytes, found: Migration, changes: Sequence[Change] = (), steps: Sequence[str] = ()) -> str:
    """The page of one migrated file. name: its path. data: its content. changes: of its launch template. steps: what to do next."""
    report, original = found.report, found.original
    values: dict[str, Any] = {
        "decisions": [_at(one.where, original, [Span(one.path, "code"), Span(f": {sentence(one)}.")]) for one in report.decisions],
        "steps": steps,
        "arguments": [_argument(one, original) for one in report.arguments],
        "kept": [_at(one.where, original, [Span(first_line(one.text), "code"), Span(f" {RUNS[one.to]}.")]) for one in report.kept],
        "cautions": [_caution(one, original) for one in report.warnings],
        "changes": [[one.field, _shown(one.before), _shown(one.after), _with_source(one.reason, one.source)] for one in changes],
        "original": excerpts(Source("", original, ())),
        "result": [],
        "rows": [],
    }
    if found.user_data is not None:
        rows = differences(data, found.user_data, report.family_before)
        values["result"] = excerpts(Source("", structure(found.user_data), report.findings))
        values["rows"] = [[row.path, value_text(row.before), value_text(row.after)] for row in rows]
    families = f"From {family_name(report.family_before)} to {family_name(report.family_after)}."
    return page(f"Migration of {name}", [families, summary(found)], MACROS + _MAIN, **values)


def _at(where: Place | None, original: UserData, spans: list[Span]) -> list[Span]:
    return spans if where is None else [Span(f"Line {line_of(where, original)}: "), *spans]


def _argument(one: Argument, original: UserData) -> list[Cell]:
    value = "" if one.value is None else short(one.value)
    outcome = f"{OUTCOMES[one.outcome]} {one.to}" if one.to else OUTCOMES[one.outcome]
    return [one.name, line_of(one.where, original), value, outcome, one.reason or ""]


def _caution(one: Caution, original: UserData) -> Cell:
    return _at(one.where, original, _with_source(f"{one.message}; fix: {one.fix}" if one.fix else one.message, one.source))


def _with_source(text: str, source: str | None) -> list[Span]:
    return [Span(f"{text}. "), Span("source", "link", source)] if source else [Span(f"{text}.")]


def _shown(value: Any) -> str:
    return "" if value is None else value_text(value)
