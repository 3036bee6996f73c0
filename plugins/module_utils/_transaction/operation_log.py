# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operation lists of a transaction and how they are written. C(recovery.PROGRAM) reads them.

A list is a file. Each line is an operation, and each field of it ends with US (octal 037), which a shell splits without eval. A line break
inside a field is written as RS (octal 036). The first line names the format, the last one shows that the list is complete.
"""

from __future__ import annotations

import os
from typing import Iterable, NamedTuple, Tuple

US, RS = "\x1f", "\x1e"

FORMAT = "1"
"""A recover program rejects lists of another format."""

Operation = Tuple[str, ...]
"""The name of an operation and its operands."""


class Command(NamedTuple):
    """A program to run without a shell. C(argv): its words; the first is an absolute path, or is found in PATH.

    C(service): a systemctl call that waits. The recovery at boot adds --no-block, because systemd waits for the recovery.
    C(optional): a failure is ignored. C(unless_boot): the recovery at boot skips it.
    C(undo_at_boot): it cannot run during boot (it waits for units or for the network), so the recovery at boot undoes the transaction
    instead of finishing it. It has no meaning for commands that undo.
    """

    argv: Tuple[str, ...]
    service: bool = False
    optional: bool = False
    unless_boot: bool = False
    undo_at_boot: bool = False

    def __str__(self) -> str:
        return " ".join(self.argv)


def flags(command: Command) -> str:
    """The field that says how to run a command."""
    return ("s" if command.service else "") + ("o" if command.optional else "") + ("b" if command.unless_boot else "")


def run(number: int, command: Command) -> Operation:
    """The operation that runs a command. C(number): identifies the command in reports."""
    return ("run", flags(command), str(number), *command.argv)


def check(command: Command) -> None:
    """Raise ValueError for a command that cannot be written. This is a programming error, which users do not see."""
    words = command.argv
    if not words or not all(isinstance(word, str) for word in words) or not words[0]:
        raise ValueError(f"not a command: {words!r}")
    if any(character in word for word in words for character in (US, RS, "\0")):
        raise ValueError(f"a word of the command {words[0]} contains a separator or NUL")


def encode(operations: Iterable[Operation]) -> bytes:
    """The bytes of a list."""
    lines = [("nodebootstrap", FORMAT), *operations, ("end",)]
    return b"".join(os.fsencode("".join(_field(field) for field in line)) + b"\n" for line in lines)


def _field(text: str) -> str:
    return text.replace("\n", RS) + US
