# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small schema language that checks every field of an input and reports all problems at once.

A C(Kind) checks a value and returns the normalised value, or INVALID after it has reported a problem. It also describes itself as
JSON Schema: C(tools/input_reference.py) generates the documentation and the schema files from it. The public fields are declared
with kinds in C(fields).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from ..errors import FEW, Problems, joined, listed, rename
from .plain import INVALID

Check = Callable[[Any, str, Problems], Any]
"""Checks a value at a path: returns the normalised value, or INVALID after it has reported a problem."""


@dataclass(frozen=True)
class Kind:
    """A check, and the values that it accepts, in terms of JSON Schema.

    Keywords of our own: C(single) is true for a list that can be given as its only item, C(secret) for text that no message
    repeats; C(families) lists the families that have a field.
    """

    check: Check
    schema: Mapping[str, Any]

    def __call__(self, value: Any, path: str, problems: Problems) -> Any:
        return self.check(value, path, problems)


def field(check: Check, description: str, *, only: tuple[str, ...] = (), **schema: Any) -> Kind:
    """Declare a field: C(check) with a description in Markdown.

    only: the families that have the field; empty for all families. schema: more keywords, for example C(default).
    """
    families = {"families": only, "description": f"{description} Only for {', '.join(only)}."} if only else {"description": description}
    return Kind(check.check if isinstance(check, Kind) else check, {**_schema(check), **schema, **families})


def _schema(check: Check) -> Mapping[str, Any]:
    return check.schema if isinstance(check, Kind) else {}


_TYPE_NAMES = {dict: "a mapping", list: "a list", str: "text", bool: "a boolean", int: "an integer", float: "a number", type(None): "null"}


def type_name(value: Any) -> str:
    """Return the type of a plain value, as messages name it."""
    return _TYPE_NAMES.get(type(value), type(value).__name__)


def wrong_type(
    value: Any, expected: str, path: str, problems: Problems, fix: str | None = None, allowed: str | None = None, guess: str | None = None
) -> Any:
    """Report a value of the wrong type; returns INVALID."""
    message = f"must be {expected}, not {type_name(value)}"
    problems.add("input.wrong_type", path, message, value=value, allowed=allowed, nearest=guess, fix=fix)
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
    scheme: str | None = None,
) -> Kind:
    """Text. Without C(multiline), one line of printable characters.

    pattern: a regular expression that the whole text must match. what: a noun for such a text, with its article. allowed: the pattern
    in words. secret: whether messages must not repeat the value. fix: what to do if the text does not match. scheme: the scheme that
    a URL without one most probably needs.
    """
    expression = re.compile(pattern) if pattern else None

    def check(value: Any, path: str, problems: Problems) -> Any:
        shown = {} if secret else {"value": value}
        if not isinstance(value, str):
            cure = "quote it" if isinstance(value, (bool, int, float)) else None
            if multiline and isinstance(value, dict):
                cure = "write | after the colon, so that the lines below it are text"
            problems.add("input.wrong_type", path, f"must be text, not {type_name(value)}", allowed=allowed, fix=cure, **shown)
            return INVALID
        if not value and not empty:
            problems.add("input.empty", path, "is empty", allowed=allowed, fix="set a value or remove the field")
            return INVALID
        if not multiline and not value.isprintable():
            message = "contains a line break or another control character"
            problems.add("input.control_character", path, message, allowed=allowed or "one line of text", fix=fix, **shown)
            return INVALID
        if expression and not expression.fullmatch(value):
            is_cut = scheme and "://" not in value and expression.fullmatch(f"{scheme}://{value}")
            cure = f"begin it with {scheme}://" if is_cut else fix
            problems.add("input.invalid_text", path, f"is not {what}", allowed=allowed, fix=cure, **shown)
            return INVALID
        return value

    return Kind(check, {"type": "string", **({"secret": True} if secret else {})})


def choice(*words: str, aliases: Mapping[str, str] | None = None) -> Kind:
    """One of C(words), in any case. C(aliases) maps other spellings to words."""
    spellings = {word.lower(): word for word in words} | {alias.lower(): word for alias, word in (aliases or {}).items()}

    def check(value: Any, path: str, problems: Problems) -> Any:
        key = str(value).lower() if isinstance(value, (str, int)) and not isinstance(value, bool) else None
        if key in spellings:
            return spellings[key]
        # A year or a release that is similar to another one is not a spelling mistake.
        guess = problems.nearest(value, [*words, *(aliases or {})]) if isinstance(value, str) and re.search("[a-zA-Z]", value) else None
        problems.add("input.unknown_value", path, "is not a known value", value=value, allowed=", ".join(words), nearest=guess)
        return INVALID

    return Kind(check, {"type": "string", "enum": list(words), **({"aliases": sorted(aliases)} if aliases else {})})


