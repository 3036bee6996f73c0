# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Strict JSON: sorted keys, no NaN, no duplicate keys, limited depth, one type of error."""

from __future__ import annotations

import json
import math
import re
from typing import Any

MAX_DEPTH = 100
"""The limit of nesting. Configurations need less than a third of it, and the stack allows it."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonError(ValueError):
    """Invalid JSON, or a value that JSON cannot represent. C(line) and C(column) start at 1."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        self.message, self.line, self.column = message, line, column
        super().__init__(message if line is None else f"line {line}, column {column}: {message}")


def dump(value: Any, *, indent: int | None = None) -> str:
    """C(value) as ASCII with sorted keys; with C(indent) on several lines and a final newline.

    Raises C(JsonError) for what JSON or its readers do not know: NaN, infinity, keys that are no strings, lone surrogates.
    """
    separators = (",", ":") if indent is None else (",", ": ")
    try:
        _check(value, 0)
        text = json.dumps(value, sort_keys=True, allow_nan=False, indent=indent, separators=separators)
    except (TypeError, ValueError, RecursionError) as error:
        if isinstance(error, JsonError):
            raise
        raise JsonError(f"this cannot be written as JSON: {error}") from error
    return text if indent is None else text + "\n"


def _check(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise JsonError(f"nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, str):
        if not value.isascii() and _SURROGATE.search(value):
            raise JsonError("a text contains a lone surrogate, which UTF-8 cannot represent")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise JsonError(f"{value} is not a valid JSON number")
    elif isinstance(value, dict):
        for key, child in value.items():
            if not isinstance(key, str):
                raise JsonError(f"the key {key!r:.80} is not text: quote it")
            _check(key, depth)
            _check(child, depth + 1)
    elif isinstance(value, (list, tuple)):
        for child in value:
            _check(child, depth + 1)


def load(text: str, *, strict: bool = True) -> Any:
    """The value of C(text). strict: a duplicate key is an error. Otherwise the last one wins. Raises C(JsonError)."""

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(found)
        if strict and len(result) < len(found):
            keys = [key for key, _unused in found]
            twice = next(key for key in result if keys.count(key) > 1)
            raise JsonError(f"the key {twice!r:.80} is a duplicate")
        return result

    def refuse(constant: str) -> Any:
        raise JsonError(f"{constant} is not a valid JSON number")

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=refuse)
        _check(value, 0)
    except json.JSONDecodeError as error:
        raise JsonError(error.msg, error.lineno, error.colno) from error
    except RecursionError as error:
        raise JsonError("nested too deeply") from error
    except ValueError as error:
        if isinstance(error, JsonError):
            raise
        raise JsonError(f"a number is too long: {error}") from error
    return value
