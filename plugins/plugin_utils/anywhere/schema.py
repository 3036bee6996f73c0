# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks documents of EKS Anywhere by the table of their fields and types (C(_data/eks_anywhere.json)).

Types: C(text), C(integer), C(boolean), C(duration), C(quantity), C(text_or_integer), C(mapping), C(any), C(version) for a version of
Kubernetes, C(secret) for text that no message repeats, C(@NAME) for another row of the table. C([]) at the end is a list, C(map:) at the
beginning a mapping with such values, and C(!) at the end a field that is required.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import data
from ..errors import Problems, joined, listed, rename, shown
from ..quantities import parse_duration, parse_quantity

_INTEGERS = (-(2**63), 2**63 - 1)
_TYPE_NAMES = {dict: "a mapping", list: "a list", str: "text", bool: "a boolean", int: "an integer", float: "a number", type(None): "null"}
_ABSENT: Any = object()


def type_name(value: Any) -> str:
    """The type of a value of YAML, as messages name it."""
    return _TYPE_NAMES.get(type(value), type(value).__name__)


def check_type(value: Any, kind: str, path: str, problems: Problems) -> Any:
    """C(value) without the parts that are not valid, which are reported. A null is like a field that is not there."""
    checked = _value(value, kind.removesuffix("!"), path, problems)
    return ({} if kind.startswith("@") else None) if checked is _ABSENT else checked


def is_rejected(path: str, problems: Problems) -> bool:
    """Whether a whole value was refused for its type. Rules then do not complain about the fields that it does not have."""
    return any(problem.path == path and problem.rule == "input.wrong_type" for problem in problems)


def _value(value: Any, kind: str, path: str, problems: Problems) -> Any:
    if kind.endswith("[]"):
        return _list(value, kind.removesuffix("[]"), path, problems)
    if kind.startswith("map:"):
        return _map(value, kind.removeprefix("map:"), path, problems)
    if kind.startswith("@"):
        return _record(value, data.eks_anywhere()["types"][kind[1:]], path, problems)
    return _CHECKS[kind](value, path, problems)


def _list(value: Any, kind: str, path: str, problems: Problems) -> Any:
    if not isinstance(value, list):
        return _wrong(value, "a list", path, problems)
    items = [_value(item, kind, joined(path, index), problems) for index, item in enumerate(value)]
    # An item that is not valid keeps its place, so that later messages name the right ones.
    return [({} if kind.startswith("@") else "") if item is _ABSENT else item for item in items]


def _map(value: Any, kind: str, path: str, problems: Problems) -> Any:
    if not isinstance(value, dict):
        return _wrong(value, "a mapping", path, problems)
    checked = {key: _value(item, kind, joined(path, key), problems) for key, item in value.items()}
    return {key: item for key, item in checked.items() if item is not _ABSENT}


def _record(value: Any, fields: Mapping[str, str], path: str, problems: Problems) -> Any:
    if not isinstance(value, dict):
        return _wrong(value, "a mapping", path, problems)
    result = {}
    for name, item in value.items():
        below = joined(path, name)
        if name not in fields:
            guess = problems.nearest(name, fields)
            allowed = listed(fields, guess) if fields else None
            problems.add("input.unknown_field", below, "is not a field", allowed=allowed, nearest=guess, fix=rename(guess, value))
        elif item is not None and (checked := _value(item, fields[name].removesuffix("!"), below, problems)) is not _ABSENT:
            result[name] = checked
    for name, kind in fields.items():
        below = joined(path, name)
        if kind.endswith("!") and (value.get(name) is None or value[name] == "") and not problems.touches(below):
            problems.add("input.missing_field", below, "is required", fix=f"add {name}")
    return result


def _wrong(value: Any, expected: str, path: str, problems: Problems, fix: str | None = None) -> Any:
    problems.add("input.wrong_type", path, f"must be {expected}, not {type_name(value)}", value=value, fix=fix)
    return _ABSENT


def _text(value: Any, path: str, problems: Problems) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        problems.add("anywhere.unquoted_text", path, "is a number without quotes, and the field is text", value=value, fix=_quoted(value))
        return str(value)
    # The text of other values depends on the reader: true can become "True", and 1.10 becomes "1.1".
    fix = "quote it" if isinstance(value, (bool, float)) else None
    return _wrong(value, "text", path, problems, fix)


def _quoted(value: Any) -> str:
    return f'write "{value}"'


def _secret(value: Any, path: str, problems: Problems) -> Any:
    if isinstance(value, str):
        return value
    problems.add("input.wrong_type", path, f"must be text, not {type_name(value)}", fix="quote it")
    return _ABSENT


def _version(value: Any, path: str, problems: Problems) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        message = "is a number without quotes: readers of YAML take 1.30 for 1.3"
        fix = 'quote the version, such as "1.30"'
        problems.add("anywhere.version_not_text", path, message, value=value, allowed='a version in quotes, such as "1.34"', fix=fix)
        return _ABSENT
    return _wrong(value, "text", path, problems, "quote the version")


def _integer(value: Any, path: str, problems: Problems) -> Any:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        fix = f"remove the quotes: {value}" if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 10 else None
        return _wrong(value, "an integer", path, problems, fix)
    if not _INTEGERS[0] <= value <= _INTEGERS[1]:
        problems.add("input.integer_too_large", path, "has more than 64 bits", value=value)
        return _ABSENT
    return value


def _boolean(value: Any, path: str, problems: Problems) -> Any:
    return value if isinstance(value, bool) else _wrong(value, "true or false", path, problems)


def _duration(value: Any, path: str, problems: Problems) -> Any:
    if isinstance(value, str) and parse_duration(value) is not None:
        return value
    message = f"is not a duration, but {type_name(value)}" if not isinstance(value, str) else "is not a duration"
    problems.add("anywhere.duration", path, message, value=value, allowed='a duration with its unit, such as "5m0s" or "1h"')
    return _ABSENT


def _quantity(value: Any, path: str, problems: Problems) -> Any:
    text = value if isinstance(value, str) else shown(value)
    if isinstance(value, (str, int, float)) and not isinstance(value, bool) and parse_quantity(text) is not None:
        return text
    problems.add("input.invalid_quantity", path, "is not a quantity", value=value, allowed='a quantity such as "4Gi"')
    return _ABSENT


def _text_or_integer(value: Any, path: str, problems: Problems) -> Any:
    if isinstance(value, (int, str)) and not isinstance(value, bool):
        return value
    return _wrong(value, "text or an integer", path, problems)


def _mapping(value: Any, path: str, problems: Problems) -> Any:
    return value if isinstance(value, dict) else _wrong(value, "a mapping", path, problems)


def _any(value: Any, _path: str, _problems: Problems) -> Any:
    return value


_CHECKS = {
    "any": _any,
    "boolean": _boolean,
    "duration": _duration,
    "integer": _integer,
    "mapping": _mapping,
    "quantity": _quantity,
    "secret": _secret,
    "text": _text,
    "text_or_integer": _text_or_integer,
    "version": _version,
}
