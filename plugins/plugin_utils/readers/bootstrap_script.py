# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads scripts that call C(/etc/eks/bootstrap.sh) of Amazon Linux 2 and Ubuntu: the call, and what runs before and after it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..artifacts import cloud_init
from ..bootstrap_calls import (
    EXTRA_ARGS,
    SCRIPT,
    TIMEOUT,
    Argument,
    Call,
    FoundCall,
    Reading,
    is_shell,
    read_calls,
    user_of,
    wrappers,
)
from .call_settings import read_call
from .meaning import Meaning, proxy_of
from .model import NotUnderstood, Place, ReadPart
from .own_script import HEAD, own_script
from .shell_options import after_call, before_call, is_only_options

if TYPE_CHECKING:
    from ..formats.shell_reader import Command, Condition, Script, ShellPlace

_OF_AL2 = frozenset(
    {"--containerd-config-file", "--docker-config-json", "--enable-docker-bridge", "--enable-local-outpost", "--local-disks"}
)
_SIGNS = {
    "ubuntu": re.compile(r"\b(?:snap (?:set|start|stop|get|restart|install)|kubelet-eks|apt-get|apt install|apt update)\b"),
    "al2": re.compile(r"\b(?:yum|amazon-linux-extras|rpm -)\b"),
}
_PRE = cloud_init.pre_script((), f"install -D /dev/null {cloud_init.PRE_FAILED}")
_WITHOUT_EFFECT = ("systemctl daemon-reload\n", "systemctl try-restart containerd\n")
"""Lines of rendered scripts that only make rendered files effective."""
BESIDE = "has other commands beside the call, which are not read"
REDIRECTED = "has redirections, which have no field"
NEGATED = "is negated, so that the script continues if it fails"
STOPPED = "is stopped after a time, which has no field"
_QUIET = (("set",), (":",), ("true",))
"""Programs that have no effect outside of the shell of the call."""
_FUNCTION = re.compile(r"(?:^|[\s;&|])(?:function\s+[\w:.-]+\s*(?:\(\s*\))?|[\w:.-]+\s*\(\s*\))\s*[{(]")
"""The beginning of a function."""
_DEFINES = re.compile(r"(?:^|[\s;&|])(?:function\s+([\w:.-]+)|([\w:.-]+)\s*\(\s*\))")
_USED = re.compile(r"\$\{?[#!]?([A-Za-z_][A-Za-z0-9_]*)")
"""An expansion of a variable."""
_CHANGES_SHELL = re.compile(r"\s*(?:export|declare|typeset|cd|pushd|source|\.|umask|ulimit|exec|trap|shopt)\b|\s*\. ")


def calls(part: ReadPart) -> bool:
    """Does the script mention the image's script?"""
    return part.kind == "shell" and SCRIPT in part.text and is_shell(part.text)


def read(parts: Sequence[ReadPart], family: str | None) -> Meaning:
    """The meaning of the parts, in the order in which they run. One of them is a script that mentions the image's script.

    family: None if it is to be told by the text.
    """
    from ..formats.shell_reader import PackageMissing

    found = Meaning(family or _family(parts))
    scripts: list[CallerScript] = []
    unreadable: list[ReadPart] = []
    for part in parts:
        if not calls(part):
            continue
        try:
            scripts.append(CallerScript.of(part))
        except PackageMissing as error:
            found.lose(part, part.text, f"cannot be read: {error}; run pip install tree-sitter tree-sitter-bash")
            unreadable.append(part)
        except RecursionError:
            found.lose(part, part.text, "is nested too deeply")
            unreadable.append(part)
    callers = [script for script in scripts if script.reading.found]
    if len(callers) != 1 or unreadable or not any(one.command.is_certain for one in callers[0].reading.found):
        lost = [*unreadable, *(script.part for script in callers)]
        for script in callers:
            several = "is not the only script that mentions /etc/eks/bootstrap.sh"
            none = "contains no call of /etc/eks/bootstrap.sh that always runs"
            found.lose(script.part, script.part.text, several if len(callers) > 1 or unreadable else none)
        for script in scripts:
            script.report(found)
        found.keep(part for part in parts if part not in lost)
        return found
    [caller] = callers
    for script in scripts:
        script.report(found)
    at = parts.index(caller.part)
    _read_pre(parts[:at], found)
    _read_caller(caller, found)
    _read_scripts_after(caller, [part for part in parts[at + 1 :] if part.kind == "shell"], found)
    for part in parts[at + 1 :]:
        if part.kind not in ("shell", "empty", "unknown"):
            reason = "is a part after the script that starts kubelet, and a rendered part would be before it"
            found.lose(part, part.text, reason, effect="kept")
    return found