def _boolean(value: Any, path: str, problems: Problems) -> Any:
    return value if isinstance(value, bool) else wrong_type(value, "true or false", path, problems)


boolean = Kind(_boolean, {"type": "boolean"})
"""true or false."""


def integer(low: int, high: int) -> Kind:
    """An integer from C(low) to C(high). Text of digits is accepted, because templates produce it."""

    def check(value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            return wrong_type(value, f"an integer from {low} to {high}", path, problems)
        if not low <= value <= high:
            problems.add("input.out_of_range", path, "is out of range", value=value, allowed=f"{low} to {high}")
            return INVALID
        return value

    return Kind(check, {"type": "integer", "minimum": low, "maximum": high})


def _mapping(value: Any, path: str, problems: Problems) -> Any:
    return value if isinstance(value, dict) else wrong_type(value, "a mapping", path, problems)


mapping = Kind(_mapping, {"type": "object"})
"""Any mapping. Its content is checked later."""


def list_of(kind: Check, *, single: bool = False, filled: bool = False, allowed: str | None = None) -> Kind:
    """A list. With C(single), a value that is not a list is a list of one item. With C(filled), the list must not be empty.

    allowed: an example in words.
    """

    def check(value: Any, path: str, problems: Problems) -> Any:
        if single and not isinstance(value, (list, dict)) and value is not None:
            value = [value]
        if not isinstance(value, list):
            return wrong_type(value, "a list", path, problems, allowed=allowed)
        if filled and not value:
            problems.add("input.empty", path, "is an empty list", allowed="at least one item", fix="add an item or remove the field")
            return INVALID
        items = [kind(item, joined(path, index), problems) for index, item in enumerate(value)]
        # Without a rejected item, those after it would have other places, and later problems would name the wrong item.
        return [*takewhile(lambda item: item is not INVALID, items)]

    lengths = {"minItems": 1} if filled else {}
    return Kind(check, {"type": "array", "items": _schema(kind), **lengths, **({"single": True} if single else {})})


def map_of(kind: Check, key: Check | None = None, allowed: str | None = None) -> Kind:
    """A mapping whose values pass C(kind) and whose keys pass C(key). allowed: an example in words."""

    def check(value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            return wrong_type(value, "a mapping", path, problems, allowed=allowed)
        result = {}
        for name, item in value.items():
            below = joined(path, name)
            checked = kind(item, below, problems)
            if (key is None or key(name, below, problems) is not INVALID) and checked is not INVALID:
                result[name] = checked
        return result

    return Kind(check, {"type": "object", "additionalProperties": _schema(kind)})


_PLAIN = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,62}")
"""Text that needs no quotes in YAML."""


def _has_form(value: Any, kind: Check) -> bool:
    """Could C(value) be the value of a field? A mapping is not a version, and text is not a mapping."""
    named = _schema(kind).get("type", ())
    if not isinstance(value, (dict, list)) and not {"object", "array"} & {*([named] if isinstance(named, str) else named)}:
        return True
    problems = Problems()
    kind(value, "", problems)
    return not any(problem.rule == "input.wrong_type" and problem.path == "" for problem in problems)


def record(
    fields: Mapping[str, Check],
    required: Mapping[str, str] | None = None,
    unknown: Mapping[str, str] | None = None,
    main: str | None = None,
) -> Kind:
    """A mapping with known fields. A field that is null counts as not given.

    required: the required fields, each with its allowed values in words.
    unknown: names that users try but that are not fields, each with what to do instead.
    main: the field that is meant by users who write only a text.
    """
    needed = required or {}
    names = sorted(fields)

    def check(value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            allowed = f"the fields {', '.join(names)}" if len(names) <= FEW else None
            fix = f"write {{{main}: {value}}}" if main and isinstance(value, str) and _PLAIN.fullmatch(value) else None
            return wrong_type(value, "a mapping", path, problems, fix=fix, allowed=allowed)
        result = {}
        for name, item in value.items():
            below = joined(path, name)
            if name not in fields:
                guess = problems.nearest(name, fields)
                known = (unknown or {}).get(name)
                if guess and (known or not _has_form(item, fields[guess])):
                    guess = None
                cure = known or rename(guess, value)
                allowed = None if known else listed(names, guess)
                problems.add("input.unknown_field", below, "is not a field", allowed=allowed, nearest=guess, fix=cure)
            elif item is not None:
                checked = fields[name](item, below, problems)
                if checked is not INVALID:
                    result[name] = checked
        for name in needed:
            if value.get(name) is None and not problems.touches(joined(path, name)):
                problems.add("input.missing_field", joined(path, name), "is required", allowed=needed[name], fix=f"add {name}")
        return result

    properties = {name: _schema(one) for name, one in fields.items()}
    needs = {"required": sorted(needed)} if needed else {}
    return Kind(check, {"type": "object", "properties": properties, **needs, "additionalProperties": False})
