# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the ends of words, quotes and expansions, and makes one word of letters of each."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from .conditional import Conditional
from .grammar import Unexpected

_PLAIN = re.compile(r"[A-Za-z0-9_./-]+")
BLANK = re.compile(r"[ \t]+")
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]\n]*\])?\+?=")
_ANSI_C = re.compile(r"\$'(?:[^'\\]|\\.)*'", re.DOTALL)
_BACKTICKS = re.compile(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
_NAME = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])?")
_WORD_END = re.compile(r"[ \t\n;&|()<>]|\Z")
_IN_DOUBLE = re.compile(r"[^\\\"$`]+")
_IN_BRACES = re.compile(r"[^\\\"$`}']+")
_SUBSCRIPT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_EXTENDED = "?*+@"
_TEST_OPERATOR = re.compile(r"&&|\|\||[()\n<>]|#[^\n]*")
_DEEPEST = 30


class Unfinished(Exception):
    """A quote, an expansion or parentheses have no end. start: of a quote; None for anything else."""

    def __init__(self, start: int | None = None) -> None:
        super().__init__()
        self.start = start


class WordScanner(ABC):
    """ends: where substitutions and expansions end, by their start."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._parts: list[str] = []
        self._masked = 0
        self._depth = 0
        self._has_extended_patterns = "extglob" in text
        self.ends: dict[int, int] = {}

    @abstractmethod
    def _commands(self, at: int, *, is_inner: bool) -> int:
        """The end of commands."""

    # --- the text for the grammar -----------------------------------------------------------------------------------------------------

    def _copy(self, end: int) -> None:
        rest = self._text[self._masked : end]
        self._parts.append(rest if rest.isascii() else "".join(one if one.isascii() else "x" for one in rest))
        self._masked = max(self._masked, end)

    def _mask(self, start: int, end: int, text: str | None = None) -> None:
        if self._depth or start < self._masked:
            return
        self._copy(start)
        self._parts.append("x" * (end - start) if text is None else text.ljust(end - start))
        self._masked = end

    # --- words -------------------------------------------------------------------------------------------------------------------------

    def _word(self, at: int, *, starts: bool, is_word: bool = True) -> int:
        """The end of a word. starts: whether it may be an assignment. is_word: whether a brace has no other meaning."""
        text = self._text
        start = at
        if text[at] in "{}!" and _WORD_END.match(text, at + 1):
            if is_word:
                self._mask(at, at + 1)
            return at + 1
        if starts and (subscript := _SUBSCRIPT.match(text, at)):
            at = self._subscript(subscript.end())
        while at < len(text):
            one = text[at]
            if plain := _PLAIN.match(text, at):
                at = plain.end()
            elif text[at : at + 2] in ("<(", ">("):
                at = self._masked_inner(at, at + 2)
            elif one in " \t\n;&|<>()" or (one == "\\" and text[at + 1 : at + 2] == "\n" and _WORD_END.match(text, at + 2)):
                break
            elif one in _EXTENDED and self._has_extended_patterns and text[at + 1 : at + 2] == "(":
                at = self._pattern(at)
            else:
                end = self._part(at)
                self._mask(at, end)
                at = end
                if one == "=" and text[at : at + 1] == "(" and ASSIGNMENT.fullmatch(text, start, at):
                    at = self._array(at)
        return at

    def _subscript(self, at: int) -> int:
        """The end of the subscript of an assignment, which may contain blanks."""
        start = at
        while at < len(self._text):
            if self._text[at] == "]":
                self._mask(start - 1, at + 1)
                return at + 1
            if self._text[at] == "\n":
                break
            at = self._part(at)
        raise Unexpected(start)

    def _array(self, at: int) -> int:
        """The end of the elements of an array."""
        text, start = self._text, at
        at += 1
        self._enter()
        try:
            while at < len(text):
                one = text[at]
                if one in " \t\n":
                    at += 1
                elif one == ")":
                    break
                elif one == "#":
                    end = text.find("\n", at)
                    at = len(text) if end < 0 else end
                elif text.startswith("\\\n", at):
                    at += 2
                elif one in ";&|(" or (one in "<>" and text[at + 1 : at + 2] != "("):
                    raise Unexpected(at)
                else:
                    at = self._word(at, starts=False)
        finally:
            self._depth -= 1
        if at >= len(text):
            raise Unfinished
        self._mask(start, at + 1)
        if not _WORD_END.match(text, at + 1):
            # bash takes all of it for text.
            raise Unexpected(at + 1)
        return at + 1

    def _pattern(self, at: int) -> int:
        """The end of an extended pattern."""
        start, depth = at, 0
        at += 1
        while at < len(self._text):
            depth += {"(": 1, ")": -1}.get(self._text[at], 0)
            at = self._part(at)
            if not depth:
                self._mask(start, at)
                return at
        raise Unfinished

    def _part(self, at: int) -> int:
        """The end of a quote, an expansion or one other character."""
        one = self._text[at]
        if one == "\\":
            return min(at + 2, len(self._text))
        if one in "'\"":
            return self._quote(at)
        if one in "$`":
            return self._expansion(at, is_quoted=False)
        return at + 1

    def _quote(self, at: int) -> int:
        try:
            return self._after("'", at + 1) if self._text[at] == "'" else self._double(at + 1)
        except Unfinished as unfinished:
            # Of several quotes without an end, the outer one is the one to correct.
            raise Unfinished(None if self._depth else at) from unfinished

    def _after(self, one: str, at: int) -> int:
        end = self._text.find(one, at)
        if end < 0:
            raise Unfinished
        return end + 1

    def _double(self, at: int) -> int:
        text = self._text
        while at < len(text):
            if run := _IN_DOUBLE.match(text, at):
                at = run.end()
            elif text[at] == '"':
                return at + 1
            elif text[at] == "\\":
                at += 2
            else:
                at = self._expansion(at, is_quoted=True)
        raise Unfinished

    def _expansion(self, at: int, *, is_quoted: bool) -> int:
        text = self._text
        if text[at] == "`":
            match = _BACKTICKS.match(text, at)
            if match is None:
                raise Unfinished
            self.ends[at] = match.end()
            return match.end()
        if text.startswith("$((", at) and (end := self._arithmetic(at + 1)):
            self.ends[at] = end
            return end
        if text.startswith("$(", at):
            return self._inner(at, at + 2)
        if text.startswith("${", at):
            end = self._braces(at + 2, is_quoted=is_quoted)
            self.ends[at] = end
            return end
        if text.startswith("$[", at):
            return self._after("]", at)
        if not is_quoted and text.startswith("$'", at):
            match = _ANSI_C.match(text, at)
            if match is None:
                raise Unfinished
            return match.end()
        if not is_quoted and text.startswith('$"', at):
            return self._double(at + 2)
        match = _NAME.match(text, at)
        return match.end() if match else at + 1

    def _inner(self, at: int, inside: int) -> int:
        """The end of a substitution. Its commands are read when bash would run them."""
        self._enter()
        try:
            end = self._commands(inside, is_inner=True)
        finally:
            self._depth -= 1
        self.ends[at] = end
        return end

    def _masked_inner(self, at: int, inside: int) -> int:
        end = self._inner(at, inside)
        self._mask(at, end)
        return end

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            self._depth -= 1
            raise Unfinished

    def _braces(self, at: int, *, is_quoted: bool) -> int:
        text = self._text
        self._enter()
        try:
            while at < len(text):
                one = text[at]
                if run := _IN_BRACES.match(text, at):
                    at = run.end()
                elif one == "}":
                    return at + 1
                elif one == "\\":
                    at += 2
                elif one == '"':
                    at = self._double(at + 1)
                elif one == "'":
                    # In double quotes, a single quote is a character, but not in a pattern.
                    at = at + 1 if is_quoted and not self._is_pattern(at) else self._after("'", at + 1)
                else:
                    at = self._expansion(at, is_quoted=is_quoted)
        finally:
            self._depth -= 1
        raise Unfinished

    def _is_pattern(self, at: int) -> bool:
        begin = self._text.rfind("${", 0, at)
        return re.match(r"\$\{[A-Za-z0-9_@*]+(?:\[[^]]*\])?[#%/^,]", self._text[begin:at]) is not None

    def _arithmetic(self, at: int) -> int | None:
        """The end of C(((...))). None if it is something else."""
        text = self._text
        depth = 0
        for end in range(at, min(len(text), at + 2_000)):
            if text[end] == "(":
                depth += 1
                if depth > _DEEPEST:
                    return None
            elif text[end] == ")":
                depth -= 1
                if depth == 1:
                    if text[end + 1 : end + 2] == ")":
                        return end + 2
                    if text.find(")", end + 1) >= 0 and text[at : at + 3] == "(((":
                        continue
                elif depth < 1:
                    return None
            elif text[end] in "'\"`":
                return None
        return None

    def _test(self, at: int) -> int:
        """The end of C([[ ]])."""
        text, conditional = self._text, Conditional()
        while at < len(text):
            if text.startswith("]]", at) and _WORD_END.match(text, at + 2):
                conditional.end(at)
                return at + 2
            if blank := BLANK.match(text, at):
                at = blank.end()
            elif text.startswith("\\\n", at):
                at += 2
            elif not conditional.is_expression and (operator := _TEST_OPERATOR.match(text, at)):
                if operator[0] in "<>":
                    conditional.word(operator[0], at)
                elif operator[0][0] == "#":
                    pass
                else:
                    conditional.operator(operator[0], at)
                at = operator.end()
            else:
                end = self._test_word(at, is_expression=conditional.is_expression)
                conditional.word(text[at:end], at)
                at = end
        raise Unfinished

    def _test_word(self, at: int, *, is_expression: bool) -> int:
        """The end of a word. is_expression: whether parentheses and C(|) belong to it."""
        text, start, depth = self._text, at, 0
        while at < len(text):
            one = text[at]
            if is_expression or text[at - 1 : at] in tuple(_EXTENDED + "!") or depth:
                depth += {"(": 1, ")": -1}.get(one, 0)
                is_end = one in " \t\n" if not depth else one == "\n"
                is_end = is_end or depth < 0 or (one in "&;<>" and not depth)
            else:
                is_end = one in " \t\n;&|<>()"
            if is_end:
                break
            at = self._part(at)
        if at == start:
            raise Unexpected(at)
        return at
