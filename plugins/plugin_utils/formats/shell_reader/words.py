# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads one word of a script, and expands it as bash does."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TypeAlias

from . import text as texts
from .fields import Fields
from .model import DYNAMIC, Pieces, known, spaced
from .source import Source
from .state import State, Variable, weight

_LITERAL = re.compile(r"[^ \t\n;&|<>()\\'\"$`]+")
_LITERAL_IN_BRACES = re.compile(r"[^\\'\"$`}]+")
_QUOTED = {'"': re.compile(r"[^\\\"$`]+"), "}": re.compile(r"[^\\\"$`}]+"), "": re.compile(r"[^\\$`]+")}
_ESCAPABLE = {'"': '$`"\\', "}": '$`"\\}', "": "$`\\"}
_TILDE = re.compile(r"(?:[\w\]]\+?=|:)~")
_ANSI_C = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_NAME = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
_CONTINUED_NAME = re.compile(r"\\\n[A-Za-z0-9_\\]")
_BRACED = re.compile(r"\$\{(#?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#])(?:\[([0-9]+|[@*])\])?")
_OPERATOR = re.compile(r":?[-=?+]|%%?|##?")
_CASE = re.compile(r"(\^\^?|,,?)\}")
_SUBSTRING = re.compile(r":([0-9]{1,6})(?::([0-9]{1,6}))?\}")
_VALID = re.compile(
    r"\$\{(?:!?(?:[A-Za-z_][A-Za-z0-9_]*(?:\[[^]]+\])?|[0-9]+|[@*#?$!-])(?:\}|:?[-=?+]|[:%#/^,]|@[A-Za-z]\})"
    r"|![A-Za-z_][A-Za-z0-9_]*[@*]\}|#(?:[A-Za-z_][A-Za-z0-9_]*(?:\[[^]]+\])?|[0-9]+|[@*#?$!-])\})"
)
_SET_IN_BRACES = re.compile(r"\$\{!?([A-Za-z_][A-Za-z0-9_]*)(?:\[[^]]*\])?:?=")
_ARITHMETIC = re.compile(r"\(\((.*?)\)\)|\$\[([^]]*)\]|\w\[([^]@*]*)\]", re.DOTALL)
_PLAIN_ARITHMETIC = re.compile(r"[0-9\s*/%()<>,&|^~!:?-]*(?:\+[0-9\s*/%()<>,&|^~!:?-]+)*")
_CHANGED_IN_ARITHMETIC = re.compile(
    r"(?:\+\+|--)\s*([A-Za-z_][A-Za-z0-9_]*)|([A-Za-z_][A-Za-z0-9_]*)(?:\[[^]]*\])?\s*(?:\+\+|--|(?:[-+*/%&^|]|<<|>>)?=(?!=))"
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"-?[0-9]+")
_DEEPEST = 40


class Misread(Exception):
    """The text is not what the grammar takes it for."""


class TooLarge(Exception):
    """The script computes more text than any real script."""


class _Pattern:
    """Collects a pattern: the known text, and which of it is quoted."""

    is_split = False
    knows_separators = True

    def __init__(self) -> None:
        self._parts: list[tuple[str, bool]] | None = []

    def literal(self, text: str) -> None:
        self._add((text,), is_quoted=False)

    def quoted(self, pieces: Pieces) -> None:
        self._add(pieces, is_quoted=True)

    def unquoted(self, pieces: Pieces) -> None:
        self._add(pieces, is_quoted=False)

    def elements(self, values: tuple[Pieces, ...]) -> None:
        self._parts = None

    def separate(self) -> None:
        self._parts = None

    def unknown_elements(self) -> None:
        self._parts = None

    def expression(self) -> str | None:
        return None if self._parts is None else texts.regular_expression(self._parts)

    def _add(self, pieces: Pieces, *, is_quoted: bool) -> None:
        value = known(pieces)
        if value is None or self._parts is None:
            self._parts = None
        else:
            self._parts.append((value, is_quoted))


