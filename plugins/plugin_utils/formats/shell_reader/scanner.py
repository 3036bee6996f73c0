# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a script simple for the grammar: quotes, expansions, here-documents and C([[ ]]) become words of the same length.

The grammar of tree-sitter-bash is right about statements, but not about every word that bash accepts. So words are read by this package,
and the grammar gets a text in which they consist of letters. All offsets stay the same, and all characters are ASCII.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLAIN = re.compile(r"[A-Za-z0-9_./-]+")
_EMPTY_LIST = re.compile(r"(?:for|select)[ \t]+[A-Za-z0-9_]+[ \t\n]+(in)(?:[ \t]|\\\n)*(?=[;\n])")
_BLANK = re.compile(r"[ \t]+")
_OPERATOR = re.compile(r"&&|\|\||\|&|;;&|;;|;&|[\n;&|()]")
_REDIRECTION = re.compile(r"<<<|<<-|<<|<>|<&|>&|>>|>\||&>>|&>|<(?!\()|>(?!\()")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]\n]*\])?\+?=")
_DELIMITER = re.compile(r"[ \t]*((?:\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|[^\s;&|<>()'\"\\])+)", re.DOTALL)
_UNQUOTED = re.compile(r"\\(.)|['\"]", re.DOTALL)
_ANSI_C = re.compile(r"\$'(?:[^'\\]|\\.)*'", re.DOTALL)
_BACKTICKS = re.compile(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
_NAME = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])?")
_WORD_END = re.compile(r"[ \t\n;&|()<>]|\Z")
_NOT_CONTINUED = r"(?<!(?<!\\)\\\n)"
_TABS = {True: "\t*", False: ""}
_IN_DOUBLE = re.compile(r"[^\\\"$`]+")
_IN_BRACES = re.compile(r"[^\\\"$`}']+")
_VISIBLE = re.compile(r"[^\n]")
_STARTS_COMMAND = ("if", "then", "else", "elif", "do", "while", "until", "!", "{", "time")
_WITH_RULES = ("export", "declare", "typeset", "local", "readonly", "unset", "unsetenv")
"""Commands for which the grammar has own rules."""
_EXTENDED = "?*+@"
_DEEPEST = 30
_LONGEST_UNFINISHED = 16_384
"""Characters of a text without an end that the grammar gets: as much as EC2 stores."""


class Unfinished(Exception):
    """A quote, an expansion or parentheses have no end. start: of a quote; None for anything else."""

    def __init__(self, start: int | None = None) -> None:
        super().__init__()
        self.start = start


@dataclass(frozen=True)
class HereDocument:
    """start, end: of the body. is_literal: whether bash expands nothing in it. indented_end: an end that bash does not take for one."""

    start: int
    end: int
    is_literal: bool
    removes_tabs: bool
    indented_end: tuple[int, int] | None = None


