# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What bash does with known text: escapes in C($'...'), and the operators of C(${NAME...}) that need no node."""

from __future__ import annotations

import re

_ANSI = re.compile(r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|(.))", re.DOTALL)
_SIMPLE = {"a": "\a", "b": "\b", "e": "\033", "E": "\033", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LONGEST = 2_000
"""A pattern is tried at every place, so longer values are unknown."""


def ansi_c(text: str) -> str | None:
    """The text between C($') and C('). None if it depends on the locale."""
    parts = []
    at = 0
    for match in _ANSI.finditer(text):
        parts.append(text[at : match.start()])
        at = match.end()
        simple, octal, *hexadecimal, other = match.groups()
        if simple:
            parts.append(_SIMPLE.get(simple, simple))
            continue
        if other:
            if other in "cxuU":
                return None
            parts.append(f"\\{other}")
            continue
        number = int(octal, 8) if octal else int(next(one for one in hexadecimal if one), 16)
        if not 0 < number < 0x80:
            return None
        parts.append(chr(number))
    return "".join(parts) + text[at:]


def without_prefix(value: str, pattern: str, *, longest: bool) -> str | None:
    """C(${V#pattern}), C(${V##pattern}). pattern: a regular expression."""
    if len(value) > _LONGEST:
        return None
    ends = range(len(value) + 1)
    compiled = re.compile(pattern, re.DOTALL)
    return next((value[end:] for end in (reversed(ends) if longest else ends) if compiled.fullmatch(value, 0, end)), value)


def without_suffix(value: str, pattern: str, *, longest: bool) -> str | None:
    """C(${V%pattern}), C(${V%%pattern}). pattern: a regular expression."""
    if len(value) > _LONGEST:
        return None
    starts = range(len(value) + 1)
    compiled = re.compile(pattern, re.DOTALL)
    return next((value[:start] for start in (starts if longest else reversed(starts)) if compiled.fullmatch(value, start)), value)


def regular_expression(parts: list[tuple[str, bool]]) -> str | None:
    """A pattern of bash. parts: text, and whether it is quoted. None if it has more than C(*) and C(?)."""
    found = []
    for text, is_quoted in parts:
        if not text.isascii() or (not is_quoted and re.search(r"[\[\]\\(]", text)):
            return None
        found.append(re.escape(text) if is_quoted else "".join({"*": ".*", "?": "."}.get(one) or re.escape(one) for one in text))
    pattern = re.sub(r"(?:\.\*)+", ".*", "".join(found)) if all(not quoted for _text, quoted in parts) else "".join(found)
    # Several stars are tried against each other, which takes too long.
    return pattern if pattern.count(".*") < 3 else None


def changed_case(value: str, operator: str) -> str | None:
    """C(${V^}), C(${V^^}), C(${V,}), C(${V,,})."""
    if not value.isascii():
        return None
    change = str.upper if operator[0] == "^" else str.lower
    return change(value) if len(operator) > 1 else change(value[:1]) + value[1:]


def substring(value: str, offset: str, length: str | None) -> str | None:
    """C(${V:offset:length}) with numbers."""
    if not value.isascii():
        return None
    start = int(offset)
    if start > len(value):
        return ""
    return value[start:] if length is None else value[start : start + int(length)]
