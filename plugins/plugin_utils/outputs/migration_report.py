# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a migration as Markdown, for a change request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..data import kubernetes_versions
from ..difference.shown import value_text
from ..errors import shown
from ..formats.secrets import find_secrets
from ..migration.model import Argument, Caution, Decision, Migration
from ..migration.template import Change
from ..readers.document import structure
from ..readers.model import Place, UserData
from ..readers.shell_options import is_only_options
from .findings.source import Source, file_place

OUTCOMES = {"moved": "moved to", "dropped": "dropped", "needs_decision": "needs a decision"}
_WIDTH = 60
"""Characters of a value in a table."""
RUNS = {
    "node_group.commands.pre": "runs before kubelet starts",
    "node_group.commands.post": "runs after kubelet is healthy",
    "node_group.user_data": "stays a part of its own, and runs before kubelet starts",
}


def markdown(name: str, found: Migration, changes: Sequence[Change] = (), steps: Sequence[str] = ()) -> str:
    """The report of one migrated file. name: the path of the file. changes: of its launch template. steps: what to do next."""
    report = found.report
    before, after = family_name(report.family_before), family_name(report.family_after)
    lines = [f"# Migration of {name} from {before} to {after}", "", summary(found), ""]
    lines += _section("Needs a decision", (_decision(one, found.original) for one in report.decisions))
    lines += _table(report.arguments, found.original)
    kept = (
        f"Line {line_of(one.where, found.original)}: `{_cell(first_line(one.text))}` {RUNS[one.to]} (`{one.to}`)." for one in report.kept
    )
    lines += _section("Kept scripts", kept)
    lines += _section("Check these lines", (_caution(one, found.original) for one in report.warnings))
    result = None if found.user_data is None else structure(found.user_data)
    findings = (
        f"Line {line_of(one.where, result)} of the new user data, {one.rule.severity}: {one.message}{_fix(one.fix)} (`{one.rule.id}`)."
        for one in report.findings
        if result is not None
    )
    lines += _section("Findings in the new user data", findings)
    lines += _template(changes)
    lines += ["## Next steps", "", *(f"{number}. {step}" for number, step in enumerate(steps, 1)), ""] if steps else []
    return "\n".join(lines).rstrip("\n") + "\n"


def decisions_text(name: str, found: Migration) -> list[str]:
    """The decisions of one file: each with its place, and with its choices below."""
    lines = []
    for one in found.report.decisions:
        lines.append(f"{name}{_at(one.where, found.original)}: {one.path}: {one.question}")
        lines += [f"  - {choice}" for choice in one.choices]
    return lines


def summary(found: Migration) -> str:
    """The result in one sentence."""
    if found.user_data is None:
        return f"There is no new user data yet. Decisions to make: {len(found.report.decisions)}."
    outcomes = [one.outcome for one in found.report.arguments]
    return f"Arguments: {outcomes.count('moved')} moved, {outcomes.count('dropped')} dropped."


def family_name(name: str | None) -> str:
    """The name of a family. Both have the script, so a text that only calls it can be of either."""
    families = kubernetes_versions()["families"]
    return "Amazon Linux 2 or Ubuntu" if name is None else str(families[name]["name"])


def _section(title: str, items: Iterable[str]) -> list[str]:
    listed = [f"- {item}" for item in items]
    return [f"## {title}", "", *listed, ""] if listed else []


def _decision(one: Decision, original: UserData) -> str:
    where = "" if one.where is None else f"Line {line_of(one.where, original)}: "
    return f"{where}`{_cell(one.path)}`: {sentence(one)}."


def sentence(one: Decision) -> str:
    """The question with its choices, without a period."""
    label = "choices" if len(one.choices) > 1 else "fix"
    return one.question + (f"; {label}: {'; or '.join(one.choices)}" if one.choices else "")


def _caution(one: Caution, original: UserData) -> str:
    where = "" if one.where is None else f"Line {line_of(one.where, original)}: "
    source = f" ([source]({one.source}))" if one.source else ""
    return f"{where}{one.message}{_fix(one.fix)}{source}."


def _fix(fix: str | None) -> str:
    return f"; fix: {fix}" if fix else ""


def _table(arguments: Sequence[Argument], original: UserData) -> list[str]:
    if not arguments:
        return []
    rows = ["## Arguments", "", "| Line | Argument | Value | Outcome | Reason |", "| --- | --- | --- | --- | --- |"]
    for one in arguments:
        value = "" if one.value is None else f"`{_cell(short(one.value))}`"
        bold = "**" if one.outcome == "needs_decision" else ""
        outcome = f"{bold}{OUTCOMES[one.outcome]}{bold}" + (f" `{one.to}`" if one.to else "")
        rows.append(f"| {line_of(one.where, original)} | `{_cell(one.name)}` | {value} | {outcome} | {_cell(one.reason or '')} |")
    return [*rows, ""]


def _template(changes: Sequence[Change]) -> list[str]:
    if not changes:
        return []
    rows = ["## Launch template", "", "All other fields stay.", "", "| Field | Before | After | Reason |", "| --- | --- | --- | --- |"]
    for one in changes:
        before, after = (f"`{_cell(value_text(value))}`" if value is not None else "" for value in (one.before, one.after))
        source = f" ([source]({one.source}))" if one.source else ""
        rows.append(f"| `{one.field}` | {before} | {after} | {_cell(one.reason)}{source} |")
    return [*rows, ""]


def short(value: Any) -> str:
    """A value that is short enough for a table."""
    text = value if isinstance(value, str) else shown(value)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…"


def _cell(text: str) -> str:
    """Text in a cell of a table, or between backticks."""
    return "".join(char if char.isprintable() else " " for char in text).replace("|", "\\|").replace("`", "'")


def first_line(text: str) -> str:
    """The first line that does something."""
    lines = [line.strip() for line in text.split("\n") if line.strip() and not line.startswith("#!")]
    first = lines[0] if lines else ""
    line = first if first.startswith("#cloud-config") else next((one for one in lines if not is_only_options(one)), first)
    return "(not shown: it may be a secret)" if find_secrets(line) else short(line)


def line_of(where: Place, read: UserData | None) -> str:
    """The line in the file. In encoded text, the part and the line in it."""
    if read is None:
        return str(where.line)
    place = file_place(Source("", read, ()), where)
    return str(place.line) if place.length is not None else f"{place.line} (decoded: {where.line})"


def _at(where: Place | None, read: UserData) -> str:
    return "" if where is None else f":{file_place(Source('', read, ()), where).line}"