def _read_scripts_after(caller: CallerScript, scripts: Sequence[ReadPart], found: Meaning) -> None:
    """The scripts after that of the call. cloud-init runs each of them, also if one before it fails."""
    if not scripts:
        return
    commands = found.node_group.setdefault("commands", {})
    first_line = caller.text.partition("\n")[0]
    # With an interpreter, a text is a script of its own.
    before = [f"{first_line}\n{one}" if isinstance(one, str) else one for one in commands.get("post", ())]
    after = [*before, *(part.text for part in scripts)]
    commands["post"] = ["set +e\n", *after] if len(after) > 1 else after


def _family(parts: Sequence[ReadPart]) -> str | None:
    text = "\n".join(part.text for part in parts)
    if any(option in text for option in _OF_AL2):
        return "al2"
    signs = [name for name, sign in _SIGNS.items() if sign.search(text)]
    return signs[0] if len(signs) == 1 else None


def _read_pre(parts: Sequence[ReadPart], found: Meaning) -> None:
    kept = []
    for part in parts:
        if part.kind == "shell" and part.text.startswith(_PRE):
            found.put("commands.pre", [part.text.removeprefix(_PRE)])
        else:
            kept.append(part)
            if part.kind == "cloud-config" and re.search(r"^runcmd:", part.text, re.MULTILINE):
                reason = "has runcmd, which runs after the script that starts kubelet, and before it when it is rendered"
                found.lose(part, part.text, reason, effect="kept")
    found.keep(kept)


@dataclass
class CallerScript:
    """A script that mentions the image's script. own: what it has in the form of rendered scripts. text: what is read as shell."""

    part: ReadPart
    text: str
    reading: Reading
    config: dict[str, Any]
    post: list[dict[str, Any]]
    proxy: dict[str, str]
    trust: list[str]

    @classmethod
    def of(cls, part: ReadPart) -> CallerScript:
        """Read a script. Raises C(PackageMissing)."""
        own = own_script(part.text)
        if own is None:
            return cls(part, part.text, read_calls(part.text), {}, [], {}, [])
        config, post, proxy, trust = own.take_config(), own.take_post(), own.take_proxy(), own.take_trust()
        rest = "".join(line for line in own.rest.splitlines(keepends=True) if line not in _WITHOUT_EFFECT)
        text = f"{HEAD}{own.remaining()}{rest}"
        return cls(part, text, read_calls(text), config, post, proxy, trust)

    def place(self, place: ShellPlace) -> Place:
        """A place of C(text) in the part."""
        return Place(self.part.index, self.line(place.line), place.column, place.length)

    def line(self, number: int) -> int:
        """The line in the part of a line of C(text). Both are from 1."""
        if self.text is self.part.text:
            return number
        return self.part.text.split("\n").index(self.text.split("\n")[number - 1]) + 1

    def lose_command(self, command: Command, reason: str, found: Meaning) -> None:
        """Report a command as not understood, with all of its lines."""
        lines = self.text.split("\n")
        start = command.line - 1
        end = max([start, *(word.place.line - 1 for word in command.words)])
        while lines[end].endswith("\\") and end + 1 < len(lines):
            end += 1
        text = "\n".join([lines[start][command.place.column - 1 :], *lines[start + 1 : end + 1]])
        found.not_understood.append(NotUnderstood(self.place(command.place), text, reason))

    def report(self, found: Meaning) -> None:
        """Report calls that may not run, and commands that change the settings of the image's script without a call."""
        for call in self.reading.found:
            if not call.command.is_certain:
                self.lose_command(call.command, f"calls /etc/eks/bootstrap.sh, but {_CONDITIONS[call.command.condition]}", found)
        for command in self.reading.edits:
            self.lose_command(command, "changes /etc/eks/bootstrap.sh itself, so a call of it can do something else", found)
        for assignment in self.reading.exports:
            reason = f"sets {assignment.name}, from which /etc/eks/bootstrap.sh takes a setting without an option of a call"
            found.lose_at(self.part, self.place(assignment.place), reason)


