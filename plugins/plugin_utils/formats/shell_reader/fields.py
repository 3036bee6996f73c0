# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collects the arguments that one word of a script becomes: quotes, field splitting and patterns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .model import DYNAMIC, Pieces, joined

_BLANKS = re.compile(r"[ \t\n]+")
_PATTERN = re.compile(r"[*?]|\[.*\]", re.DOTALL)
_PATTERN_IN_VALUE = re.compile(r"[*?\[\]\\(]")
_BRACES = re.compile(r"\{.*(?:,|\.\.).*\}", re.DOTALL)
_QUOTED = "\0"


@dataclass(frozen=True)
class Field:
    """One argument, or, if it is not single, a number of them that only the node knows."""

    pieces: Pieces
    is_single: bool = True


class Fields:
    """is_split: whether bash splits expansions and expands patterns, as in arguments, and not in assignments.

    knows_separators: whether C(IFS) has its default value.
    """

    def __init__(self, *, is_split: bool, knows_separators: bool) -> None:
        self.is_split = is_split
        self.knows_separators = knows_separators
        self._done: list[Field] = []
        self._current: list[Pieces] | None = None
        self._is_single = True
        self._shape: list[str] = []

    def literal(self, text: str) -> None:
        """Text without quotes in the script itself."""
        self._add((text,))
        self._shape.append(text)

    def quoted(self, pieces: Pieces) -> None:
        """A value that bash does not split."""
        self._add(pieces)
        self._shape.append(_QUOTED)

    def unquoted(self, pieces: Pieces) -> None:
        """A value that bash splits."""
        if not self.is_split:
            self.quoted(pieces)
            return
        self._shape.append(_QUOTED)
        for piece in pieces:
            if piece is None or not self.knows_separators or _PATTERN_IN_VALUE.search(piece):
                self._is_single = False
                self._add(DYNAMIC)
                continue
            first, *others = _BLANKS.split(piece)
            if first:
                self._add((first,))
            for text in others:
                self._close()
                if text:
                    self._add((text,))

    def elements(self, values: Sequence[Pieces]) -> None:
        """The elements of an array in double quotes. The first and the last one join the text around them."""
        self._shape.append(_QUOTED)
        for index, value in enumerate(values):
            if index:
                self.separate()
            self._add(value)

    def separate(self) -> None:
        """What follows is another argument."""
        if self.is_split:
            self._close()
        else:
            self._add((" ",))

    def unknown_elements(self) -> None:
        """Elements of an array that is unknown."""
        self._shape.append(_QUOTED)
        self._add(DYNAMIC)
        self._is_single = False

    def fields(self) -> tuple[Field, ...]:
        """The arguments."""
        if self.is_split and (self.has_braces() or _PATTERN.search("".join(self._shape))):
            return (Field(DYNAMIC, False),)
        self._is_done()
        return tuple(self._done)

    def has_braces(self) -> bool:
        """Whether bash expands braces in the word, if it does so at all where the word stands."""
        return _BRACES.search("".join(self._shape)) is not None

    def value(self) -> Pieces:
        """The value, where bash makes one of the word."""
        fields = self.fields()
        return joined(*(one.pieces if one.is_single else DYNAMIC for one in fields))

    def _add(self, pieces: Pieces) -> None:
        if self._current is None:
            self._current = []
        self._current.append(pieces)

    def _close(self) -> None:
        # What follows an unknown number of arguments belongs to it, because their borders are unknown.
        if self._is_single:
            self._is_done()

    def _is_done(self) -> None:
        if self._current is not None:
            self._done.append(Field(joined(*self._current), self._is_single))
        elif not self._is_single:
            self._done.append(Field(DYNAMIC, False))
        self._current = None
        self._is_single = True
