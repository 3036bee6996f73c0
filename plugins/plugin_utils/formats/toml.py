# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""TOML for Bottlerocket and containerd: written by our own serializer, read by tomllib (by tomlkit on Python 3.10).

Written is the subset that EKS's own merger of Bottlerocket settings understands, too (Amazon EKS user guide, launch
templates): headers of bare keys only, quoted keys only in front of an equals sign, no escaped quotes where a literal
string does without. The subset is TOML 0.5, so every reader takes it.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..errors import Problem, Problems, SpecError, joined
from .read_once import read_once

MAX_DEPTH = 64
"""The limit of nested tables and arrays. The settings of Bottlerocket have seven levels."""
_TOO_DEEP = "it is nested too deeply"
_LONG_KEY = re.compile(
    rf"""(?:^|[\[{{,])[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')(?:[ \t]*\.[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')){{{MAX_DEPTH}}}""", re.MULTILINE
)
"""A header or a key of more than C(MAX_DEPTH) names."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[^\x00-\x1f\x7f\"\\\ud800-\udfff]*")
_LITERAL = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f'\ud800-\udfff]*")
_LONG_LITERAL = re.compile(r"(?:'{0,2}[^\x00-\x08\x0a-\x1f\x7f'\ud800-\udfff])+")
_ESCAPED = re.compile(r"[\x00-\x1f\x7f\"\\]")
_ESCAPES = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_INT_LIMIT = 1 << 63
_DATES = (datetime.date, datetime.time)
_TABLE_HEADER = re.compile(r"[ \t]*\[([^\[\]#]+)\][ \t\r]*(?:#.*)?$")


class _Unwritable(Exception):
    """TOML cannot represent a value. C(dump) then finds its path."""


@dataclass(frozen=True)
class _Literal:
    """A value that is already TOML."""

    text: str


def dump(mapping: Mapping[str, Any], path: str = "toml", *, quoted_headers: bool = False, dates: bool = False) -> str:
    """A TOML document: keys sorted, plain values before tables, LF, integers as integers, empty for an empty mapping.

    mapping: string keys; str, int (64 bits), float, bool, mappings, lists and tuples. path: what problems are prefixed with.
    quoted_headers: whether a table whose key needs quotes gets a header of its own, so that each value below has a line of its
    own, which scripts look for in containerd's file; EKS's merger of Bottlerocket settings cannot read such headers.
    dates: whether dates and times are written, which Bottlerocket has no setting for.
    Raises C(SpecError) with every value that TOML cannot carry: None, dates, bytes, large integers, other keys.
    """
    out: list[str] = []
    try:
        _table(_with_literals(mapping, 0) if dates else mapping, "", out, 0, quoted_headers)
    except (_Unwritable, TypeError) as error:
        problems = list(_unwritable(mapping, path, 0))
        raise SpecError(problems or [Problem("toml.unwritable", path, "cannot be written as TOML")]) from error
    return "".join(out)


def _table(table: Mapping[str, Any], name: str, out: list[str], depth: int, quoted_headers: bool) -> None:
    """Write the values of one table, then its tables with headers. C(name) is its dotted name, empty for the root."""
    if depth > MAX_DEPTH:
        raise _Unwritable
    tables: list[tuple[str, Any]] = []
    lines: list[str] = []
    for key, value in sorted(table.items()):
        shown = _key(key)
        kind = type(value)
        if kind is str:
            lines.append(f"{shown} = {_string(value)}\n")
        elif (shown == key or quoted_headers) and (isinstance(value, Mapping) or (isinstance(value, (list, tuple)) and _is_tables(value))):
            tables.append((shown, value))
        else:
            lines.append(f"{shown} = {_value(value, depth + 1)}\n")
    if name and (lines or not tables):
        out.append(f"\n[{name}]\n" if out else f"[{name}]\n")
    out += lines
    for key, value in tables:
        dotted = f"{name}.{key}" if name else key
        if isinstance(value, Mapping):
            _table(value, dotted, out, depth + 1, quoted_headers)
        else:
            _array_of_tables(value, dotted, out, depth + 1)


def _with_literals(value: Any, depth: int) -> Any:
    """Return C(value) with TOML instead of dates and times."""
    if depth > MAX_DEPTH + 1:
        return value
    if isinstance(value, _DATES):
        return _Literal(value.isoformat())
    if isinstance(value, Mapping):
        return {key: _with_literals(item, depth + 1) for key, item in value.items()}
    return [_with_literals(item, depth + 1) for item in value] if isinstance(value, (list, tuple)) else value


def _is_tables(items: list[Any] | tuple[Any, ...]) -> bool:
    return bool(items) and all(isinstance(item, Mapping) for item in items)


def _array_of_tables(items: list[Any] | tuple[Any, ...], name: str, out: list[str], depth: int) -> None:
    for item in items:
        out.append(f"\n[[{name}]]\n" if out else f"[[{name}]]\n")
        out += [f"{_key(key)} = {_value(value, depth + 1)}\n" for key, value in sorted(item.items())]


def _value(value: Any, depth: int) -> str:
    """Return the text after the equals sign, on one line."""
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -_INT_LIMIT <= value < _INT_LIMIT:
            raise _Unwritable
        return str(int(value))
    if isinstance(value, float):
        return _float(value)
    if depth > MAX_DEPTH:
        raise _Unwritable
    if isinstance(value, (list, tuple)):
        return f"[{', '.join([_value(item, depth + 1) for item in value])}]"
    if isinstance(value, Mapping):
        pairs = ", ".join([f"{_key(key)} = {_value(item, depth + 1)}" for key, item in sorted(value.items())])
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, _Literal):
        return value.text
    raise _Unwritable


def _float(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = repr(value)
    # TOML needs a digit after the point. 1e+16, as Python writes it, has no point, and TOML allows that.
    return text


@lru_cache(maxsize=4096)
def _key(key: str) -> str:
    """A bare key unchanged, or another key quoted (which never equals the key)."""
    if not isinstance(key, str):
        raise _Unwritable
    return key if _BARE.fullmatch(key) else _short_string(key)


def _string(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    if _LITERAL.fullmatch(text):
        return f"'{text}'"
    # With both kinds of quotes, three apostrophes need no escapes, unless the text ends in one or has a line break.
    if _LONG_LITERAL.fullmatch(text):
        return f"'''{text}'''"
    return _basic_string(text)


def quote(text: str) -> str:
    """C(text) as one TOML string, which is also valid as a key. Raises C(SpecError) for a lone surrogate."""
    try:
        return _short_string(text)
    except _Unwritable as error:
        raise SpecError(
            [Problem("toml.surrogate", "toml", "contains a lone surrogate, which UTF-8 cannot represent", value=text)]
        ) from error


def _short_string(text: str) -> str:
    """A string that is valid as a key. Strings with three quotes are not."""
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    if _LITERAL.fullmatch(text):
        return f"'{text}'"
    return _basic_string(text)


def _basic_string(text: str) -> str:
    if _SURROGATE.search(text):
        raise _Unwritable
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _ESCAPES.get(char) or f"\\u{ord(char):04X}"


def _unwritable(value: Any, path: str, depth: int) -> Iterator[Problem]:
    """All places in C(value) that TOML cannot represent."""
    if depth > MAX_DEPTH + 1:
        yield Problem("toml.too_deep", path, f"is nested deeper than {MAX_DEPTH} levels")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                yield Problem("toml.key_not_text", path, "has a key that is not text", value=key)
                continue
            if _SURROGATE.search(key):
                yield Problem("toml.surrogate", path, "has a key with a lone surrogate, which UTF-8 cannot write", value=key)
            yield from _unwritable(item, joined(path, key), depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _unwritable(item, joined(path, index), depth + 1)
    elif isinstance(value, str):
        if _SURROGATE.search(value):
            yield Problem("toml.surrogate", path, "contains a lone surrogate, which UTF-8 cannot represent", value=value)
    elif isinstance(value, int):
        if not -_INT_LIMIT <= value < _INT_LIMIT:
            yield Problem("toml.integer_too_large", path, "does not fit into TOML's 64 bits")
    elif value is None:
        yield Problem("toml.null", path, "is null, which TOML does not have", fix="remove the key")
    elif not isinstance(value, float):
        yield Problem(
            "toml.unwritable",
            path,
            f"is a {type(value).__name__}, which cannot be written as TOML",
            allowed="text, number, boolean, list, mapping",
        )


def eks_merge_problem(settings: Mapping[str, Any], path: str, problems: Problems) -> None:
    """Report TOML that EKS cannot merge with its own Bottlerocket settings (managed node groups without an AMI of their own).

    It takes no quotes inside quoted keys, no escaped quotes in values and no arrays of mixed types (Amazon EKS user guide).
    """
    for where, value in _walk(settings, path, 0):
        if isinstance(value, Mapping):
            for key in value:
                if isinstance(key, str) and ('"' in key or "'" in key or "\\" in key):
                    problems.add(
                        "toml.unsafe_for_eks",
                        joined(where, key),
                        "has quotes or a backslash in its key, which EKS cannot read when it merges user data",
                    )
        elif isinstance(value, str):
            if '"' in value and _string_or_empty(value).startswith('"'):
                problems.add(
                    "toml.unsafe_for_eks", where, "needs escaped quotes, which EKS cannot read when it merges user data", value=value
                )
        elif isinstance(value, (list, tuple)) and len({_type_name(item) for item in value}) > 1:
            problems.add(
                "toml.unsafe_for_eks", where, "mixes types in one array, which EKS cannot read when it merges user data", value=list(value)
            )


def _string_or_empty(text: str) -> str:
    try:
        return _string(text)
    except _Unwritable:
        return ""


def _type_name(value: Any) -> str:
    for name, kinds in (("boolean", bool), ("integer", int), ("float", float), ("text", str), ("array", (list, tuple)), ("table", Mapping)):
        if isinstance(value, kinds):
            return name
    return "other"


def _walk(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    yield path, value
    if depth > MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _walk(item, joined(path, key), depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _walk(item, joined(path, index), depth + 1)


class TomlError(ValueError):
    """A text that cannot be read. C(rule) and C(fix) are those of the problem to report."""

    def __init__(self, message: str, rule: str = "toml.unreadable", fix: str = "see https://toml.io for the syntax") -> None:
        self.rule, self.fix = rule, fix
        super().__init__(message)


def parse(text: str) -> dict[str, Any]:
    """Return the document as plain data and dates. Raises C(TomlError)."""
    if _LONG_KEY.search(text):
        # The parsers need time that grows with the square of the length.
        raise TomlError(_TOO_DEEP)
    document = _parse(text)
    if _is_too_deep(document):
        raise TomlError(_TOO_DEEP)
    return document


def _is_too_deep(document: dict[str, Any]) -> bool:
    """Whether tables and arrays are nested more than C(MAX_DEPTH) levels deep."""
    level: list[Any] = [document]
    for _depth in range(MAX_DEPTH + 1):
        below = (item for value in level for item in (value.values() if isinstance(value, dict) else value))
        level = [item for item in below if isinstance(item, (dict, list))]
    return bool(level)


def _parse(text: str) -> dict[str, Any]:
    try:
        import tomllib  # type: ignore[import-not-found]
    except ImportError:
        return _parse_with_tomlkit(text)
    try:
        document: dict[str, Any] = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unreadable(text, error) from error
    return document


def _parse_with_tomlkit(text: str) -> dict[str, Any]:
    """Read with tomlkit on Python 3.10, which has no tomllib."""
    try:
        import tomlkit
        from tomlkit.exceptions import TOMLKitError
    except ImportError as error:
        message = "reading TOML with Python 3.10 needs the Python package tomlkit on the controller"
        raise TomlError(message, "toml.missing_package", "pip install tomlkit") from error
    try:
        document: dict[str, Any] = tomlkit.parse(text).unwrap()
    except (TOMLKitError, ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError, RecursionError) as error:
        # For some invalid texts, tomlkit raises exceptions that are not its own.
        raise _unreadable(text, error) from error
    return document


def _unreadable(text: str, error: Exception) -> TomlError:
    if twice := _table_twice(text):
        return TomlError(twice, fix="put the keys of both under one header")
    if isinstance(error, RecursionError):
        return TomlError(_TOO_DEEP)
    last = text.rstrip().count("\n") + 1
    return TomlError(str(error).replace("at end of document", f"at the end, line {last}") or type(error).__name__)


@read_once
def load(text: str, path: str, problems: Problems) -> dict[str, Any]:
    """Return the document as plain data. Invalid TOML and dates are problems, and the result is then empty."""
    try:
        data = parse(text)
    except TomlError as error:
        problems.add(error.rule, path, str(error) if error.rule == "toml.missing_package" else f"is not TOML: {error}", fix=error.fix)
        return {}
    dates = [where for where, value in _walk(data, path, 0) if isinstance(value, _DATES)]
    for where in dates:
        problems.add("toml.date", where, "is a date, but no setting accepts dates", fix="put it into quotes")
    return {} if dates else data


def _table_twice(text: str) -> str | None:
    """Return the table header that an invalid text contains twice, with both lines. The parsers name only one of them."""
    seen: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if header := _TABLE_HEADER.match(line):
            name = "".join(header[1].split())
            if name in seen:
                return f"the table [{name}] in line {number} is defined in line {seen[name]} already"
            seen[name] = number
    return None
