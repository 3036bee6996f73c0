# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluates C(maxPodsExpression): the numeric part of CEL, the Common Expression Language.

Supports numbers, strings, booleans, variables, C(+ - * / %), comparisons, C(&& || !), C(? :), parentheses, and the conversions int, uint,
double, string, bool and dyn. As in CEL (language definition, 2024), kinds are checked before the evaluation and never mixed, integers have
64 bits, overflow is an error, and division rounds towards zero. Lists, mappings, members and macros raise C(UnsupportedExpression).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..capacity import InstanceShape, max_pods
from . import expression_values as values
from .expression_values import BOOL, CONVERSIONS, DOUBLE, INT, NUMBERS, STRING, UINT, ExpressionError, Node, UnsupportedExpression

_MAX_DEPTH = 60
_MAX_WORDS = 400

_TOKEN = re.compile(
    r"""(?:\s|//[^\n]*)*(?:
        (?P<double>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
        |(?P<uint>(?:0x[0-9a-fA-F]+|\d+)[uU])
        |(?P<int>0x[0-9a-fA-F]+|\d+)
        |(?P<string>"[^"\\\r\n]*"|'[^'\\\r\n]*')
        |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
        |(?P<sign>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:(),.\[\]{}])
        |(?P<end>\Z)
    )""",
    re.VERBOSE | re.ASCII,
)

#: From the weakest to the strongest; all of them group from the left.
_LEVELS = (("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))
_ELSEWHERE = ("size", "type", "has", "timestamp", "duration", "bytes", "matches")


VARIABLES = ("default_enis", "ips_per_eni", "max_pods")

# nodeadm from August 2026 on (amazon-eks-ami, pull request 2777); older images ignore an expression that has them.
_NEWER = ("vcpus", "physical_memory_mib")
_MOST_PODS = 2**31 - 1


def pods(expression: str, shape: InstanceShape) -> int:
    """The number of pods that nodeadm computes with C(expression) for an instance. Raises the same errors as C(evaluate)."""
    found = evaluate(expression, dict(zip(VARIABLES, (shape.max_enis, shape.ips_per_eni, max_pods(shape)), strict=True)))
    if not 0 < found <= _MOST_PODS:
        raise ExpressionError(f"the result is {found}, which is not a number of pods")
    return found


def evaluate(expression: str, variables: Mapping[str, int]) -> int:
    """The result of the expression as an integer. Like nodeadm, it converts other results: 1.5 is 1, '5' is 5.

    variables: name → value. Raises C(ExpressionError) if the result is not a number, and C(UnsupportedExpression) if this evaluator
    cannot compute it.
    """
    found = _Parser(expression, variables).whole()
    kind, plain = values.wrapped(found)
    if kind == BOOL:
        raise ExpressionError("the result is true or false, not a number")
    return int(values.convert(INT, kind, plain))


class _Parser:
    """Parses an expression from left to right, and checks kinds at the same time."""

    def __init__(self, text: str, variables: Mapping[str, int]) -> None:
        self._variables = variables
        self._tokens: list[tuple[str, str]] = []
        self._next = 0
        self._depth = 0
        at = 0
        while not self._tokens or self._tokens[-1][0] != "end":
            match = _TOKEN.match(text, at)
            if len(self._tokens) > _MAX_WORDS:
                raise UnsupportedExpression(f"it has more than {_MAX_WORDS} words")
            if match is None:
                raise UnsupportedExpression(f"{text[at:].strip()[:1]!r} is not understood here")
            kind = str(match.lastgroup)
            self._tokens.append((kind, match[kind]))
            at = match.end()

    def whole(self) -> Node:
        found = self._choice()
        kind, text = self._tokens[self._next]
        if kind != "end":
            raise ExpressionError(f"{text!r} is too much")
        return found

    def _refuse_members(self, found: Node) -> None:
        """Reject a member, an index or C(in) after a value. Numbers do not have them, and other values are not supported."""
        kind, text = self._tokens[self._next]
        if text in (".", "[") and kind == "sign" and found.kind in (*NUMBERS, BOOL):
            raise ExpressionError(f"an {found.kind} has no members")
        if text in (".", "[", "{", "in") or kind == STRING:
            raise UnsupportedExpression(f"{text!r} is not understood here")

    def _take(self, *signs: str) -> str | None:
        kind, text = self._tokens[self._next]
        if kind != "sign" or text not in signs:
            return None
        self._next += 1
        return text

    def _expect(self, sign: str) -> None:
        if self._take(sign) is None:
            raise self._missing(repr(sign))

    def _missing(self, what: str) -> ExpressionError:
        kind, text = self._tokens[self._next]
        return ExpressionError("ends in the middle" if kind == "end" else f"{what} is missing before {text!r}")

    def _choice(self) -> Node:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise UnsupportedExpression(f"parentheses are nested more than {_MAX_DEPTH} deep")
        found = self._binary(0)
        if self._take("?"):
            then = self._binary(0)
            self._expect(":")
            found = values.choose(found, then, self._choice())
        self._depth -= 1
        return found

    def _binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while sign := self._take(*_LEVELS[level]):
            right = self._binary(level + 1)
            left = values.logical(sign, left, right) if sign in ("&&", "||") else values.operation(sign, left, right)
        return left

    def _unary(self) -> Node:
        sign = None if self._at_negative_number() else self._take("!", "-")
        if sign is None:
            return self._primary()
        several = 1
        while not self._at_negative_number() and self._take(sign):
            several += 1
        found = self._primary()
        # As in CEL, two signs cancel each other.
        return values.negated(sign, found) if several % 2 else found

    def _at_negative_number(self) -> bool:
        """The sign is part of the number, because the smallest integer has no positive counterpart."""
        return self._tokens[self._next] == ("sign", "-") and self._tokens[self._next + 1][0] in (INT, DOUBLE)

    def _primary(self) -> Node:
        if self._take("("):
            found = self._choice()
            self._expect(")")
        else:
            found = self._atom()
        self._refuse_members(found)
        return found

    def _atom(self) -> Node:
        if self._at_negative_number():
            kind, text = self._tokens[self._next + 1]
            self._next += 2
            return values.literal(kind, f"-{text}")
        kind, text = self._tokens[self._next]
        if kind in (INT, UINT, DOUBLE, STRING):
            self._next += 1
            return values.literal(kind, text)
        if text in ("[", "{", ".", "null", "in"):
            raise UnsupportedExpression(f"{text!r} is not understood here")
        if kind != "name":
            raise self._missing("a value")
        self._next += 1
        if self._take("("):
            return self._call(text)
        if text in ("true", "false"):
            return Node(BOOL, lambda: text == "true")
        if text in self._variables:
            return Node(INT, lambda: self._variables[text])
        if self._tokens[self._next][0] == STRING:
            raise UnsupportedExpression(f"the text after {text} is not understood here")
        if text in _NEWER:
            raise UnsupportedExpression(f"{text} is defined only in the nodeadm of newer images")
        raise ExpressionError(f"{text:.40} is not defined here", unknown=text)

    def _call(self, name: str) -> Node:
        if name in _ELSEWHERE:
            raise UnsupportedExpression(f"{name}() is not understood here")
        if name not in CONVERSIONS:
            raise ExpressionError(f"{name:.40}() is not defined here", unknown=name)
        argument = self._choice()
        self._expect(")")
        return values.conversion(name, argument)
