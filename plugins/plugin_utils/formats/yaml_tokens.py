# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scans single YAML tokens: scalars, anchors, tags and directives.

Each function starts at the cursor's position, moves the cursor behind the token and returns the token. It follows YAML 1.1 where
libyaml's Go port, the reader of nodeadm and kubelet, does. Part of C(.yaml_scanner), which decides which token starts where.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from yaml.error import Mark
from yaml.tokens import AliasToken, AnchorToken, DirectiveToken, ScalarToken, TagToken

from .yaml_error import YamlError

BREAKS = "\r\n\x85\u2028\u2029"
END = "\0"
"""Follows the last character of the text. The text itself cannot contain it."""

# Character classes for patterns. A blank ends a word: a space, a tab, a line break or the end of the text.
_ANY_BREAK = r"\r\n\x85\u2028\u2029"
_ANY_BLANK = r"\0\t " + _ANY_BREAK
_LINE_END = rf"(?=[\0{_ANY_BREAK}])"
_BLANK_AHEAD = rf"(?=[{_ANY_BLANK}])"
_COMMENT = rf"[ \t]*(?:#[^\0{_ANY_BREAK}]*)?"
_NAME = r"[0-9A-Za-z_-]"
_URI = r"(?:[0-9A-Za-z_;/?:@&=+$,.!~*'()\[\]-]|%[0-9A-Fa-f]{2})+"

BLANK = re.compile(rf"[{_ANY_BLANK}]")
SPACES = re.compile(" *")
SPACES_AND_TABS = re.compile("[ \t]*")
REST_OF_LINE = re.compile(rf"[^\0{_ANY_BREAK}]*")
DOCUMENT_MARKER = re.compile(rf"(?:---|\.\.\.){_BLANK_AHEAD}")

