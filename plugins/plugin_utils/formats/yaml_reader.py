# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads YAML as nodeadm and kubelet do (sigs.k8s.io/yaml 1.6), not as PyYAML does.

Bare C(y) is a boolean, C(010) is 8, C(1e3) is 1000, C(1:30) and dates are strings; keys become strings as in JSON.
C(.yaml_scanner) makes tokens of the text and PyYAML's parser makes events of them. This module decides what a scalar means and
handles merge keys and limits.
Import C(load) from C(.yaml).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from yaml import events
from yaml.parser import Parser, ParserError

from .json import MAX_DEPTH
from .located_text import LocatedText, Spot
from .yaml_error import YamlError
from .yaml_scalars import ScalarError, json_number, key_text, resolve
from .yaml_scanner import Scanner

_MAX_ALIASED = 100_000
"""Values that aliases may add to one document: beyond it the document is a bomb."""

_MERGE_TAG = "tag:yaml.org,2002:merge"


@dataclass
class Node:
    """A parsed value that is not yet resolved. C(value) is text or the target of an alias.

    kind: C(scalar), C(mapping), C(sequence) or C(alias). mark, end: where it begins and ends. children: of a mapping, keys and values
    in turn. style: of a scalar, as PyYAML names it: C(|), C(>), a quote, or None.
    """

    kind: str
    mark: Any
    tag: str | None = None
    implicit: bool = True
    value: Any = None
    children: list[Node] = field(default_factory=list)
    end: Any = None
    style: str | None = None

    @cached_property
    def pairs(self) -> dict[str, tuple[Node, Node]]:
        """The keys and values of a mapping by the text of the key. Of a key that is there twice, the last one."""
        pairs = zip(self.children[::2], self.children[1::2], strict=True)
        return {pair[0].value: pair for pair in pairs if pair[0].kind == "scalar"}

    def error(self, message: str) -> YamlError:
        return YamlError(message, self.mark.line + 1, self.mark.column + 1)


def load(text: str, *, strict: bool = True) -> Any:
    """See C(.yaml.load)."""
    for value in _documents(text, strict):
        return value
    return None


def load_all(text: str, *, strict: bool = True) -> list[Any]:
    """See C(.yaml.load_all)."""
    return list(_documents(text, strict))


def load_located(text: str) -> list[Any]:
    """The values of all documents, with C(LocatedText) for strings. A local tag such as C(!Sub) is a mapping with this key."""
    lines = text.split("\n")
    return list(_documents(text, strict=False, builder=lambda: _LocatedBuilder(lines)))


def load_each(text: str) -> Iterator[tuple[Node, Any]]:
    """The nodes of every document with their positions, and its value, or the C(YamlError) with which it is refused.

    Raises C(YamlError) at the place after which the text is not YAML.
    """
    for node in _nodes(text):
        try:
            yield node, _Builder(strict=True).value(node, 0)
        except YamlError as error:
            yield node, error
        except RecursionError:
            yield node, YamlError("nested too deeply")


def node_of(text: str) -> Node | None:
    """The first document of a text as nodes with their positions. None if there is no document. Raises C(YamlError)."""
    return next(_nodes(text), None)


def _documents(text: str, strict: bool, builder: Callable[[], _Builder] | None = None) -> Iterator[Any]:
    for node in _nodes(text):
        try:
            yield (builder() if builder else _Builder(strict)).value(node, 0)
        except RecursionError as error:
            raise YamlError("nested too deeply") from error


def _nodes(text: str) -> Iterator[Node]:
    try:
        source: Any = _Events(text)
        while not isinstance(event := source.get_event(), events.StreamEndEvent):
            if isinstance(event, events.DocumentStartEvent):
                yield _compose(source)
    except ParserError as error:
        mark = error.problem_mark or error.context_mark
        message = str(error.problem or error.context or "this is not YAML")
        raise (YamlError(message, mark.line + 1, mark.column + 1) if mark else YamlError(message)) from error
    except RecursionError as error:
        raise YamlError("nested too deeply") from error


class _Events(Scanner, Parser):
    """The events of a text: PyYAML's parser, which reads the tokens of our scanner."""

    def __init__(self, text: str) -> None:
        Scanner.__init__(self, text)
        Parser.__init__(self)


def _compose(source: Any) -> Node:
    """Return the tree of one document. It uses a stack instead of recursion, because the document decides about the depth."""
    anchors: dict[str, Node] = {}
    root = Node("root", None)
    open_nodes = [root]
    while not isinstance(event := source.get_event(), events.DocumentEndEvent):
        if isinstance(event, (events.MappingEndEvent, events.SequenceEndEvent)):
            open_nodes.pop()
            continue
        node = _node_of(event, anchors)
        open_nodes[-1].children.append(node)
        if not isinstance(event, events.AliasEvent) and event.anchor is not None:
            anchors[event.anchor] = node
        if isinstance(event, (events.MappingStartEvent, events.SequenceStartEvent)):
            open_nodes.append(node)
            if len(open_nodes) > MAX_DEPTH + 1:
                raise node.error(f"nested more than {MAX_DEPTH} levels deep")
    return root.children[0]


