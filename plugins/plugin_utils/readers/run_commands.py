# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads C(runcmd) of a cloud-config that calls C(/etc/eks/bootstrap.sh), as Cluster API writes it.

cloud-init writes all commands of C(runcmd) into one script for C(/bin/sh), and runs it after the scripts of other parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..bootstrap_calls import SCRIPT
from ..errors import Problems, SpecError
from ..formats import cloud_config, shell
from .model import NotUnderstood, Place, ReadPart
from .places import place_of

_INDEX = -1
"""The index of a part that the document does not contain."""


@dataclass(frozen=True)
class RunCommands:
    """A document with C(runcmd) as a script of its own. parts: in the order in which they run; the last one is the script.

    origin: the part with C(runcmd). items: for each line of the script, the index of its command.
    """

    parts: tuple[ReadPart, ...]
    origin: ReadPart
    items: tuple[int, ...]

    def in_document(self, item: NotUnderstood) -> NotUnderstood:
        """C(item) with its place in the document."""
        return replace(item, place=self.place(item.place))

    def place(self, place: Place) -> Place:
        """The place in the document of a place in C(parts)."""
        return place if place.part != _INDEX else place_of(self.origin, f"runcmd[{self.items[place.line - 1]}]")


def with_script(parts: Sequence[ReadPart]) -> RunCommands | None:
    """The parts with C(runcmd) as a script, if one cloud-config calls the image's script there."""
    callers = [part for part in parts if part.kind == "cloud-config" and SCRIPT in part.text]
    if len(callers) != 1:
        return None
    [origin] = callers
    document = cloud_config.load(origin.text, origin.path, Problems())
    try:
        text, items = script_of(document.get("runcmd"))
    except SpecError:
        return None
    if SCRIPT not in text:
        return None
    rest = {key: value for key, value in document.items() if key != "runcmd"}
    kept = [replace(part, text=cloud_config.dump(rest)) if part is origin else part for part in parts if part is not origin or rest]
    script = ReadPart(_INDEX, "shell", None, text, 1, 0, 0, "", "")
    return RunCommands((*kept, script), origin, (*items, items[-1]))


def script_of(listed: object) -> tuple[str, tuple[int, ...]]:
    """The script that cloud-init makes of a list of commands, and for each of its lines the index of the command.

    Raises C(SpecError) for a command that a script cannot contain.
    """
    lines, items = ["#!/bin/sh"], [0]
    for index, item in enumerate(listed if isinstance(listed, list) else ()):
        text = shell.command([str(word) for word in item]) if isinstance(item, list) else str(item)
        added = text.rstrip("\n").split("\n")
        lines += added
        items += [index] * len(added)
    return "".join(f"{line}\n" for line in lines), tuple(items)
