# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads user data for a migration: its settings one by one, each with its place, and what is left without them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from .. import rules
from ..bootstrap_calls import EXTRA_ARGS, VARIABLES, Call, FoundCall, flags_in, is_shell, read_calls
from ..bootstrap_calls import Argument as CallArgument
from ..errors import Problem, Problems, SpecError
from ..formats import shell_reader
from ..formats.shell_reader import Assignment, Command, PackageMissing, Redirection, ShellPlace
from ..readers import bootstrap_script, run_commands
from ..readers.bootstrap_script import CallerScript
from ..readers.call_settings import read_call
from ..readers.document import structure
from ..readers.meaning import Meaning
from ..readers.model import Place, ReadPart, UserData
from ..readers.run_commands import RunCommands
from ..readers.shell_options import is_only_options
from ..readers.user_data import TOO_LONG, is_too_long, meaning_of
from . import variables
from .beside_call import text_beside
from .variables import EXTRA_ARGS_VARIABLE, Edit, Variable, option_of

Kind = Literal["name", "option", "flag", "word"]
Use = Literal["used", "replaced", "unused", "uncertain"]

UNKNOWN = "\0"
REMOVED = "# (moved to the configuration of the node)"
"""Takes the place of each line that is removed, so that the other lines keep their numbers."""

_ONLY_EXPORTS = re.compile(rf"\s*export(?:\s+(?:{'|'.join(sorted(VARIABLES))}))+\s*")
_OF_CALL = ("containerd", "kubelet", "labels", "local_storage", "max_pods", "reserved", "taints")
"""Fields that a call sets."""
_BEFORE = {
    "nodeconfig": "contains a NodeConfig, so it is user data of Amazon Linux 2023 already",
    "toml": "contains settings of Bottlerocket, which have no shell scripts to migrate",
    "ec2launch": "contains tasks for EC2Launch, and Windows nodes cannot become Linux nodes",
    "powershell": "contains PowerShell for Windows, and Windows nodes cannot become Linux nodes",
}


@dataclass(frozen=True)
class Given:
    """One setting. kind: C(name) of the cluster, C(option) of the script, C(flag) of kubelet, or a C(word) that the script ignores.

    name: as it is written; of a variable, its name. key: the option with its dashes, or the flag without. value: None if it is unknown.
    use: whether it has an effect. C(replaced) by another one, C(unused) because nothing reads it, C(uncertain) because its call may
    not run. text: its value, with C(UNKNOWN) for what only the node knows.
    """

    kind: Kind
    name: str
    key: str
    value: str | None
    place: Place
    use: Use = "used"
    text: str = ""


@dataclass(frozen=True)
class Original:
    """User data to migrate. meaning: without the lines that only set variables. call: its place; None if EKS or Karpenter adds the call.

    uncertain: the places of calls that may not run. lines: of the call in its part, from 0, the last one excluded. beside: the text behind
    the call on these lines, if it can be left out. cleaned: the text of the parts by their index, in which C(REMOVED) takes the place of
    lines.
    """

    user_data: UserData
    parts: tuple[ReadPart, ...]
    meaning: Meaning
    given: tuple[Given, ...]
    call: Place | None
    uncertain: tuple[Place, ...]
    caller: ReadPart | None
    lines: tuple[int, int] | None
    beside: str | None
    cleaned: Mapping[int, str]
    commands: RunCommands | None

    def place(self, place: Place) -> Place:
        """The place in the document of a place in C(parts)."""
        return self.commands.place(place) if self.commands else place


def read_original(data: str | bytes, path: str) -> Original:
    """Everything in C(data). path: of the text in messages.

    Raises C(SpecError) if it cannot be read, or if it is not user data of Amazon Linux 2 or Ubuntu.
    """
    found = structure(data)
    _check(found, path)
    commands = None if any(map(bootstrap_script.calls, found.parts)) else run_commands.with_script(found.parts)
    parts = commands.parts if commands else found.parts
    try:
        return _Reading(found, parts, commands).original()
    except PackageMissing as error:
        raise missing_package(error, path) from None


def missing_package(error: PackageMissing, path: str) -> SpecError:
    """The error of a text with shell scripts, without the package that reads them."""
    fix = "run pip install tree-sitter tree-sitter-bash"
    message = f"contains shell scripts, which cannot be read: {error}"
    return SpecError([Problem("shell.missing_package", path, message, fix=fix)])


