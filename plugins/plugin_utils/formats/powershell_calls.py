# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the literal arguments of calls of one PowerShell script. Everything else is reported as not read, and never guessed.

Read are assignments of one literal to a variable, and calls with named parameters. Expandable strings are expanded with known variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .powershell import DOUBLE_QUOTES, SINGLE_QUOTES

Value = tuple[str, ...]
"""The items of an argument: one for text."""

_QUOTES = SINGLE_QUOTES + DOUBLE_QUOTES
_QUOTE = f"[{_QUOTES}]"
_REDIRECTION = re.compile(r"[1-6*]?>&[1-6]")
_NAME = re.compile(r"\$(?:\{(?:script:)?([A-Za-z0-9_]+)\}|(?:script:)?([A-Za-z0-9_]+)(?![A-Za-z0-9_:]))", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"\s*(?:\[[A-Za-z.]+(?:\[\])?\]\s*)?\$(?:script:)?([A-Za-z0-9_]+)\s*=\s*(\S.*)", re.IGNORECASE | re.DOTALL)
_ENVIRONMENT = re.compile(r"\s*\$env:([A-Za-z_]+)\s*=\s*(\S.*)", re.IGNORECASE)
_ENVIRONMENT_NAME = re.compile(
    rf"(?:(?<![$\w{{])env:\\?|SetEnvironmentVariable\(\s*{_QUOTE}|\bsetx(?:\.exe)?\s+(?:/m\s+)?{_QUOTE}?"
    r"|\$\{?env:(?=\w+\}?\s*\+?=))([a-z_]+)",
    re.IGNORECASE,
)
"""Other ways to set a variable of the environment."""
_STRING = re.compile(
    rf"[{SINGLE_QUOTES}](?:[^{SINGLE_QUOTES}]|[{SINGLE_QUOTES}]{{2}})*[{SINGLE_QUOTES}]"
    rf"|[{DOUBLE_QUOTES}](?:[^{DOUBLE_QUOTES}`]|`.|[{DOUBLE_QUOTES}]{{2}})*[{DOUBLE_QUOTES}]"
)
_NO_END = 1 << 30
"""More blocks than a text can close."""
_HERE_STRING = re.compile(rf"@{_QUOTE}\s*$")
_LONGEST = 131_072
"""Characters of a value. Windows passes no longer command line."""
_PARAMETER = re.compile(r"-[A-Za-z][A-Za-z0-9]*")
_BARE = re.compile(r"[A-Za-z0-9_./:\\=+*<>%-]")


@dataclass(frozen=True)
class Reading:
    """calls: parameter → items, or None for a value that is not literal. is_complete: whether every line was read."""

    calls: tuple[Mapping[str, Value | None], ...]
    is_complete: bool


class _UnsupportedSyntaxError(Exception):
    pass


@dataclass(frozen=True)
class _Word:
    """A word of a line. value: None if it depends on something unknown."""

    value: Value | None
    is_bare: bool


def read_calls(text: str, script: str, variable: str, parameters: Iterable[str], known: Mapping[str, str]) -> Reading:
    """The calls of C(script), a file name, or of the file in C(variable). parameters: their names. known: values of variables."""
    values: dict[str, Value | None] = {name.lower(): (value,) for name, value in known.items()}
    names = {name.lower(): name for name in parameters}
    calls: list[Mapping[str, Value | None]] = []
    complete, is_nested, depth = True, False, 0
    for line in _lines(text):
        before, depth = depth, _depth(line, depth)
        try:
            if (assignment := _ASSIGNMENT.fullmatch(line)) is not None:
                [word] = _words(assignment[2], values) or [_Word(None, False)]
                if assignment[1].lower() != variable.lower() or not _names(assignment[2], script, values):
                    values[assignment[1].lower()] = None if before else word.value
            else:
                calls.append(_call(line, script, variable, names, values))
                is_nested = is_nested or before > 0
        except (_UnsupportedSyntaxError, ValueError):
            complete = False
            for name in [name for name in values if name in line.lower()]:
                values[name] = None
    return Reading(() if is_nested or variable.lower() in values else tuple(calls), complete)


def _depth(line: str, depth: int) -> int:
    """The number of blocks that are open behind a line, if C(depth) are open before it.

    Strings and comments of several lines are not followed: behind them, every line counts as a line of a block.
    """
    if _HERE_STRING.search(line):
        return _NO_END
    at = 0
    while at < len(line) and depth < _NO_END:
        if line[at] in _QUOTES:
            string = _STRING.match(line, at)
            if string is None:
                return _NO_END
            at = string.end()
            continue
        if line[at] == "#":
            return _NO_END if line[:at].endswith("<") else depth
        depth += {"{": 1, "}": -1}.get(line[at], 0)
        if depth < 0:
            return _NO_END
        at += 1
    return depth


def _names(text: str, script: str, values: Mapping[str, Value | None]) -> bool:
    """Whether a path has the name of the script, or a variable with it."""
    used = [values.get((match[1] or match[2]).lower()) or () for match in _NAME.finditer(text)]
    return any(script.lower() in item.lower() for item in (text, *(item for items in used for item in items)))


