# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a script stops: the options of its shell, kept when its lines become commands of a node group.

Commands of a node group run in a script that begins with C(set -e). Most scripts of users do not: a command that fails is then followed by
the next one. So the commands begin with the options that the original had at this place.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..formats.shell_reader import Command, Script

_SETS_OPTIONS = re.compile(r"\s*(?:#.*|set [-+].*)?")
_STOPS_AT_ERRORS = re.compile(r"#!\s*\S+(?:\s+\S+)*?\s+-[a-z]*e")
"""A first line with which the shell ends at the first error."""
_CAN_FAIL = re.compile(r"&&|\A\s*!")
"""A line that can have the status of an error although C(set -e) does not end the script."""
_SUBSTITUTES = re.compile(r"\$\(|`")
_OFF = "set +e\n"


def is_only_options(text: str) -> bool:
    """Whether a script has only comments, and options of its shell."""
    return all(_SETS_OPTIONS.fullmatch(line) for line in text.split("\n"))


def stops_at_errors(words: Sequence[str | None]) -> bool | None:
    """Whether a command C(set) turns C(errexit) on or off. None if it does neither."""
    found, rest = None, list(words[1:])
    while rest:
        word = rest.pop(0)
        if word is None or word[:1] not in ("-", "+") or word in ("-", "--"):
            break
        is_on = word[0] == "-"
        if "e" in word[1:]:
            found = is_on
        for _name in range(min(word.count("o"), len(rest))):
            if rest.pop(0) == "errexit":
                found = is_on
    return found


def before_call(first_line: str, body: str, script: Script, line: int) -> str:
    """The commands before a call that begins after C(line), so that they stop like the original.

    first_line: of the script. body: its lines up to C(line), without the first one.
    """
    commands = [one for one in script.commands if one.line <= line]
    is_on = bool(_STOPS_AT_ERRORS.match(first_line))
    begins_on = _begins_on(first_line, commands)
    ends_on = is_on if (last := _turns(commands)) is None else last
    last_line = next((one for one in reversed(body.split("\n")) if one.strip()), "")
    # The call runs whatever the status of the last command is.
    end = "" if ends_on and not _CAN_FAIL.search(last_line) else ":\n"
    return f"{'' if begins_on else _OFF}{body}{end}"


def after_call(text: str, after: str, script: Script, line: int, before: str = "") -> str:
    """The commands after a call that begins after C(line), with the options of the shell before the call.

    text: of the script, which ends with C(after). before: the lines before the call, if the commands need them.
    """
    end = text.count("\n") - after.count("\n")
    options = [one for one in script.commands if one.line <= line and one.is_certain and one.values[:1] == ("set",)]
    lines = [f"{shlex.join([word for word in one.values if word is not None])}\n" for one in options if None not in one.values]
    if not _SUBSTITUTES.search(before) and sum(one.line > end and one.condition != "substitution" for one in script.commands) <= 1:
        # How a single command ends has no effect.
        return before + after
    return "".join(["" if _begins_on(text.partition("\n")[0], options) else _OFF, *([before] if before else lines), after])


def _begins_on(first_line: str, commands: Iterable[Command]) -> bool:
    """Whether the shell ends at errors before the first command that can have one."""
    first = _turns(takewhile(lambda one: one.values[:1] == ("set",), commands))
    return bool(_STOPS_AT_ERRORS.match(first_line)) if first is None else first


def _turns(commands: Iterable[Command]) -> bool | None:
    """What the last of these commands that changes C(errexit) sets."""
    changes = [stops_at_errors(one.values) for one in commands if one.values[:1] == ("set",) and one.is_certain]
    return next((one for one in reversed(changes) if one is not None), None)
