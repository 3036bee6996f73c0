# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads TOML, as far as order, comments and blanks go: Python 3.7 has no parser of it. Standard library, Python 3.7 and newer.

A value that is not like JSON, such as an inline table, is its text.
"""

from __future__ import annotations

import json
import re
from typing import Any, Dict, Iterator, Tuple

_QUOTED = r'"(?:[^"\\]|\\.)*"' + r"|'[^']*'"
_LONG = r'"""(?:[^\\]|\\.)*?"""' + "|'''.*?'''"
_TOKEN = re.compile(rf"{_LONG}|{_QUOTED}|#[^\n]*|[\[\]{{}}\n]|[^\[\]{{}}\n#\"']+", re.DOTALL)
_WORD = re.compile(rf"{_LONG}|{_QUOTED}|[^\s\"']+|\s+", re.DOTALL)
_KEY_PART = re.compile(rf"\s*({_QUOTED}|[\w-]+)\s*(?:\.|\Z)")
_BARE = re.compile(r"[\w-]+\Z")


def parse(text: str) -> Dict[str, Any]:
    """The settings of a text, as C({"table.key": value}). Raises ValueError."""
    table = ""
    found: Dict[str, Any] = {}
    counts: Dict[str, int] = {}
    for statement in _statements(text):
        if statement.startswith("[["):
            name = _key(statement[2:-2])
            counts[name] = counts.get(name, -1) + 1
            table = f"{name}[{counts[name]}]."
        elif statement.startswith("["):
            table = _key(statement[1:-1]) + "."
        else:
            key, value = _pair(statement)
            found[table + key] = value
    return found


def _statements(text: str) -> Iterator[str]:
    """Tables and pairs, one at a time, without comments."""
    statement, depth = "", 0
    for token in _TOKEN.findall(text + "\n"):
        if token.startswith("#"):
            continue
        if token == "\n" and not depth:
            if statement.strip():
                yield statement.strip()
            statement = ""
            continue
        depth += (token in ("[", "{")) - (token in ("]", "}"))
        statement += " " if token == "\n" else token
    if statement.strip():
        raise ValueError("a bracket is not closed")


def _key(text: str) -> str:
    parts, at = [], 0
    while at < len(text.rstrip()):
        match = _KEY_PART.match(text, at)
        if match is None:
            raise ValueError("a key cannot be read")
        part = match.group(1)
        bare = part[1:-1] if part[0] in "\"'" else part
        parts.append(bare if _BARE.match(bare) else json.dumps(bare))
        at = match.end()
    return ".".join(parts)


def _pair(statement: str) -> Tuple[str, Any]:
    match = re.match(rf"((?:{_QUOTED}|[^\"'=])+)=(.*)\Z", statement, re.DOTALL)
    if match is None:
        raise ValueError("a line is not a setting")
    return _key(match.group(1).strip()), _value(match.group(2).strip())


def _value(text: str) -> Any:
    """The value as JSON where it is like JSON; otherwise its text with one blank between words."""
    words = [word[1:-1] if word[0] == "'" and word[1:2] != "'" else word for word in _WORD.findall(text)]
    if len(words) == 1 and text[0] == "'":
        return words[0]
    text = "".join(json.dumps(word) if original[0] == "'" else word for word, original in zip(words, _WORD.findall(text)))
    try:
        return json.loads(re.sub(r",\s*\]", "]", text))
    except ValueError:
        return " ".join(text.split())
