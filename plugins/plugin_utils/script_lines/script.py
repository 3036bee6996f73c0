# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A script as the table of lines looks at it: its commands, and the lines in which there can be other things than commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ..bootstrap_calls import SCRIPT, is_shell, program_words
from ..formats import shell_reader
from ..formats.shell_reader import Command, Script, Word

_MESSAGES = ("echo", "printf", "logger")
"""Programs whose arguments are text for people, unless their output goes to a file or a program."""
_LOOKUPS = ("which", "type", "hash")
_LOOKUP_OPTIONS = frozenset({"-v", "-V"})
"""Options of C(command)."""
_STARTERS = ("xargs", "-exec", "-execdir")
"""Words behind which there is another program."""


@dataclass(frozen=True)
class RunCommand:
    """A command. words: the program without its directory, and the known arguments. written: all words. line: from 1."""

    words: tuple[str, ...]
    written: tuple[Word, ...]
    line: int

    def programs(self) -> Iterator[str]:
        """The program, and the programs that it starts in its turn."""
        yield self.words[0]
        yield from (word for before, word in pairwise(self.words) if before in _STARTERS)

    def texts(self) -> Iterator[tuple[str, int]]:
        """What is known of each word, with the line on which the word is."""
        yield from (("".join(piece or "" for piece in word.pieces), word.place.line) for word in self.written)


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
        commands: list[RunCommand] = []
        call_lines: list[int] = []
        for command in script.commands:
            words = program_words(command.words)
            program = words[0].value if words else None
            if program in _MESSAGES and _is_message(command):
                _remove_message(lines, command, script)
            elif program == SCRIPT:
                call_lines += range(command.line, max(word.place.line for word in command.words) + 1)
            elif program and program not in _LOOKUPS and not _is_lookup(command.words[: len(command.words) - len(words)]):
                known = [value for word in words[1:] if (value := word.value) is not None]
                commands.append(RunCommand((program.rpartition("/")[2], *known), words, command.line))
        return cls(text, tuple(lines), tuple(_nested(script, len(lines))), tuple(commands), frozenset(call_lines))


def _is_lookup(wrappers: tuple[Word, ...]) -> bool:
    """Whether the words in front of a program only ask where it is."""
    values = [word.value for word in wrappers]
    return "command" in values and not _LOOKUP_OPTIONS.isdisjoint(values)


def _is_message(command: Command) -> bool:
    """Whether people read the output. C(command): one of C(_MESSAGES)."""
    # Text for the standard error is a message, too.
    return not command.is_redirected or (bool(command.redirections) and all(one.operator == ">&" for one in command.redirections))


def _remove_message(lines: list[str], command: Command, script: Script) -> None:
    """Replace the words of a message by blanks. Words with substitutions stay, because these contain commands."""
    for word in command.words[1:] if script.is_readable else ():
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
