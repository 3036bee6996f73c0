# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the place of a setting in the text of a part, for messages that point at it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from .model import Place, ReadPart

if TYPE_CHECKING:
    from ..formats.yaml_reader import Node

Path = tuple["str | int", ...]

_STEP = re.compile(r'\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\.?([^.\[\]]+)')
_OTHER_LINE_END = re.compile("[\r\x85\u2028\u2029]")
_TOML_HEADER = re.compile(r"\s*(\[{1,2})\s*(.+?)\s*\]{1,2}\s*(?:#.*)?$")
_TOML_KEY = re.compile(r"""\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=\s*""")
_TOML_NAME = re.compile(r"""[A-Za-z0-9_-]+|"([^"]*)"|'([^']*)'""")


def place_of(part: ReadPart, path: str, *, of_key: bool = False) -> Place:
    """The place of C(path), such as C(spec.kubelet.config.maxPods) or C(write_files[0].content), in the text of a part.

    It is the value if it is on one line, otherwise its key. of_key: always the key. For a path that the text does not contain,
    it is the place of the closest setting around it, or else the first line. In scripts, the last name of the path is searched
    as a word.
    """
    steps = _steps(path)
    lines = _lines(part.text)
    found = None
    if part.kind in ("nodeconfig", "cloud-config") or part.text.lstrip()[:1] == "{":
        found = _in_yaml(part.text, steps, of_key=of_key) if _has_lines_of_editors(part.text) else None
    elif part.kind == "toml":
        found = _in_toml(part.text, steps, of_key=of_key)
    elif steps:
        found = _in_script(lines, str(steps[-1]))
    if found is None:
        return Place(part.index, 1, 1, len(lines[0]))
    line, column, end = found
    length = (len(lines[line]) if end is None else end) - column
    return Place(part.index, line + 1, column + 1, max(length, 0))


@lru_cache(maxsize=32)
def _lines(text: str) -> tuple[str, ...]:
    """The lines of a text. Cached like C(_tree)."""
    return tuple(text.split("\n"))


@lru_cache(maxsize=32)
def _has_lines_of_editors(text: str) -> bool:
    """Whether places of YAML are those of an editor. YAML counts lines that end with other characters, too. Cached like C(_tree)."""
    return _OTHER_LINE_END.search(text) is None


def _steps(path: str) -> Path:
    """The keys and indexes of a path."""
    found: list[str | int] = []
    for index, quoted, name in _STEP.findall(path):
        if index:
            found.append(int(index))
        else:
            found.append(json.loads(quoted) if quoted else name)
    return tuple(found)


Span = tuple[int, int, "int | None"]
"""Line and column from 0, and the column of its end, None for the end of the line."""


@lru_cache(maxsize=32)
def _tree(text: str) -> Node | None:
    """The nodes of a document, or None if it is not YAML. Cached, because one document can have many problems. Look, do not touch."""
    from ..formats.yaml_error import YamlError
    from ..formats.yaml_reader import node_of

    try:
        return node_of(text)
    except YamlError:
        return None


def _in_yaml(text: str, steps: Path, *, of_key: bool) -> Span | None:
    node = _tree(text)
    found: Span | None = None
    for step in steps:
        below = _below(node, step) if node is not None else None
        if below is None:
            return found
        key, node = below
        is_short = node.kind == "scalar" and node.mark.line == node.end.line and node.value
        place = node if is_short and not of_key else key
        end = place.end.column if place.end is not None and place.end.line == place.mark.line else None
        found = (place.mark.line, place.mark.column, end)
    return found


def _below(node: Node, step: str | int) -> tuple[Node, Node] | None:
    """Key and value of C(step) in a mapping, or the item twice in a sequence."""
    if node.kind == "mapping":
        return node.pairs.get(str(step))
    if node.kind == "sequence" and isinstance(step, int) and step < len(node.children):
        return node.children[step], node.children[step]
    return None


def _in_toml(text: str, steps: Path, *, of_key: bool) -> Span | None:
    """The longest match of headers and keys. Values of several lines and inline tables have the place of their key."""
    spans = _toml_spans(text, of_key)
    names = tuple(map(str, steps))
    return next((spans[names[:count]] for count in range(len(names), 0, -1) if names[:count] in spans), None)


@lru_cache(maxsize=32)
def _toml_spans(text: str, of_key: bool) -> Mapping[tuple[str, ...], Span]:
    """Every header and key with its place, the first one if there are several. Cached like C(_tree)."""
    found: dict[tuple[str, ...], Span] = {}
    for path, key, value in _toml_keys(text.split("\n")):
        found.setdefault(tuple(map(str, path)), key if of_key else value)
    return MappingProxyType(found)


def _toml_keys(lines: list[str]) -> Iterator[tuple[Path, Span, Span]]:
    """Every header and key: its path, its own place and that of its value. A header has one place."""
    table: Path = ()
    counts: dict[Path, int] = {}
    for number, line in enumerate(lines):
        if header := _TOML_HEADER.match(line):
            table = _toml_names(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            whole = (number, header.start(1), len(line.rstrip()))
            yield table, whole, whole
        elif key := _TOML_KEY.match(line):
            yield (*table, *_toml_names(key[1])), (number, key.start(1), key.end(1)), (number, key.end(), len(line.rstrip()))


def _toml_names(text: str) -> Path:
    return tuple(match[1] or match[2] or match[0] for match in _TOML_NAME.finditer(text))


def _in_script(lines: Sequence[str], word: str) -> Span | None:
    pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    for number, line in enumerate(lines):
        if match := pattern.search(line):
            return number, match.start(), match.end()
    return None