def _check(found: UserData, path: str) -> None:
    problems = Problems()
    for problem in found.problems:
        if rules.catalogue()[problem.rule].severity == "error":
            problems.extend([replace(problem, path=f"{path}.{problem.path}".rstrip("."))])
    if is_too_long(found):
        problems.add("user_data.not_checked", path, TOO_LONG, fix="remove what the nodes can download, and migrate the rest")
    for part in found.parts:
        if (reason := _BEFORE.get(part.kind)) is not None:
            fix = "pass the user data of Amazon Linux 2 or Ubuntu, without this part"
            problems.add("user_data.wrong_kind", f"{path}.{part.path}".rstrip("."), reason, fix=fix)
    if not len(problems) and all(part.kind in ("empty", "unknown") for part in found.parts):
        fix = "pass the content of user data that cloud-init runs, for example a script that begins with #!"
        problems.add("user_data.wrong_kind", path, "has no part that cloud-init runs", fix=fix)
    problems.raise_any()


@dataclass
class _Script:
    """A script that sets something. certain: its only call, if it always runs."""

    caller: CallerScript
    commands: Sequence[Command]
    edits: Sequence[Edit]
    certain: FoundCall | None

    @classmethod
    def of(cls, part: ReadPart) -> _Script:
        caller = CallerScript.of(part)
        reading = caller.reading
        # The lines of a rendered script are others than those of its part, and they change nothing without a call.
        commands = shell_reader.read(caller.text).commands if reading.edits and caller.text == part.text else ()
        edits = [edit for one in reading.edits if one.is_certain and (edit := variables.of_edit(one, commands)) is not None]
        certain = [one for one in reading.found if one.command.is_certain]
        return cls(caller, commands, edits, certain[0] if len(reading.found) == len(certain) == 1 else None)

    def cleaned(self) -> ReadPart:
        """The part without the lines that only set variables."""
        part = self.caller.part
        if self.caller.text != part.text:
            return part
        lines = part.text.split("\n")
        for edit in self.edits:
            _remove(lines, part.text, edit.command.line, is_wanted=True)
            for command in edit.writers:
                end = command.line + max(_count_lines(one) for one in command.redirections)
                lines[command.line - 1 : end] = [REMOVED] * (end - command.line + 1)
        for one in self.caller.reading.exports if self.certain else ():
            if not one.condition:
                _remove(lines, part.text, one.place.line, is_wanted=False)
        if self.certain:
            lines = [REMOVED if _ONLY_EXPORTS.fullmatch(line) else line for line in lines]
            _remove_environment(lines, self.certain.command)
        return replace(part, text="\n".join(lines))


def _count_lines(redirection: Redirection) -> int:
    """The lines of a here-document after the line of its command, with its last line."""
    text = redirection.target.value or ""
    return text.count("\n") + 1 if redirection.operator.startswith("<<") else 0


def _remove(lines: list[str], text: str, line: int, *, is_wanted: bool) -> None:
    """Remove the command on a line. is_wanted: whether it is a command; otherwise, it may only set variables of the image's script."""
    span = bootstrap_script.call_lines(text, line)
    if span is None:
        return
    start, end, is_alone = span
    if is_wanted and not is_alone:
        return
    if not is_wanted:
        alone = shell_reader.read("\n".join(text.split("\n")[start:end]))
        if alone.commands or any(one.name not in VARIABLES for one in alone.assignments):
            return
    lines[start:end] = [REMOVED] * (end - start)


def _remove_environment(lines: list[str], command: Command) -> None:
    """Replace the variables in front of a call by blanks, so that its words keep their columns."""
    names = {one.name for one in command.environment}
    first = command.words[0].place
    if names and names <= VARIABLES and first.line == command.line:
        line, column = lines[first.line - 1], command.place.column - 1
        lines[first.line - 1] = line[:column] + " " * (first.column - 1 - column) + line[first.column - 1 :]


