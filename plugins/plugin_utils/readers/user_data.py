# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads user data of any tool into the form of the input. What it does not understand, it returns verbatim."""

from __future__ import annotations

from dataclasses import replace

from . import document
from .meaning import Meaning
from .model import NotUnderstood, Place, ReadPart, UserData

LONGEST = 1 << 17
"""Characters of a document whose meaning is read: eight times the limit of EC2, because user data can be compressed."""
TOO_LONG = f"has more than {LONGEST:,} characters, and is not read"


def read(data: str | bytes, family: str | None = None) -> UserData:
    """The parts of C(data), what they mean, and what was not understood. It accepts everything and raises nothing.

    family: C(al2) or C(ubuntu), for a call of C(/etc/eks/bootstrap.sh) that both have. Other families are told by the text.
    """
    found = document.structure(data)
    if not found.parts:
        return found
    if is_too_long(found):
        text = found.document
        place = Place(None, 1, 1, len(text.partition("\n")[0]))
        return replace(found, not_understood=(*found.not_understood, NotUnderstood(place, text, TOO_LONG)))
    meaning = meaning_of(found.parts, family)
    return replace(
        found,
        family=meaning.family,
        cluster=meaning.cluster,
        node_group=({"family": meaning.family} if meaning.family else {}) | meaning.node_group,
        not_understood=(*found.not_understood, *meaning.not_understood),
    )


def is_too_long(found: UserData) -> bool:
    """Whether only the structure of a document is read."""
    return len(found.document) > LONGEST


def meaning_of(parts: tuple[ReadPart, ...], family: str | None) -> Meaning:
    """What parts mean together. family: C(al2) or C(ubuntu), for scripts that call C(/etc/eks/bootstrap.sh)."""
    kinds = {part.kind for part in parts}
    if "nodeconfig" in kinds:
        from . import al2023

        return al2023.read(parts)
    if kinds == {"toml"}:
        from . import bottlerocket

        return bottlerocket.read(parts)
    if kinds == {"ec2launch"}:
        meaning = Meaning("windows")
        for part in parts:
            meaning.lose(part, part.text, "is a list of tasks for EC2Launch")
        return meaning
    if kinds == {"powershell"}:
        from . import windows

        return windows.read(parts)
    from . import bootstrap_script, run_commands

    if any(bootstrap_script.calls(part) for part in parts):
        return bootstrap_script.read(parts, family)
    if (commands := run_commands.with_script(parts)) is not None:
        meaning = bootstrap_script.read(commands.parts, family)
        meaning.not_understood = [commands.in_document(item) for item in meaning.not_understood]
        return meaning
    # Additions to user data that EKS completes, for any family with cloud-init.
    meaning = Meaning(family)
    meaning.keep(parts)
    return meaning
