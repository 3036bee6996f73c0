# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the change of a rendered file means for its nodes, beside the diff of its text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..difference.compare import Difference, differences
from ..difference.shown import value_text
from ..formats.secrets import NOT_SHOWN
from .batch import Output, may_hold_secrets
from .folder import Change, Changes

Meaning = tuple[str, tuple[Difference, ...]]
"""The path of a file below the output directory, and its differences. They are empty if both versions mean the same."""


def meanings(changes: Changes) -> list[Meaning]:
    """What the changes of existing user data mean. Files that are created or removed have no other version."""
    return [(change.place, _differences(change)) for change in changes.files if change.output is not None and change.before is not None]


def _differences(change: Change) -> tuple[Difference, ...]:
    if change.output is None or change.before is None:
        return ()
    found = differences(change.before, change.output.content, change.output.rendered.spec.family)
    return without_secrets(change.output, change.before, found)


def without_secrets(output: Output, before: bytes, found: Iterable[Difference]) -> tuple[Difference, ...]:
    """The differences, without any value if one of the two versions may contain secrets."""
    return tuple(map(_without_values, found)) if may_hold_secrets(output, before) else tuple(found)


def _without_values(found: Difference) -> Difference:
    before, after = (None if value is None else NOT_SHOWN for value in (found.before, found.after))
    return replace(found, before=before, after=after)


def diffs(found: list[Meaning], folder: str) -> list[dict[str, str]]:
    """The meanings for C(--diff). folder: the output directory."""
    return [{"prepared": "\n".join((*lines(rows, f"{folder}/{place}"), ""))} for place, rows in found]


def lines(rows: tuple[Difference, ...], path: str) -> list[str]:
    """The differences as lines of text. path: what changes."""
    if not rows:
        return [f"{path}: the text changes, but not what a node does with it"]
    return [f"{path}: what changes for a node", *(f"  {row.path}: {_value(row.before)} → {_value(row.after)}" for row in rows)]


def _value(value: Any) -> str:
    """On one line, also if it is a script."""
    text = value_text(value)
    return json.dumps(text, ensure_ascii=False) if "\n" in text else text


def plain(found: list[Meaning]) -> list[dict[str, Any]]:
    """The meanings as plain data: C(file) and C(differences)."""
    return [{"file": place, "differences": [row.plain() for row in rows]} for place, rows in found]
