# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follows a script statement by statement, and never runs anything.

A branch that may not run is followed on a copy of the state. Where the branches disagree afterwards, a value is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from .calls import CallRunner
from .model import Condition
from .simple import Simple
from .source import Source
from .state import ALL, State
from .words import Misread, TooLarge

if TYPE_CHECKING:
    from tree_sitter import Node

_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]\n]*\])?(?:\+?=|\+\+|--)")
_READ = re.compile(r"\b(?:read|mapfile|readarray|getopts|printf -v|unset|let)\b([^;\n|&)]*)")
_LOOP_VARIABLE = re.compile(r"\b(?:for|select)[ \t]+([A-Za-z_][A-Za-z0-9_]*)")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BLANKS = re.compile(r"(?:[ \t]|\\\n)*")
_REDIRECTIONS = ("file_redirect", "heredoc_redirect", "herestring_redirect")
_MAY_BE_SURE = ("command", "redirected_statement", "list")
_DEEPEST = 40
_ATTEMPTS = 3


class Interpreter(CallRunner):
    """Runs the statements of a tree."""

    def statement(self, node: Node, end: int | None = None) -> None:
        """Follow one statement. end: of the redirections behind it, which the grammar takes for those of a whole list."""
        self._spend(16)
        self._nesting += 1
        try:
            if self._nesting > _DEEPEST:
                raise TooLarge
            self._dispatch(node, end or node.end_byte)
            self.is_sure = self.is_sure and node.type in _MAY_BE_SURE
        except Misread:
            self.misread(node)
        finally:
            self._nesting -= 1

    def body(self, node: Node) -> None:
        """Follow the body of a function, or a whole text."""
        if node.type in ("program", "compound_statement") and node.children[:1]:
            self._sequence(node.children)
        elif node.type != "program":
            self.statement(node)

    def run_substitution(self, start: int, end: int) -> None:
        """Follow the commands of a substitution. They cannot change the variables of the script."""
        is_short = self._text[start] == "`"
        begin = start + (1 if is_short else 2)
        text = self._text[begin : end - 1]
        if is_short and "\\" in text:
            self.record_unknown(start, end)
            return
        self._spend(8 * len(text))
        source = Source(text, origin=(self.source, begin))
        self._nesting += 1
        try:
            if self._nesting > _DEEPEST:
                raise TooLarge
            with self._on_copy(), self.under("substitution" if source.is_readable else "unreadable"):
                self._within(source, source.root)
        finally:
            self._nesting -= 1

    @contextmanager
    def _on_copy(self) -> Iterator[State]:
        outer, self.state = self.state, self.state.copy()
        try:
            yield self.state
        finally:
            self.state = outer

    def _branch(self, condition: Condition, run: Callable[[], None]) -> State:
        with self._on_copy() as state, self.under(condition):
            run()
        return state

    def _dispatch(self, node: Node, end: int) -> None:
        kind = node.type
        if kind == "command":
            self._simple_statements(node, end)
        elif kind == "redirected_statement":
            self._redirected_statement(node, end)
        elif kind == "list":
            self._list(node, end)
        elif kind == "pipeline":
            for child in node.named_children:
                with self._on_copy(), self.redirected():
                    self.statement(child, end if child.end_byte == node.end_byte else None)
        elif kind == "negated_command":
            self.statement(node.named_children[-1], end)
        elif end > node.end_byte:
            with self.redirected():
                self._dispatch(node, node.end_byte)
            self._redirections(node.end_byte, end)
        elif kind == "subshell":
            with self._on_copy():
                self._sequence(node.children)
        elif kind in ("compound_statement", "do_group", "program"):
            self._sequence(node.children)
        elif kind == "if_statement":
            self._if(node.children)
        elif kind in ("while_statement", "for_statement"):
            self._loop(node)
        elif kind == "case_statement":
            self._case(node)
        elif kind == "function_definition":
            self._define(node)
        elif kind != "comment":
            self._not_understood(node)

    def _text_of(self, node: Node) -> str:
        return self._text[node.start_byte : node.end_byte]

    def _sequence(self, nodes: Sequence[Node]) -> None:
        for index, node in enumerate(nodes):
            if not node.is_named or node.type in ("comment", *_REDIRECTIONS):
                continue
            is_background = index + 1 < len(nodes) and nodes[index + 1].type == "&"
            if self.state.has_ended or self.state.has_returned:
                self._unreachable(node, node.end_byte)
            elif is_background:
                before, self._is_background = self._is_background, True
                with self._on_copy():
                    self.statement(node)
                self._is_background = before
            else:
                self.statement(node)

    def _unreachable(self, node: Node, end: int) -> None:
        with self._on_copy() as state, self.under("unreachable"):
            state.has_ended = state.has_returned = False
            self.statement(node, end)

    def _not_understood(self, node: Node) -> None:
        """Follow the parts of text that the grammar does not understand. None of them is certain."""
        self.state.forget_all()
        with self._on_copy(), self.under("unreadable"):
            for child in node.named_children:
                self.statement(child)

    def _simple_statements(self, node: Node, end: int) -> None:
        """The grammar takes several lines for one command if a redirection follows assignments."""
        start = node.start_byte
        if self._text.startswith("((", start):
            self.arithmetic(self._text[start + 2 : node.end_byte - 2])
            return
        if self._text.startswith("[[", start):
            self._skip(start, end)
            return
        simple = self._checked(start, end)
        while simple.end < end:
            self.run_simple(simple)
            simple = self._checked(simple.end + 1, end)
        self.run_simple(simple)

    def _checked(self, start: int, end: int) -> Simple:
        simple = self.read_simple(start)
        if simple.end > end and _BLANKS.fullmatch(self._text, end, simple.end):
            # A line is continued by an empty one.
            simple.end = end
        if simple.end > end or (simple.end < end and self._text[simple.end : simple.end + 1] != "\n"):
            raise Misread
        return simple

    def _redirected_statement(self, node: Node, end: int) -> None:
        body = next((child for child in node.named_children if child.type not in (*_REDIRECTIONS, "comment")), None)
        if body is None:
            self._simple_statements(node, end)
        else:
            self._dispatch(body, end)

    def _redirections(self, start: int, end: int) -> None:
        simple = self.read_simple(start)
        if simple.words or simple.assignments or simple.end != end:
            raise Misread

    def _list(self, node: Node, end: int) -> None:
        left, *rest = [child for child in node.named_children if child.type != "comment"]
        operator = next((child.type for child in node.children if child.type in ("&&", "||")), "")
        self.statement(left)
        right = rest[-1]
        if self.state.has_ended or self.state.has_returned:
            self._unreachable(right, end)
        elif operator == "&&" and self.is_sure:
            self.statement(right, end)
        else:
            branch = self._branch("list", lambda: self.statement(right, end))
            self.state.merge([self.state.copy(), branch])
            self.is_sure = False

    def _if(self, nodes: Sequence[Node]) -> None:
        kinds = [node.type for node in nodes]
        begin = kinds.index("then") if "then" in kinds else len(kinds)
        end = next((index for index, kind in enumerate(kinds) if kind in ("elif_clause", "else_clause", "fi")), len(kinds))
        self._sequence(nodes[:begin])
        branches = [self._branch("if", lambda: self._sequence(nodes[begin:end]))]
        others = [node for node in nodes[end:] if node.type in ("elif_clause", "else_clause")]
        if not others:
            branches.append(self.state.copy())
        elif others[0].type == "else_clause":
            branches.append(self._branch("if", lambda: self._sequence(others[0].children)))
        else:
            branches.append(self._branch("if", lambda: self._if([*others[0].children, *others[1:]])))
        self._spend(16)
        self.state.merge(branches)

    def _loop(self, node: Node) -> None:
        header = [child for child in node.named_children if child.type not in ("do_group", "compound_statement", "comment")]
        body = next((child for child in node.named_children if child.type in ("do_group", "compound_statement")), None)
        text = self._text_of(node)
        names = {*_ASSIGNED.findall(text), *_LOOP_VARIABLE.findall(text)}
        names.update(name for words in _READ.findall(text) for name in _IDENTIFIER.findall(words))
        if node.type == "for_statement" and header:
            self._skip(header[0].end_byte, body.start_byte if body is not None else node.end_byte)
            if text.lstrip("for \t").startswith("(("):
                self.arithmetic(self._text_of(header[0])[2:-2])
        if "shift" in text or "set " in text:
            self.state.arguments = None

        def run() -> None:
            if node.type == "while_statement":
                self._sequence(header)
            if body is not None:
                self._sequence(body.children)

        mark = self.mark()
        attempt = 0
        while True:
            self.state.forget(names)
            branch = self._branch("loop", run)
            attempt += 1
            unstable = {name for name, entry in branch.functions.items() if self.state.functions.get(name, self) not in (None, entry)}
            knows_arguments = self.state.arguments is not None and branch.arguments != self.state.arguments
            if attempt > _ATTEMPTS or (branch.changed <= names and not unstable and not knows_arguments):
                break
            # The second iteration may start in another state than the first.
            self.reset(mark)
            names |= branch.changed if attempt < _ATTEMPTS else {ALL, *branch.changed}
            self.state.functions.update(dict.fromkeys(unstable))
            self.state.arguments = None
        self.state.merge([self.state.copy(), branch])

    def _case(self, node: Node) -> None:
        word, *items = [child for child in node.named_children if child.type != "comment"]
        self._skip(word.start_byte, word.end_byte)
        branches = []
        is_complete = False
        if any(child.type in (";&", ";;&") for item in items for child in item.children):
            self.state.forget_all()
        for item in items:
            kinds = [child.type for child in item.children]
            begin = kinds.index(")") + 1 if ")" in kinds else 0
            branches.append(self._branch("case", lambda item=item, begin=begin: self._sequence(item.children[begin:])))  # type: ignore[misc]
            is_complete = is_complete or self._text_of(item).lstrip("( ").startswith("*)")
        if not is_complete:
            branches.append(self.state.copy())
        self.state.merge(branches)

    def _define(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is None or body is None:
            raise Misread
        self.define(self._text_of(name), body)

    def _skip(self, start: int, end: int) -> None:
        """Follow the substitutions in text of which nothing else is read."""
        text = self._text[start:end]
        self.check_expansions(start, end)
        self.forget_changed(text)
        if "(" not in text and "`" not in text:
            return
        starts = [at for at in range(start, end) if at in self.source.ends]
        for at in starts:
            if self._text[at] == "`" or self._text[at + 1 : at + 2] == "(":
                self._substitution(at, self._fields(is_split=False), is_quoted=True)

    def misread(self, node: Node) -> None:
        """A statement that bash reads in another way than the grammar."""
        self.record_unknown(node.start_byte, node.end_byte)
        self.state.forget_all()
        self.state = replace(self.state, has_ended=False, may_have_ended=True)
