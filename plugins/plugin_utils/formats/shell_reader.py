# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the commands of a bash script with the grammar tree-sitter-bash. A word is either known exactly, or reported as unknown.

Known are literals and quotes, and variables whose values the caller knows and that the script does not change. Everything else that bash
would compute is unknown: other expansions, substitutions, braces, patterns and C(~). A command inside a condition, a loop or a function
is not certain to run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Node

_ALWAYS_RUN = (
    "program",
    "redirected_statement",
    "negated_command",
    "compound_statement",
    "pipeline",
    "list",
    "declaration_command",
    "variable_assignments",
)
"""Nodes whose first command runs whenever they run."""
_REDIRECTS = ("file_redirect", "heredoc_redirect", "herestring_redirect", "variable_assignment", "comment")
_LITERALS = ("word", "raw_string", "string_content")
_CHANGES_VARIABLES = ("eval", "unset", "read", "mapfile", "getopts")
_ENDS = ("exit", "return", "exec")
_COMPUTED = re.compile(r"[*?\[\]~$`!]|\{|\}|[@+]\(")
"""Characters of an unquoted word that bash may expand."""
_ESCAPED = re.compile(r"\\(.|\n)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r"\\([$`\"\\\n])")
_BETWEEN = b" \t\n;&|()<>"
_ESCAPED_BLANK = re.compile(rb"\\[ \t\v\f]")
_ESCAPED_BLANK_NEXT = re.compile(rb"(?:[ \t]|\\\n)*\\[ \t\v\f]")


class PackageMissing(Exception):
    """tree-sitter or tree-sitter-bash is not installed."""


@dataclass(frozen=True)
class Command:
    """One simple command.

    words: the program and its arguments; None for a word that is unknown. line: where it begins, from 1.
    is_certain: whether it runs if the script runs to its end. is_redirected: whether a file or another program gets its output.
    """

    words: tuple[str | None, ...]
    line: int
    is_certain: bool
    is_redirected: bool = False


@dataclass(frozen=True)
class Assignment:
    """A variable that the script sets, exported or not. value: None if it is unknown, or if it is not certain that the script sets it."""

    name: str
    value: str | None


@dataclass(frozen=True)
class Script:
    """commands: in the order of the text. is_readable: whether the grammar understands the whole text."""

    commands: tuple[Command, ...]
    is_readable: bool
    assignments: tuple[Assignment, ...] = ()


def read(text: str, known: Mapping[str, str] | None = None) -> Script:
    """The commands of a script. known: values of environment variables. Raises C(PackageMissing).

    cloud-init replaces CRLF by LF before it runs a script, and so does this reader.
    """
    source = text.replace("\r\n", "\n").encode("utf-8", "replace")
    root = _parse(source)
    reader = _Reader(source, {name: value for name, value in (known or {}).items() if not _is_changed(root, name)})
    commands = tuple(reader.commands(root))
    return Script(commands, not root.has_error, tuple(reader.assignments(root)))


@lru_cache(maxsize=8)
def _parse(source: bytes) -> Node:
    try:
        import tree_sitter
        import tree_sitter_bash
    except ImportError as error:
        raise PackageMissing("tree-sitter and tree-sitter-bash are not installed") from error
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language())).parse(source).root_node


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.named_children:
        yield from _walk(child)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _is_changed(root: Node, variable: str) -> bool:
    """Whether the script may assign C(variable): its name stands anywhere but in an expansion, or text is evaluated."""
    for node in _walk(root):
        kind = node.type
        if kind == "variable_name" and _text(node) == variable and node.parent is not None:
            if node.parent.type not in ("simple_expansion", "expansion"):
                return True
        elif _text(node) in _CHANGES_VARIABLES if kind == "command_name" else kind in _LITERALS and variable in _text(node):
            return True
    return False


class _Reader:
    def __init__(self, source: bytes, known: Mapping[str, str]) -> None:
        self._source = source
        self._known = known
        self._ended = False

    def commands(self, root: Node) -> Iterator[Command]:
        for node in _walk(root):
            if node.type == "command":
                yield self._command(node, root)

    def assignments(self, root: Node) -> Iterator[Assignment]:
        for node in _walk(root):
            parts = node.named_children
            if node.type != "variable_assignment" or not parts or parts[0].type != "variable_name" or self._is_for_one_command(node):
                continue
            value = self._assigned(node) if _always_runs(node) and not root.has_error else None
            yield Assignment(_text(parts[0]), value)

    def _is_for_one_command(self, node: Node) -> bool:
        """Whether the assignment is a prefix of a command. The grammar also takes assignments on the line before a command for one."""
        command = node.parent
        if command is None or command.type != "command":
            return False
        last = command.child_by_field_name("name")
        return last is not None and b"\n" not in self._source[node.end_byte : last.start_byte].replace(b"\\\n", b"")

    def _assigned(self, node: Node) -> str | None:
        name, *values = node.named_children
        after = self._source[node.end_byte : node.end_byte + 1]
        if self._source[name.end_byte : name.end_byte + 1] != b"=" or (after and after not in _BETWEEN):
            return None
        if not values:
            return "" if node.end_byte == name.end_byte + 1 else None
        [value, *others] = values
        is_whole = not others and value.start_byte == name.end_byte + 1 and value.end_byte == node.end_byte
        return self._word(value, alone=True) if is_whole else None

    def _command(self, node: Node, root: Node) -> Command:
        # The grammar has no name for the words $, == and =~.
        children = [child for child in node.children if child.type not in _REDIRECTS and (child.is_named or self._is_bounded(child))]
        words = tuple(self._argument(child) for child in children)
        if self._has_dropped_word(node):
            words = (*words[:1], *[None] * len(words))
        is_certain = _always_runs(node) and not self._ended and not root.has_error
        if is_certain and words[:1] and words[0] in _ENDS and (words[0] != "exec" or len(words) > 1):
            # What follows does not run; exec without a program only redirects.
            self._ended = True
        return Command(words, node.start_point[0] + 1, is_certain, _is_redirected(node))

    def _has_dropped_word(self, node: Node) -> bool:
        """Whether an escaped blank is a word of its own. The grammar takes it for white space."""
        at = node.start_byte
        for child in node.children:
            if _ESCAPED_BLANK.search(self._source, at, child.start_byte):
                return True
            at = child.end_byte
        return bool(_ESCAPED_BLANK_NEXT.match(self._source, at))

    def _argument(self, node: Node) -> str | None:
        """The value of a word, if the grammar found its right borders."""
        if node.type == "command_name":
            node = node.named_children[0] if node.named_children else node
        return self._word(node, alone=True) if self._is_bounded(node) else None

    def _is_bounded(self, node: Node) -> bool:
        """Whether no other characters touch the word."""
        before, after = self._source[: node.start_byte][-1:], self._source[node.end_byte : node.end_byte + 2]
        return (not before or before in _BETWEEN) and (not after or after[:1] in _BETWEEN or after == b"\\\n")

    def _word(self, node: Node, *, alone: bool) -> str | None:
        kind, text = node.type, _text(node)
        if not node.is_named:
            return text
        if kind in ("word", "number"):
            plain = _ESCAPED.sub("", text)
            return None if _COMPUTED.search(plain) else _ESCAPED.sub(lambda match: "" if match[1] == "\n" else match[1], text)
        if kind == "raw_string":
            return text[1:-1]
        if kind == "string":
            return self._string(node)
        if kind == "ansi_c_string":
            return None if "\\" in text else text[2:-1]
        if kind in ("simple_expansion", "expansion"):
            value = self._variable(node)
            # Without quotes, bash splits the value and expands patterns in it.
            return value if value is not None and value and not re.search(r"[\s*?\[\]\\]", value) else None
        if kind == "concatenation" and alone:
            parts = [self._word(child, alone=False) for child in node.named_children]
            complete = sum(child.end_byte - child.start_byte for child in node.named_children) == node.end_byte - node.start_byte
            return "".join(map(str, parts)) if complete and None not in parts else None
        return None

    def _string(self, node: Node) -> str | None:
        parts: list[str] = []
        at = node.start_byte + 1
        raw = node.text or b""
        for child in node.named_children:
            start, end = child.start_byte, child.end_byte
            gap = raw[at - node.start_byte : start - node.start_byte].decode("utf-8", "replace")
            value = _unescaped(gap + _text(child)) if child.type == "string_content" else self._variable(child)
            if value is None:
                return None
            if child.type != "string_content":
                before = _unescaped(gap)
                if before is None:
                    return None
                value = before + value
            parts.append(value)
            at = end
        rest = _unescaped(raw[at - node.start_byte : -1].decode("utf-8", "replace"))
        return None if rest is None else "".join(parts) + rest

    def _variable(self, node: Node) -> str | None:
        """The value of C($NAME) or C(${NAME})."""
        names = node.named_children
        if node.type not in ("simple_expansion", "expansion") or len(names) != 1 or names[0].type != "variable_name":
            return None
        name = _text(names[0])
        return self._known.get(name) if _text(node) in (f"${name}", f"${{{name}}}") else None


def _unescaped(text: str) -> str | None:
    """Text between double quotes, without the backslashes that bash removes there."""
    plain = re.sub(r"\\[$`\"\\\n]", "", text)
    if "$" in plain or "`" in plain:
        return None
    return _ESCAPED_IN_QUOTES.sub(lambda match: "" if match[1] == "\n" else match[1], text)


def _is_redirected(node: Node) -> bool:
    parent = node.parent
    return parent is not None and (parent.type in ("redirected_statement", "pipeline") or _is_redirected(parent))


def _always_runs(node: Any) -> bool:
    child, parent = node, node.parent
    while parent is not None:
        if parent.type not in _ALWAYS_RUN or (parent.type == "list" and parent.named_children[0] != child):
            return False
        child, parent = parent, parent.parent
    return True
