# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells the strings and comments of a PowerShell script from its code.

Source: L(about_Quoting_Rules,https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_quoting_rules).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .powershell import DOUBLE_QUOTES, SINGLE_QUOTES

STRING = '"'
"""Takes the place of each character of a string in C(Script.code)."""

_VARIABLE = r"\$(?:\{[^}\n]{0,200}\}|[\w:?]+|[\^$])"
# A quote or # inside a word belongs to it: only at the beginning of a word does # begin a comment, or @ a here-string.
_CODE = re.compile(
    rf"(?P<escape>`(?:\r\n|.)?)|(?P<block><#)|(?P<comment>#[^\n]*)|(?P<rest>--%(?=\s)[^\n|]*)|{_VARIABLE}"
    rf"|(?P<here>@[{SINGLE_QUOTES}{DOUBLE_QUOTES}])|(?P<single>[{SINGLE_QUOTES}])|(?P<double>[{DOUBLE_QUOTES}])"
    r"|(?P<open>\()|(?P<close>\))|[\w.:\\/%*?!~^-]+(?:[#@]+[\w.:\\/%*?!~^-]*)*",
    re.DOTALL,
)
_END_OF_SINGLE = re.compile(rf"[{SINGLE_QUOTES}](?![{SINGLE_QUOTES}])|[{SINGLE_QUOTES}]{{2}}")
_IN_DOUBLE = re.compile(rf"`.|[{DOUBLE_QUOTES}]{{2}}|(?P<end>[{DOUBLE_QUOTES}])|(?P<code>\$\()|{_VARIABLE}", re.DOTALL)
_IN_HERE = re.compile(rf"`[^\n]|(?P<end>\n[{DOUBLE_QUOTES}]@)|(?P<code>\$\()|{_VARIABLE}")
_END_OF_SINGLE_HERE = re.compile(rf"\n[{SINGLE_QUOTES}]@")
_HEAD_OF_HERE = re.compile(r"[ \t]*\r?(?=\n)")


@dataclass(frozen=True)
class Script:
    """A script. code: as long as the text, with C(STRING) for each character of a string. Comments, the ends of continued lines, and
    text behind C(--%), which PowerShell passes on as it is, are blanks.

    strings: the begin and the end of each string with its quotes; of nested ones, only the outermost. open_string: where a string begins
    that has no end. PowerShell then runs nothing, and what follows counts as part of the string. is_bad_head: whether it is a here-string
    with text behind its first quote.
    """

    code: str
    strings: tuple[tuple[int, int], ...]
    open_string: int | None = None
    is_bad_head: bool = False


def scan(text: str) -> Script:
    """The strings and the code of C(text). It raises nothing."""
    return _Scanner(text).scan()


@dataclass
class _Frame:
    """What is open. kind: C(code), C(double) or C(here). start: offset. depth: the number of open parentheses."""

    kind: str
    start: int
    depth: int = 0


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._open = [_Frame("code", 0)]
        self._at = 0
        self._strings: list[tuple[int, int]] = []
        self._blanks: list[tuple[int, int]] = []

    def scan(self) -> Script:
        # The stack takes the place of recursion: strings contain code, which contains strings.
        while self._at < len(self._text):
            frame = self._open[-1]
            if frame.kind != "code":
                self._string(frame)
            elif (unclosed := self._code(frame)) is not None:
                return self._result(*unclosed)
        opened = [frame for frame in self._open if frame.kind != "code"]
        return self._result(opened[-1].start if opened else None)

    def _code(self, frame: _Frame) -> tuple[int, bool] | None:
        """Read one token. Returns a string without an end, and whether the reason is its head."""
        found = _CODE.search(self._text, self._at)
        if found is None:
            self._at = len(self._text)
            return None
        kind, start, self._at = found.lastgroup, found.start(), found.end()
        if kind == "block":
            end = self._text.find("#>", self._at)
            self._at = len(self._text) if end < 0 else end + 2
        if kind in ("block", "comment", "rest") or found[0] in ("`\n", "`\r\n"):
            self._blank(start)
        elif kind == "single":
            return self._to(_END_OF_SINGLE, start)
        elif kind == "double":
            self._open.append(_Frame("double", start))
        elif kind == "here":
            return self._here(start)
        elif kind == "open":
            frame.depth += 1
        elif kind == "close":
            frame.depth -= 1
            if frame.depth == 0 and len(self._open) > 1:
                self._open.pop()
        return None

    def _here(self, start: int) -> tuple[int, bool] | None:
        head = _HEAD_OF_HERE.match(self._text, self._at)
        if head is None:
            return start, True
        self._at = head.end()
        if self._text[start + 1] in SINGLE_QUOTES:
            return self._to(_END_OF_SINGLE_HERE, start)
        self._open.append(_Frame("here", start))
        return None

    def _to(self, end: re.Pattern[str], start: int) -> tuple[int, bool] | None:
        """Go behind the end of a string in which nothing is expanded. Two quotes stand for one."""
        while (found := end.search(self._text, self._at)) is not None:
            self._at = found.end()
            if len(found[0]) != 2:
                self._close(start)
                return None
        return start, False

    def _string(self, frame: _Frame) -> None:
        """Go to the end of a string in which variables are expanded, or to code in it."""
        found = (_IN_DOUBLE if frame.kind == "double" else _IN_HERE).search(self._text, self._at)
        self._at = len(self._text) if found is None else found.end()
        if found is not None and found.lastgroup == "end":
            self._open.pop()
            self._close(frame.start)
        elif found is not None and found.lastgroup == "code":
            self._open.append(_Frame("code", found.start(), 1))

    def _blank(self, start: int) -> None:
        if len(self._open) == 1:
            self._blanks.append((start, self._at))

    def _close(self, start: int) -> None:
        if len(self._open) == 1:
            self._strings.append((start, self._at))

    def _result(self, unclosed: int | None, is_bad_head: bool = False) -> Script:
        if unclosed is not None:
            outer = next((frame.start for frame in self._open if frame.kind != "code"), unclosed)
            self._strings.append((outer, len(self._text)))
        return Script("".join(self._pieces()), tuple(self._strings), unclosed, is_bad_head)

    def _pieces(self) -> Iterator[str]:
        at = 0
        for start, end, filler in sorted([*((*span, " ") for span in self._blanks), *((*span, STRING) for span in self._strings)]):
            yield self._text[at:start]
            yield filler * (end - start)
            at = end
        yield self._text[at:]