_Output: TypeAlias = Fields | _Pattern


class WordReader(ABC):
    """source: the script. state: of the shell at this point. is_live: whether reading a word has effects, as when bash expands it."""

    def __init__(self, source: Source, state: State, budget: int) -> None:
        self.source = source
        self.state = state
        self.is_live = True
        self._text = source.text
        self._budget = budget
        self._depth = 0

    @abstractmethod
    def run_substitution(self, start: int, end: int) -> None:
        """Run the commands of a substitution."""

    # --- words ---------------------------------------------------------------------------------------------------------------------

    def _fields(self, *, is_split: bool) -> Fields:
        return Fields(is_split=is_split, knows_separators=self.state.knows_separators())

    def _spend(self, amount: int) -> None:
        self._budget -= amount
        if self._budget < 0:
            raise TooLarge

    def _word(self, at: int, out: _Output, closing: str = "") -> int:
        """Read a word. closing: the brace behind it, inside of C(${NAME:-word})."""
        literal = _LITERAL_IN_BRACES if closing else _LITERAL
        text = self._text
        start = at
        while at < len(text):
            one = text[at]
            if one == closing:
                return at
            if match := literal.match(text, at):
                self._literal(match[0], out, is_first=at == start, is_default=bool(closing))
                at = match.end()
            elif one == "\\":
                if at + 1 == len(text):
                    # Releases of bash differ in whether the backslash stays.
                    raise Misread
                if text[at + 1] != "\n":
                    out.quoted((text[at + 1],))
                at += 2
            elif one == "'":
                end = text.find("'", at + 1)
                if end < 0:
                    raise Misread
                self._spend(end - at)
                out.quoted((text[at + 1 : end],) if end > at + 1 else ())
                at = end + 1
            elif one == '"':
                at = self._double(at + 1, out)
            elif one in "$`":
                at = self._expansion(at, out, is_quoted=False)
            elif text[at : at + 2] in ("<(", ">("):
                at = self._substitution(at, out, is_quoted=True)
            else:
                break
        if closing:
            raise Misread
        return min(at, len(text))

    def _literal(self, text: str, out: _Output, *, is_first: bool, is_default: bool) -> None:
        self._spend(len(text))
        if (is_first and text[0] == "~") or (not is_default and _TILDE.search(text)):
            out.quoted(DYNAMIC)
        elif is_default:
            out.unquoted((text,))
        else:
            out.literal(text)

    def _double(self, at: int, out: _Output) -> int:
        """Read text in double quotes, from behind the first one. Two quotes alone are an argument, but not an array without elements."""
        before = at
        at = self._quoted(at, out, '"', len(self._text))
        if not self._text[before:at].replace("\\\n", ""):
            out.quoted(())
        if self._text[at : at + 1] != '"':
            raise Misread
        return at + 1

    def _quoted(self, at: int, out: _Output, closing: str, limit: int) -> int:
        """Read text as in double quotes, up to the character closing or the limit."""
        run, escapable, text = _QUOTED[closing], _ESCAPABLE[closing], self._text
        while at < limit and text[at] != closing:
            one = text[at]
            if match := run.match(text, at, limit):
                self._spend(len(match[0]))
                out.quoted((match[0],))
                at = match.end()
            elif one == "\\":
                following = text[at + 1 : at + 2]
                if following != "\n":
                    out.quoted((following if following and following in escapable else f"\\{following}",))
                at += 2
            elif one in "$`":
                at = self._expansion(at, out, is_quoted=True)
            else:
                raise Misread
        return min(at, limit)

    def here_document(self, start: int, end: int, *, removes_tabs: bool) -> Pieces:
        """The text of a here-document in which bash expands variables."""
        body = self._text[start:end]
        out = self._fields(is_split=False)
        try:
            if not removes_tabs:
                if self._quoted(start, out, "", end) != end:
                    return DYNAMIC
                return out.value()
            if "\\\n" in body:
                return DYNAMIC
            at = start
            for line in body.splitlines(keepends=True):
                tabs = len(line) - len(line.lstrip("\t"))
                if self._quoted(at + tabs, out, "", at + len(line)) != at + len(line):
                    return DYNAMIC
                at += len(line)
            return out.value()
        except Misread:
            return DYNAMIC

    # --- expansions ----------------------------------------------------------------------------------------------------------------

    def _expansion(self, at: int, out: _Output, *, is_quoted: bool) -> int:
        text = self._text
        following = text[at + 1 : at + 2]
        if text[at] == "`" or following == "(":
            return self._substitution(at, out, is_quoted=is_quoted)
        if following == "{":
            return self._braced(at, out, is_quoted=is_quoted)
        if following == "[":
            raise Misread
        if not is_quoted and following == "'":
            match = _ANSI_C.match(text, at)
            if match is None:
                raise Misread
            value = texts.ansi_c(match[1])
            out.quoted(DYNAMIC if value is None else (value,) if value else ())
            return match.end()
        if not is_quoted and following == '"':
            # bash looks for a translation.
            end = self._double(at + 2, self._fields(is_split=False))
            out.quoted(DYNAMIC)
            return end
        match = _NAME.match(text, at)
        if match is None:
            if following == "\\" and text[at + 2 : at + 3] == "\n":
                raise Misread
            out.literal("$")
            return at + 1
        if _CONTINUED_NAME.match(text, match.end()):
            # bash joins the lines first, so the name may continue.
            raise Misread
        self._plain(match[1], out, is_quoted=is_quoted)
        return match.end()

    def _plain(self, name: str, out: _Output, *, is_quoted: bool) -> None:
        if name in ("@", "*"):
            self._all(self.state.arguments, out, is_quoted=is_quoted, is_joined=name == "*")
        elif name == "#":
            arguments = self.state.arguments
            out.quoted(DYNAMIC if arguments is None else (str(len(arguments)),))
        elif name in "?$!-":
            out.quoted(DYNAMIC)
        else:
            self._emit(self._value(name, None) or (), out, is_quoted=is_quoted)

    def _emit(self, pieces: Pieces, out: _Output, *, is_quoted: bool) -> None:
        self._spend(1 + weight(pieces))
        if is_quoted:
            out.quoted(pieces)
        else:
            out.unquoted(pieces)

    def _all(self, values: tuple[Pieces, ...] | None, out: _Output, *, is_quoted: bool, is_joined: bool) -> None:
        if values is None or not out.knows_separators:
            if is_quoted and is_joined:
                out.quoted(DYNAMIC)
            else:
                out.unknown_elements()
            return
        self._spend(1 + sum(map(weight, values)))
        if is_quoted and is_joined:
            out.quoted(spaced(values))
        elif is_quoted:
            out.elements(values)
        else:
            for index, value in enumerate(values):
                if index:
                    out.separate()
                out.unquoted(value)

    def _value(self, name: str, subscript: str | None) -> Pieces | None:
        """The value of a variable, an element or an argument; None if it is not set."""
        if name[0].isdigit():
            arguments = self.state.arguments
            number = int(name) if len(name) < 6 else 0
            if arguments is None or number == 0:
                return DYNAMIC
            return arguments[number - 1] if number <= len(arguments) else None
        variable = self.state.get(name)
        if subscript is None:
            return variable.first()
        elements = self._elements(variable)
        if elements is None:
            return DYNAMIC
        return elements[int(subscript)] if len(subscript) < 6 and int(subscript) < len(elements) else None

    @staticmethod
    def _elements(variable: Variable) -> tuple[Pieces, ...] | None:
        """The elements of an array; None if they are unknown."""
        if variable.elements is not None:
            return variable.elements
        if variable.pieces is None:
            return ()
        return None if variable.pieces == DYNAMIC else (variable.pieces,)

    def _substitution(self, at: int, out: _Output, *, is_quoted: bool) -> int:
        end = self._end(at)
        if self._text.startswith("$((", at) and self._text.endswith("))", 0, end):
            self.arithmetic(self._text[at + 3 : end - 2])
            is_quoted = is_quoted or out.knows_separators
        elif self.is_live:
            self.run_substitution(at, end)
        self._emit(DYNAMIC, out, is_quoted=is_quoted)
        return end

    def _end(self, at: int) -> int:
        """The end of an expansion."""
        end = self.source.ends.get(at)
        if end is None:
            raise Misread
        return end

    def _braced(self, at: int, out: _Output, *, is_quoted: bool) -> int:
        match = _BRACED.match(self._text, at)
        self._depth += 1
        try:
            end = None if match is None or self._depth > _DEEPEST else self._parameter(match, out, is_quoted=is_quoted)
        finally:
            self._depth -= 1
        return self._unread(at, out, is_quoted=is_quoted) if end is None else end

    def _unread(self, at: int, out: _Output, *, is_quoted: bool) -> int:
        """An expansion with an operator that is not read."""
        end = self._end(at)
        text = self._text[at:end]
        self.check_expansions(at, end)
        self.forget_changed(text)
        if is_quoted and "@" in text:
            out.unknown_elements()
        else:
            self._emit(DYNAMIC, out, is_quoted=is_quoted)
        return end

    def _parameter(self, match: re.Match[str], out: _Output, *, is_quoted: bool) -> int | None:
        """An expansion in braces. None if its operator is not read."""
        text, at = self._text, match.end()
        count, name, subscript = match.groups()
        is_closed = text[at : at + 1] == "}"
        if count:
            if is_closed:
                out.quoted(self._length(name, subscript))
            return at + 1 if is_closed else None
        if name in ("@", "*", "#") or subscript in ("@", "*"):
            if not is_closed:
                return None
            if name == "#":
                self._plain(name, out, is_quoted=is_quoted)
            else:
                values = self.state.arguments if name in ("@", "*") else self._elements(self.state.get(name))
                self._all(values, out, is_quoted=is_quoted, is_joined="*" in (name, subscript))
            return at + 1
        value = self._value(name, subscript)
        if is_closed:
            self._emit(value or (), out, is_quoted=is_quoted)
            return at + 1
        if changed := _CASE.match(text, at) or _SUBSTRING.match(text, at):
            whole = known(value or ())
            result = None
            if whole is not None:
                is_case = changed.re is _CASE
                result = texts.changed_case(whole, changed[1]) if is_case else texts.substring(whole, changed[1], changed[2])
            self._emit(DYNAMIC if result is None else (result,) if result else (), out, is_quoted=is_quoted)
            return changed.end()
        operator = _OPERATOR.match(text, at)
        if operator is None:
            return None
        end = self._end(match.start())
        if is_quoted and '"' in text[operator.end() : end]:
            return None
        if operator[0][0] in "%#":
            found: int | None = self._trimmed(operator, value, out, is_quoted=is_quoted)
        else:
            found = self._default(operator, match, value, out, is_quoted=is_quoted)
        if found is not None and found != end:
            raise Misread
        return found

    def _length(self, name: str, subscript: str | None) -> Pieces:
        if name in ("@", "*"):
            return DYNAMIC if self.state.arguments is None else (str(len(self.state.arguments)),)
        if name == "#":
            return DYNAMIC
        if subscript in ("@", "*"):
            elements = self._elements(self.state.get(name))
            return DYNAMIC if elements is None else (str(len(elements)),)
        value = known(self._value(name, subscript) or ())
        return (str(len(value)),) if value is not None and value.isascii() else DYNAMIC

    def _trimmed(self, operator: re.Match[str], value: Pieces | None, out: _Output, *, is_quoted: bool) -> int:
        """C(${NAME%pattern}) and its like."""
        pattern = _Pattern()
        end = self._word(operator.end(), pattern, "}") + 1
        expression, whole = pattern.expression(), known(value or ())
        result = None
        if expression is not None and whole is not None and (whole.isascii() or "." not in expression):
            trim = texts.without_prefix if operator[0][0] == "#" else texts.without_suffix
            self._spend(len(whole) * 4)
            result = trim(whole, expression, longest=len(operator[0]) > 1)
        self._emit(DYNAMIC if result is None else (result,) if result else (), out, is_quoted=is_quoted)
        return end

    def _default(self, operator: re.Match[str], match: re.Match[str], value: Pieces | None, out: _Output, *, is_quoted: bool) -> int | None:
        """C(${NAME:-word}), C(${NAME:=word}), C(${NAME:+word}), C(${NAME:?word})."""
        name, kind = match[2], operator[0][-1]
        if kind == "=" and (name[0].isdigit() or match[3]):
            return None
        is_missing = _is_missing(value, counts_empty=operator[0][0] == ":")
        uses_word = is_missing if kind != "+" or is_missing is None else not is_missing
        if uses_word and kind != "?":
            if kind == "=":
                assigned = self._fields(is_split=False)
                end = self._operand(operator.end(), assigned, is_quoted=is_quoted)
                value = assigned.value()
                if self.is_live:
                    self.state.set(name, Variable(value))
                self._emit(value, out, is_quoted=is_quoted)
                return end
            return self._operand(operator.end(), out, is_quoted=is_quoted)
        was_live, self.is_live = self.is_live, False
        try:
            end = self._operand(operator.end(), self._fields(is_split=False), is_quoted=is_quoted)
        finally:
            self.is_live = was_live
        if uses_word is False:
            self._emit((value or ()) if kind != "+" else (), out, is_quoted=is_quoted)
            return end
        if self.is_live and kind == "?":
            self.state.may_have_ended = True
        self.forget_changed(self._text[match.start() : end])
        self._emit(DYNAMIC, out, is_quoted=is_quoted)
        return end

    def _operand(self, at: int, out: _Output, *, is_quoted: bool) -> int:
        if not is_quoted:
            return self._word(at, out, "}") + 1
        end = self._quoted(at, out, "}", len(self._text))
        if self._text[end : end + 1] != "}":
            raise Misread
        if end == at:
            out.quoted(())
        return end + 1

    # --- effects of text that is not read --------------------------------------------------------------------------------------------

    def check_expansions(self, start: int, end: int) -> None:
        """Raise C(Misread) if bash does not run a command with this text, because of an expansion."""
        for found in re.finditer(r"\$\{", self._text[start:end]):
            at = start + found.start()
            if at in self.source.ends and not _VALID.match(self._text, at, self.source.ends[at]):
                raise Misread

    def forget_changed(self, text: str) -> None:
        """Forget the variables that expansions in a text may set."""
        if not self.is_live:
            return
        self.state.forget(_SET_IN_BRACES.findall(text))
        for inside in _ARITHMETIC.findall(text):
            self.arithmetic(next((one for one in inside if one), ""))

    def arithmetic(self, text: str) -> None:
        """Forget the variables that an arithmetic expression may set. bash evaluates the values of variables as expressions, too."""
        if not self.is_live or _PLAIN_ARITHMETIC.fullmatch(text):
            return
        self.state.forget(one or other for one, other in _CHANGED_IN_ARITHMETIC.findall(text))
        for name in _IDENTIFIER.findall(text):
            value = self.state.get(name).first()
            whole = known(value or ())
            if whole and not _NUMBER.fullmatch(whole):
                self.state.forget_all()
                return


def _is_missing(value: Pieces | None, *, counts_empty: bool) -> bool | None:
    """Whether C(${NAME:-word}) uses the word. None if that is unknown."""
    if value is None:
        return True
    if not value:
        return counts_empty
    return None if all(piece is None for piece in value) else False
