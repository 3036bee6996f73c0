# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of the Common Expression Language. Kinds are checked before the evaluation, and are never converted implicitly.

C(dyn) hides a kind until the evaluation. Source: the CEL language definition, 2024.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

INT, UINT, DOUBLE, STRING, BOOL, DYN = "int", "uint", "double", "string", "bool", "dyn"
NUMBERS = (INT, UINT, DOUBLE)
CONVERSIONS = (INT, UINT, DOUBLE, STRING, BOOL, DYN)
_RANGES = {INT: (-(2**63), 2**63 - 1), UINT: (0, 2**64 - 1)}
_MOST_DIGITS = 40


class ExpressionError(ValueError):
    """An expression that CEL rejects, when it checks or when it evaluates it.

    unknown: the unknown name, if that is the reason.
    """

    def __init__(self, message: str, unknown: str | None = None) -> None:
        super().__init__(message)
        self.unknown = unknown


class UnsupportedExpression(Exception):
    """An expression that CEL may support, but this evaluator does not."""


class Node(NamedTuple):
    """A checked part of an expression: the kind of its value, and the function that computes it."""

    kind: str
    value: Callable[[], Any]


class Value(NamedTuple):
    """A value whose kind is known only at evaluation, because of dyn()."""

    kind: str
    plain: Any


def literal(kind: str, text: str) -> Node:
    """A constant. Raises ExpressionError if the kind cannot represent it."""
    value: Any
    if kind == STRING:
        value = text[1:-1]
    elif kind == DOUBLE:
        value = float(text)
        if math.isinf(value):
            raise ExpressionError(f"{text:.40} is out of range for double")
    elif len(text) > _MOST_DIGITS:
        raise ExpressionError(f"{text:.40}… is out of range for {kind}")
    else:
        value = _in_range(kind, int(text.rstrip("uU"), 16 if "0x" in text else 10))
    return Node(kind, lambda: value)


def _in_range(kind: str, value: int) -> int:
    least, most = _RANGES[kind]
    if not least <= value <= most:
        raise ExpressionError(f"{value} is out of range for {kind}")
    return value


def choose(condition: Node, then: Node, otherwise: Node) -> Node:
    """The operator C(condition ? then : otherwise). Raises ExpressionError for kinds that CEL does not combine."""
    if condition.kind not in (BOOL, DYN):
        raise ExpressionError(f"the condition before ? is of the kind {condition.kind}")
    kind = _common("? :", then.kind, otherwise.kind)

    def value() -> Any:
        chosen = then if _boolean(condition) else otherwise
        return wrapped(chosen) if kind == DYN else chosen.value()

    return Node(kind, value)


def _common(sign: str, left: str, right: str) -> str:
    if DYN in (left, right):
        return DYN
    if left != right:
        raise ExpressionError(f"{sign} does not go with {left} and {right}")
    return left


def wrapped(node: Node) -> Value:
    """The value of a node with its kind."""
    found = node.value()
    return found if isinstance(found, Value) else Value(node.kind, found)


def _boolean(node: Node) -> bool:
    kind, plain = wrapped(node)
    if kind != BOOL:
        raise ExpressionError(f"{plain!r} is neither true nor false")
    return bool(plain)


def logical(sign: str, left: Node, right: Node) -> Node:
    """If one side decides the result, an error of the other side is ignored."""
    for side in (left, right):
        if side.kind not in (BOOL, DYN):
            raise ExpressionError(f"{sign} does not go with {side.kind}")
    decides = sign == "||"

    def value() -> bool:
        try:
            if _boolean(left) is decides:
                return decides
        except ExpressionError:
            if _boolean(right) is decides:
                return decides
            raise
        return _boolean(right)

    return Node(BOOL, value)


def operation(sign: str, left: Node, right: Node) -> Node:
    """An arithmetic operator or a comparison. Raises ExpressionError for kinds that CEL does not combine."""
    compares = sign in ("==", "!=", "<", "<=", ">", ">=")
    kind = _common(sign, left.kind, right.kind)
    if kind != DYN:
        _check_operation(sign, kind)
        return Node(BOOL if compares else kind, lambda: _compute(sign, kind, left.value(), right.value()))

    def value() -> Any:
        first, second = wrapped(left), wrapped(right)
        if compares and first.kind in NUMBERS and second.kind in NUMBERS:
            return _compare(sign, first.plain, second.plain)
        if first.kind != second.kind:
            if sign in ("==", "!="):
                return sign == "!="
            raise ExpressionError(f"{sign} does not go with {first.kind} and {second.kind}")
        _check_operation(sign, first.kind)
        found = _compute(sign, first.kind, first.plain, second.plain)
        return found if compares else Value(first.kind, found)

    return Node(BOOL if compares else DYN, value)


