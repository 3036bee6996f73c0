# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lists of a transaction hold and how they are written: C(_recover.py) has the program that reads them.

A list is a file of lines, a line is an operation, and each of its fields ends with US (octal 037): a shell splits that without eval.
A line break inside a field is written as RS (octal 036). The first line names the format, the last one says that nothing is missing.
"""

from __future__ import annotations

import os
from typing import NamedTuple

US, RS = "\x1f", "\x1e"

FORMAT = "1"
"""A recover program refuses lists of another format."""


class Command(NamedTuple):
    """A program to run, no shell in between: C(argv) is its words, the first found by PATH or an absolute path.

    C(service): C(argv) is a systemctl call that waits; the boot path adds --no-block, because systemd waits for the boot path.
    C(optional): a failure is ignored. C(unless_boot): the boot path leaves it out.
    C(undo_at_boot): it cannot run during boot (it waits for units or for the network), so the boot path undoes the whole transaction
    instead of finishing it. Meaningless among the commands of the way back.
    """

    argv: tuple
    service: bool = False
    optional: bool = False
    unless_boot: bool = False
    undo_at_boot: bool = False

    def __str__(self):
        return " ".join(self.argv)


def flags(command):
    """The field of a line that says how to run a command."""
    return ("s" if command.service else "") + ("o" if command.optional else "") + ("b" if command.unless_boot else "")


def run(number, command):
    """The operation that runs a command; C(number) is how the program speaks of it."""
    return ("run", flags(command), str(number), *command.argv)


def check(command):
    """ValueError for a command that cannot be written down. Programmers see it, not users."""
    words = command.argv
    if not words or not all(isinstance(word, str) for word in words) or not words[0]:
        raise ValueError(f"not a command: {words!r}")
    if any(character in word for word in words for character in (US, RS, "\0")):
        raise ValueError(f"a word of the command {words[0]} holds a separator or NUL")


def encode(operations):
    """The bytes of a list."""
    lines = [("nodebootstrap", FORMAT), *operations, ("end",)]
    return b"".join(os.fsencode("".join(_field(field) for field in line)) + b"\n" for line in lines)


def _field(text):
    return text.replace("\n", RS) + US
