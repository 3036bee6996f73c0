# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits single items of the YAML text of C(mapRoles), and leaves every other byte as it is: comments, quotes, order, blank lines.

The text is split with the scanner that reads it as the API server's Go programs do. After an edit, the new text is read again: if the
other items do not mean what they meant before, for example because they use an anchor of a removed item, C(CannotEdit) is raised.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from yaml import tokens

from ..formats import yaml
from ..formats.json import dump as json_dump
from ..formats.yaml_scanner import Scanner

_OPENING = (tokens.FlowSequenceStartToken, tokens.FlowMappingStartToken)
_CLOSING = (tokens.FlowSequenceEndToken, tokens.FlowMappingEndToken)
_WITHOUT_TEXT = (
    tokens.StreamStartToken, tokens.StreamEndToken, tokens.DocumentStartToken, tokens.DocumentEndToken, tokens.DirectiveToken,
    tokens.BlockSequenceStartToken, tokens.BlockMappingStartToken, tokens.BlockEndToken, tokens.KeyToken,
)  # fmt: skip
"""Tokens that are not part of the text of an item. C(Key) has no width unless it is a question mark, which always has a value behind it."""

_COMMENT = re.compile(r"#[^\r\n]*")


class CannotEdit(ValueError):
    """The text cannot be edited without a change of the meaning of other items. The message says why."""


class Span(NamedTuple):
    """A part of a text."""

    start: int
    end: int


@dataclass(frozen=True)
class MapRoles:
    """A text that is a list, or nothing. items: the values. spans: their texts; with whole lines in block style.

    gaps: the spans between the tokens of each item, which can contain comments. indent: of the dashes. place: where the first item of an
    empty text belongs. is_flow: whether the list has brackets.
    """

    text: str
    items: tuple[Any, ...]
    spans: tuple[Span, ...] = ()
    gaps: tuple[tuple[Span, ...], ...] = ()
    indent: str = ""
    place: Span = field(default=Span(0, 0))
    is_flow: bool = False


def read(text: str) -> MapRoles:
    """Read the text of C(mapRoles). Raises C(YamlError) if it is not one YAML document with a list or nothing in it."""
    documents = yaml.load_all(text, strict=False)
    if len(documents) > 1:
        raise yaml.YamlError("it contains several documents")
    value = documents[0] if documents else None
    if value is not None and not isinstance(value, list):
        raise yaml.YamlError(f"it is not a list, but {_kind(value)}")
    # The scanner leaves out a byte order mark.
    found = list(_tokens(text.removeprefix("\ufeff")))
    if text.startswith("\ufeff"):
        raise yaml.YamlError("it starts with a byte order mark")
    first = next((token for token in found if not isinstance(token, (*_WITHOUT_TEXT[:5], tokens.AnchorToken, tokens.TagToken))), None)
    if isinstance(first, tokens.FlowSequenceStartToken):
        return _flow(text, value or [], found)
    if isinstance(first, tokens.BlockSequenceStartToken):
        return _block(text, value or [], found, first.start_mark.column)
    scalar = next((token for token in found if isinstance(token, tokens.ScalarToken)), None)
    return MapRoles(text, (), place=Span(scalar.start_mark.index, scalar.end_mark.index) if scalar else Span(len(text), len(text)))


def edit(text: str, *, removed: Collection[int] = (), replaced: Mapping[int, Any] | None = None, added: Sequence[Any] = ()) -> str:
    """The text without some items, with other values for some, and with more items at its end.

    removed, replaced: by the number of the item. Raises C(YamlError) as C(read) does, and C(CannotEdit).
    """
    before, new = read(text), replaced or {}
    expected = [new.get(index, item) for index, item in enumerate(before.items) if index not in removed]
    if removed or new:
        text = _with_changes(before, removed, new)
    for item in added:
        text = _with_item(_checked(text, expected), item)
        expected.append(item)
    return _checked(text, expected).text


def _checked(text: str, expected: list[Any]) -> MapRoles:
    try:
        after = read(text)
    except yaml.YamlError as error:
        raise CannotEdit(f"the other items need the changed one ({error})") from None
    if list(after.items) != expected:
        raise CannotEdit("the other items would change their meaning")
    return after


# --- reading ------------------------------------------------------------------------------------------------------------------------


def _tokens(text: str) -> Iterator[Any]:
    scanner = Scanner(text)
    while (token := scanner.get_token()) is not None:
        yield token


