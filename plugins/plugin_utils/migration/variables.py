# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that a script gives C(/etc/eks/bootstrap.sh) without an option: exported variables, and variables in lines that C(sed) adds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..bootstrap_calls import EXTRA_ARGS, SCRIPT, VARIABLES
from ..formats import shell_reader
from ..formats.shell_reader import Assignment, Command, Pieces, ShellPlace

EXTRA_ARGS_VARIABLE = "KUBELET_EXTRA_ARGS"
_OPTIONS = {"API_RETRY_ATTEMPTS": "--aws-api-retry-attempts", EXTRA_ARGS_VARIABLE: EXTRA_ARGS}
_SOURCES = ("source", ".")
_OUTPUTS = (">", ">>", ">|")
_HERE_DOCUMENTS = ("<<", "<<-")
_SELF = re.compile(r"\$(?:2|\{2\}|KUBELET_EXTRA_ARGS|\{KUBELET_EXTRA_ARGS(?::?-)?\})")
"""What the edited line of the script had before: the argument of its option, or its own variable."""
_COMMAND = re.compile(r"(?:/(?:\\.|[^/\\])*/|\d+|\$)?\s*([aics])(.*)", re.DOTALL)
"""An address, and a command of sed."""


def option_of(variable: str) -> str:
    """The option that sets the same as a variable of the script."""
    return _OPTIONS.get(variable) or f"--{variable.lower().replace('_', '-')}"


@dataclass(frozen=True)
class Variable:
    """A variable with its value. place: in the script. appends: whether the value is added to that of an option."""

    name: str
    pieces: Pieces
    place: ShellPlace
    appends: bool = False


@dataclass(frozen=True)
class Edit:
    """An edit of the script that is understood. command: the edit. writers: commands that write a file for it."""

    command: Command
    variables: tuple[Variable, ...]
    writers: tuple[Command, ...] = ()
    appends: bool = False


def of_edit(command: Command, commands: Sequence[Command]) -> Edit | None:
    """The variables that an edit sets. None if it changes something else. commands: of the same script."""
    texts = _added_texts(command)
    if texts is None:
        return None
    found: list[Variable] = []
    writers: list[Command] = []
    appends = False
    for text in texts:
        own, replaced = _SELF.subn("", text)
        script = shell_reader.read(own)
        if not script.is_readable or any([one.condition for one in script.commands] + [one.condition for one in script.assignments]):
            return None
        for one in script.assignments:
            adds = bool(replaced) or (one.pieces[:1] == (None,) and f"{one.name}+=" in own)
            if one.name not in VARIABLES or (adds and one.name != EXTRA_ARGS_VARIABLE):
                return None
            pieces = one.pieces[1:] if one.pieces[:1] == (None,) and adds else one.pieces
            appends = appends or adds
            if any((piece or "").strip() for piece in pieces) or None in pieces:
                found.append(Variable(one.name, pieces, command.place, adds))
        for reader in script.commands:
            written = _written(reader, commands)
            if written is None:
                return None
            writer, assignments = written
            writers.append(writer)
            found += [Variable(item.name, item.pieces, writer.place) for item in assignments]
    return Edit(command, tuple(found), tuple(writers), appends)


def _added_texts(command: Command) -> list[str] | None:
    """The lines that C(sed) adds to the script."""
    program, *words = command.values
    if (program or "").rpartition("/")[2] == "sudo" and words:
        program, *words = words
    if (program or "").rpartition("/")[2] != "sed":
        return None
    expressions: list[str | None] = []
    files: list[str | None] = []
    while words:
        word = words.pop(0)
        if word in ("-e", "--expression") and words:
            expressions.append(words.pop(0))
        elif word is not None and word.startswith("-"):
            continue
        else:
            files.append(word)
    if not expressions and files:
        expressions.append(files.pop(0))
    if files != [SCRIPT]:
        return None
    texts = [None if one is None else _added_text(one) for one in expressions]
    known = [text for text in texts if text is not None]
    return known if len(known) == len(texts) else None


def _added_text(expression: str) -> str | None:
    match = _COMMAND.fullmatch(expression.strip())
    if match is None:
        return None
    if match[1] != "s":
        # a\ may be followed by a line break or its escape.
        return re.sub(r"\A(?:\\+n|\\\n|\\|\s)+", "", match[2]).replace("\\n", "\n")
    mark = match[2][:1]
    pieces = re.split(rf"(?<!\\){re.escape(mark)}", match[2][1:]) if mark else []
    return pieces[1].replace(f"\\{mark}", mark).replace('\\"', '"').replace("\\n", "\n") if len(pieces) == 3 else None


def _written(command: Command, commands: Iterable[Command]) -> tuple[Command, tuple[Assignment, ...]] | None:
    """The command that writes the file that C(command) reads variables from, and the variables."""
    if len(command.values) != 2 or command.values[0] not in _SOURCES:
        return None
    path = command.values[1]
    writers = [one for one in commands if any(item.operator in _OUTPUTS and item.target.value == path for item in one.redirections)]
    if len(writers) != 1 or writers[0].condition:
        return None
    text = next((one.target.value for one in writers[0].redirections if one.operator in _HERE_DOCUMENTS), None)
    if text is None:
        return None
    script = shell_reader.read(text)
    plain = script.is_readable and not script.commands
    if not plain or any(one.condition or one.name not in VARIABLES for one in script.assignments):
        return None
    return writers[0], script.assignments
