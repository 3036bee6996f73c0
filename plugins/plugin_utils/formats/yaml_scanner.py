# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Splits a YAML text into tokens as libyaml's Go port does, which nodeadm and kubelet use.

PyYAML's own scanner differs from it: it ends the text at many tabs, reads C([a:]) as a mapping, knows the escape C(\\/) and ignores
unknown directives. The structure is found here: indentation, flow collections, and keys, which only the colon behind them reveals.
C(.yaml_tokens) scans scalars, tags, anchors and directives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from yaml import tokens
from yaml.error import Mark

from .yaml_tokens import (
    BLANK,
    BREAKS,
    DOCUMENT_MARKER,
    END,
    REST_OF_LINE,
    SPACES,
    SPACES_AND_TABS,
    Cursor,
    scan_anchor,
    scan_block_scalar,
    scan_directive,
    scan_plain,
    scan_quoted,
    scan_tag,
)

_LONGEST_KEY = 1024
"""Characters from the start of a key to its colon."""

_NO_TOKEN_STARTS = "\t|>%@`"
"""Characters that start no plain scalar and, where this is asked, no other token."""


class _PossibleKey(NamedTuple):
    """A token that becomes a key if a colon follows it. C(number) is its place among all tokens."""

    flow_level: int
    number: int
    required: bool
    mark: Mark


