# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the commands of a bash script with the grammar tree-sitter-bash, and never runs it.

A word is either exactly what bash passes, or reported as unknown. Variables that the script sets are followed. What depends on the node is
unknown: the output of commands, patterns, C(~), arithmetic. After a branch that may not run, so are the variables that it changes.
A command in such a branch is not certain to run, nor is text for C(eval), nor a function that nothing calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from .model import Assignment, Command, Condition, Pieces, Redirection, Script, ShellPlace, Word, joined, known
from .source import PackageMissing, Source

__all__ = [
    "Assignment", "Command", "Condition", "PackageMissing", "Pieces", "Redirection", "Script", "ShellPlace", "Word",
    "joined", "known", "read",
]  # fmt: skip

_LEAST_BUDGET = 200_000
_BUDGET_PER_CHARACTER = 32
_KEPT = 16
_LARGEST_KEPT = 65_536
"""Characters of a script whose result is kept beside many others. User data of EC2 has at most 16,384 bytes, before gzip."""


def read(text: str, known_variables: Mapping[str, str] | None = None, *, helper: str | None = None, starts_empty: bool = False) -> Script:
    """The commands of a script. Raises C(PackageMissing).

    known_variables: of its environment. helper: a file that only sets these. starts_empty: whether its environment has no others but those
    that systemd and cloud-init set, and whether the script has no arguments. Otherwise all others are unknown.

    cloud-init replaces CRLF by LF before it runs a script, and so does this reader.
    """
    variables = tuple((known_variables or {}).items())
    return (_read_once if len(text) <= _LARGEST_KEPT else _read_large_once)(text, variables, helper, starts_empty)


def _read(text: str, known_variables: tuple[tuple[str, str], ...], helper: str | None, starts_empty: bool) -> Script:
    from .interpreter import Interpreter
    from .state import State
    from .words import TooLarge

    has_crlf = "\r\n" in text
    source = Source(text.replace("\r\n", "\n"))
    state = State.start(dict(known_variables), starts_empty=starts_empty)
    interpreter = Interpreter(source, state, _LEAST_BUDGET + _BUDGET_PER_CHARACTER * len(text), helper)
    errors = source.errors()
    is_readable = source.is_readable
    try:
        with interpreter.under("" if is_readable else "unreadable"):
            interpreter.body(source.root)
            if source.rest is not None:
                interpreter.body(source.rest)
            interpreter.run_uncalled()
    except TooLarge:
        is_readable = False
    commands = tuple(interpreter.commands)
    assignments = tuple(interpreter.assignments)
    if not is_readable:
        commands = tuple(replace(one, condition="unreadable") for one in commands)
        assignments = tuple(replace(one, value=None, condition="unreadable") for one in assignments)
    return Script(
        commands,
        is_readable,
        assignments,
        MappingProxyType(interpreter.exported),
        errors,
        has_crlf,
        source.statements(),
        source.unfinished(),
        source.documents(),
    )


_read_once = lru_cache(maxsize=_KEPT)(_read)
"""For the stages that read the same script: readers, and several checks of lint."""
_read_large_once = lru_cache(maxsize=2)(_read)
