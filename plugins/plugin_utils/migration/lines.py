# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings about lines of the original that the new image does not run as the old one did."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from ..lint.finding import Finding
from ..lint.shell_texts import ShellText
from ..script_lines.find import hits
from ..script_lines.rows import ROWS
from .model import Caution

Line = tuple[int, int]
"""The index of a part, and the number of a line from 1."""

_NEW = tuple(row for row in ROWS if row.is_new)


def cautions(texts: Iterable[ShellText], family: str, removed: Container[Line], after: Container[Line]) -> Iterator[Caution]:
    """A warning for each row and line. removed: lines that do not run any more. after: lines that run after kubelet is up.

    Raises C(PackageMissing).
    """
    for text in texts:
        for hit in hits(text.text, family, _NEW):
            row, match = hit.row, hit.match
            place = (-1 if text.key else text.part.index, match.line)
            if place not in removed and not (row.is_early and place in after):
                where = text.place(match.line, hit.text_at)
                yield Caution(where, f"{match.word} {row.message}", row.group_fix or row.fix, row.source)


def without_repeated(findings: Iterable[Finding], warnings: Iterable[Caution]) -> tuple[Finding, ...]:
    """The findings of the new user data that no warning about the original contains."""
    said = {one.message for one in warnings}
    return tuple(one for one in findings if one.message.replace(": ", " ", 1) not in said)
