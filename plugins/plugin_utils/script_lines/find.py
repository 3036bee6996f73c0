# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the lines of a script that do not do on an image what they are meant to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .model import Hit, Match, Row
from .rows import ROWS
from .script import ScriptView


def hits(text: str, family: str | None, rows: Iterable[Row] = ROWS) -> Iterator[Hit]:
    """Every row that fits, with each of its lines once. family: of the image; None if it is unknown. Raises C(PackageMissing)."""
    possible = [row for row in rows if (not row.families or family in row.families) and _has_sign(row, text)]
    if not possible:
        return
    view = ScriptView.of(text)
    for row in possible:
        found = dict.fromkeys(one for one in _matches(row, view) if row.unless is None or not row.unless(view, one))
        for match in list(found)[:1] if row.is_once else found:
            yield Hit(row, match)


def _has_sign(row: Row, text: str) -> bool:
    return not row.signs or any(sign in text for sign in row.signs)


def _matches(row: Row, view: ScriptView) -> Iterator[Match]:
    seen = set()
    for run in view.commands if row.command else ():
        match = row.command(run) if row.command else None
        if match is not None:
            seen.add(match.line)
            yield match
    for pattern, numbers in ((row.text, range(len(view.lines))), (row.nested, view.nested)):
        # Most scripts contain none of the words of a row.
        if pattern is None or not numbers or not pattern.search(view.text):
            continue
        for match in _in_lines(pattern, view, numbers):
            if match.line not in seen:
                yield match


def _in_lines(pattern: re.Pattern[str], view: ScriptView, numbers: Iterable[int]) -> Iterator[Match]:
    """The first match of each line."""
    for number in numbers:
        if (found := pattern.search(view.lines[number])) is not None:
            yield Match(next(filter(None, found.groups()), ""), number + 1)