class _Reading:
    """One reading of the parts."""

    def __init__(self, found: UserData, parts: tuple[ReadPart, ...], commands: RunCommands | None) -> None:
        self._found = found
        self._parts = parts
        self._commands = commands
        self._scripts = [_Script.of(part) for part in parts if bootstrap_script.calls(part)]
        with_calls = [script for script in self._scripts if script.caller.reading.found]
        self._caller = with_calls[0] if len(with_calls) == 1 and with_calls[0].certain else None

    def original(self) -> Original:
        cleaned = {script.caller.part.index: script.cleaned() for script in self._scripts}
        meaning = meaning_of(tuple(cleaned.get(part.index, part) for part in self._parts), None)
        if self._commands:
            meaning.not_understood = [self._commands.in_document(item) for item in meaning.not_understood]
        given = [*self._of_calls(), *self._of_exports_alone()]
        set_by_variables = list(self._variables())
        if set_by_variables:
            given += self._overlay(set_by_variables, meaning)
        meaning.node_group = _without_removed(meaning.node_group)
        caller = self._caller
        uncertain = [
            self._place(script, call.command.place)
            for script in self._scripts
            for call in script.caller.reading.found
            if caller is None or call is not caller.certain
        ]
        return Original(
            user_data=self._found,
            parts=self._parts,
            meaning=meaning,
            given=tuple(sorted(given, key=lambda one: (one.place.part or 0, one.place.line, one.place.column, one.name))),
            call=self._place(caller, caller.certain.command.place) if caller and caller.certain else None,
            uncertain=tuple(uncertain),
            caller=caller.caller.part if caller else None,
            lines=self._lines(),
            beside=self._beside(),
            cleaned={index: part.text for index, part in cleaned.items()},
            commands=self._commands,
        )

    def _lines(self) -> tuple[int, int] | None:
        """The lines of the call in its part."""
        if self._caller is None or self._caller.certain is None:
            return None
        script, command = self._caller.caller, self._caller.certain.command
        span = bootstrap_script.call_lines(script.text, command.line)
        if span is None:
            return None
        # The lines of a rendered script are others than those of its part.
        start = script.place(command.place).line - 1
        return start, start + span[1] - span[0]

    def _beside(self) -> str | None:
        """The text behind the call, if it can be left out."""
        if self._caller is None or self._caller.certain is None:
            return None
        text, command = self._caller.caller.text, self._caller.certain.command
        span = bootstrap_script.call_lines(text, command.line)
        return None if span is None else text_beside(text, command, span[1])

    def _place(self, script: _Script, place: ShellPlace, word: str = "") -> Place:
        """The place of a value in the document; that of C(word) in it, if the text has it."""
        found = script.caller.place(place)
        lines = script.caller.part.text.split("\n")
        for number in range(found.line, min(found.line + 50, len(lines)) + 1) if word else ():
            match = re.search(rf"{re.escape(word)}(?![\w-])", lines[number - 1])
            if match and (number > found.line or match.start() + 1 >= found.column):
                found = Place(found.part, number, match.start() + 1, match.end() - match.start())
                break
        return self._commands.place(found) if self._commands else found

    def _of_calls(self) -> Iterator[Given]:
        for script in self._scripts:
            for call in script.caller.reading.found:
                is_used = self._caller is script and call is script.certain
                yield from self._of_call(script, call, "used" if is_used else "uncertain")

    def _of_call(self, script: _Script, call: FoundCall, use: Use) -> Iterator[Given]:
        last = {one.name: one for one in call.arguments}
        for one in call.arguments:
            place = self._place(script, one.place)
            kind: Kind = "option" if one.name else "name"
            yield Given(kind, one.name, one.name, one.value, place, use if last[one.name] is one else "replaced", _text_of(one))
            if one.name == EXTRA_ARGS:
                yield from self._flags(script, flags_in(one), use if last[one.name] is one else "replaced")
        for word in call.call.others if call.call else ():
            yield Given("word", word, word, word, self._place(script, call.command.place, word), "unused")

    def _flags(self, script: _Script, flags: Iterator[CallArgument], use: Use) -> Iterator[Given]:
        for flag in flags:
            yield Given("flag", f"--{flag.name}", flag.name, flag.value, self._place(script, flag.place, f"--{flag.name}"), use)

    def _of_exports_alone(self) -> Iterator[Given]:
        """Variables of the image's script in scripts that do not call it."""
        for part in self._parts:
            if (
                part.kind == "shell"
                and is_shell(part.text)
                and not bootstrap_script.calls(part)
                and any(map(part.text.__contains__, VARIABLES))
            ):
                for one in read_calls(part.text).exports:
                    place = Place(part.index, one.place.line, one.place.column, one.place.length)
                    yield Given("option", one.name, option_of(one.name), one.value, place, "unused")

    def _variables(self) -> Iterator[tuple[_Script, Variable, Use]]:
        """The variables that the script of the call, and edits of the image's script, set; also variables that no call sees."""
        for script in self._scripts:
            call = script.certain
            for one in script.caller.reading.exports:
                is_seen = call is not None and one.place.line <= call.command.line
                if not one.condition:
                    yield script, _of_assignment(one), "used" if is_seen and script is self._caller else "unused"
            for edit in script.edits:
                for variable in edit.variables:
                    yield script, variable, "used"
            for one in call.command.environment if call and script is self._caller else ():
                if one.name in VARIABLES:
                    yield script, _of_assignment(one), "used"

    def _overlay(self, found: Sequence[tuple[_Script, Variable, Use]], meaning: Meaning) -> Iterator[Given]:
        """Add the variables to the settings of the call. Returns them one by one."""
        caller = self._caller
        own = caller.certain if caller else None
        unused = Meaning(None)
        call = (own.call or bootstrap_script.known_call(own, caller.caller, unused)) if caller and own else Call(None)
        given_options = {one.name for one in own.arguments} if own else set()
        appends = any(edit.appends for script in self._scripts for edit in script.edits)
        last = {one.name: one for _script, one, use in found if use == "used" and not one.appends}
        options: dict[str, str] = {}
        flags: dict[str, list[str]] = {}
        rows: list[Given] = []
        for script, one, seen in found:
            use = seen
            option = option_of(one.name)
            adds = one.appends or (one.name == EXTRA_ARGS_VARIABLE and appends)
            if use == "used" and ((option in given_options and not adds) or (not one.appends and last[one.name] is not one)):
                use = "replaced"
            argument = CallArgument(one.name, one.pieces, one.place)
            place = self._place(script, one.place, one.name)
            rows.append(Given("option", one.name, option, argument.value, place, use, _text_of(argument)))
            if option != EXTRA_ARGS:
                if use == "used" and argument.value is not None:
                    options[option] = argument.value
                continue
            of_kubelet = list(flags_in(argument))
            rows += self._flags(script, iter(of_kubelet), use)
            for flag in of_kubelet if use == "used" else ():
                flags.setdefault(flag.name, []).extend([flag.value] if flag.value is not None else [])
        together = {name: [*call.flags.get(name, []), *flags.get(name, [])] for name in (*call.flags, *flags)}
        merged = Call(call.cluster_name, {**options, **call.options}, {name: values for name, values in together.items() if values})
        settings = Meaning(meaning.family)
        script = caller or found[0][0]
        read_call(merged, script.caller.config, script.caller.part, settings)
        meaning.node_group = {name: value for name, value in meaning.node_group.items() if name not in _OF_CALL} | settings.node_group
        meaning.cluster = settings.cluster
        return iter(rows)


