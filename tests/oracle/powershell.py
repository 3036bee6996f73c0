# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two readers of PowerShell that know nothing of each other, nor of the library's writer.

C(by_grammar) is tree-sitter's grammar (tree-sitter-pwsh). It knows the language's structure, but takes only the ASCII
apostrophe for a quote. C(by_lexer) is a lexer of the quoting rules alone (about_Quoting_Rules): five kinds of single
quotes, four of double quotes, the backtick, here-strings, comments. Both give back the commands of a script with their
parameters and string values, and refuse what they do not understand, so a value that escapes its quotes never passes both.
No PowerShell runs here: its engine is not available on the machines that test this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

SINGLE_QUOTES = "'\u2018\u2019\u201a\u201b"
DOUBLE_QUOTES = '"\u201c\u201d\u201e'
DASHES = "-\u2013\u2014\u2015"


class NotUnderstoodError(ValueError):
    """The text is not PowerShell, or contains more of it than the readers support."""


@dataclass
class Invocation:
    """One command: what is called, its parameters in order with their values, and values without a parameter."""

    command: str
    parameters: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)


def literals_and_commands(text: str) -> tuple[list[str], list[str]]:
    """The single-quoted literals and the names of the commands in C(text), as tree-sitter-pwsh parses it."""
    import tree_sitter
    import tree_sitter_pwsh

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_pwsh.language()))
    root = parser.parse(text.encode("utf-8")).root_node
    if root.has_error:
        raise NotUnderstoodError("the tree holds an ERROR node")
    literals, commands, waiting = [], [], [root]
    while waiting:
        node = waiting.pop(0)
        content = (node.text or b"").decode("utf-8")
        if node.type == "verbatim_string_characters":
            literals.append(content[1:-1].replace("''", "'"))
        elif node.type == "command_name":
            commands.append(content)
        waiting.extend(node.children)
    return literals, sorted(commands)


# --- reader 1 -----------------------------------------------------------------------------------------------------------


def by_grammar(text: str) -> list[Invocation]:
    """Every command of C(text) as tree-sitter-pwsh parses it."""
    import tree_sitter
    import tree_sitter_pwsh

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_pwsh.language()))
    root = parser.parse(text.encode("utf-8")).root_node
    if root.has_error:
        raise NotUnderstoodError("the tree holds an ERROR node")
    if root.end_byte != len(text.encode("utf-8").rstrip()) and root.end_byte != len(text.encode("utf-8")):
        raise NotUnderstoodError("the tree ends before the text")
    commands = []
    for statement in [child for node in root.named_children for child in node.named_children]:
        commands.append(_grammar_command(_only(_only(statement, "pipeline_chain"), "command")))
    return commands


def _only(node, kind):
    if [child.type for child in node.named_children] != [kind]:
        raise NotUnderstoodError(f"{node.type} holds {[child.type for child in node.named_children]}")
    return node.named_children[0]


def _grammar_command(node) -> Invocation:
    parts = {child.type: child for child in node.named_children}
    operator, name, elements = (parts.pop(key, None) for key in ("command_invocation_operator", "command_name_expr", "command_elements"))
    if parts or operator is None or name is None or operator.text != b"&":
        raise NotUnderstoodError(f"command of {sorted(parts)}")
    found = Invocation(name.text.decode())
    for element in elements.named_children if elements else []:
        if element.type == "command_argument_sep":
            continue
        if element.type == "command_parameter":
            found.parameters.append((element.text.decode()[1:], ()))
            continue
        values = tuple(_grammar_string(string) for string in _strings(element))
        if found.parameters and not found.parameters[-1][1]:
            found.parameters[-1] = (found.parameters[-1][0], values)
        else:
            found.arguments.extend(values)
    return found


def _strings(node) -> Iterator:
    if node.type == "string_literal":
        yield node
    elif node.type in ("unary_expression", "array_literal_expression"):
        for child in node.named_children:
            yield from _strings(child)
    else:
        raise NotUnderstoodError(f"{node.type} where a string should stand")


def _grammar_string(node) -> str:
    text = _only(node, "verbatim_string_characters").text.decode()
    # The grammar ends a string at ' only; what PowerShell takes for a quote inside must stand doubled.
    body = text[1:-1]
    pairs = re.sub(f"([{SINGLE_QUOTES}])[{SINGLE_QUOTES}]", "", body)
    if any(char in SINGLE_QUOTES for char in pairs):
        raise NotUnderstoodError("a quote inside a string is not doubled")
    return re.sub(f"[{SINGLE_QUOTES}]([{SINGLE_QUOTES}])", r"\1", body)


# --- reader 2 -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Token:
    """kind: C(word), C(string), C(variable), C(parameter), C(end), or an operator's own character."""

    kind: str
    value: str = ""