_CONDITIONS: Mapping[Condition, str] = {
    "if": "runs it only if a condition is true",
    "case": "runs it only in one case",
    "loop": "runs it in a loop",
    "list": "runs it only if another command succeeds or fails",
    "function": "has it in a function that is not certain to run",
    "substitution": "runs it in a substitution",
    "eval": "has it in text for eval",
    "trap": "runs it in a trap",
    "return": "runs it only if the function does not return before",
    "exit": "runs it only if the script does not end before",
    "unreachable": "never runs it",
    "unreadable": "is in a script that cannot be parsed",
}


def _read_caller(script: CallerScript, found: Meaning) -> None:
    part, text = script.part, script.text
    found.put("trust", script.trust)
    call = next(one for one in script.reading.found if one.command.is_certain)
    read_call(call.call or known_call(call, script, found), script.config, part, found)
    if script.proxy and (fields := proxy_of({"default": script.proxy}, found.cluster)) is not None:
        found.put("proxy", fields)
    elif script.proxy:
        found.lose(part, ", ".join(script.proxy.values()), "is a proxy without the entries that every node needs in NO_PROXY")
    span = call_lines(text, call.command.line) if len(script.reading.found) == 1 else None
    if span is None:
        found.lose(part, part.text, "contains the call inside other commands, which are not read")
    else:
        start, end, is_alone = span
        lines = text.split("\n")
        if not is_alone:
            script.lose_command(call.command, BESIDE, found)
        if call.command.is_background:
            script.lose_command(call.command, "runs in the background, and a rendered call does not", found)
        if call.command.redirections:
            script.lose_command(call.command, REDIRECTED, found)
        variables, is_literal, _rest = lines[start].partition(SCRIPT)
        if is_literal and re.search(r"(?:^|\s)[A-Za-z_]\w*\+?=", variables):
            script.lose_command(call.command, "sets variables for the call, which have no field", found)
        if is_literal and variables.lstrip().startswith("!"):
            script.lose_command(call.command, NEGATED, found)
        programs, after = wrappers(call.command.words), "\n".join(lines[end:])
        if TIMEOUT in programs:
            script.lose_command(call.command, STOPPED, found)
        if user := user_of(call.command.words):
            script.lose_command(call.command, f"runs as the user {user}, which has no field", found)
        if "exec" in programs and not is_only_options(after):
            found.lose(part, after, "never runs, because exec before the call replaces the shell", script.line(end + 1), "ignored")
            after = ""
        _read_around(script, start, after, found)
    if script.post:
        found.put("commands.post", script.post)


def known_call(call: FoundCall, script: CallerScript, found: Meaning) -> Call:
    """The known arguments of a call. The others are reported."""
    name: str | None = None
    options: dict[str, str] = {}
    extra: Argument | None = None
    for argument in call.arguments:
        value = argument.value
        if argument.name == EXTRA_ARGS:
            extra = argument
        elif value is None:
            options.pop(argument.name, None)
            found.lose_at(script.part, script.place(argument.place), f"{_shown(argument)} is known only on the node", "argument")
        elif argument.name:
            options[argument.name] = value
        else:
            name = value
    if not call.is_whole:
        script.lose_command(call.command, "has a number of arguments that is known only on the node", found)
    flags: dict[str, list[str]] = {}
    if extra is not None:
        quoted = any(mark in (piece or "") for piece in extra.pieces for mark in "\"'\\")
        for flag in call.flags if not quoted else ():
            flags.setdefault(flag.name, []).extend([flag.value] if flag.value is not None else [])
        reason = "has quotes or words that kubelet gets changed" if extra.value is not None else "is partly known only on the node"
        found.lose_at(script.part, script.place(extra.place), f"{EXTRA_ARGS} {reason}", "argument")
    return Call(name, options, {flag: values for flag, values in flags.items() if values}, (), call.command.line)