class Scanner:
    """The tokens of a text. Offers the three methods that C(yaml.parser.Parser) needs."""

    def __init__(self, text: str) -> None:
        """Raises C(YamlError) if YAML does not allow a character of C(text)."""
        self._cursor = Cursor(text.removeprefix("\ufeff"))
        mark = self._cursor.mark()
        if self._cursor.char == "\ufeff":
            raise self._cursor.error("the text starts with a second byte order mark")
        self._queue: deque[tokens.Token] = deque([tokens.StreamStartToken(mark, mark)])
        self._taken = 0
        self._next: tokens.Token | None = None
        self._ended = False
        self._flow_level = 0
        self._indent = -1
        self._outer_indents: list[int] = []
        # A key can start here. In block context, so can a list or a mapping.
        self._key_allowed = True
        # At most one for each flow level, the outermost first.
        self._possible_keys: deque[_PossibleKey] = deque()

    def check_token(self, *kinds: type[tokens.Token]) -> bool:
        """Is the next token one of C(kinds)? Raises C(YamlError) if there is an error before its end."""
        token = self.peek_token()
        return token is not None and (not kinds or isinstance(token, kinds))

    def peek_token(self) -> tokens.Token | None:
        """The next token, which stays the next; None after the last. Raises C(YamlError)."""
        if self._next is None:
            self._next = self._take_token()
        return self._next

    def get_token(self) -> tokens.Token | None:
        """The next token; None after the last. Raises C(YamlError)."""
        token, self._next = self.peek_token(), None
        return token

    def _take_token(self) -> tokens.Token | None:
        while not self._ended and self._must_scan_on():
            self._scan_token()
        if not self._queue:
            return None
        self._taken += 1
        return self._queue.popleft()

    def _must_scan_on(self) -> bool:
        """Is the next token unknown? A key token goes before a token that turns out to be a key."""
        if not self._queue:
            return True
        self._drop_impossible_keys()
        return bool(self._possible_keys) and self._possible_keys[0].number == self._taken

    def _scan_token(self) -> None:
        """Add the next token to the queue, together with the ends of blocks before it."""
        self._skip_to_token()
        self._drop_impossible_keys()
        if not self._flow_level:
            self._close_blocks(self._cursor.column)
        char = self._cursor.char
        if char == END:
            self._scan_stream_end()
        elif self._cursor.column == 0 and char == "%":
            self._end_document_part()
            self._queue.append(scan_directive(self._cursor))
        elif self._cursor.column == 0 and self._cursor.is_at(DOCUMENT_MARKER):
            self._end_document_part()
            self._add(tokens.DocumentStartToken if char == "-" else tokens.DocumentEndToken, 3)
        elif char in "-?:" and self._is_indicator(char):
            _INDICATORS[char](self)
        elif char in _TOKENS:
            _TOKENS[char](self)
        elif char in "|>" and not self._flow_level:
            self._scan_block_scalar()
        elif char in _NO_TOKEN_STARTS:
            raise self._cursor.error(f"found character {char!r} that cannot start any token")
        else:
            self._scan_plain()

    def _skip_to_token(self) -> None:
        """Skip blanks, comments and line breaks. Tabs are skipped only where they cannot be meant as indentation."""
        cursor = self._cursor
        while True:
            cursor.take(SPACES_AND_TABS if self._flow_level or not self._key_allowed else SPACES)
            if cursor.char == "#":
                cursor.take(REST_OF_LINE)
            if cursor.char not in BREAKS:
                return
            cursor.take_line_break()
            if not self._flow_level:
                self._key_allowed = True

    def _is_indicator(self, char: str) -> bool:
        """Does a dash, a question mark or a colon have its special meaning here, or does it start a plain scalar?"""
        return self._cursor.is_at(BLANK, 1) or (self._flow_level > 0 and char != "-")

    def _add(self, kind: Callable[[Mark, Mark], tokens.Token], length: int = 1) -> None:
        """Add a token that consists of the next C(length) characters."""
        start = self._cursor.mark()
        self._cursor.position += length
        self._queue.append(kind(start, self._cursor.mark()))

    # Keys: a token becomes a key when its colon follows on the same line.

    def _save_possible_key(self) -> None:
        """The next token is a key if a colon follows it."""
        if self._key_allowed:
            self._drop_possible_key()
            required = not self._flow_level and self._indent == self._cursor.column
            number = self._taken + len(self._queue)
            self._possible_keys.append(_PossibleKey(self._flow_level, number, required, self._cursor.mark()))

    def _drop_possible_key(self) -> None:
        """No colon can follow the possible key of this flow level any more."""
        if (key := self._take_possible_key()) is not None and key.required:
            raise self._cursor.error(_missing_colon(key))

    def _take_possible_key(self) -> _PossibleKey | None:
        """Remove the possible key of this flow level."""
        if self._possible_keys and self._possible_keys[-1].flow_level == self._flow_level:
            return self._possible_keys.pop()
        return None

    def _drop_impossible_keys(self) -> None:
        """Drop keys whose colon did not follow on the same line or is too far away."""
        cursor, keys = self._cursor, self._possible_keys
        while keys and (keys[0].mark.line != cursor.line or cursor.position - keys[0].mark.index > _LONGEST_KEY):
            key = keys.popleft()
            if key.required:
                raise self._cursor.error(_missing_colon(key))

    # Blocks: lists and mappings without brackets start and end with their indentation.

    def _open_block(self, kind: Callable[[Mark, Mark], tokens.Token], mark: Mark, number: int) -> None:
        """Start a block at C(mark), before token C(number), unless one with this indentation is open."""
        if not self._flow_level and self._indent < mark.column:
            self._outer_indents.append(self._indent)
            self._indent = mark.column
            self._queue.insert(number - self._taken, kind(mark, mark))

    def _close_blocks(self, column: int) -> None:
        """End every block that is indented by more than C(column)."""
        if self._indent > column:
            mark = self._cursor.mark()
            while self._indent > column:
                self._indent = self._outer_indents.pop()
                self._queue.append(tokens.BlockEndToken(mark, mark))

    # Tokens that structure the text.

    def _end_document_part(self) -> None:
        """A directive, a document marker or the end of the text ends all blocks."""
        if not self._flow_level:
            self._close_blocks(-1)
        self._drop_possible_key()
        self._key_allowed = False

    def _scan_stream_end(self) -> None:
        self._end_document_part()
        self._possible_keys.clear()
        self._add(tokens.StreamEndToken, 0)
        self._ended = True

    def _scan_flow_start(self) -> None:
        self._save_possible_key()
        self._flow_level += 1
        self._key_allowed = True
        self._add(tokens.FlowSequenceStartToken if self._cursor.char == "[" else tokens.FlowMappingStartToken)

    def _scan_flow_end(self) -> None:
        self._drop_possible_key()
        self._flow_level = max(self._flow_level - 1, 0)
        self._key_allowed = False
        self._add(tokens.FlowSequenceEndToken if self._cursor.char == "]" else tokens.FlowMappingEndToken)

    def _scan_flow_entry(self) -> None:
        self._drop_possible_key()
        self._key_allowed = True
        self._add(tokens.FlowEntryToken)

    def _scan_block_entry(self) -> None:
        self._start_block_item("a list item cannot start here", tokens.BlockSequenceStartToken)
        self._key_allowed = True
        self._add(tokens.BlockEntryToken)

    def _scan_key(self) -> None:
        self._start_block_item("a key cannot start here", tokens.BlockMappingStartToken)
        self._key_allowed = not self._flow_level
        self._add(tokens.KeyToken)

    def _scan_value(self) -> None:
        """Scan a colon, either of the possible key of this flow level or of a key after a question mark."""
        if (key := self._take_possible_key()) is not None:
            self._queue.insert(key.number - self._taken, tokens.KeyToken(key.mark, key.mark))
            self._open_block(tokens.BlockMappingStartToken, key.mark, key.number)
            self._key_allowed = False
        else:
            self._start_block_item("a mapping value cannot start here", tokens.BlockMappingStartToken)
            self._key_allowed = not self._flow_level
        self._add(tokens.ValueToken)

    def _start_block_item(self, refusal: str, kind: Callable[[Mark, Mark], tokens.Token]) -> None:
        """A dash, a question mark or a colon starts an item of a block, and the block if it is the first item."""
        if not self._flow_level and not self._key_allowed:
            raise self._cursor.error(refusal)
        self._open_block(kind, self._cursor.mark(), self._taken + len(self._queue))
        self._drop_possible_key()

    # Tokens that can be keys, and blocks of text.

    def _scan_anchor(self) -> None:
        self._save_possible_key()
        self._key_allowed = False
        self._queue.append(scan_anchor(self._cursor))

    def _scan_tag(self) -> None:
        self._save_possible_key()
        self._key_allowed = False
        self._queue.append(scan_tag(self._cursor))

    def _scan_quoted(self) -> None:
        self._save_possible_key()
        self._key_allowed = False
        self._queue.append(scan_quoted(self._cursor))

    def _scan_plain(self) -> None:
        """Scan a plain scalar, which reads on to the next token. After a line break, this can be a key."""
        self._save_possible_key()
        token = scan_plain(self._cursor, self._indent + 1, self._flow_level > 0)
        self._key_allowed = self._cursor.line > token.end_mark.line
        self._queue.append(token)

    def _scan_block_scalar(self) -> None:
        self._drop_possible_key()
        self._key_allowed = True
        self._queue.append(scan_block_scalar(self._cursor, self._indent))


_INDICATORS: dict[str, Callable[[Scanner], None]] = {
    "-": Scanner._scan_block_entry,
    "?": Scanner._scan_key,
    ":": Scanner._scan_value,
}
_TOKENS: dict[str, Callable[[Scanner], None]] = {
    **dict.fromkeys("[{", Scanner._scan_flow_start),
    **dict.fromkeys("]}", Scanner._scan_flow_end),
    **dict.fromkeys("*&", Scanner._scan_anchor),
    **dict.fromkeys("'\"", Scanner._scan_quoted),
    ",": Scanner._scan_flow_entry,
    "!": Scanner._scan_tag,
}


def _missing_colon(key: _PossibleKey) -> str:
    return f"expected ': ' after the key on line {key.mark.line + 1}"
