# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of a shell script, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..bootstrap_calls import is_shell
from ..readers.model import Place
from .model import Stage, Step, Unknown

if TYPE_CHECKING:
    from ..formats.shell_reader import Command, ShellPlace

_QUIET = (("set",), (":",), ("true",))
"""Programs without an effect on the node."""
_NEVER = ("substitution", "unreachable")
"""Commands inside an argument of another command, which is a step, and commands that never run."""
_WIDEST = 120
"""Characters of a command that are shown."""


def steps_of(text: str, stage: Stage, unit: str, whole: Place, place: Callable[[ShellPlace], Place], unknown: list[Unknown]) -> list[Step]:
    """A step for each command of a script. whole: the place of the script, if its commands cannot be read.

    place: finds the place of a command in the part.
    """
    from ..formats import shell_reader

    if not is_shell(text):
        return [Step(stage, unit, f"runs a script with {text.partition(chr(10))[0][2:].strip() or 'another program'}", whole)]
    try:
        script = shell_reader.read(text)
    except shell_reader.PackageMissing as error:
        unknown.append(Unknown("the commands of a script", f"{error}; run pip install tree-sitter tree-sitter-bash", whole))
        return [Step(stage, unit, "runs a script", whole)]
    except RecursionError:
        unknown.append(Unknown("the commands of a script", "it is nested too deeply", whole))
        return [Step(stage, unit, "runs a script", whole)]
    if not script.is_readable:
        unknown.append(Unknown("the commands of a script", "a part of it cannot be parsed", whole))
    found: dict[ShellPlace, Step] = {}
    lines = text.split("\n")
    for command in script.commands:
        if command.condition in _NEVER or command.values[:1] in _QUIET or command.is_function or not command.words:
            continue
        is_conditional = not command.is_certain or command.may_have_ended
        before = found.get(command.place)
        if before is None or (before.is_conditional and not is_conditional):
            does = f"runs {_source(lines, command)}{' in the background' if command.is_background else ''}"
            found[command.place] = Step(stage, unit, does, place(command.place), is_conditional)
    return list(found.values())


def _source(lines: list[str], command: Command) -> str:
    """The text of a command; of several lines, the first one."""
    place = command.place
    text = lines[place.line - 1][place.column - 1 : place.column - 1 + place.length].rstrip(" \\")
    if command.words[-1].place.line != place.line:
        text = f"{text} …"
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}…"
