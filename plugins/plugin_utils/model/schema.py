# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small schema language: what a field may hold, checked for every field at once.

A *kind* is a function C((value, path, problems) -> value): it returns the normalised value, or INVALID after it has
reported why. Kinds are combined into records; the public fields are declared with them in C(fields).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import Problems, joined, listed, nearest
from .plain import INVALID

Kind = Callable[[Any, str, Problems], Any]

_TYPE_NAMES = {dict: "a mapping", list: "a list", str: "text", bool: "a boolean", int: "an integer", float: "a number", type(None): "null"}


def type_name(value: Any) -> str:
    """How users call the type of a plain value."""
    return _TYPE_NAMES.get(type(value), type(value).__name__)


def wrong_type(value: Any, expected: str, path: str, problems: Problems, fix: str | None = None) -> Any:
    """Report a value of the wrong type; returns INVALID."""
    problems.add("input.wrong_type", path, f"must be {expected}, not {type_name(value)}", value=value, fix=fix)
    return INVALID


def text(
    *,
    pattern: str | None = None,
    what: str = "text of the right form",
    allowed: str | None = None,
    multiline: bool = False,
    empty: bool = False,
    secret: bool = False,
    fix: str | None = None,
) -> Kind:
    """Text; one line of printable characters unless C(multiline).

    pattern: a regular expression the whole text must match. what: the name of such a text, with its article. allowed: the pattern in
    words. secret: no message repeats the value. fix: what to do when it does not match.
    """
    expression = re.compile(pattern) if pattern else None

    def check(value: Any, path: str, problems: Problems) -> Any:
        shown = {} if secret else {"value": value}
        if not isinstance(value, str):
            quoted = "quote it" if isinstance(value, (bool, int, float)) else None
            problems.add("input.wrong_type", path, f"must be text, not {type_name(value)}", allowed=allowed, fix=quoted, **shown)
            return INVALID
        if not value and not empty:
            problems.add("input.empty", path, "is empty", allowed=allowed, fix="give a value or leave the field out")
            return INVALID
        if not multiline and not value.isprintable():
            message = "contains a line break or another control character"
            problems.add("input.control_character", path, message, allowed=allowed or "one line of text", fix=fix, **shown)
            return INVALID
        if expression and not expression.fullmatch(value):
            problems.add("input.invalid_text", path, f"is not {what}", allowed=allowed, fix=fix, **shown)
            return INVALID
        return value

    return check


def choice(*words: str, aliases: Mapping[str, str] | None = None) -> Kind:
    """One of C(words); C(aliases) maps other spellings (compared in lower case) to one of them."""
    spellings = {word.lower(): word for word in words} | {alias.lower(): word for alias, word in (aliases or {}).items()}

    def check(value: Any, path: str, problems: Problems) -> Any:
        key = str(value).lower() if isinstance(value, (str, int)) and not isinstance(value, bool) else None
        if key in spellings:
            return spellings[key]
        # A year or a release that is near to another one is not a slip of the pen.
        guess = nearest(value, [*words, *(aliases or {})]) if isinstance(value, str) and re.search("[a-zA-Z]", value) else None
        problems.add("input.unknown_value", path, "is not a known value", value=value, allowed=", ".join(words), nearest=guess)
        return INVALID

    return check


def boolean(value: Any, path: str, problems: Problems) -> Any:
    """true or false."""
    return value if isinstance(value, bool) else wrong_type(value, "true or false", path, problems)


def integer(low: int, high: int) -> Kind:
    """An integer between C(low) and C(high), both included; digits in text count, as templates produce them."""

    def check(value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            return wrong_type(value, f"an integer from {low} to {high}", path, problems)
        if not low <= value <= high:
            problems.add("input.out_of_range", path, "is out of range", value=value, allowed=f"{low} to {high}")
            return INVALID
        return value

    return check


def free(value: Any, path: str, problems: Problems) -> Any:
    """Any plain value; whoever knows its meaning checks it later."""
    return value


def mapping(value: Any, path: str, problems: Problems) -> Any:
    """Any mapping."""
    return value if isinstance(value, dict) else wrong_type(value, "a mapping", path, problems)


def list_of(kind: Kind, *, single: bool = False, filled: bool = False) -> Kind:
    """A list; with C(single) one bare value is a list of one; with C(filled) it may not be empty."""

    def check(value: Any, path: str, problems: Problems) -> Any:
        if single and not isinstance(value, (list, dict)) and value is not None:
            value = [value]
        if not isinstance(value, list):
            return wrong_type(value, "a list", path, problems)
        if filled and not value:
            problems.add("input.empty", path, "is an empty list", allowed="at least one item", fix="give one or leave the field out")
            return INVALID
        items = [kind(item, joined(path, index), problems) for index, item in enumerate(value)]
        return [item for item in items if item is not INVALID]

    return check


def map_of(kind: Kind, key: Kind | None = None) -> Kind:
    """A mapping whose values are of C(kind) and whose keys pass C(key)."""

    def check(value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            return wrong_type(value, "a mapping", path, problems)
        result = {}
        for name, item in value.items():
            below = joined(path, name)
            checked = kind(item, below, problems)
            if (key is None or key(name, below, problems) is not INVALID) and checked is not INVALID:
                result[name] = checked
        return result

    return check


def record(fields: Mapping[str, Kind], required: Mapping[str, str] | None = None, unknown: Mapping[str, str] | None = None) -> Kind:
    """A mapping with known fields. A field that is null counts as not given.

    required: fields that must be given, each with what may stand there.
    unknown: for names that users try although they are no fields, what to do instead.
    """
    needed = required or {}
    names = sorted(fields)

    def check(value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            problems.add(
                "input.wrong_type",
                path,
                f"must be a mapping, not {type_name(value)}",
                value=value,
                allowed=f"the fields {', '.join(names)}",
            )
            return INVALID
        result = {}
        for name, item in value.items():
            below = joined(path, name)
            if name not in fields:
                guess = nearest(name, fields)
                cure = (unknown or {}).get(name) or (f"rename it to {guess}" if guess else "remove it")
                problems.add("input.unknown_field", below, "is not a field", allowed=listed(names, guess), nearest=guess, fix=cure)
            elif item is not None:
                checked = fields[name](item, below, problems)
                if checked is not INVALID:
                    result[name] = checked
        for name in needed:
            if value.get(name) is None:
                problems.add("input.missing_field", joined(path, name), "is required", allowed=needed[name], fix=f"add {name}")
        return result

    return check
