# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads one simple command: assignments, words and redirections."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .fields import Field
from .model import DYNAMIC, Pieces, Redirection, ShellPlace, Word, joined
from .state import UNKNOWN, Array, Variable
from .words import Misread, WordReader

_BLANK = re.compile(r"(?:[ \t]|\\\n)+")
_BLANK_IN_ARRAY = re.compile(r"(?:[ \t\n]|\\\n|(?<=[ \t\n(])#[^\n]*)+")
_ENDS = "\n;|)&"
_REDIRECTION = re.compile(r"([0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})?(<<<|<<-|<<|<>|<&|>&|>>|>\||<(?!\()|>(?!\())|(&>>|&>)")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[([^\]\n'\"$`\\ ]*)\])?(\+?)=")
_ELEMENT = re.compile(r"\[[^\]\n]*\]\+?=")
DECLARATIONS = ("export", "declare", "typeset", "local", "readonly")


@dataclass(frozen=True)
class Target:
    """The left side of an assignment. begin: its place. start: of its value. is_argument: of C(export) and its like."""

    name: str
    subscript: str | None
    appends: bool
    begin: int
    start: int
    is_argument: bool


@dataclass
class Simple:
    """One simple command. assignments: before the program; of C(export) and its like, all. plain: the program, as it is written."""

    start: int
    end: int
    assignments: list[Target] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    redirections: list[Redirection] = field(default_factory=list)
    declared: list[Target | Word] = field(default_factory=list)
    plain: str = ""


class SimpleReader(WordReader):
    """Reads simple commands."""

    def read_simple(self, at: int) -> Simple:
        """Read a simple command. Raises C(Misread)."""
        text = self._text
        simple = Simple(at, at)
        while True:
            if blank := _BLANK.match(text, at):
                at = blank.end()
            if at >= len(text) or (text[at] in _ENDS and text[at : at + 2] != "&>") or text[at] == "#":
                break
            if redirection := _REDIRECTION.match(text, at):
                at = self._redirection(redirection, simple)
            elif (not simple.words or simple.plain in DECLARATIONS) and (target := _ASSIGNMENT.match(text, at)):
                at = self._target(target, simple)
            else:
                at = self._argument(at, simple)
            simple.end = at
        return simple

    def _argument(self, at: int, simple: Simple) -> int:
        fields, end = self._argument_fields(at)
        place = self.source.place(at, end)
        words = [Word(one.pieces, place, one.is_single) for one in fields]
        if not simple.plain and not simple.words:
            simple.plain = self._text[at:end] or " "
        if simple.plain in DECLARATIONS and simple.words:
            simple.declared += words
        simple.words += words
        return end

    def _argument_fields(self, at: int) -> tuple[tuple[Field, ...], int]:
        out = self._fields(is_split=True)
        end = self._word(at, out)
        if end == at:
            raise Misread
        return out.fields(), end

    def _target(self, match: re.Match[str], simple: Simple) -> int:
        target = Target(match[1], match[2], bool(match[3]), match.start(), match.end(), bool(simple.plain))
        if simple.plain:
            simple.declared.append(target)
        else:
            simple.assignments.append(target)
        was_live, self.is_live = self.is_live, False
        try:
            return self.assigned(target)[1]
        finally:
            self.is_live = was_live

    def _redirection(self, match: re.Match[str], simple: Simple) -> int:
        descriptor, operator = match[1], match[2] or match[3]
        text, at = self._text, match.end()
        if blank := _BLANK.match(text, at):
            at = blank.end()
        if descriptor and descriptor[0] == "{" and self.is_live:
            self.state.set(descriptor[1:-1], UNKNOWN)
        if operator in ("<<", "<<-"):
            document = self.source.here_documents.get(match.start(2))
            if document is None or document.is_broken:
                raise Misread
            end = self._delimiter(at)
            if document.is_literal:
                body = self.source.text[document.start : document.end]
                pieces: Pieces = (re.sub(r"^\t+", "", body, flags=re.MULTILINE) if document.removes_tabs else body,) if body else ()
            else:
                pieces = self.here_document(document.start, document.end, removes_tabs=document.removes_tabs)
            target = Word(pieces, self.source.place(document.start, document.end))
            simple.redirections.append(Redirection(operator, descriptor, target))
            return end
        if operator == "<<<":
            out = self._fields(is_split=False)
            end = self._word(at, out)
            target = Word(joined(out.value(), ("\n",)), self.source.place(at, end))
        else:
            fields, end = self._argument_fields(at)
            pieces = fields[0].pieces if len(fields) == 1 else DYNAMIC
            target = Word(pieces, self.source.place(at, end), len(fields) == 1 and fields[0].is_single)
        if end == at:
            raise Misread
        simple.redirections.append(Redirection(operator, descriptor, target))
        return end

    def _delimiter(self, at: int) -> int:
        was_live, self.is_live = self.is_live, False
        try:
            return self._word(at, self._fields(is_split=False))
        finally:
            self.is_live = was_live

    def assigned(self, target: Target) -> tuple[Variable, int]:
        """The value that an assignment gives to its variable, and where it ends."""
        at = target.start
        if self._text[at : at + 1] == "(":
            elements, end = self._array(at + 1)
            if elements is None or target.subscript is not None:
                return UNKNOWN, end
            if target.appends:
                before = self._elements(self.state.get(target.name))
                return (UNKNOWN if before is None else Variable(None, before + elements)), end
            return Variable(None, elements), end
        out = self._fields(is_split=False)
        end = self._word(at, out)
        # bash expands braces in the arguments of commands, also where they are assignments.
        return UNKNOWN if target.is_argument and out.has_braces() else self._combined(target, out.value()), end

    def _combined(self, target: Target, value: Pieces) -> Variable:
        before = self.state.get(target.name)
        if target.subscript is None:
            if target.appends:
                value = joined(before.first() or (), value)
            return Variable(None, (value, *before.elements[1:])) if before.elements is not None else Variable(value)
        elements = self._elements(before)
        self.arithmetic(target.subscript)
        if elements is None or not target.subscript.isdigit() or len(target.subscript) > 5 or int(target.subscript) > len(elements):
            return UNKNOWN
        index = int(target.subscript)
        old = elements[index] if index < len(elements) else ()
        return Variable(None, (*elements[:index], joined(old, value) if target.appends else value, *elements[index + 1 :]))

    def _array(self, at: int) -> tuple[Array | None, int]:
        """The elements in parentheses, from behind the first one; None for keys."""
        found: list[Pieces] = []
        is_known = True
        while True:
            if blank := _BLANK_IN_ARRAY.match(self._text, at):
                at = blank.end()
            if self._text[at : at + 1] == ")":
                return (tuple(found) if is_known else None), at + 1
            is_known = is_known and not _ELEMENT.match(self._text, at)
            fields, at = self._argument_fields(at)
            is_known = is_known and all(one.is_single for one in fields)
            found += [one.pieces for one in fields]

    def assignment_place(self, target: Target, end: int) -> ShellPlace:
        """The place of an assignment."""
        return self.source.place(target.begin, end)