def _block(text: str, items: list[Any], found: list[Any], column: int) -> MapRoles:
    """Items with a dash. Nested dashes are further to the right."""
    groups: list[list[Any]] = []
    for token in found:
        if isinstance(token, tokens.DocumentEndToken):
            break
        if isinstance(token, tokens.BlockEntryToken) and token.start_mark.column == column:
            groups.append([])
        if groups and not isinstance(token, _WITHOUT_TEXT):
            groups[-1].append(token)
    spans, gaps = [], []
    for group in groups:
        content = text[: max(token.end_mark.index for token in group)].rstrip()
        start, end = text.rfind("\n", 0, group[0].start_mark.index) + 1, text.find("\n", len(content)) + 1 or len(text)
        spans.append(Span(start, end))
        gaps.append((*_between(group), Span(len(content), end)))
    return MapRoles(text, tuple(items), tuple(spans), tuple(gaps), indent=" " * column)


def _flow(text: str, items: list[Any], found: list[Any]) -> MapRoles:
    """Items in brackets, with commas between them."""
    groups: list[list[Any]] = []
    depth, place, is_new = 0, Span(0, 0), True
    for token in found:
        depth -= isinstance(token, _CLOSING)
        if depth == 0 and isinstance(token, _OPENING):
            place = Span(token.end_mark.index, token.end_mark.index)
        elif depth == 1 and isinstance(token, tokens.FlowEntryToken):
            is_new = True
        elif depth and not isinstance(token, _WITHOUT_TEXT):
            groups.extend([[]] if is_new else [])
            groups[-1].append(token)
            is_new = False
        elif depth == 0 and isinstance(token, _CLOSING):
            break
        # A token that closes an inner collection belongs to the item.
        depth += isinstance(token, _OPENING)
    spans = tuple(Span(group[0].start_mark.index, max(token.end_mark.index for token in group)) for group in groups)
    return MapRoles(text, tuple(items), spans, tuple(tuple(_between(group)) for group in groups), place=place, is_flow=True)


def _between(group: Iterable[Any]) -> Iterator[Span]:
    end = None
    for token in group:
        if end is not None and token.start_mark.index > end:
            yield Span(end, token.start_mark.index)
        end = token.end_mark.index


def _kind(value: Any) -> str:
    return "a mapping" if isinstance(value, Mapping) else "text" if isinstance(value, str) else "a single value"


# --- writing ------------------------------------------------------------------------------------------------------------------------


def _with_changes(before: MapRoles, removed: Collection[int], new: Mapping[int, Any]) -> str:
    text, newline = before.text, _newline(before.text)
    if not before.is_flow and not text.endswith("\n"):
        # A text that ends without a line break still does afterwards.
        return _with_changes(read(text + newline), removed, new).removesuffix(newline)
    change = _changed_in_flow if before.is_flow else _changed_in_block
    for index in reversed(range(len(before.spans))):
        if index in removed or index in new:
            text = change(before, text, index, new.get(index))
    return text


def _changed_in_block(before: MapRoles, text: str, index: int, item: Any) -> str:
    """C(text) with another item, or with none, in place of one. Comments stay, as lines of their own."""
    start, end = before.spans[index]
    first_line = text[start:end].split("\n", 1)[0]
    if not first_line.lstrip(" ").startswith("-"):
        raise CannotEdit("the first item begins on the line of the document marker")
    lines = [before.indent + comment for gap in before.gaps[index] for comment in _COMMENT.findall(text[gap.start : gap.end])]
    if item is not None:
        lines = [*_lines(item, before.indent), *lines]
    newline = _newline(text)
    return text[:start] + "".join(line + newline for line in lines) + text[end:]


def _changed_in_flow(before: MapRoles, text: str, index: int, item: Any) -> str:
    start, end = before.spans[index]
    if item is not None:
        return text[:start] + json_dump(item) + text[end:]
    if any(_COMMENT.search(text[gap.start : gap.end]) for gap in before.gaps[index]):
        raise CannotEdit("there are comments inside the item")
    if index:
        # The comma before it goes, too.
        return text[: text.rindex(",", before.spans[index - 1].end, start)] + text[end:]
    following = re.compile(r"[ \t]*,[ \t]*").match(text, end)
    return text[:start] + text[following.end() if following else end :]


def _with_item(before: MapRoles, item: Any) -> str:
    """The text with one more item at its end."""
    text = before.text
    if before.is_flow:
        at, comma = (before.spans[-1].end, ", ") if before.spans else (before.place.end, "")
        return text[:at] + comma + json_dump(item) + text[at:]
    if before.place.end > before.place.start:
        return f"{text[: before.place.start]}[{json_dump(item)}]{text[before.place.end :]}"
    newline = _newline(text)
    block = newline.join(_lines(item, before.indent))
    for at in dict.fromkeys([before.spans[-1].end if before.spans else len(text), len(text)]):
        has_newline = at == 0 or text[at - 1] == "\n"
        content = block + newline if has_newline else newline + block
        changed = text[:at] + content + text[at:]
        try:
            return _checked(changed, [*before.items, item]).text
        except CannotEdit:
            continue
    raise CannotEdit("another item would change its meaning")


def _lines(item: Any, indent: str) -> list[str]:
    return [indent + line for line in yaml.dump([item]).splitlines()]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
