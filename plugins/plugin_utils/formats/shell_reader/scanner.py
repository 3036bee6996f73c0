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

from .grammar import Grammar, Unexpected
from .word_scanner import ASSIGNMENT, BLANK, Unfinished, WordScanner

_EMPTY_LIST = re.compile(r"(?:for|select)[ \t]+[A-Za-z0-9_]+[ \t\n]+(in)(?:[ \t]|\\\n)*(?=[;\n])")
_OPERATOR = re.compile(r"&&|\|\||\|&|;;&|;;|;&|[\n;&|()]")
_REDIRECTION = re.compile(r"<<<|<<-|<<|<>|<&|>&|>>|>\||&>>|&>|<(?!\()|>(?!\()")
_DELIMITER = re.compile(r"[ \t]*((?:\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|[^\s;&|<>()'\"\\])+)", re.DOTALL)
_UNQUOTED = re.compile(r"\\(.)|['\"]", re.DOTALL)
_NOT_CONTINUED = r"(?<!(?<!\\)\\\n)"
_TABS = {True: "\t*", False: ""}
_VISIBLE = re.compile(r"[^\n]")
_DESCRIPTOR = re.compile(r"(?:[0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})(?=[<>])")
_WITH_RULES = ("export", "declare", "typeset", "local", "readonly", "unset", "unsetenv")
"""Commands for which the grammar has own rules."""
_LONGEST_UNFINISHED = 16_384
"""Characters of a text without an end that the grammar gets: as much as EC2 stores."""


@dataclass(frozen=True)
class HereDocument:
    """start, end: of the body. is_literal: whether bash expands nothing in it. indented_end: an end that bash does not take for one.

    is_broken: whether an expansion in it has no end, so that bash does not run the command. has_end: whether a line ends it.
    """

    start: int
    end: int
    is_literal: bool
    removes_tabs: bool
    indented_end: tuple[int, int] | None = None
    is_broken: bool = False
    has_end: bool = True


class Scanner(WordScanner):
    """plain: the text for the grammar. ends: where substitutions and expansions end, by their start. open_quote: a quote without an end.

    run_end: where the lines end that bash runs before it finds an error. error: the place of the error, if it is not a missing end.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.run_end = 0
        self.error: int | None = None
        self.here_documents: dict[int, HereDocument] = {}
        self.is_finished = True
        self.open_quote: int | None = None
        try:
            self._commands(0, is_inner=False)
        except Unfinished as unfinished:
            self.is_finished = False
            self.open_quote = unfinished.start
        except Unexpected as unexpected:
            self.is_finished = False
            self.error = unexpected.at
        # The grammar needs very long for a long text with deep nesting. Nothing is certain in a text without an end anyway.
        self._copy(len(text) if self.is_finished else max(self._masked, min(len(text), _LONGEST_UNFINISHED)))
        self.plain = "".join(self._parts)

    # --- commands ----------------------------------------------------------------------------------------------------------------------

    def _commands(self, at: int, *, is_inner: bool) -> int:
        """Read commands up to the end of the text, or up to the parenthesis that closes a substitution. Returns the offset behind it."""
        text, grammar = self._text, Grammar()
        starts = True
        waiting: list[tuple[int, str, bool]] = []
        while at < len(text):
            if blank := BLANK.match(text, at):
                at = blank.end()
            elif text.startswith("\\\n", at):
                self._mask(at, at + 2, "")
                at += 2
            elif text[at] == "#":
                end = text.find("\n", at)
                end = len(text) if end < 0 else end
                self._mask(at, end, "#" * (end - at))
                at = end
            elif text.startswith("((", at) and grammar.calculates and (calculated := self._arithmetic(at)):
                self._mask(at, calculated)
                grammar.compound(at)
                at, starts = calculated, False
            elif redirection := _REDIRECTION.match(text, at):
                at = self._redirection(redirection, waiting, grammar)
            elif operator := _OPERATOR.match(text, at):
                one = operator[0]
                if one == ")" and is_inner and grammar.closes():
                    return at + 1
                if one == "|&":
                    self._mask(at, at + 2, "|")
                grammar.operator(one, at)
                starts = grammar.starts
                at = operator.end()
                if one == "\n":
                    at = self._bodies(at, waiting)
                    if grammar.is_complete and not is_inner:
                        self.run_end = at
            else:
                at, starts = self._token(at, grammar, starts=starts)
        if is_inner:
            raise Unfinished
        self._bodies(at, waiting)
        grammar.end(at)
        self.run_end = at
        return at

    def _token(self, at: int, grammar: Grammar, *, starts: bool) -> tuple[int, bool]:
        """Read a word. starts: whether a command begins there. Returns the offset behind it, and whether a command begins behind it."""
        text = self._text
        if descriptor := _DESCRIPTOR.match(text, at):
            self._mask(at, descriptor.end())
            return descriptor.end(), starts
        if grammar.starts and text.startswith("[[", at) and text[at + 2 : at + 3] in (" ", "\t", "\n", "\\"):
            end = self._test(at + 2)
            self._mask(at, end)
            grammar.compound(at)
            return end, False
        if grammar.is_done and text[at - 1] in " \t":
            # bash needs no separator between the end of a compound command and that of the one around it.
            self._mask(at - 1, at, ";")
        end = self._word(at, starts=starts, is_word=not grammar.starts)
        word = text[at:end]
        if starts and word == "time":
            self._mask(at, end, "")
        elif starts and word in _WITH_RULES:
            self._mask(at, end)
        elif starts and (empty := _EMPTY_LIST.match(text, at)):
            # The grammar does not know a loop over nothing.
            self._mask(empty.start(1), empty.end(1), "")
            end = empty.end()
            grammar.word(word, at)
            grammar.word("", at)
            word = "in"
        grammar.word(word, at)
        return end, grammar.starts or (starts and ASSIGNMENT.match(word) is not None)

    def _redirection(self, match: re.Match[str], waiting: list[tuple[int, str, bool]], grammar: Grammar) -> int:
        operator = match[0]
        grammar.redirection(match.start(), wants_target=operator not in ("<<", "<<-"))
        if operator not in ("<<", "<<-"):
            self._mask(match.start(), match.end(), operator.replace("&", " ")[0] if operator[0] != "&" else operator.replace("&", " ")[:2])
            return match.end()
        delimiter = _DELIMITER.match(self._text, match.end())
        if delimiter is None:
            raise Unexpected(match.end())
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
            is_broken = not is_literal and not self._body(at, stop)
            document = HereDocument(at, stop, is_literal, removes_tabs, indented.span(1) if indented else None, is_broken, end is not None)
            self.here_documents[start] = document
            behind = end.end() if end else stop
            self._mask(at, behind, _VISIBLE.sub("#", self._text[at:behind]))
            at = min(len(self._text), behind + 1)
        waiting.clear()
        return at

    def _body(self, at: int, end: int) -> bool:
        """Find the expansions in a here-document. Returns whether each of them has an end."""
        self._depth += 1
        try:
            while at < end:
                if self._text[at] == "\\":
                    at += 2
                elif self._text[at] in "$`":
                    at = self._expansion(at, is_quoted=True)
                else:
                    at += 1
        except (Unfinished, Unexpected):
            return False
        finally:
            self._depth -= 1
        return at <= end
