# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a script, its tree by the grammar tree-sitter-bash, and the places of its parts."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from .model import ShellPlace, Unfinished
from .scanner import Scanner

if TYPE_CHECKING:
    from tree_sitter import Node

_VISIBLE = re.compile(rb"[^\n]")


class PackageMissing(Exception):
    """tree-sitter or tree-sitter-bash is not installed."""


class Source:
    """place: of the whole text, if it is a word of another script. origin: the script around the text, and where the text begins there."""

    def __init__(self, text: str, place: ShellPlace | None = None, origin: tuple[Source, int] | None = None) -> None:
        self.text = text
        self._place = place
        self._origin = origin
        scanner = Scanner(text)
        self.here_documents = scanner.here_documents
        self.ends = scanner.ends
        plain = scanner.plain.encode()
        self.open_quote = scanner.open_quote
        self._error = scanner.error
        # The grammar could take lines before an error for a part of it. bash runs them.
        self.root = parse(plain if scanner.is_finished else plain[: scanner.run_end])
        self.rest = None if scanner.is_finished else parse(_VISIBLE.sub(b" ", plain[: scanner.run_end]) + plain[scanner.run_end :])
        self.is_readable = scanner.is_finished and not self.root.has_error and "\0" not in text

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def place(self, start: int, end: int) -> ShellPlace:
        """The place of a piece of the text."""
        if self._place is not None:
            return self._place
        if self._origin is not None:
            source, offset = self._origin
            return source.place(start + offset, end + offset)
        line = self._line(start)
        begin = self._lines[line - 1]
        last = self._lines[line] - 1 if line < len(self._lines) else len(self.text)
        return ShellPlace(line, start - begin + 1, max(0, min(end, last) - start))

    def _line(self, at: int) -> int:
        return bisect_right(self._lines, at)

    def statements(self) -> tuple[tuple[int, int], ...]:
        """The first and the last line of each statement of the text that is not inside another one, with its here-documents."""
        found = []
        documents = sorted(self.here_documents.items())
        for node in (*self.root.named_children, *(self.rest.named_children if self.rest else ())):
            if node.type == "comment":
                continue
            last = self._line(node.end_byte - 1)
            while documents and documents[0][0] < node.end_byte:
                last = max(last, self._line(documents.pop(0)[1].end))
            found.append((self._line(node.start_byte), last))
        return tuple(found)

    def documents(self) -> tuple[tuple[int, int], ...]:
        """The first and the last line of the text of each here-document that has one."""
        bodies = sorted((one.start, one.end) for one in self.here_documents.values() if one.end > one.start)
        return tuple((self._line(start), self._line(end - 1)) for start, end in bodies)

    def unfinished(self) -> tuple[Unfinished, ...]:
        """The quotes and here-documents that end elsewhere than they seem to."""
        quotes = [] if self.open_quote is None else [Unfinished("quote", self.place(self.open_quote, self.open_quote + 1))]
        ends = [document.indented_end for document in self.here_documents.values() if document.indented_end is not None]
        open_ones = [start for start, one in self.here_documents.items() if not one.has_end and one.indented_end is None]
        return (
            *quotes,
            *(Unfinished("here-document", self.place(*end)) for end in ends),
            *(Unfinished("open-document", self.place(start, start + 2)) for start in sorted(open_ones)),
        )

    def errors(self) -> tuple[ShellPlace, ...]:
        """The places that the grammar does not understand."""
        found = []
        waiting = [self.root] if self.rest is None else [self.rest, self.root]
        while waiting:
            node = waiting.pop()
            if node.is_error or node.is_missing:
                found.append(self.place(node.start_byte, max(node.end_byte, node.start_byte + 1)))
            elif node.has_error:
                waiting.extend(reversed(node.children))
        if not found and self._error is not None:
            found.append(self.place(self._error, self._error + 1))
        return tuple(found)


@lru_cache(maxsize=8)
def parse(source: bytes) -> Node:
    """The tree of a text. Raises C(PackageMissing)."""
    try:
        import tree_sitter
        import tree_sitter_bash
    except ImportError as error:
        raise PackageMissing("tree-sitter and tree-sitter-bash are not installed") from error
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language())).parse(source).root_node
