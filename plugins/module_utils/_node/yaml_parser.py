# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parses YAML of a node as kubelet and nodeadm do (sigs.k8s.io/yaml), for C(yaml_reader). Standard library, Python 3.7 and newer.

Our own parser knows mappings, lists, quoted and plain scalars, and the flow style of both, which is what programs write. Any other YAML is
left to PyYAML, where the node has it, and never guessed. Both parts resolve plain scalars in the same way: Go reads C(y), C(0o17) and
C(1:30) in other ways than PyYAML. Errors name a line by its number only: the text may contain secrets.
"""

from __future__ import annotations

import json
import math
import re
from collections import deque
from typing import Any, Deque, Dict, List, Match, Sequence, Tuple


def parse_with_pyyaml(text: str) -> Any:
    """The value of the first document, with PyYAML. Raises ImportError, or whatever PyYAML raises."""
    # Not in the standard library, but most nodes have it.
    import yaml

    class Loader(yaml.SafeLoader):
        """Leaves plain scalars to C(resolve)."""

        def construct_mapping(self, node: Any, deep: bool = False) -> Dict[Any, Any]:
            """A mapping with keys that JSON has."""
            found = super().construct_mapping(node, deep)
            if not all(type(key) in (str, int) for key in found):
                raise ValueError("a key is not text")
            return found

    Loader.yaml_implicit_resolvers = {}
    Loader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"<<\Z"), ["<"])
    Loader.add_implicit_resolver("plain", re.compile(""), None)
    Loader.add_constructor("plain", lambda _loader, node: resolve(node.value))
    if any(getattr(event, "tag", None) for event in yaml.parse(text)):
        raise ValueError("it has a tag")
    value = next(yaml.load_all(text, Loader), None)
    # As sigs.k8s.io/yaml, which turns YAML into JSON: keys become text.
    return json.loads(json.dumps(value, default=str, allow_nan=False))


# --- plain scalars -----------------------------------------------------------------------------------------------------------------------

_WORDS: Dict[str, Any] = {
    **dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True),
    **dict.fromkeys(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False),
    **dict.fromkeys(["", "~", "null", "Null", "NULL"], None),
}
_NOT_JSON = re.compile(r"\.(?:nan|NaN|NAN)\Z|[+-]?\.(?:inf|Inf|INF)\Z")
_INT = re.compile(
    r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]([0-7]+)|0[bB]([01]+)|0([0-7]*)|([1-9][0-9]*))\Z",
)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_FRACTION = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?\Z")
_BASES = (16, 8, 2, 8, 10)
_LARGEST_PRINTED_IN_FULL = 1e21


def resolve(text: str) -> Any:
    """The value of a plain scalar: text, number, boolean or None. Raises ValueError for a number that JSON does not have."""
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_JSON.match(text):
        raise ValueError("its value is not a number of JSON")
    if text[0] not in "+-.0123456789" or (text[0] == "." and not _FRACTION.match(text)):
        return text
    number = text.replace("_", "")
    match = _INT.match(number)
    integer = _integer(match) if match else None
    if integer is not None:
        return integer
    value = float(number) if _FLOAT.match(number) else math.inf
    if math.isinf(value):
        return text
    if not value.is_integer() or abs(value) >= _LARGEST_PRINTED_IN_FULL:
        return value
    # Go prints as few digits as are needed to read the same number again.
    from decimal import Decimal

    return int(Decimal(repr(value)))


def _integer(match: Match[str]) -> int | None:
    """An integer that 64 bits hold, signed or not; None for a larger one."""
    sign, *digits = match.groups()
    found, base = next((text, base) for text, base in zip(digits, _BASES) if text is not None)
    value = int(f"{sign}{found or '0'}", base)
    return value if -(2**63) <= value < (2**63 if sign else 2**64) else None


# --- our own parser ----------------------------------------------------------------------------------------------------------------------

_Line = Tuple[int, str, int]

_KEY = re.compile(r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^\s\"'\[\]{},&*!|>%@`?#:-](?:[^:#\"']*[^:#\"' \t])?)[ \t]*:(?:[ \t]+(\S.*))?\Z")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")
_DEEPEST = 30
_NOT_PLAIN = re.compile(r"[&*!|>%@`\],}#]|[-?:](?:\s|\Z)")
_SEPARATOR = re.compile(r"(?:---|\.\.\.)[ \t]*\Z")
_NOT_ASCII = re.compile(r"[^\t\n\r -~]")


def parse_plainly(text: str) -> Any:
    """The value of the first document, without PyYAML. Raises ValueError for YAML that this parser does not know."""
    if _NOT_ASCII.search(text):
        # Python counts more characters as blanks and line breaks than YAML.
        raise ValueError("it contains a character outside of ASCII")
    lines: List[_Line] = []
    for number, line in enumerate(re.split("\r\n|\r|\n", text), 1):
        bare = line.strip()
        if _SEPARATOR.match(line):
            if lines:
                break
            continue
        if not bare or bare.startswith("#"):
            continue
        if "\t" in line[: len(line) - len(line.lstrip())]:
            raise ValueError(f"line {number}: it is indented with a tab")
        if "\t" in bare:
            raise ValueError(f"line {number}: it contains a tab")
        lines.append((len(line) - len(line.lstrip(" ")), bare, number))
    if not lines:
        raise ValueError("the file is empty")
    reader = _Blocks(lines)
    try:
        value = reader.block(lines[0][0], 0)
    except ValueError as error:
        raise ValueError(f"line {reader.number}: {error}") from None
    if reader.lines:
        raise ValueError(f"line {reader.lines[0][2]}: its indentation does not match any line above")
    return value


class _Blocks:
    """The lines that are not parsed yet, as (indentation, text, number). C(number): of the last line that was parsed."""

    def __init__(self, lines: Sequence[_Line]) -> None:
        self.lines: Deque[_Line] = deque(lines)
        self.number = lines[0][2]

    def _take(self) -> str:
        """Remove the next line and return its text."""
        _unused, text, self.number = self.lines.popleft()
        return text

    def block(self, column: int, depth: int) -> Any:
        """The mapping or list at an indentation."""
        if depth > _DEEPEST:
            raise ValueError("it is nested too deeply")
        return self._list(column, depth) if _is_item(self.lines[0][1]) else self._mapping(column, depth)

    def _list(self, column: int, depth: int) -> List[Any]:
        found: List[Any] = []
        while self.lines and self.lines[0][0] == column and _is_item(self.lines[0][1]):
            text = self.lines[0][1]
            rest = text[1:].lstrip(" ")
            if not rest or rest.startswith("#"):
                self._take()
                found.append(self._below(column, depth))
            elif _is_item(rest) or _KEY.match(rest):
                # The rest of the line is the first line of a block of its own.
                self.lines[0] = (column + len(text) - len(rest), rest, self.lines[0][2])
                found.append(self.block(self.lines[0][0], depth + 1))
            else:
                self._take()
                found.append(_value(rest))
        return found

    def _mapping(self, column: int, depth: int) -> Dict[Any, Any]:
        found: Dict[Any, Any] = {}
        while self.lines and self.lines[0][0] == column:
            match = _KEY.match(self._take())
            if match is None:
                raise ValueError("it is not a key with a value")
            key, rest = _key(match.group(1)), match.group(2) or ""
            if key in found:
                raise ValueError("its key is given twice")
            if rest and not rest.startswith("#"):
                found[key] = _value(rest)
            elif self.lines and self.lines[0][0] == column and _is_item(self.lines[0][1]):
                # A list may have the same indentation as its key.
                found[key] = self._list(column, depth + 1)
            else:
                found[key] = self._below(column, depth)
        return found

    def _below(self, column: int, depth: int) -> Any:
        """The block below a key or a dash, None without one."""
        return self.block(self.lines[0][0], depth + 1) if self.lines and self.lines[0][0] > column else None


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith("- ")


def _value(text: str) -> Any:
    if text[0] in "[{":
        value, end = _flow(text, 0, 0)
    else:
        quoted = _QUOTED.match(text)
        if quoted is None:
            return _scalar(re.split(r"\s#", text, maxsplit=1)[0].strip())
        value, end = _scalar(quoted.group(0)), quoted.end()
    rest = text[end:].strip()
    if rest and not rest.startswith("#"):
        raise ValueError("there is text after the value")
    return value


def _scalar(text: str) -> Any:
    if text[:1] == '"':
        try:
            return json.loads(text)
        except ValueError:
            raise ValueError("it has an invalid escape sequence") from None
    if text[:1] == "'":
        if _QUOTED.match(text) is None:
            raise ValueError("a quote is not closed")
        return text[1:-1].replace("''", "'")
    if _NOT_PLAIN.match(text) or text.endswith(":") or ": " in text:
        raise ValueError("its value is not a plain scalar")
    return resolve(text)


def _key(text: str) -> str:
    if text == "<<":
        raise ValueError("it is a merge key")
    value = _scalar(text)
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, float):
        raise ValueError("its key is not text")
    return str(value)


def _flow(text: str, at: int, depth: int) -> Tuple[Any, int]:
    """The value of the flow style at C(at), and the index of its end."""
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    closing = {"[": "]", "{": "}"}.get(text[at : at + 1])
    if closing is None:
        match = _QUOTED.match(text, at) or re.compile(r"[^\[\]{},#\"']+").match(text, at)
        if match is None:
            raise ValueError("a bracket is not closed")
        return match.group(0).strip(), match.end()
    items: List[Any] = []
    at = _blanks(text, at + 1)
    while text[at : at + 1] != closing:
        item, at = _flow(text, at, depth + 1)
        if closing == "}":
            key = _FLOW_KEY.match(item) if isinstance(item, str) else None
            if key is None:
                raise ValueError("an item in braces is not a key with a value")
            if key.group(2):
                item = (_key(key.group(1)), _scalar(key.group(2)))
            else:
                value, at = _flow(text, _blanks(text, at), depth + 1)
                item = (_key(key.group(1)), _scalar(value) if isinstance(value, str) else value)
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


def _blanks(text: str, at: int) -> int:
    while text[at : at + 1] == " ":
        at += 1
    return at
