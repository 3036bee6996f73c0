# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs simple commands: assignments, functions of the script, and the commands of bash that change the shell."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from . import builtins
from .model import DYNAMIC, Assignment, Command, Condition, Pieces, ShellPlace, Word, known, spaced
from .simple import DECLARATIONS, Simple, SimpleReader, Target
from .source import Source
from .state import ALL, UNKNOWN, State, Variable, number, weight

if TYPE_CHECKING:
    from tree_sitter import Node

_Key = tuple["Source | None", int]
"""A function: the text in which it is defined, and the offset of its body."""
_UNKNOWN_FUNCTION: _Key = (None, 0)
_MOST_CALLS = 4
"""How often one function is followed."""
_DEEPEST_CALL = 12
_ODD_FLAGS = set("niluAc")
"""Flags of C(declare) with which a variable does not keep what is assigned to it."""
_SURE = (":", "true", "export", "declare", "typeset", "readonly")
"""Commands that do not fail."""
_CONFLICTING = ("eval", "source", ".", *DECLARATIONS)
"""Commands whose assignments in front may last."""


class CallRunner(SimpleReader):
    """Runs simple commands and records them."""

    def __init__(self, source: Source, state: State, budget: int, helper: str | None) -> None:
        super().__init__(source, state, budget)
        self._helper = helper
        self._inherited = {name: state.get(name) for name in ("IFS", *state.exported)}
        self.commands: list[Command] = []
        self.assignments: list[Assignment] = []
        self.exported: dict[str, ShellPlace] = {}
        self._condition: Condition = ""
        self._redirected = 0
        self._nesting = 0
        self.is_sure = False
        self._locals: list[dict[str, Variable]] = []
        self._call_conditions: list[Condition] = []
        self._calls: dict[_Key, int] = {}
        self._is_background = False
        self._refused: set[_Key] = set()
        self._defined: dict[_Key, tuple[Source, Node]] = {}

    @abstractmethod
    def body(self, node: Node) -> None:
        """Follow the body of a function, or a whole text."""

    # --- records ----------------------------------------------------------------------------------------------------------------------

    @contextmanager
    def under(self, condition: Condition) -> Iterator[None]:
        """What is recorded inside runs under a condition."""
        before = self._condition
        if before != "unreachable":
            self._condition = condition
        try:
            yield
        finally:
            self._condition = before

    @contextmanager
    def redirected(self) -> Iterator[None]:
        """What is recorded inside writes to a file or another program."""
        self._redirected += 1
        try:
            yield
        finally:
            self._redirected -= 1

    def mark(self) -> tuple[int, int, dict[_Key, int]]:
        """What is recorded up to here."""
        return len(self.commands), len(self.assignments), self._calls.copy()

    def reset(self, mark: tuple[int, int, dict[_Key, int]]) -> None:
        """Remove what was recorded since."""
        del self.commands[mark[0] :]
        del self.assignments[mark[1] :]
        self._calls = mark[2].copy()

    def record_unknown(self, start: int, end: int) -> None:
        """Record a command of which nothing is known."""
        place = self.source.place(start, end)
        self.commands.append(Command((Word(DYNAMIC, place, False),), place, self._here()))

    def _here(self) -> Condition:
        return self._condition or ("return" if self.state.may_have_returned else "")

    def _assign(self, target: Target, *, exports: bool = False) -> tuple[str, Pieces]:
        variable, end = self.assigned(target)
        pieces = variable.first() or ()
        place = self.assignment_place(target, end)
        self._spend(weight(pieces))
        condition = self._here()
        value = None if condition or target.name in self.state.volatile else known(pieces)
        self.assignments.append(Assignment(target.name, value, pieces, place, condition))
        self.state.set(target.name, variable)
        if target.name == "POSIXLY_CORRECT":
            self.state.volatile.add(ALL)
        if exports or target.name in self.state.exported:
            self._export(target.name, place)
        return target.name, pieces

    def _export(self, name: str, place: ShellPlace) -> None:
        self.state.exported.add(name)
        self.exported.setdefault(name, place)

    # --- commands ---------------------------------------------------------------------------------------------------------------------

    def run_simple(self, simple: Simple) -> None:
        """Run a simple command."""
        self.is_sure = not simple.words or simple.plain in _SURE
        if any(part in self._text[simple.start : simple.end] for part in ("$(", "`", "[")) or self.state.readonly:
            self.is_sure = False
        if not simple.words:
            for target in simple.assignments:
                self._assign(target)
            if simple.redirections and not simple.assignments:
                self._record(simple, ())
            return
        environment, before = self._environment(simple)
        if simple.plain in DECLARATIONS:
            self._restore(before)
            self.state.forget(before)
            self._declare(simple)
            return
        is_function = simple.words[0].value in self.state.functions
        if simple.plain != "unset" or is_function:
            self._record(simple, environment)
        if environment and simple.words[0].value in _CONFLICTING:
            self._restore(before)
            self.state.forget(before)
            before = {}
        if before:
            self._locals.append(before)
            self._call_conditions.append(self._condition)
        try:
            self.dispatch(simple.words, len(self.commands) - 1)
        finally:
            if before:
                self._call_conditions.pop()
                self._restore(self._locals.pop())

    def _environment(self, simple: Simple) -> tuple[tuple[Assignment, ...], dict[str, Variable]]:
        """Set the variables in front of a command. Returns them, and the values that they had before."""
        before: dict[str, Variable] = {}
        found = []
        for target in simple.assignments:
            variable, end = self.assigned(target)
            # The expansions of the value may set the variable itself, for good.
            before.setdefault(target.name, self.state.get(target.name))
            pieces = variable.first() or ()
            found.append(Assignment(target.name, known(pieces), pieces, self.assignment_place(target, end), self._here()))
            self.state.set(target.name, variable)
        return tuple(found), before

    def _restore(self, before: dict[str, Variable]) -> None:
        is_forgotten = ALL in self.state.changed
        for name, variable in before.items():
            self.state.variables[name] = UNKNOWN if is_forgotten else variable
            self.state.changed.add(name)

    def _record(self, simple: Simple, environment: tuple[Assignment, ...]) -> None:
        self._spend(sum(weight(word.pieces) for word in simple.words))
        self.commands.append(
            Command(
                tuple(simple.words),
                self.source.place(simple.start, simple.end),
                self._here(),
                environment,
                tuple(simple.redirections),
                bool(self._redirected or simple.redirections),
                may_have_ended=self.state.may_have_ended,
                is_background=self._is_background,
            )
        )

    def dispatch(self, words: Sequence[Word], record: int) -> None:
        """Apply the effects of a command. record: its index among the commands."""
        if not words:
            return
        program, arguments = words[0].value, words[1:]
        if program is None:
            if not any(piece is not None and "/" in piece for piece in words[0].pieces):
                # It may be a function, or a command of bash.
                self.state.forget_all()
            return
        if program in self.state.functions:
            self._call(program, arguments, record)
        elif program in ("command", "builtin", "time"):
            self._wrapped(program, arguments, record)
        elif program == "exit" or (program == "exec" and arguments):
            self.state.has_ended = True
            self.state.has_failed = program == "exit" and bool(arguments) and bool(number(arguments[0].pieces))
        elif program == "return":
            self.state.has_returned = True
        elif program == "eval":
            self._eval(arguments)
        elif program in ("source", ".") and self._helper and [word.value for word in arguments] == [self._helper]:
            self.state.forget_all()
            for name, variable in self._inherited.items():
                self.state.set(name, variable)
        elif program == "trap":
            self._trap(arguments)
        elif program in DECLARATIONS:
            builtins.declare(program, arguments, self.state)
        elif "=" in program:
            self.state.forget_all()
        else:
            builtins.run(program, arguments, self.state)

    def _wrapped(self, program: str, words: Sequence[Word], record: int) -> None:
        while words and (words[0].value or "").startswith("-"):
            if "v" in (words[0].value or "").lower():
                return
            words = words[1:]
        if program == "time" or not words or words[0].value not in self.state.functions:
            self.dispatch(words, record)

    # --- export and its like ----------------------------------------------------------------------------------------------------------

    def _declare(self, simple: Simple) -> None:
        flags: set[str] = set()
        is_removed = False
        for item in simple.declared:
            text = None if isinstance(item, Target) else item.value
            if text is not None and text[:1] in ("-", "+"):
                flags |= set(text[1:])
                is_removed = is_removed or text[0] == "+"
                continue
            if flags & {"f", "F"}:
                continue
            name = self._declared(item, simple.plain, flags)
            if name is None:
                self.state.forget_all()
                continue
            if flags & _ODD_FLAGS and not (simple.plain == "export" and flags <= {"n"}):
                self.state.volatile.add(ALL if "n" in flags else name)
            if is_removed or (simple.plain == "export" and "n" in flags):
                self.state.exported.discard(name)
                self.state.forget([name] if flags - {"x"} and is_removed else [])
            elif simple.plain == "export" or "x" in flags:
                self._export(name, self.source.place(simple.start, simple.end))
            if simple.plain == "readonly" or "r" in flags:
                self.state.readonly.add(name)

    def _declared(self, item: Target | Word, program: str, flags: set[str]) -> str | None:
        """Set a declared variable. Returns its name; None if it is unknown."""
        is_export = program == "export" or "x" in flags
        if isinstance(item, Target):
            if program in ("declare", "typeset", "local"):
                self._make_local(item.name, flags)
                if item.appends and self._locals:
                    self.state.set(item.name, Variable())
            return self._assign(item, exports=is_export)[0]
        split = builtins.split_declared(item.pieces) if item.is_single else None
        if split is None:
            return None
        name, operator, pieces = split
        before = self.state.get(name)
        if program in ("declare", "typeset", "local"):
            self._make_local(name, flags)
        is_new = program in ("declare", "typeset", "local") and bool(self._locals) and "g" not in flags
        if operator:
            variable = UNKNOWN if operator == "+=" or (pieces and (pieces[0] or "(")[0] == "(") or before.elements else Variable(pieces)
            self.state.set(name, variable)
            condition = self._here()
            value = None if condition else known(variable.first() or ())
            self.assignments.append(Assignment(name, value, variable.first() or (), item.place, condition))
        elif is_new:
            self.state.set(name, Variable(None, () if "a" in flags else None))
        elif "a" in flags and before.elements is None:
            self.state.set(name, Variable(None, ()) if before.pieces is None else UNKNOWN)
        return name

    def _make_local(self, name: str, flags: set[str]) -> None:
        if not self._locals:
            return
        if "g" in flags:
            for frame in self._locals:
                if name in frame:
                    frame[name] = UNKNOWN
            self.state.forget([name])
            return
        frame = self._locals[-1]
        frame.setdefault(name, self.state.get(name) if self._condition == self._call_conditions[-1] else UNKNOWN)

    # --- functions --------------------------------------------------------------------------------------------------------------------

    def define(self, name: str, node: Node) -> None:
        """Define a function."""
        key = (self.source, node.start_byte)
        self._defined.setdefault(key, (self.source, node))
        self.state.functions[name] = (self.source, node)

    def _call(self, name: str, arguments: Sequence[Word], record: int) -> None:
        entry = self.state.functions[name]
        key = (entry[0], entry[1].start_byte) if entry else _UNKNOWN_FUNCTION
        count = self._calls.get(key, 0)
        if entry is None or count >= _MOST_CALLS or len(self._locals) >= _DEEPEST_CALL:
            self._refused.add(key)
            self.state.forget_all()
            self.state.may_have_ended = True
            return
        self._calls[key] = count + 1
        if record >= 0:
            self.commands[record] = replace(self.commands[record], is_function=True)
        outer = self.state
        saved = outer.arguments, outer.changed, outer.has_returned, outer.may_have_returned
        outer.arguments = tuple(word.pieces for word in arguments) if all(word.is_single for word in arguments) else None
        outer.changed = set()
        outer.has_returned = outer.may_have_returned = False
        self._locals.append({})
        self._call_conditions.append(self._condition)
        self._within(entry[0], entry[1])
        self._call_conditions.pop()
        state = self.state
        if state.may_have_returned:
            state.forget(list(state.changed - {ALL}))
        self._restore(self._locals.pop())
        forgotten = ALL in state.changed
        state.changed |= saved[1]
        state.arguments = None if forgotten and saved[0] is None else saved[0]
        state.has_returned, state.may_have_returned = saved[2:]

    def _within(self, source: Source, node: Node) -> None:
        """Follow the statements of another text, or of another place of this one."""
        before = self.source, self._text
        self.source, self._text = source, source.text
        try:
            self.body(node)
        finally:
            self.source, self._text = before

    def run_uncalled(self) -> None:
        """Follow the functions that nothing has called. Their variables are unknown."""
        for key, (source, node) in list(self._defined.items()):
            if key not in self._calls or key in self._refused or _UNKNOWN_FUNCTION in self._refused:
                self.state.forget_all()
                self.state.has_ended = self.state.has_returned = False
                with self.under("function"):
                    self._call_conditions.append(self._condition)
                    self._locals.append({})
                    self._within(source, node)
                    self._locals.pop()
                    self._call_conditions.pop()

    # --- text that is run -------------------------------------------------------------------------------------------------------------

    def _eval(self, words: Sequence[Word]) -> None:
        if not words:
            return
        text = known(spaced([word.pieces for word in words]))
        changed = {ALL} if text is None or not all(word.is_single for word in words) else self._changed_by(text, words[0].place, "eval")
        self.state.forget(changed)
        self.state.may_have_ended = self.state.may_have_ended or ALL in changed

    def _trap(self, words: Sequence[Word]) -> None:
        while words and words[0].value in ("--", "-p", "-l"):
            words = words[1:]
        if len(words) < 2 or words[0].value in ("", "-"):
            return
        text = words[0].value
        signals = {(word.value or "ERR").upper().removeprefix("SIG") for word in words[1:]}
        changed = {ALL} if text is None else self._changed_by(text, words[0].place, "trap")
        if signals - {"EXIT", "0"}:
            self.state.volatile |= changed

    def _changed_by(self, text: str, place: ShellPlace, condition: Condition) -> set[str]:
        """The variables that a text changes when it runs."""
        if not text.strip():
            return set()
        self._spend(16 * len(text))
        source = Source(text, place)
        outer = self.state
        self.state = outer.copy()
        try:
            with self.under(condition):
                self._within(source, source.root)
            state = self.state
        finally:
            self.state = outer
        outer.volatile |= state.volatile
        outer.readonly |= state.readonly
        outer.may_have_ended = outer.may_have_ended or state.has_ended or state.may_have_ended
        is_other = state.functions != outer.functions or not source.is_readable or state.arguments != outer.arguments
        return state.changed | ({ALL} if is_other or state.has_returned or state.may_have_returned else set())