def _node_of(event: Any, anchors: dict[str, Node]) -> Node:
    mark: Any = event.start_mark
    if isinstance(event, events.AliasEvent):
        target = anchors.get(str(event.anchor))
        if target is None:
            raise YamlError(f"the alias *{event.anchor} has no anchor before it", mark.line + 1, mark.column + 1)
        return Node("alias", mark, value=target)
    if isinstance(event, events.ScalarEvent):
        return Node("scalar", mark, event.tag, event.implicit[0], event.value, end=event.end_mark, style=event.style)
    return Node("mapping" if isinstance(event, events.MappingStartEvent) else "sequence", mark, event.tag)


class _Builder:
    """Turns the nodes of one document into values."""

    def __init__(self, strict: bool) -> None:
        self._strict = strict
        self._aliased = 0
        self._alias_depth = 0

    def value(self, node: Node, depth: int) -> Any:
        """The value of C(node), which stands C(depth) levels deep once its aliases are followed."""
        if self._alias_depth:
            self._aliased += 1
            if self._aliased > _MAX_ALIASED:
                raise node.error("aliases multiply the document beyond reason")
        if depth > MAX_DEPTH:
            raise node.error(f"nested more than {MAX_DEPTH} levels deep")
        if node.kind == "scalar":
            return self._scalar(node)
        if node.kind == "alias":
            return self._alias(node, depth)
        if node.kind == "sequence":
            return [self.value(child, depth + 1) for child in node.children]
        result: dict[str, Any] = {}
        self._fill(node, result, depth)
        return result

    def _scalar(self, node: Node) -> Any:
        try:
            value = resolve(node.value, node.tag, node.implicit)
            return json_number(value) if isinstance(value, float) else value
        except ScalarError as error:
            raise node.error(str(error)) from error

    def _alias(self, node: Node, depth: int) -> Any:
        """The target once more, as a copy: nothing in the result is shared. A cycle ends at C(MAX_DEPTH)."""
        self._alias_depth += 1
        value = self.value(node.value, depth)
        self._alias_depth -= 1
        return value

    def _fill(self, node: Node, result: dict[str, Any], depth: int) -> None:
        """Put the pairs of a mapping into C(result), merge keys at the place where they stand."""
        own: set[str] = set()
        for key_node, value_node in zip(node.children[::2], node.children[1::2], strict=True):
            if _is_merge(key_node):
                self._merge(key_node, value_node, result, own, depth)
                continue
            key = self._key(key_node)
            if self._strict and key in own:
                raise key_node.error(f"the key {key!r:.80} is a duplicate")
            own.add(key)
            result[key] = self.value(value_node, depth + 1)

    def _key(self, node: Node) -> str:
        target = node.value if node.kind == "alias" else node
        if target.kind != "scalar":
            raise node.error("a key must be a string, not a mapping or a list")
        try:
            return key_text(resolve(target.value, target.tag, target.implicit))
        except ScalarError as error:
            raise node.error(str(error)) from error

    def _merge(self, key_node: Node, node: Node, result: dict[str, Any], own: set[str], depth: int) -> None:
        """Pairs of C(node) (a mapping, or a list of mappings of which the first wins) replace what stands before them."""
        sources = node.children[::-1] if node.kind == "sequence" else [node]
        for source in sources:
            target = source.value if source.kind == "alias" else source
            if target.kind != "mapping":
                raise source.error("the merge key << needs a mapping or a list of mappings")
            merged = self.value(source, depth + 1)
            replaced = sorted(own & merged.keys())
            if self._strict and replaced:
                raise key_node.error(f"the merge key << replaces {replaced[0]!r:.80} before it: put << first")
            result.update(merged)


def _is_merge(node: Node) -> bool:
    return node.kind == "scalar" and node.value == "<<" and (node.implicit or node.tag == _MERGE_TAG)


class _LocatedBuilder(_Builder):
    """Strings with their places, and local tags as mappings with one key. lines: of the file."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(strict=False)
        self._lines = lines

    def value(self, node: Node, depth: int) -> Any:
        if (node.tag or "").startswith("!") and node.tag != "!":
            return {node.tag: super().value(replace(node, tag=None, implicit=False), depth + 1)}
        return super().value(node, depth)

    def _scalar(self, node: Node) -> Any:
        value = super()._scalar(node)
        if not isinstance(value, str):
            return value
        spots = self._block(node, value) if node.style == "|" else self._on_one_line(node, value)
        return LocatedText(value, spots or ((node.mark.line + 1, node.mark.column + 1),), is_verbatim=bool(spots))

    def _block(self, node: Node, value: str) -> tuple[Spot, ...]:
        """The place of each line of a block; an empty tuple if the file has other line ends than the document."""
        spots = []
        for number, line in enumerate(value.split("\n"), node.mark.line + 1):
            raw = self._lines[number].rstrip("\r") if number < len(self._lines) else ""
            before = raw.removesuffix(line) if line else ""
            if before.strip(" ") or (line and len(before) + len(line) != len(raw)):
                return ()
            spots.append((number + 1, len(before) + 1))
        return tuple(spots)

    def _on_one_line(self, node: Node, value: str) -> tuple[Spot, ...]:
        column = node.mark.column + (1 if node.style else 0)
        is_there = node.style != ">" and "\n" not in value and self._lines[node.mark.line].startswith(value, column)
        return ((node.mark.line + 1, column + 1),) if is_there else ()