def _text_of(argument: CallArgument) -> str:
    return "".join(UNKNOWN if piece is None else piece for piece in argument.pieces)


def _of_assignment(one: Assignment) -> Variable:
    return Variable(one.name, one.pieces, one.place)


def _without_removed(group: Mapping[str, Any]) -> dict[str, Any]:
    """The node group without the lines that take the place of removed ones, and without scripts of which nothing is left."""
    found = dict(group)
    if "user_data" in found:
        texts = [_text_without(text) for text in found["user_data"]]
        found["user_data"] = [text for text in texts if not (text.startswith("#!") and is_shell(text) and _is_empty(text))]
    if "commands" in found:
        found["commands"] = {
            name: [_text_without(one) if isinstance(one, str) else one for one in listed] for name, listed in found["commands"].items()
        }
        found["commands"] = {name: [one for one in listed if one != "" and not _is_void(one)] for name, listed in found["commands"].items()}
        found["commands"] = {name: listed for name, listed in found["commands"].items() if listed}
    return {name: value for name, value in found.items() if value not in ([], {})}


def _text_without(text: str) -> str:
    if REMOVED not in text:
        return text
    return "\n".join(line for line in text.split("\n") if line != REMOVED)


def _is_empty(text: str) -> bool:
    return is_only_options(text.partition("\n")[2])


def _is_void(command: Any) -> bool:
    """Whether a command was only removed lines: the reader surrounds commands before the call so that errors do not stop them."""
    return isinstance(command, str) and is_only_options("\n".join(line for line in command.split("\n") if line != ":"))
