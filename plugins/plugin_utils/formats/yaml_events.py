# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""PyYAML's scanner and parser, with the few things that libyaml and its Go translation do otherwise: mostly tabs.

Where they differ PyYAML would end a text at its first tab and read something else than the node does.
Part of C(.yaml_reader).
"""

from __future__ import annotations

from typing import Any

from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError
from yaml.tokens import ScalarToken

_BREAKS = "\r\n\x85\u2028\u2029"
_BLANKS = "\0 \t" + _BREAKS


class Events(Reader, Scanner, Parser):
    """The stream of events of one text: C(get_event) until a C(StreamEndEvent)."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text.removeprefix("\ufeff"))
        Scanner.__init__(self)
        Parser.__init__(self)
        # The Go reader lacks the escape that YAML 1.2 took over from JSON.
        escapes = {char: text for char, text in Scanner.ESCAPE_REPLACEMENTS.items() if char != "/"}
        vars(self)["ESCAPE_REPLACEMENTS"] = escapes

    def scan_to_next_token(self) -> None:
        """Skip blanks, comments and line ends; a tab only where no indentation can be meant."""
        if self.index == 0 and self.peek() == "\ufeff":
            raise ScannerError(None, None, "a second byte order mark begins the text", self.get_mark())
        while True:
            while self.peek() == " " or (self.peek() == "\t" and (self.flow_level or not self.allow_simple_key)):
                self.forward()
            if self.peek() == "#":
                while self.peek() not in "\0" + _BREAKS:
                    self.forward()
            if not self._line_break():
                return
            if not self.flow_level:
                self.allow_simple_key = True

    def scan_directive(self) -> Any:
        """As PyYAML, but an unknown directive is an error."""
        token = super().scan_directive()
        if token.name not in ("YAML", "TAG"):
            raise ScannerError(None, None, f"unknown directive %{token.name:.40}", token.start_mark)
        return token

    def scan_plain(self) -> Any:
        """An unquoted text. Unlike in PyYAML a colon ends it only before a blank: C([a:]) is a list of one text."""
        chunks: list[str] = []
        spaces: list[str] | None = []
        start = end = self.get_mark()
        indent = self.indent + 1
        ends = _BLANKS + ",?[]{}" if self.flow_level else _BLANKS
        while spaces is not None and self.peek() != "#":
            length = 0
            while (char := self.peek(length)) not in ends and not (char == ":" and self.peek(length + 1) in _BLANKS):
                length += 1
            if length == 0:
                break
            self.allow_simple_key = False
            chunks += [*spaces, self.prefix(length)]
            self.forward(length)
            end = self.get_mark()
            spaces = self.scan_plain_spaces(indent, start)
            if not spaces or (not self.flow_level and self.column < indent):
                break
        return ScalarToken("".join(chunks), True, start, end)

    def scan_plain_spaces(self, indent: int, start_mark: Any) -> list[str] | None:
        """What stands between two words of an unquoted text, folded; None when the document ends there.

        Blanks and tabs inside a line stay, around a line end they vanish; one line end is a blank, more stay line ends.
        """
        blanks = self._blanks(None)
        if self.peek() not in _BREAKS:
            return [blanks] if blanks else []
        first = self._line_break()
        self.allow_simple_key = True
        more: list[str] = []
        while not self._at_document_mark():
            self._blanks(indent)
            if self.peek() not in _BREAKS:
                folded = [first] if first != "\n" else [] if more else [" "]
                return folded + more
            more.append(self._line_break())
        return None

    def _blanks(self, indent: int | None) -> str:
        """Blanks and tabs from here; with C(indent), a tab left of that column is an error."""
        found = ""
        while self.peek() in " \t":
            if self.peek() == "\t" and indent is not None and self.column < indent:
                raise ScannerError(None, None, "a tab stands where only blanks can indent", self.get_mark())
            found += self.peek()
            self.forward()
        return found

    def _line_break(self) -> str:
        """The line end that stands here, skipped; nothing where none does."""
        scanner: Any = self
        return str(scanner.scan_line_break())

    def _at_document_mark(self) -> bool:
        return self.prefix(3) in ("---", "...") and self.peek(3) in _BLANKS

    def scan_block_scalar_indentation(self) -> Any:
        """As PyYAML, but a tab where the indentation is being measured is an error."""
        found = super().scan_block_scalar_indentation()
        self._refuse_tab()
        return found

    def scan_block_scalar_breaks(self, indent: int) -> Any:
        """As PyYAML, but a tab left of the block's indentation is an error."""
        found = super().scan_block_scalar_breaks(indent)
        if self.column < indent:
            self._refuse_tab()
        return found

    def _refuse_tab(self) -> None:
        if self.peek() == "\t":
            raise ScannerError(None, None, "a tab stands where only blanks can indent", self.get_mark())
