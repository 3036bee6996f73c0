# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bash expects a token of a script (C(parse.y) of bash 5.2), and where it reports a syntax error.

tree-sitter accepts texts that bash rejects, and does not say which statements bash runs before it rejects one.
"""

from __future__ import annotations

import re

_BODY, _NEXT, _OPERAND, _PIPED, _PREFIX = "body", "next", "operand", "piped", "prefix"
"""A command begins: the first one of a list; one that may follow; behind C(&&); behind C(|); behind C(!)."""
_FIRST, _SIMPLE, _DONE = "first", "simple", "done"
"""Inside of a simple command with one word; with more. Behind a command with an end of its own."""
_FOR_NAME, _FOR_IN, _FOR_LINE, _FOR_WORDS, _FOR_CALCULATED, _FOR_DO = (
    "for name", "for in", "for line", "for words", "for calculated", "for do",
)  # fmt: skip
_CASE_WORD, _CASE_IN, _PATTERN, _PATTERN_WORD, _PATTERN_END = "case word", "case in", "pattern", "pattern word", "pattern end"
_FUNCTION_NAME, _FUNCTION, _CLOSE, _FUNCTION_BODY = "function name", "function", "close", "function body"

_COMMANDS = frozenset({_BODY, _NEXT, _OPERAND, _PIPED, _PREFIX})
_STARTS = _COMMANDS | {_FUNCTION, _FUNCTION_BODY, _DONE, _FOR_IN, _FOR_LINE, _FOR_CALCULATED, _FOR_DO}
_RUN = frozenset({_FIRST, _SIMPLE, _DONE})
_LAST = _RUN | {_NEXT}
_END = _LAST | {_PREFIX}
_LINES = {
    **{state: state for state in (_BODY, _NEXT, _OPERAND, _PIPED, _FOR_LINE, _FOR_DO, _CASE_IN, _PATTERN, _FUNCTION_BODY)},
    **{state: _NEXT for state in (_FIRST, _SIMPLE, _DONE, _PREFIX)},
    _FOR_IN: _FOR_LINE,
    _FOR_WORDS: _FOR_DO,
    _FOR_CALCULATED: _FOR_DO,
    _FUNCTION: _FUNCTION_BODY,
}
_SEMICOLONS = {
    **{state: _NEXT for state in (_FIRST, _SIMPLE, _DONE, _PREFIX)},
    **{state: _FOR_DO for state in (_FOR_IN, _FOR_WORDS, _FOR_CALCULATED)},
}
_WORDS = {
    _FIRST: _SIMPLE, _SIMPLE: _SIMPLE, _FOR_NAME: _FOR_IN, _FOR_WORDS: _FOR_WORDS, _CASE_WORD: _CASE_IN, _PATTERN_WORD: _PATTERN_END,
    _FUNCTION_NAME: _FUNCTION,
}  # fmt: skip
_OPENERS = {"if": "then", "while": "do", "until": "do", "{": "}"}
"""The words that begin a compound command, and the word that must follow its first list."""
_HEADERS = {"for": _FOR_NAME, "select": _FOR_NAME, "case": _CASE_WORD}
_PREFIXES = {"!": _PREFIX, "time": _PREFIX, "coproc": _PREFIX, "function": _FUNCTION_NAME}
_CONTINUED = {("then", "then"): "fi", ("fi", "elif"): "then", ("fi", "else"): "end", ("do", "do"): "done"}
_CLOSED = frozenset({("fi", "fi"), ("end", "fi"), ("done", "done"), ("}", "}"), ("esac", "esac")})
_CLOSERS = frozenset({"then", "elif", "else", "fi", "do", "done", "}", "esac", "in"})
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[.*?\])?\+?=", re.DOTALL)
_NAME = re.compile(r"[^$'\"`\\<>]+")


class Unexpected(Exception):
    """A token at an offset where bash does not allow it."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class Grammar:
    """Takes the tokens of a list of commands one after the other. Each method raises C(Unexpected)."""

    def __init__(self) -> None:
        self._state = _NEXT
        self._open: list[str] = []
        self._wants_target = False

    @property
    def starts(self) -> bool:
        """Whether the next word may begin or end a compound command."""
        return self._state in _STARTS and not self._wants_target

    @property
    def calculates(self) -> bool:
        """Whether C(((...))) may follow."""
        return (self._state in _STARTS or self._state == _FOR_NAME) and not self._wants_target

    @property
    def is_done(self) -> bool:
        """Whether a compound command, or C(for ((...))), has just ended."""
        return self._state in (_DONE, _FOR_CALCULATED) and not self._wants_target

    @property
    def is_complete(self) -> bool:
        """Whether bash runs what it has read before it reads on, behind the end of a line."""
        return self._state == _NEXT and not self._open

    def closes(self) -> bool:
        """Whether a parenthesis closes the substitution around the commands."""
        return not self._open and self._state in _LAST and not self._wants_target

    def end(self, at: int) -> None:
        """The end of the text."""
        if self._open or self._state not in _END or self._wants_target:
            raise Unexpected(at)

    def redirection(self, at: int, *, wants_target: bool) -> None:
        """An operator of a redirection. wants_target: whether a word must follow."""
        if self._wants_target or not (self._state in _COMMANDS or self._state in _RUN):
            raise Unexpected(at)
        self._wants_target = wants_target
        self._state = self._state if self._state == _DONE else _SIMPLE

    def compound(self, at: int) -> None:
        """C([[ ]]) or C((( )))."""
        if self._state == _FOR_NAME:
            self._state = _FOR_CALCULATED
        elif self._state in _COMMANDS or self._state in (_FUNCTION, _FUNCTION_BODY):
            self._state = _DONE
        else:
            raise Unexpected(at)

    def word(self, text: str, at: int) -> None:
        """A word."""
        state = self._state
        if self._wants_target:
            self._wants_target = False
        elif state in _WORDS:
            self._state = _WORDS[state]
        elif state in _COMMANDS and not self._is_reserved(text):
            self._state = _SIMPLE if _ASSIGNMENT.match(text) or not _NAME.fullmatch(text) else _FIRST
        elif state == _PATTERN:
            self._state = _PATTERN_END if text != "esac" else self._pop("esac", at)
        elif state == _CASE_IN and text == "in":
            self._push("esac", _PATTERN)
        elif state in (_FOR_IN, _FOR_LINE) and text == "in":
            self._state = _FOR_WORDS
        elif state in (_FOR_IN, _FOR_LINE, _FOR_CALCULATED, _FOR_DO) and text in ("do", "{"):
            self._push("done" if text == "do" else "}", _BODY)
        else:
            self._reserved(text, at)

    def _is_reserved(self, text: str) -> bool:
        return text in _OPENERS or text in _HEADERS or text in _PREFIXES or text in _CLOSERS

    def _reserved(self, text: str, at: int) -> None:
        state = self._state
        begins = state in _COMMANDS or state in (_FUNCTION, _FUNCTION_BODY)
        if begins and text in _OPENERS:
            self._push(_OPENERS[text], _BODY)
        elif begins and text in _HEADERS:
            self._state = _HEADERS[text]
        elif text in _PREFIXES and state in _COMMANDS and state != _PIPED:
            self._state = _PREFIXES[text]
        elif text in _CLOSERS and state in (_NEXT, _DONE):
            self._state = self._pop(text, at)
        else:
            raise Unexpected(at)

    def operator(self, text: str, at: int) -> None:
        """An operator between commands."""
        state = self._state
        following: str | None = None
        if self._wants_target:
            pass
        elif text == "\n":
            following = _LINES.get(state)
        elif text == ";":
            following = _SEMICOLONS.get(state)
        elif text == "(":
            following = self._parenthesis()
        elif text == ")":
            following = {_PATTERN_END: _NEXT, _CLOSE: _FUNCTION_BODY}.get(state) or (self._pop(")", at) if state in _LAST else None)
        elif text == "|" and state == _PATTERN_END:
            following = _PATTERN_WORD
        elif text in (";;", ";&", ";;&"):
            following = _PATTERN if state in _LAST and self._open[-1:] == ["esac"] else None
        elif state in _RUN:
            following = _NEXT if text == "&" else _PIPED if text in ("|", "|&") else _OPERAND
        if following is None:
            raise Unexpected(at)
        self._state = following

    def _parenthesis(self) -> str | None:
        if self._state in _COMMANDS or self._state == _FUNCTION_BODY:
            self._open.append(")")
            return _BODY
        return {_FIRST: _CLOSE, _FUNCTION: _CLOSE, _PATTERN: _PATTERN_WORD}.get(self._state)

    def _push(self, end: str, state: str) -> None:
        self._open.append(end)
        self._state = state

    def _pop(self, text: str, at: int) -> str:
        """The state behind a word that ends a list."""
        found = (self._open[-1] if self._open else "", text)
        if found in _CONTINUED:
            self._open[-1] = _CONTINUED[found]
            return _BODY
        if found not in _CLOSED and found != (")", ")"):
            raise Unexpected(at)
        self._open.pop()
        return _DONE
