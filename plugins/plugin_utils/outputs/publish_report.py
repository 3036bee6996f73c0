# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of the action publish: rows of plain data, a table, and diffs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..difference.shown import shown
from ..errors import Problem
from ..formats import yaml
from ..publish.decision import NOTHING, TEMPLATE, USER_DATA, Decision, user_data_of
from ..publish.entries import Entry
from ..publish.model import Region, Template
from . import batch, meaning
from .batch import Output


@dataclass(frozen=True)
class Publication:
    """What is done for one entry.

    template: as it was read, None if it does not exist. notes: warnings and skipped checks. wants_default: whether the version
    must be the default one. result: the number of the version that was written. warnings: of EC2.
    """

    entry: Entry
    output: Output
    region: Region
    template: Template | None
    decision: Decision
    notes: tuple[Problem, ...]
    wants_default: bool
    result: Template | None = None
    result_number: int | None = None
    warnings: tuple[str, ...] = ()

    def written(self, template: Template | None, number: int | None, warnings: tuple[str, ...]) -> Publication:
        """The publication after the changes. template: as it is now."""
        return replace(self, result=template, result_number=number, warnings=warnings)

    @property
    def name(self) -> str:
        """The name of the launch template."""
        return self.template.name if self.template is not None else self.entry.launch_template

    @property
    def number(self) -> int | None:
        """The version that has what was rendered, None if it does not exist yet."""
        if self.result_number is not None:
            return self.result_number
        return self.template.latest if self.template is not None and self.decision.creates == NOTHING else None

    @property
    def moves_default(self) -> bool:
        """Whether the default version changes. The first version of a new launch template is the default one in any case."""
        if self.template is None or not self.wants_default:
            return False
        return self.decision.creates != NOTHING or self.template.default != self.template.latest

    @property
    def default(self) -> int | None:
        """The default version after the run, None if it does not exist yet."""
        if self.template is None:
            return self.number
        return self.number if self.moves_default else self.template.default

    @property
    def changes(self) -> bool:
        """Whether anything is written."""
        return self.decision.creates != NOTHING or self.moves_default

    @property
    def description(self) -> str:
        """The description of a new version, with the digest of the user data in the manifest of the action render."""
        digest = f"sha256:{self.output.digest}" if self.output.file_name else "no user data"
        return f"{self.output.place.removesuffix(batch.SUFFIX)} {digest}"


def row(plan: Publication) -> dict[str, Any]:
    """The result of one entry as plain data."""
    spec = plan.output.rendered.spec
    template = plan.result or plan.template
    return {
        "cluster": spec.cluster.name or "",
        "group": plan.output.group,
        "family": spec.family,
        "mode": spec.mode,
        "region": plan.region.region,
        "launch_template": plan.name,
        "launch_template_id": template.id if template is not None else None,
        "version": plan.number,
        "default_version": plan.default,
        "changed": plan.changes,
        "created": plan.decision.creates,
        "description": plan.description,
        "user_data": [one.plain() for one in _differences(plan)],
        "fields": [one.plain() for one in plan.decision.fields],
        "notes": [one.plain() for one in plan.notes],
        "warnings": [*(str(one) for one in spec.warnings), *plan.warnings],
    }


def _differences(plan: Publication) -> Sequence[Any]:
    before = user_data_of(plan.template)
    # A launch template without user data has no other version to compare with.
    return meaning.without_secrets(plan.output, before, plan.decision.user_data) if before else ()


_DEFAULT_STAYS = "the default version stays {0}, so groups that use $Default start nodes of that version (set_default changes it)"
_CHECKED = "check mode: nothing was written"
_NOT_REPLACED = "no node was replaced: running nodes keep the version that they started with"
_COLUMNS = ("group", "launch template", "region", "version", "default", "what changed")


def table(plans: Sequence[Publication], not_published: Iterable[Mapping[str, str]], *, check_mode: bool) -> list[str]:
    """The table as lines of text, followed by warnings and skipped checks."""
    rows = [_COLUMNS, *(_cells(plan) for plan in plans)]
    widths = [max(len(one[column]) for one in rows) for column in range(len(_COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(one, widths, strict=True)).rstrip() for one in rows]
    notes = [note for plan in plans for note in _notes(plan)]
    notes += [f"not published: {one['group']}: no entry of templates names it" for one in not_published]
    notes += [f"{plan.name}: {_DEFAULT_STAYS.format(plan.default)}" for plan in plans if plan.changes and plan.default != plan.number]
    if any(plan.changes for plan in plans):
        notes.append(_CHECKED if check_mode else _NOT_REPLACED)
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:], *notes]


def _cells(plan: Publication) -> tuple[str, ...]:
    version = str(plan.number or "new")
    return (plan.output.group, plan.name, plan.region.region, version, str(plan.default or version), _what(plan))


def _what(plan: Publication) -> str:
    if plan.decision.creates == TEMPLATE:
        return "new launch template"
    words = list(plan.decision.reasons) if plan.decision.creates != NOTHING else []
    return ", ".join([*words, *(["default version"] if plan.moves_default else [])]) or "nothing"


def _notes(plan: Publication) -> Iterator[str]:
    group = plan.output.group
    yield from (f"warning: {group}: {one}" for one in plan.output.rendered.spec.warnings)
    for one in plan.notes:
        yield f"{'not checked' if one.rule == 'launch_template.not_checked' else 'warning'}: {one}"
    yield from (f"warning: {plan.name}: {text}" for text in plan.warnings)


def diffs(plan: Publication) -> list[dict[str, str]]:
    """The diffs of one launch template: its fields, the decoded parts of the user data, and what they mean for a node."""
    if plan.decision.creates == NOTHING:
        return []
    before = user_data_of(plan.template)
    headers = _headers(plan)
    found = []
    if plan.decision.fields:
        old = plan.template.data if plan.template is not None else {}
        found.append({**headers, "before": _fields(old), "after": _fields(plan.decision.data)})
    if plan.decision.replaces_user_data:
        found.append({**headers, **_texts(plan.output, before)})
        if before:
            found.append({"prepared": "\n".join((*meaning.lines(tuple(_differences(plan)), headers["after_header"]), ""))})
    return found


def _headers(plan: Publication) -> dict[str, str]:
    title = f"launch template {plan.name}"
    before = f"{title}, version {plan.template.latest}" if plan.template is not None else "(no launch template)"
    return {"before_header": before, "after_header": f"{title}, version {plan.number or 'new'}"}


def _texts(output: Output, before: bytes) -> dict[str, str]:
    texts = batch.diff(output, "", before or None)
    if before and not batch.may_hold_secrets(output, before):
        texts["before"] = batch.existing_text(before)
    return {name: texts[name] for name in ("before", "after")}


def _fields(data: Mapping[str, Any]) -> str:
    given = {name: value for name, value in sorted(data.items()) if name != USER_DATA}
    return yaml.dump(shown(given)) if given else ""