class Scanner:
    """plain: the text for the grammar. ends: where substitutions and expansions end, by their start. open_quote: a quote without an end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._parts: list[str] = []
        self._masked = 0
        self._depth = 0
        self.ends: dict[int, int] = {}
        self.here_documents: dict[int, HereDocument] = {}
        self.is_finished = True
        self.open_quote: int | None = None
        try:
            self._commands(0, is_inner=False)
        except Unfinished as unfinished:
            self.is_finished = False
            self.open_quote = unfinished.start
        # The grammar needs very long for a long text with deep nesting. Nothing is certain in a text without an end anyway.
        self._copy(len(text) if self.is_finished else max(self._masked, min(len(text), _LONGEST_UNFINISHED)))
        self.plain = "".join(self._parts)

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

    # --- commands ----------------------------------------------------------------------------------------------------------------------

    def _commands(self, at: int, *, is_inner: bool) -> int:
        """Read commands up to the end of the text, or up to the parenthesis that closes a substitution. Returns the offset behind it."""
        text = self._text
        starts, parentheses, cases = True, 0, 0
        waiting: list[tuple[int, str, bool]] = []
        while at < len(text):
            if blank := _BLANK.match(text, at):
                at = blank.end()
            elif text.startswith("\\\n", at):
                self._mask(at, at + 2, "")
                at += 2
            elif text[at] == "#":
                end = text.find("\n", at)
                end = len(text) if end < 0 else end
                self._mask(at, end, "#" * (end - at))
                at = end
            elif text.startswith("((", at) and (starts or text.endswith(("for ", "for\t"), 0, at)) and (calculated := self._arithmetic(at)):
                self._mask(at, calculated)
                at, starts = calculated, False
            elif redirection := _REDIRECTION.match(text, at):
                at = self._redirection(redirection, waiting)
            elif operator := _OPERATOR.match(text, at):
                starts = True
                one = operator[0]
                if one == "|&":
                    self._mask(at, at + 2, "|")
                if one == "(":
                    parentheses += 1
                elif one == ")" and parentheses:
                    parentheses -= 1
                elif one == ")" and is_inner and not cases:
                    return at + 1
                at = operator.end()
                if one == "\n":
                    at = self._bodies(at, waiting)
            else:
                end = self._word(at, starts=starts)
                word = text[at:end]
                if starts and word in ("case", "esac"):
                    cases = max(0, cases + (1 if word == "case" else -1))
                if starts and word == "time":
                    self._mask(at, end, "")
                elif starts and word in _WITH_RULES:
                    self._mask(at, end)
                elif starts and (empty := _EMPTY_LIST.match(text, at)):
                    # The grammar does not know a loop over nothing.
                    self._mask(empty.start(1), empty.end(1), "")
                    end = empty.end()
                starts = starts and (word in _STARTS_COMMAND or _ASSIGNMENT.match(word) is not None)
                at = end
        if is_inner:
            raise Unfinished
        return at

    def _redirection(self, match: re.Match[str], waiting: list[tuple[int, str, bool]]) -> int:
        operator = match[0]
        if operator not in ("<<", "<<-"):
            self._mask(match.start(), match.end(), operator.replace("&", " ")[0] if operator[0] != "&" else operator.replace("&", " ")[:2])
            return match.end()
        delimiter = _DELIMITER.match(self._text, match.end())
        if delimiter is None:
            raise Unfinished
        self._mask(match.start(), match.end(), "<")
        self._mask(delimiter.start(1), delimiter.end())
        waiting.append((match.start(), delimiter[1], operator == "<<-"))
        return delimiter.end()

    def _bodies(self, at: int, waiting: list[tuple[int, str, bool]]) -> int:
        """Read the here-documents whose line has ended."""
        for start, written, removes_tabs in waiting:
            line = re.escape(_UNQUOTED.sub(lambda one: one[1] or "", written))
            is_literal = _UNQUOTED.search(written) is not None
            # Where bash expands, a backslash joins lines, and the end must be a line of its own.
            before = "" if is_literal else _NOT_CONTINUED
            end = re.compile(f"^{_TABS[removes_tabs]}{before}{line}$", re.MULTILINE).search(self._text, at)
            stop = end.start() if end else len(self._text)
            indented = None if end else re.compile(rf"^[ \t]+({line})[ \t]*$", re.MULTILINE).search(self._text, at)
            document = HereDocument(at, stop, is_literal, removes_tabs, indented.span(1) if indented else None)
            self.here_documents[start] = document
            if not document.is_literal:
                self._body(at, stop)
            behind = end.end() if end else stop
            self._mask(at, behind, _VISIBLE.sub("#", self._text[at:behind]))
            at = min(len(self._text), behind + 1)
        waiting.clear()
        return at

    def _body(self, at: int, end: int) -> None:
        """Find the expansions in a here-document."""
        self._depth += 1
        try:
            while at < end:
                if self._text[at] == "\\":
                    at += 2
                elif self._text[at] in "$`":
                    at = self._expansion(at, is_quoted=True)
                else:
                    at += 1
        except Unfinished:
            pass
        finally:
            self._depth -= 1

    # --- words -------------------------------------------------------------------------------------------------------------------------

    def _word(self, at: int, *, starts: bool) -> int:
        text = self._text
        start = at
        if text.startswith("[[", at) and starts and text[at + 2 : at + 3] in (" ", "\t", "\n", "\\"):
            end = self._test(at + 2)
            self._mask(at, end)
            return end
        if text[at] in "{}!" and _WORD_END.match(text, at + 1):
            if not starts:
                self._mask(at, at + 1)
            return at + 1
        while at < len(text):
            one = text[at]
            if plain := _PLAIN.match(text, at):
                at = plain.end()
            elif text[at : at + 2] in ("<(", ">("):
                at = self._masked_inner(at, at + 2)
            elif one in " \t\n;&|<>()" or (one == "\\" and text[at + 1 : at + 2] == "\n" and _WORD_END.match(text, at + 2)):
                break
            elif one in _EXTENDED and text[at + 1 : at + 2] == "(":
                at = self._masked_inner(at, at + 2)
            else:
                end = self._part(at)
                self._mask(at, end)
                at = end
                if one == "=" and text[at : at + 1] == "(" and _ASSIGNMENT.fullmatch(text, start, at):
                    at = self._masked_inner(at, at + 1)
        return at

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
        text = self._text
        while at < len(text):
            if text.startswith("]]", at) and text[at - 1] in " \t\n" and _WORD_END.match(text, at + 2):
                return at + 2
            at = self._part(at)
        raise Unfinished
