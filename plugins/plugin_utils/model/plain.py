# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain data: copies an input once into C(dict), C(list), C(str), C(int), C(float), C(bool) and None."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Problems, joined

MAX_DEPTH = 48
"""Levels of nesting. Deeper input is rejected, so that functions can recurse over an input."""


_BYTES = (bytes, bytearray, memoryview)
_NAMES = {bool: "boolean", int: "integer", float: "number", tuple: "list", list: "list", dict: "mapping"}


class _Invalid:
    """The type of C(INVALID)."""

    def __repr__(self) -> str:
        return "INVALID"


INVALID: Any = _Invalid()
"""Stands for a rejected value whose problem has been reported."""


@dataclass(frozen=True)
class NamedFile:
    """A file that the user names in the input, read by C(outputs/folder.py): the library itself reads no files.

    name: the path in the input. content: None if the file cannot be read; C(reason) then says why, with the whole path.
    start: where relative paths start, for messages.
    """

    name: str
    content: bytes | None
    reason: str = ""
    start: str = "the current directory"


def plain(value: Any, path: str, problems: Problems, depth: int = 0) -> Any:
    """Return a deep copy of C(value) as plain data, or INVALID for a value that a document cannot contain.

    A rejected value is left out of its mapping, so that the other values are checked in the same run.
    """
    if depth > MAX_DEPTH:
        problems.add("input.too_deep", path, f"is nested more than {MAX_DEPTH} levels deep", fix="flatten it")
        return INVALID
    if isinstance(value, str):
        return _text(str.__str__(value), path, problems)
    if value is None or isinstance(value, (bool, NamedFile)):
        return value
    if isinstance(value, int):
        return _integer(int(value), path, problems)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        problems.add("input.not_finite", path, "is not a finite number", fix="use a number, or quote it if it is text")
        return INVALID
    if isinstance(value, Mapping):
        return _mapping(value, path, problems, depth)
    if isinstance(value, Sequence) and not isinstance(value, _BYTES):
        items = [plain(item, joined(path, index), problems, depth + 1) for index, item in enumerate(value)]
        # Without the item, the others would be checked at places that are not theirs.
        return INVALID if any(item is INVALID for item in items) else items
    message = f"is {_kind(value)}; a value must be text, a number, a boolean, a list or a mapping"
    problems.add(
        "input.wrong_type", path, message, fix="decode it to text first" if isinstance(value, _BYTES) else "quote it, so that it is text"
    )
    return INVALID


def _kind(value: Any) -> str:
    """Return the name of the type of C(value), with an article."""
    if isinstance(value, _BYTES):
        return "bytes"
    # Ansible has its own subclasses of the datetime classes.
    known = next((base for base in type(value).__mro__ if base.__module__ == "datetime"), type(value))
    name = "null" if value is None else _NAMES.get(known, known.__name__)
    return name if name == "null" else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _text(text: str, path: str, problems: Problems) -> Any:
    if "\0" in text:
        problems.add(
            "input.control_character", path, "contains a NUL character, which files, shells and units cannot contain", fix="remove it"
        )
        return INVALID
    try:
        if not text.isascii():
            text.encode("utf-8")
    except UnicodeEncodeError:
        problems.add("input.surrogate", path, "contains half of a surrogate pair, which is not text", fix="use valid Unicode")
        return INVALID
    return text


def _integer(number: int, path: str, problems: Problems) -> Any:
    if not -(2**63) <= number < 2**63:
        problems.add(
            "input.integer_too_large", path, "is an integer of more than 64 bits", allowed="-2^63 to 2^63-1", fix="quote it if it is text"
        )
        return INVALID
    return number


def _mapping(value: Mapping[Any, Any], path: str, problems: Problems, depth: int) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            problems.add("input.key_not_text", joined(path, _key(key)), f"the key is {_kind(key)}, not text", fix="quote the key")
            continue
        below = joined(path, key)
        name = _text(str.__str__(key), below, problems)
        copied = plain(item, below, problems, depth + 1)
        if name is not INVALID and copied is not INVALID:
            result[name] = copied
    return result


def _key(key: Any) -> str:
    """Return a key that is not text, as Python prints it."""
    try:
        return str(key)[:80]
    except (ValueError, RecursionError):
        return f"<{type(key).__name__}>"
