# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explains user data of any family: what the node does when it boots, and what results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..bootstrap_calls import SCRIPT
from ..formats.user_data_kind import KIND_NAMES
from ..readers.model import NotUnderstood, Place, UserData
from ..readers.user_data import is_too_long, read
from . import al2023, bootstrap_script, bottlerocket, cloud_init, outcome, windows
from .al2023 import DROP_INS
from .cloud_init import WRITTEN_BY
from .model import Explanation, Unknown
from .outcome import Machine

_SCRIPTS = ("shell", "boothook", "cloud-config", "jinja")
_SCRIPT_FAMILIES = ("al2", "ubuntu")


def explain(data: str | bytes, family: str | None = None, machine: Machine | None = None) -> Explanation:
    """The explanation of C(data). It accepts everything and raises nothing.

    family: for user data that does not tell it: additions that EKS completes, and calls of C(/etc/eks/bootstrap.sh).
    """
    found = read(data, family if family in _SCRIPT_FAMILIES else None)
    result = _of_family(found, data, found.family or family, machine or Machine())
    known = {item.where for item in result.unknown if item.where is not None}
    lost = [_unknown(item) for item in found.not_understood if item.place not in known]
    broken = [Unknown(problem.path or "the document", problem.message) for problem in found.problems]
    return replace(result, unknown=(*result.unknown, *_mentions(found, result), *broken, *lost))


def _of_family(found: UserData, data: str | bytes, family: str | None, machine: Machine) -> Explanation:
    kinds = {part.kind for part in found.parts}
    if not found.parts or is_too_long(found) or kinds == {"ec2launch"}:
        return Explanation((), (), {}, {}, {}, ())
    if kinds == {"toml"} and len(found.parts) == 1:
        return bottlerocket.explain(found, machine)
    if kinds == {"powershell"} and len(found.parts) == 1:
        return windows.explain(found)
    if family == "al2023":
        return al2023.explain(found, data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"), machine)
    if any(SCRIPT in part.text for part in found.parts):
        return bootstrap_script.explain(found, family if family in _SCRIPT_FAMILIES else None, machine)
    unknown: list[Unknown] = []
    steps = cloud_init.steps(found, unknown)
    files = cloud_init.files(found)
    kinds_of_node = kinds & {"archive", "include", "jinja"}
    if kinds_of_node:
        names = ", ".join(sorted(KIND_NAMES[kind] for kind in kinds_of_node))
        unknown.append(Unknown("kubelet", f"it is not known whether the result of {names} configures and starts it"))
    elif family is None:
        unknown.append(Unknown("the family", "the user data does not tell it; pass the family"))
    else:
        unknown.append(Unknown("kubelet", "nothing in this user data starts it: EKS adds that part, or the image has it"))
    unknown += outcome.used_placeholders(file.content for file in files)
    return Explanation(tuple(steps), tuple(files), {}, {}, {}, tuple(unknown))


def _mentions(found: UserData, result: Explanation) -> Iterator[Unknown]:
    """The paths of configuration in user data: what a command does with such a file is not known."""
    paths = {file.path: "user data mentions this file, and can change it" for file in result.files if file.written_by != WRITTEN_BY}
    if any(step.stage == "nodeadm" for step in result.timeline):
        paths[DROP_INS] = "user data mentions this folder; nodeadm merges its files over user data, so settings and files can differ"
    written = {file.path for file in found.files}
    for part in found.parts:
        for number, line in enumerate(part.text.split("\n"), 1) if part.kind in _SCRIPTS else ():
            for path, why in paths.items():
                at = line.find(path)
                if at >= 0 and not any(line.startswith(one, at) for one in written):
                    yield Unknown(path, why, Place(part.index, number, at + 1, len(path)))


def _unknown(item: NotUnderstood) -> Unknown:
    line = item.text.strip().partition("\n")[0]
    return Unknown(line if len(line) <= _WIDEST else f"{line[:_WIDEST]}…", item.reason, item.place)


_WIDEST = 120
"""Characters of a text that was not understood."""