def _shown(argument: Argument) -> str:
    return argument.name or "the name of the cluster"


def call_lines(text: str, line: int) -> tuple[int, int, bool] | None:
    """The lines of a command that begins on C(line), and whether it is alone on them. None if it is inside other commands.

    The lines count from 0, and the last one is excluded.
    """
    from ..formats import shell_reader

    script = shell_reader.read(text)
    last = line
    for first, end in script.statements:
        # Other statements can begin on the line on which this one ends.
        if first <= last and end >= line:
            if first < line:
                return None
            last = end
    is_alone = sum(line <= one.line <= last and one.condition != "substitution" for one in script.commands) == 1
    is_function = _FUNCTION.search(text.split("\n")[line - 1].partition(SCRIPT)[0]) is not None
    return (line - 1, last, is_alone) if script.is_readable and not is_function else None


def _read_around(script: CallerScript, count: int, after: str, found: Meaning) -> None:
    """Lines before the call are commands.pre, and lines after it commands.post. Variables for the call alone are not commands.

    count: the lines before the call.
    """
    from ..formats import shell_reader

    whole = shell_reader.read(script.text)
    lines = script.text.split("\n")[:count]
    before = "".join(f"{line}\n" for line in (lines[1:] if lines[:1] and lines[0].startswith("#!") else lines))
    exported = any(place.line <= count for place in whole.exported.values())
    commands = [one for one in whole.commands if one.line <= count]
    is_quiet = not exported and all(command.values[:1] in _QUIET and not command.redirections for command in commands)
    after_names = set(_USED.findall(after))
    used = next((one for one in whole.assignments if one.place.line <= count and one.name in after_names), None)
    if not is_quiet:
        _read_before(script, before, found, count)
        if used:
            reason = f"sets {used.name}, which commands after the call use; as commands.post, they run in a shell of their own"
            found.lose_at(script.part, script.place(used.place), reason)
        if name := _function_used_after(before, whole, count):
            reason = f"defines {name}, which commands after the call use; as commands.post, they run in a shell of their own"
            number = next(index for index, line in enumerate(lines, 1) if name in _defined(line))
            found.lose(script.part, lines[number - 1], reason, script.line(number))
    if not is_only_options(after):
        found.put("commands.post", [after_call(script.text, after, whole, count, before if is_quiet and used else "")])


def _defined(line: str) -> list[str]:
    """The names of the functions that a line defines."""
    return [one or other for one, other in _DEFINES.findall(line)]


def _function_used_after(before: str, whole: Script, count: int) -> str | None:
    """A function that is defined before a call and runs after it. count: the lines before the call."""
    names = {name for line in before.split("\n") for name in _defined(line)}
    runs = (one.values[0] for one in whole.commands if one.is_function and one.line > count and one.values)
    return next((name for name in runs if name in names), None)


def _read_before(script: CallerScript, text: str, found: Meaning, count: int) -> None:
    from ..formats import shell_reader

    lines = text.split("\n")
    if is_only_options(text):
        return
    part = script.part
    reported = {item.place.line for item in found.not_understood if item.place.part == part.index}
    for line in lines:
        if _CHANGES_SHELL.match(line):
            number = part.text.split("\n").index(line) + 1
            if number not in reported:
                reason = "changes the shell in which the call runs; as commands.pre, it runs in a shell of its own"
                found.lose(part, line, reason, number, "kept")
    command = before_call(script.text.partition("\n")[0], text, shell_reader.read(script.text), count)
    found.node_group.setdefault("commands", {}).setdefault("pre", []).append(command)
