# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A row of the table of lines, and a line that it fits."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .script import RunCommand, ScriptView


@dataclass(frozen=True)
class Match:
    """A piece of a script. word: as messages name it. line: from 1. at: the text at its place, if that is not C(word)."""

    word: str
    line: int
    at: str = ""


Find = Callable[[RunCommand], "Match | None"]

EVERYWHERE: frozenset[str] = frozenset()
"""Rows that are true on every image, also if the family is unknown."""


@dataclass(frozen=True)
class Row:
    """A line that does not do on an image what it is meant to do.

    rule: of the catalogue. families: whose images it is about. message, fix: what is wrong, and what to do; without a fix, that of the
    rule. source: the URL of the fact.

    command: finds it in a command that the reader understands. text: finds it in all lines but comments and messages. nested: finds it
    where the reader understands no commands, such as in here-documents. The first group of a pattern is the word. unless: whether the
    script makes a match right. signs: texts of which every match needs one somewhere in the script; to search for these first is fast.

    group_fix: the fix in terms of the fields of a node group. is_new: whether Amazon Linux 2 or Ubuntu does something else, so that
    a migration has to say it. is_early: whether the line is right after kubelet has started. is_once: whether one match of a script
    is enough.
    """

    name: str
    rule: str
    families: frozenset[str]
    message: str
    fix: str | None = None
    source: str | None = None
    command: Find | None = None
    text: re.Pattern[str] | None = None
    nested: re.Pattern[str] | None = None
    unless: Callable[[ScriptView, Match], bool] | None = None
    signs: tuple[str, ...] = ()
    group_fix: str | None = None
    is_new: bool = True
    is_early: bool = False
    is_once: bool = False


@dataclass(frozen=True)
class Hit:
    """A row with what it was found in."""

    row: Row
    match: Match

    @property
    def text_at(self) -> str:
        """The text at the place of the match."""
        return self.match.at or self.match.word
