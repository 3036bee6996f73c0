# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The results of reading a shell script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Pieces = tuple["str | None", ...]
"""A value in pieces: known text, and None for text that only the node knows. The empty string has no pieces."""

Condition = Literal[
    "", "if", "case", "loop", "list", "function", "substitution", "eval", "trap", "return", "exit", "unreachable", "unreadable"
]  # fmt: skip
"""Why a command may not run. Empty: it runs if the script runs to its end."""

DYNAMIC: Pieces = (None,)


@dataclass(frozen=True)
class ShellPlace:
    """Line and column count from 1, in characters. length: on that line."""

    line: int
    column: int
    length: int


@dataclass(frozen=True)
class Word:
    """One argument. value: None if it is unknown. is_single: whether it is one argument; otherwise, it may be none or several."""

    pieces: Pieces
    place: ShellPlace
    is_single: bool = True

    @property
    def value(self) -> str | None:
        """The text that bash passes."""
        return known(self.pieces) if self.is_single else None


@dataclass(frozen=True)
class Redirection:
    """operator: C(>), C(<<) … target: the file; the text of a here-document or here-string. descriptor: None if none is written."""

    operator: str
    descriptor: str | None
    target: Word


@dataclass(frozen=True)
class Assignment:
    """A variable that the script sets.

    value: None if it is unknown, or if it is not certain that the script sets it. pieces: what it is set to, if it is set. Of an array
    they are the first element.
    """

    name: str
    value: str | None
    pieces: Pieces = ()
    place: ShellPlace = ShellPlace(1, 1, 0)
    condition: Condition = ""


@dataclass(frozen=True)
class Command:
    """One simple command, each time that it runs.

    words: the program and its arguments. environment: assignments before the program. is_redirected: whether a file or another program
    gets its output. is_function: whether it calls a function of the script, whose commands follow. may_have_ended: whether the script
    may end earlier without an error of this command's condition. is_background: whether the script does not wait for it.
    """

    words: tuple[Word, ...]
    place: ShellPlace
    condition: Condition = ""
    environment: tuple[Assignment, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    is_redirected: bool = False
    is_function: bool = False
    may_have_ended: bool = False
    is_background: bool = False

    @property
    def values(self) -> tuple[str | None, ...]:
        """The program and its arguments; None for a word that is unknown."""
        return tuple(word.value for word in self.words)

    @property
    def is_certain(self) -> bool:
        """Whether it runs if the script runs to its end."""
        return not self.condition

    @property
    def line(self) -> int:
        """The line on which it begins, from 1."""
        return self.place.line


@dataclass(frozen=True)
class Unfinished:
    """A quote or a here-document without an end, at its beginning; or a line that is indented, so that it does not end a here-document."""

    kind: Literal["quote", "here-document", "open-document"]
    place: ShellPlace


@dataclass(frozen=True)
class Script:
    """commands: in the order in which they run.

    is_readable: whether the grammar understands the whole text. errors: the places that it does not understand. exported: variables that
    the script exports, and the place of the first command that does so. has_crlf: whether lines end with CRLF, which bash would pass on to
    programs. statements: the first and the last line of each statement that is not inside another one, with its here-documents.
    unfinished: quotes and here-documents that have no end. documents: the first and the last line of the text of each here-document.
    """

    commands: tuple[Command, ...]
    is_readable: bool
    assignments: tuple[Assignment, ...] = ()
    exported: Mapping[str, ShellPlace] = field(default_factory=lambda: MappingProxyType({}))
    errors: tuple[ShellPlace, ...] = ()
    has_crlf: bool = field(default=False)
    statements: tuple[tuple[int, int], ...] = ()
    unfinished: tuple[Unfinished, ...] = ()
    documents: tuple[tuple[int, int], ...] = ()


def known(pieces: Pieces) -> str | None:
    """The text of the pieces. None if a piece is unknown."""
    if len(pieces) == 1:
        return pieces[0]
    texts = [piece for piece in pieces if piece is not None]
    return "".join(texts) if len(texts) == len(pieces) else None


def joined(*values: Pieces) -> Pieces:
    """The values one after the other. Neighbouring pieces of text become one."""
    pieces: list[str | None] = []
    texts: list[str] = []
    for piece in (piece for value in values for piece in value):
        if piece is None:
            if texts:
                pieces.append("".join(texts))
                texts = []
            if not pieces or pieces[-1] is not None:
                pieces.append(None)
        elif piece:
            texts.append(piece)
    if texts:
        pieces.append(texts[0] if len(texts) == 1 else "".join(texts))
    return tuple(pieces)


def spaced(values: Sequence[Pieces]) -> Pieces:
    """The values with a space between each two."""
    parts: list[Pieces] = []
    for value in values:
        parts += [(" ",), value]
    return joined(*parts[1:])