def by_lexer(text: str) -> list[Invocation]:
    """Every command of C(text) as the quoting rules alone tell it."""
    commands: list[Invocation] = []
    current: Invocation | None = None
    expects_name = False
    after_comma = False
    for token in [*_tokens(text), Token("end")]:
        if token.kind == "end":
            if expects_name or after_comma:
                raise NotUnderstoodError("the command ends too early")
            current = None
        elif token.kind == "&":
            if current is not None:
                raise NotUnderstoodError("& inside a command")
            expects_name = True
        elif expects_name:
            if token.kind != "variable":
                raise NotUnderstoodError(f"& before {token}")
            current, expects_name = Invocation(token.value), False
            commands.append(current)
        elif current is None:
            raise NotUnderstoodError(f"{token} without a command")
        elif token.kind == "parameter":
            current.parameters.append((token.value, ()))
        elif token.kind == ",":
            after_comma = True
        elif token.kind == "string":
            _take(current, token.value, after_comma)
            after_comma = False
        else:
            raise NotUnderstoodError(f"{token} as an argument")
    return commands


def _take(command: Invocation, value: str, after_comma: bool) -> None:
    if command.parameters and (after_comma or not command.parameters[-1][1]):
        name, values = command.parameters[-1]
        command.parameters[-1] = (name, (*values, value))
    else:
        command.arguments.append(value)


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        char = text[at]
        if char in "\r\n;":
            yield Token("end")
            at += 1
        elif char.isspace():
            at += 1
        elif char == "#":
            end = re.compile(r"[\r\n]").search(text, at)
            at = end.start() if end else len(text)
        elif char == "@" and text[at + 1 : at + 2] and text[at + 1] in SINGLE_QUOTES + DOUBLE_QUOTES:
            value, at = _here_string(text, at)
            yield Token("string", value)
        elif char in SINGLE_QUOTES:
            value, at = _verbatim(text, at + 1)
            yield Token("string", value)
            at = _ends_word(text, at)
        elif char in DOUBLE_QUOTES:
            value, at = _expandable(text, at + 1)
            yield Token("string", value)
            at = _ends_word(text, at)
        elif char in "&,":
            yield Token(char)
            at += 1
        elif match := re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)").match(text, at):
            yield Token("variable", match[0])
            at = _ends_word(text, match.end())
        elif char in DASHES and (match := re.compile(r"[A-Za-z][A-Za-z0-9]*").match(text, at + 1)):
            yield Token("parameter", match[0])
            at = _ends_word(text, match.end())
        else:
            raise NotUnderstoodError(f"{char!r} at {at}")


def _ends_word(text: str, at: int) -> int:
    if at < len(text) and text[at] not in " \t\r\n;,":
        raise NotUnderstoodError(f"{text[at]!r} glued to a word at {at}")
    return at


def _verbatim(text: str, at: int) -> tuple[str, int]:
    """A single-quoted string: two quotes in a row, of any of the five kinds, are the second one."""
    out = []
    while at < len(text):
        if text[at] not in SINGLE_QUOTES:
            out.append(text[at])
            at += 1
        elif text[at + 1 : at + 2] and text[at + 1] in SINGLE_QUOTES:
            out.append(text[at + 1])
            at += 2
        else:
            return "".join(out), at + 1
    raise NotUnderstoodError("a single-quoted string does not end")


_BACKTICKS = {"0": "\0", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _expandable(text: str, at: int) -> tuple[str, int]:
    """A double-quoted string without anything to expand."""
    out = []
    while at < len(text):
        char, follower = text[at], text[at + 1 : at + 2]
        if char == "`":
            out.append(_BACKTICKS.get(follower, follower))
            at += 2
        elif char == "$" and (follower.isalnum() or follower in ("_", "(", "{", "$", "?", "^", ":")) and follower:
            raise NotUnderstoodError("an expansion inside a double-quoted string")
        elif char not in DOUBLE_QUOTES:
            out.append(char)
            at += 1
        elif follower and follower in DOUBLE_QUOTES:
            out.append(follower)
            at += 2
        else:
            return "".join(out), at + 1
    raise NotUnderstoodError("a double-quoted string does not end")


def _here_string(text: str, at: int) -> tuple[str, int]:
    quotes = SINGLE_QUOTES if text[at + 1] in SINGLE_QUOTES else DOUBLE_QUOTES
    head = re.compile(r"[ \t]*\r?\n").match(text, at + 2)
    end = re.compile(f"\r?\n[{quotes}]@").search(text, (head.end() - 1) if head else at)
    if head is None or end is None:
        raise NotUnderstoodError("a here-string does not begin or end")
    value = text[head.end() : max(head.end(), end.start())]
    if quotes == DOUBLE_QUOTES and ("$" in value or "`" in value):
        raise NotUnderstoodError("an expansion inside a here-string")
    return value, end.end()