_LINE_BREAK = re.compile(rf"\r\n|[{_ANY_BREAK}]")
_FORBIDDEN = re.compile("[^\t\n\r -\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# A colon belongs to a word unless a blank follows it.
_WORD = re.compile(rf"[^{_ANY_BLANK}:]*(?::(?![{_ANY_BLANK}])[^{_ANY_BLANK}:]*)*")
_FLOW_WORD = re.compile(rf"[^{_ANY_BLANK}:,?\[\]{{}}]*(?::(?![{_ANY_BLANK}])[^{_ANY_BLANK}:,?\[\]{{}}]*)*")
# Words of a quoted scalar with the blanks between them, but without spaces at their end.
_SINGLE_QUOTED = re.compile(rf"[^'{_ANY_BLANK}]*(?:[ \t]+[^'{_ANY_BLANK}]+)*")
_DOUBLE_QUOTED = re.compile(rf'[^"\\{_ANY_BLANK}]*(?:[ \t]+[^"\\{_ANY_BLANK}]+)*')
_BLOCK_HEADER = re.compile(rf"[|>](?:(?P<chomp>[+-])(?P<digit>[1-9])?|(?P<digit_first>[1-9])(?P<chomp_last>[+-])?)?{_COMMENT}{_LINE_END}")
_ANCHOR = re.compile(rf"[*&]({_NAME}+)(?=[{_ANY_BLANK}?:,\]}}%@`])")
_TAG = re.compile(rf"(?:!<(?P<verbatim>{_URI})>|(?P<handle>!{_NAME}*!)(?P<suffix>{_URI})|!(?!{_NAME}*!)(?P<local>{_URI})?){_BLANK_AHEAD}")
_YAML_DIRECTIVE = re.compile(r"%YAML[ \t]+([0-9]{1,9})\.([0-9]{1,9})")
_TAG_DIRECTIVE = re.compile(rf"%TAG[ \t]+(!(?:{_NAME}*!)?)[ \t]+({_URI}){_BLANK_AHEAD}")
_DIRECTIVE_NAME = re.compile(rf"%(?!(?:YAML|TAG)(?!{_NAME})){_NAME}+{_BLANK_AHEAD}")
_COMMENT_TO_LINE_END = re.compile(_COMMENT + _LINE_END)

# The escapes of YAML 1.1. The Go port has no "\/", which YAML 1.2 took over from JSON.
_ESCAPES = {
    **{"0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b"},
    **{" ": " ", '"': '"', "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"},
}
_HEX_ESCAPES = {char: re.compile(rf"[0-9A-Fa-f]{{{digits}}}") for char, digits in (("x", 2), ("u", 4), ("U", 8))}

_MISPLACED_TAB = "a tab stands where only blanks can indent"


class Cursor:
    """A position in a text. C(line) and the column start at 0."""

    __slots__ = ("line", "line_start", "position", "text")

    def __init__(self, text: str) -> None:
        """Raises C(YamlError) if YAML does not allow a character of C(text)."""
        self.text = text + END
        self.position = self.line = self.line_start = 0
        if (forbidden := _FORBIDDEN.search(text)) is not None:
            lines = _LINE_BREAK.split(text[: forbidden.start()])
            raise YamlError(f"the character U+{ord(forbidden[0]):04X} is not allowed", len(lines), len(lines[-1]) + 1)

    @property
    def char(self) -> str:
        return self.text[self.position]

    @property
    def column(self) -> int:
        return self.position - self.line_start

    def mark(self) -> Mark:
        return Mark("", self.position, self.line, self.position - self.line_start, None, 0)

    def error(self, message: str) -> YamlError:
        return YamlError(message, self.line + 1, self.column + 1)

    def is_at(self, pattern: re.Pattern[str], offset: int = 0) -> bool:
        return pattern.match(self.text, self.position + offset) is not None

    def take_match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match C(pattern) here and move behind the match."""
        match = pattern.match(self.text, self.position)
        if match is not None:
            self.position = match.end()
        return match

    def take(self, pattern: re.Pattern[str]) -> str:
        """The text that C(pattern) matches here, or an empty string. Moves behind it. C(pattern) matches no line break."""
        match = self.take_match(pattern)
        return match[0] if match is not None else ""

    def take_line_break(self) -> str:
        """The line break at this position as a scalar contains it, or an empty string. Moves behind it."""
        char = self.text[self.position]
        if char not in BREAKS:
            return ""
        self.position += 2 if self.text.startswith("\r\n", self.position) else 1
        self.line += 1
        self.line_start = self.position
        return char if char in "\u2028\u2029" else "\n"


def scan_plain(cursor: Cursor, indent: int, in_flow: bool) -> ScalarToken:
    """Scan a scalar without quotes. In block context, its lines are indented by at least C(indent) columns.

    The cursor moves to the next token or comment, past blanks and line breaks.
    """
    word = _FLOW_WORD if in_flow else _WORD
    start = cursor.mark()
    chunks = [cursor.take(word)]
    end = cursor.mark()
    while separator := _scan_word_separator(cursor, indent):
        if cursor.char == "#" or (cursor.column < indent and not in_flow) or not (text := cursor.take(word)):
            break
        chunks += [separator, text]
        end = cursor.mark()
    return ScalarToken("".join(chunks), True, start, end)


def _scan_word_separator(cursor: Cursor, indent: int) -> str:
    """The folded blanks and line breaks between two words; an empty string if the scalar ends here."""
    blanks = cursor.take(SPACES_AND_TABS)
    first_break = cursor.take_line_break()
    if not first_break:
        return blanks
    more_breaks: list[str] = []
    while not cursor.is_at(DOCUMENT_MARKER):
        cursor.take(SPACES)
        if cursor.char == "\t" and cursor.column < indent:
            raise cursor.error(_MISPLACED_TAB)
        cursor.take(SPACES_AND_TABS)
        if not (line_break := cursor.take_line_break()):
            return _fold(first_break, "".join(more_breaks))
        more_breaks.append(line_break)
    return ""


def _fold(first_break: str, more_breaks: str) -> str:
    """One line break becomes a space. Of several, the first disappears. A Unicode line break is kept."""
    if first_break != "\n":
        return first_break + more_breaks
    return more_breaks or " "


def scan_quoted(cursor: Cursor) -> ScalarToken:
    """Scan a scalar in single or double quotes."""
    start = cursor.mark()
    quote = cursor.char
    words = _DOUBLE_QUOTED if quote == '"' else _SINGLE_QUOTED
    chunks: list[str] = []
    cursor.position += 1
    while True:
        chunks.append(cursor.take(words))
        if cursor.char == quote:
            cursor.position += 1
            if quote == '"' or cursor.char != quote:
                return ScalarToken("".join(chunks), False, start, cursor.mark(), quote)
            chunks.append(quote)
            cursor.position += 1
        elif cursor.char == "\\":
            chunks.append(_scan_escape(cursor))
        elif cursor.char == END:
            raise cursor.error(f"the text ends inside a quoted string that starts on line {start.line + 1}")
        else:
            chunks.append(_scan_quoted_blanks(cursor))


def _scan_quoted_blanks(cursor: Cursor) -> str:
    blanks = cursor.take(SPACES_AND_TABS)
    first_break = cursor.take_line_break()
    return _fold(first_break, _scan_quoted_breaks(cursor)) if first_break else blanks


def _scan_quoted_breaks(cursor: Cursor) -> str:
    """The breaks of the empty lines from this line start on. Skips the indentation of the line that follows them."""
    breaks: list[str] = []
    while True:
        if cursor.is_at(DOCUMENT_MARKER):
            raise cursor.error("the document ends inside a quoted string")
        cursor.take(SPACES_AND_TABS)
        if not (line_break := cursor.take_line_break()):
            return "".join(breaks)
        breaks.append(line_break)


def _scan_escape(cursor: Cursor) -> str:
    cursor.position += 1
    escape = cursor.char
    if cursor.take_line_break():
        return _scan_quoted_breaks(cursor)
    if escape in _ESCAPES:
        cursor.position += 1
        return _ESCAPES[escape]
    if escape not in _HEX_ESCAPES:
        raise cursor.error(f"a backslash starts an unknown escape before {escape!r}")
    cursor.position += 1
    code = int(cursor.take(_HEX_ESCAPES[escape]) or "-1", 16)
    if not 0 <= code <= 0x10FFFF:
        raise cursor.error(f"an escape names no character: \\{escape} takes the hexadecimal number of one")
    return chr(code)


def scan_block_scalar(cursor: Cursor, parent_indent: int) -> ScalarToken:
    """Scan a literal (C(|)) or folded (C(>)) block inside a block whose indentation is C(parent_indent)."""
    start = cursor.mark()
    header = cursor.take_match(_BLOCK_HEADER)
    if header is None:
        raise cursor.error(f"expected '+', '-' or a digit from 1 to 9 and then a line break after {cursor.char!r}")
    cursor.take_line_break()
    chomp, digit = header["chomp"] or header["chomp_last"], header["digit"] or header["digit_first"]
    indent = max(parent_indent + 1, 1)
    if digit:
        indent += int(digit) - 1
        breaks, end = _scan_block_breaks(cursor, indent)
    else:
        breaks, end, found_indent = _detect_block_indent(cursor)
        indent = max(indent, found_indent)
    chunks: list[str] = []
    last_break = ""
    was_indented = False
    while cursor.column == indent and cursor.char != END:
        is_indented = cursor.char in " \t"
        is_folded = header[0][0] == ">" and last_break == "\n" and not was_indented and not is_indented
        chunks.append(last_break if not is_folded else "" if breaks else " ")
        chunks += [*breaks, cursor.take(REST_OF_LINE)]
        last_break = cursor.take_line_break()
        was_indented = is_indented
        breaks, end = _scan_block_breaks(cursor, indent)
    if chomp != "-":
        chunks.append(last_break)
    if chomp == "+":
        chunks += breaks
    return ScalarToken("".join(chunks), False, start, end, header[0][0])


def _detect_block_indent(cursor: Cursor) -> tuple[list[str], Mark, int]:
    """The breaks of the empty lines that start a block, where the last one ends, and the widest indentation up to the first text."""
    breaks: list[str] = []
    end = cursor.mark()
    indent = 0
    while True:
        if cursor.take(SPACES):
            indent = max(indent, cursor.column)
        if not (line_break := cursor.take_line_break()):
            break
        breaks.append(line_break)
        end = cursor.mark()
    if cursor.char == "\t":
        raise cursor.error(_MISPLACED_TAB)
    return breaks, end, indent


def _scan_block_breaks(cursor: Cursor, indent: int) -> tuple[list[str], Mark]:
    """The breaks of empty lines inside a block and where the last one ends. Skips up to C(indent) spaces of the next line."""
    breaks: list[str] = []
    end = cursor.mark()
    padding = " " * indent
    while True:
        if cursor.column == 0 and cursor.text.startswith(padding, cursor.position):
            cursor.position += indent
        else:
            cursor.take(SPACES)
        if not (line_break := cursor.take_line_break()):
            break
        breaks.append(line_break)
        end = cursor.mark()
    if cursor.char == "\t" and cursor.column < indent:
        raise cursor.error(_MISPLACED_TAB)
    return breaks, end


def scan_anchor(cursor: Cursor) -> AnchorToken | AliasToken:
    """Scan an anchor (C(&name)) or an alias (C(*name))."""
    start = cursor.mark()
    match = cursor.take_match(_ANCHOR)
    if match is None:
        kind = "an alias" if cursor.char == "*" else "an anchor"
        raise cursor.error(f"the name of {kind} must consist of ASCII letters, digits, '-' and '_'")
    token = AliasToken if match[0][0] == "*" else AnchorToken
    return token(match[1], start, cursor.mark())


def scan_tag(cursor: Cursor) -> TagToken:
    """Scan C(!<uri>), C(!!suffix), C(!handle!suffix), C(!suffix) or C(!)."""
    start = cursor.mark()
    match = cursor.take_match(_TAG)
    if match is None:
        raise cursor.error("this is not a valid tag")
    if match["verbatim"]:
        return TagToken((None, _unescape_uri(match["verbatim"], cursor)), start, cursor.mark())
    if not match["suffix"] and not match["local"]:
        return TagToken((None, "!"), start, cursor.mark())
    return TagToken((match["handle"] or "!", _unescape_uri(match["suffix"] or match["local"], cursor)), start, cursor.mark())


def scan_directive(cursor: Cursor) -> DirectiveToken:
    """Scan a C(%YAML) or C(%TAG) line. Any other directive is an error."""
    start = cursor.mark()
    value: tuple[int, int] | tuple[str, str]
    if (version := cursor.take_match(_YAML_DIRECTIVE)) is not None:
        name, value = "YAML", (int(version[1]), int(version[2]))
        if value != (1, 1):
            raise YamlError("the version of YAML must be 1.1", start.line + 1, start.column + 1)
    elif (tag := cursor.take_match(_TAG_DIRECTIVE)) is not None:
        name, value = "TAG", (tag[1], _unescape_uri(tag[2], cursor))
    elif (unknown := _DIRECTIVE_NAME.match(cursor.text, cursor.position)) is not None:
        raise cursor.error(f"unknown directive {unknown[0]:.41}")
    else:
        raise cursor.error("expected %YAML and a version, or %TAG, a handle and a prefix")
    end = cursor.mark()
    if cursor.take_match(_COMMENT_TO_LINE_END) is None:
        raise cursor.error(f"expected a comment or a line break after %{name}")
    cursor.take_line_break()
    return DirectiveToken(name, value, start, end)


def _unescape_uri(uri: str, cursor: Cursor) -> str:
    try:
        return unquote(uri, errors="strict")
    except UnicodeDecodeError as error:
        raise cursor.error("the escapes of a tag are not UTF-8") from error
