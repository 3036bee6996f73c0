# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The YAML of kubeconfigs, without a YAML reader: standard library, Python 3.7 and newer, pure.

Mappings, lists, quoted and plain words, and both in brackets: what kubeconfigs of the images consist of. Whatever else YAML can do is
refused, never guessed. What is refused is told by the number of its line: a kubeconfig holds secrets.
"""

from __future__ import annotations

import json
import re
from collections import deque

_KEY = re.compile(r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^\s\"'\[\]{},&*!|>%@`?#:-](?:[^:#\"']*[^:#\"' \t])?)[ \t]*:(?:[ \t]+(\S.*))?\Z")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")
_DEEPEST = 30
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}


def parse(text):
    """The value of a text; numbers stay text. Raises ValueError for anything that is not understood."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if not bare or bare.startswith("#") or bare == "---":
            continue
        if "\t" in line[: len(line) - len(line.lstrip())]:
            raise ValueError(f"line {number}: a tab indents")
        lines.append((len(line) - len(line.lstrip(" ")), bare, number))
    if not lines:
        raise ValueError("it is empty")
    reader = _Blocks(lines)
    try:
        value = reader.block(lines[0][0], 0)
    except ValueError as error:
        raise ValueError(f"line {reader.number}: {error}") from None
    if reader.lines:
        raise ValueError(f"line {reader.lines[0][2]}: its indentation fits nothing")
    return value


class _Blocks:
    """Lines that are still to be read, as (indentation, text, number). C(number): of the line that was read last."""

    def __init__(self, lines):
        self.lines = deque(lines)
        self.number = lines[0][2]

    def _taken(self):
        """The text of the next line, which is read with this."""
        _unused, text, self.number = self.lines.popleft()
        return text

    def block(self, column, depth):
        """The mapping or list whose lines begin at a column."""
        if depth > _DEEPEST:
            raise ValueError("it is nested too deep")
        return self._list(column, depth) if _is_item(self.lines[0][1]) else self._mapping(column, depth)

    def _list(self, column, depth):
        found = []
        while self.lines and self.lines[0][0] == column and _is_item(self.lines[0][1]):
            text = self.lines[0][1]
            rest = text[1:].lstrip(" ")
            if not rest or rest.startswith("#"):
                self._taken()
                found.append(self._below(column, depth))
            elif _is_item(rest) or _KEY.match(rest):
                # What stands behind the dash is the first line of a block of its own.
                self.lines[0] = (column + len(text) - len(rest), rest, self.lines[0][2])
                found.append(self.block(self.lines[0][0], depth + 1))
            else:
                self._taken()
                found.append(_value(rest))
        return found

    def _mapping(self, column, depth):
        found = {}
        while self.lines and self.lines[0][0] == column:
            match = _KEY.match(self._taken())
            if match is None:
                raise ValueError("it is no key with a value")
            key, rest = _scalar(match.group(1)), match.group(2) or ""
            if key in found:
                raise ValueError("its key stands there twice")
            if rest and not rest.startswith("#"):
                found[key] = _value(rest)
            elif self.lines and self.lines[0][0] == column and _is_item(self.lines[0][1]):
                # A list may begin right under its key.
                found[key] = self._list(column, depth + 1)
            else:
                found[key] = self._below(column, depth)
        return found

    def _below(self, column, depth):
        """The block under a key or a dash; None where there is none."""
        return self.block(self.lines[0][0], depth + 1) if self.lines and self.lines[0][0] > column else None


def _is_item(text):
    return text == "-" or text.startswith("- ")


def _value(text):
    if text[0] in "[{":
        value, end = _flow(text, 0, 0)
    else:
        quoted = _QUOTED.match(text)
        if quoted is None:
            return _scalar(re.split(r"\s#", text, maxsplit=1)[0].strip())
        value, end = _scalar(quoted.group(0)), quoted.end()
    rest = text[end:].strip()
    if rest and not rest.startswith("#"):
        raise ValueError("something follows a value")
    return value


def _scalar(text):
    if text[:1] == '"':
        try:
            return json.loads(text)
        except ValueError:
            raise ValueError("it escapes what cannot be escaped") from None
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    if text[:1] in tuple("&*!|>%@`") or text.endswith(":") or ": " in text:
        raise ValueError("it has more than a plain word")
    return _WORDS.get(text.lower(), text)


def _flow(text, at, depth):
    """(value, where it ends) of what begins at C(at) in brackets."""
    if depth > _DEEPEST:
        raise ValueError("it is nested too deep")
    closing = {"[": "]", "{": "}"}.get(text[at : at + 1])
    if closing is None:
        match = _QUOTED.match(text, at) or re.compile(r"[^\[\]{},#\"']+").match(text, at)
        if match is None:
            raise ValueError("a bracket is not closed")
        return match.group(0).strip(), match.end()
    items, at = [], _blanks(text, at + 1)
    while text[at : at + 1] != closing:
        item, at = _flow(text, at, depth + 1)
        if closing == "}":
            key = _FLOW_KEY.match(item) if isinstance(item, str) else None
            if key is None:
                raise ValueError("what stands in braces is no key with a value")
            if key.group(2):
                item = (_scalar(key.group(1)), _scalar(key.group(2)))
            else:
                value, at = _flow(text, _blanks(text, at), depth + 1)
                item = (_scalar(key.group(1)), _scalar(value) if isinstance(value, str) else value)
        elif isinstance(item, str):
            item = _scalar(item)
        items.append(item)
        at = _blanks(text, at)
        if text[at : at + 1] == ",":
            at = _blanks(text, at + 1)
        elif text[at : at + 1] != closing:
            raise ValueError("a bracket is not closed")
    return (dict(items) if closing == "}" else items), at + 1


_FLOW_KEY = re.compile(r"([^:\"']+):(?:\s+(\S.*))?\Z")


def _blanks(text, at):
    while text[at : at + 1] == " ":
        at += 1
    return at