def read_environment(text: str) -> list[tuple[str, str | None]]:
    """The variables of the environment that C($env:NAME = …) sets, with their values; None for a value that is not literal.

    In a text with blocks or here-strings, no value is certain.
    """
    is_certain = not set("{}@") & set(text) and "<#" not in text
    found: list[tuple[str, str | None]] = []
    for line in _lines(text):
        if (assignment := _ENVIRONMENT.fullmatch(line)) is None:
            found += [(name, None) for name in _ENVIRONMENT_NAME.findall(line)]
            continue
        try:
            words = [word.value for word in _words(assignment[2], {})]
        except _UnsupportedSyntaxError:
            words = []
        literal = words[0] if len(words) == 1 and is_certain else None
        found.append((assignment[1], literal[0] if literal is not None and len(literal) == 1 else None))
    return found


def _lines(text: str) -> list[str]:
    joined = re.sub(r"`\r?\n", " ", text)
    return [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def _call(
    line: str, script: str, variable: str, names: Mapping[str, str], values: Mapping[str, Value | None]
) -> Mapping[str, Value | None]:
    target = re.match(r"\s*&\s*(\S+)\s*", line) if f"${variable}".lower() in line.lower() else None
    if target is None:
        target = re.match(rf"\s*&\s*({_QUOTE}[^{_QUOTES}]*{_QUOTE})\s*", line)
    if target is None or target[1].lower().strip(_QUOTES).rpartition("\\")[2] not in (f"${variable}".lower(), script.lower()):
        raise _UnsupportedSyntaxError
    found: dict[str, Value | None] = {}
    name = None
    for word in _words(line[target.end() :], values):
        if word.is_bare and word.value is not None and _PARAMETER.fullmatch(word.value[0]):
            given = word.value[0][1:].lower()
            matches = [given] if given in names else [one for one in names if one.startswith(given)]
            if name is not None or len(matches) != 1:
                raise _UnsupportedSyntaxError
            name = names[matches[0]]
        elif name is None:
            raise _UnsupportedSyntaxError
        else:
            found[name] = word.value
            name = None
    if name is not None:
        raise _UnsupportedSyntaxError
    return found


def _words(line: str, values: Mapping[str, Value | None]) -> list[_Word]:
    found = []
    at = 0
    while at < len(line):
        if line[at].isspace():
            at += 1
        elif line[at] == "#":
            break
        elif (redirection := _REDIRECTION.match(line, at)) is not None:
            at = redirection.end()
        else:
            word, at = _word(line, at, values)
            found.append(word)
    return found


def _word(line: str, at: int, values: Mapping[str, Value | None]) -> tuple[_Word, int]:
    items: list[Value | None] = []
    is_bare = line[at] not in _QUOTES + "$"
    while True:
        item, at = _item(line, at, values)
        items.append(item)
        if at < len(line) and line[at] == ",":
            at += 1
            continue
        if at < len(line) and not line[at].isspace():
            raise _UnsupportedSyntaxError
        known = [one for one in items if one is not None]
        value = _bounded(text for one in known for text in one) if len(known) == len(items) else None
        return _Word(value, is_bare and len(items) == 1), at


def _bounded(texts: Iterable[str]) -> Value | None:
    """A value, or None for one that is too long: each assignment could double it."""
    value = tuple(texts)
    return value if sum(map(len, value)) + len(value) <= _LONGEST else None


def _item(line: str, at: int, values: Mapping[str, Value | None]) -> tuple[Value | None, int]:
    if at >= len(line):
        raise _UnsupportedSyntaxError
    if line[at] in SINGLE_QUOTES:
        text, at = _quoted(line, at, SINGLE_QUOTES)
        return (text,), at
    if line[at] in DOUBLE_QUOTES:
        text, at = _quoted(line, at, DOUBLE_QUOTES)
        return _expanded(text, values), at
    if (variable := _NAME.match(line, at)) is not None:
        return values.get((variable[1] or variable[2]).lower()), variable.end()
    end = at
    while end < len(line) and _BARE.fullmatch(line[end]):
        end += 1
    if end == at or "--%" in line[at:end]:
        raise _UnsupportedSyntaxError
    return (line[at:end],), end


def _quoted(line: str, at: int, quotes: str) -> tuple[str, int]:
    """The content of a string, with two quotes for one, and where it ends."""
    content: list[str] = []
    at += 1
    while at < len(line):
        if line[at] in quotes:
            if line[at + 1 : at + 2] == "" or line[at + 1] not in quotes:
                return "".join(content), at + 1
            at += 1
        elif line[at] == "`":
            if quotes == SINGLE_QUOTES:
                content.append("`")
                at += 1
                continue
            raise _UnsupportedSyntaxError
        content.append(line[at])
        at += 1
    raise _UnsupportedSyntaxError


def _expanded(text: str, values: Mapping[str, Value | None]) -> Value | None:
    pieces = []
    at = 0
    for match in _NAME.finditer(text):
        value = values.get((match[1] or match[2]).lower())
        if value is None or len(value) != 1:
            return None
        pieces += [text[at : match.start()], value[0]]
        at = match.end()
    rest = text[at:]
    pieces.append(rest)
    return None if any("$" in piece for piece in (*pieces[::2], rest)) else _bounded(("".join(pieces),))