def _check_operation(sign: str, kind: str) -> None:
    fits = {
        "%": kind in (INT, UINT),
        "+": kind in (*NUMBERS, STRING),
        **dict.fromkeys(("-", "*", "/"), kind in NUMBERS),
    }
    if not fits.get(sign, True):
        raise ExpressionError(f"{sign} does not go with {kind}")


def _compare(sign: str, left: Any, right: Any) -> bool:
    orders = {"==": left == right, "!=": left != right}
    if sign in orders:
        return bool(orders[sign])
    return bool({"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[sign])


def _compute(sign: str, kind: str, left: Any, right: Any) -> Any:
    if sign not in ("+", "-", "*", "/", "%"):
        return _compare(sign, left, right)
    if sign in ("+", "-", "*"):
        found = left + right if sign == "+" else left - right if sign == "-" else left * right
    elif kind == DOUBLE:
        found = _quotient(left, right)
    elif right == 0:
        raise ExpressionError("division by zero")
    else:
        found = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        if sign == "%":
            found = left - found * right
    return _in_range(kind, found) if kind in _RANGES else found


def _quotient(left: float, right: float) -> float:
    if right:
        return left / right
    if not left or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def negated(sign: str, node: Node) -> Node:
    """The operator C(!) or C(-) before a value. Raises ExpressionError for other kinds."""
    if sign == "!":
        if node.kind not in (BOOL, DYN):
            raise ExpressionError(f"! does not go with {node.kind}")
        return Node(BOOL, lambda: not _boolean(node))
    if node.kind not in (INT, DOUBLE, DYN):
        raise ExpressionError(f"- does not go with {node.kind}")

    def value() -> Any:
        kind, plain = wrapped(node)
        if kind not in (INT, DOUBLE):
            raise ExpressionError(f"- does not go with {kind}")
        negative = _in_range(INT, -plain) if kind == INT else -plain
        return Value(kind, negative) if node.kind == DYN else negative

    return Node(node.kind, value)


def conversion(name: str, node: Node) -> Node:
    """A conversion such as C(int(x)). Raises ExpressionError if CEL has no such conversion."""
    if name == DYN:
        return Node(DYN, lambda: wrapped(node))
    if node.kind == BOOL and name in NUMBERS:
        raise ExpressionError(f"there is no {name}() of a bool")
    if node.kind in NUMBERS and name == BOOL:
        raise ExpressionError(f"there is no bool() of an {node.kind}")

    def value() -> Any:
        kind, plain = wrapped(node)
        return convert(name, kind, plain)

    return Node(name, value)


def convert(name: str, kind: str, plain: Any) -> Any:
    """A value of one kind as another. Raises ExpressionError if that is impossible, UnsupportedExpression for the text of a double."""
    if name == kind:
        return plain
    if name == STRING:
        if kind == DOUBLE:
            raise UnsupportedExpression("the text of a double is not told here")
        return str(plain).lower() if kind == BOOL else str(plain)
    if kind == BOOL or (name == BOOL and kind != STRING):
        raise ExpressionError(f"a {kind} is not of type {name}")
    if kind == STRING:
        return _read(name, plain)
    if name == DOUBLE:
        return float(plain)
    least, most = _RANGES[name]
    # A double that equals the smallest integer may have been rounded to it, so CEL rejects it.
    if kind == DOUBLE and not (least < plain < most or plain == least == 0):
        raise ExpressionError(f"{plain} is out of range for {name}")
    return _in_range(name, int(plain))


def _read(name: str, text: str) -> Any:
    if name == BOOL:
        if text in ("1", "t", "true", "TRUE", "True", "0", "f", "false", "FALSE", "False"):
            return text.lower() in ("1", "t", "true")
    elif name == DOUBLE:
        if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII):
            return float(text)
    elif len(text) <= _MOST_DIGITS and re.fullmatch(r"[+-]?\d+" if name == INT else r"\d+", text, re.ASCII):
        return _in_range(name, int(text))
    raise ExpressionError(f"the text {text!r:.40} is not of type {name}")
