# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A script as the table of lines looks at it: its commands, and the lines in which there can be other things than commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..bootstrap_calls import SCRIPT, is_shell, program_words
from ..formats import shell_reader
from ..formats.shell_reader import Command, Script, Word

_MESSAGES = ("echo", "printf", "logger")
"""Programs whose arguments are text for people, unless their output goes to a file or a program."""
_LOOKUPS = ("which", "type", "hash")
_STARTERS = ("xargs", "-exec", "-execdir")
"""Words behind which there is another program."""


@dataclass(frozen=True)
class RunCommand:
    """A command. words: the program without its directory, and the known arguments. programs: the places of programs in C(words).

    texts: the known text of each word, with the line on which the word is. line: of the command, from 1.
    """

    words: tuple[str, ...]
    programs: tuple[int, ...]
    texts: tuple[tuple[str, int], ...]
    line: int


@dataclass(frozen=True)
class ScriptView:
    """A script. lines: without comments and messages. nested: the numbers of lines, from 0, in which the reader understands no commands.

    call_lines: the numbers, from 1, of lines with a call of the image's bootstrap script.
    """

    text: str
    lines: tuple[str, ...]
    nested: tuple[int, ...]
    commands: tuple[RunCommand, ...]
    call_lines: frozenset[int]

    @classmethod
    def of(cls, text: str) -> ScriptView:
        """Read a script. Of another interpreter than a shell, there are only lines. Raises C(PackageMissing)."""
        lines = ["" if line.lstrip().startswith("#") else line for line in text.split("\n")]
        if not is_shell(text):
            return cls(text, tuple(lines), tuple(range(len(lines))), (), frozenset())
        script = shell_reader.read(text)
        commands = tuple(run for one in script.commands if (run := _run_command(one)) is not None)
        if script.is_readable:
            _remove_messages(lines, script.commands)
        return cls(text, tuple(lines), tuple(_nested(script, len(lines))), commands, frozenset(_call_lines(script)))


def _run_command(command: Command) -> RunCommand | None:
    """None if the program is unknown, or if the command only asks where a program is, or prints a message."""
    words = program_words(command.words)
    program = (words[0].value or "").rpartition("/")[2] if words else ""
    if not program or program in _LOOKUPS or _is_lookup(command) or _is_message(command):
        return None
    known = (program, *(word.value for word in words[1:] if word.value is not None))
    programs = (0, *(index for index in range(1, len(known)) if known[index - 1] in _STARTERS))
    texts = tuple(("".join(piece or "" for piece in word.pieces), word.place.line) for word in words)
    return RunCommand(known, programs, texts, command.line)


def _is_lookup(command: Command) -> bool:
    return "command" in command.values and bool({"-v", "-V"} & set(command.values))


def _is_message(command: Command) -> bool:
    if not command.values or command.values[0] not in _MESSAGES:
        return False
    # Text for the standard error is a message, too.
    return not command.is_redirected or (bool(command.redirections) and all(one.operator == ">&" for one in command.redirections))


def _remove_messages(lines: list[str], commands: tuple[Command, ...]) -> None:
    """Replace the words of messages by blanks. Words with substitutions stay, because these contain commands."""
    for command in commands:
        for word in command.words[1:] if _is_message(command) else ():
            if word.value is not None:
                _blank(lines, word)


def _blank(lines: list[str], word: Word) -> None:
    index, start = word.place.line - 1, word.place.column - 1
    line, end = lines[index], start + word.place.length
    lines[index] = line[:start] + " " * (min(end, len(line)) - start) + line[end:]


def _nested(script: Script, count: int) -> Iterator[int]:
    if not script.is_readable:
        yield from range(count)
        return
    for first, last in script.documents:
        yield from range(first - 1, min(last, count))


def _call_lines(script: Script) -> Iterator[int]:
    for command in script.commands:
        words = program_words(command.words)
        if words and words[0].value == SCRIPT:
            yield from range(command.line, max(word.place.line for word in command.words) + 1)
