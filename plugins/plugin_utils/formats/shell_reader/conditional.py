# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bash expects a token inside of C([[ ]]) (C(cond_term) in C(parse.y) of bash 5.2)."""

from __future__ import annotations

import re

from .grammar import Unexpected

_TERM, _WORD, _UNARY, _OPERAND, _DONE = range(5)
"""An expression begins; behind its first word; behind an operator such as C(-n); behind one such as C(==); behind an expression."""
_UNARY_OPERATOR = re.compile(r"-[a-hknoprstuvwxzGLNORS]")
_BINARY_OPERATOR = re.compile(r"==?|!=|=~|<|>|-(?:eq|ne|[lg][et]|[no]t|ef)")


class Conditional:
    """Takes the tokens one after the other. Each method raises C(Unexpected)."""

    def __init__(self) -> None:
        self._state = _TERM
        self._depth = 0
        self.is_expression = False

    def word(self, text: str, at: int) -> None:
        """A word, C(<) or C(>). is_expression is then whether the next word is one of C(=~), which may contain parentheses."""
        is_operator = _BINARY_OPERATOR.fullmatch(text) is not None
        self.is_expression = False
        if self._state == _TERM and text not in ("<", ">"):
            if text != "!":
                self._state = _UNARY if _UNARY_OPERATOR.fullmatch(text) else _WORD
        elif self._state == _WORD and is_operator:
            self._state = _OPERAND
            self.is_expression = text == "=~"
        elif self._state in (_UNARY, _OPERAND) and text not in ("<", ">"):
            self._state = _DONE
        else:
            raise Unexpected(at)

    def operator(self, text: str, at: int) -> None:
        """C(&&), C(||), a parenthesis or the end of a line."""
        is_behind = self._state in (_WORD, _DONE)
        if text == "\n" and self._state in (_TERM, _DONE):
            return
        if text == "(" and self._state == _TERM:
            self._depth += 1
        elif text == ")" and is_behind and self._depth:
            self._depth -= 1
            self._state = _DONE
        elif text in ("&&", "||") and is_behind:
            self._state = _TERM
        else:
            raise Unexpected(at)

    def end(self, at: int) -> None:
        """The closing brackets."""
        if self._depth or self._state not in (_WORD, _DONE):
            raise Unexpected(at)
