# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides whether a launch template needs a new version: only if the meaning of its user data, or a field, changes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..difference.compare import Difference, differences
from ..errors import Problem
from ..readers.user_data import read
from . import fields
from .entries import Entry
from .fields import FieldChange
from .model import Template, Tree

USER_DATA = "UserData"
NOTHING, VERSION, TEMPLATE = "nothing", "version", "template"
"""What is created."""


@dataclass(frozen=True)
class Decision:
    """What to create.

    sent: the fields of the request. inherit: whether EC2 copies fields that are not sent from the version that was read.
    data: all fields that the launch template then has. replaces_user_data: whether its meaning changes. user_data: what changes for a node.
    fields: the other fields that change.
    """

    creates: str
    sent: Mapping[str, Any]
    inherit: bool
    data: Mapping[str, Any]
    replaces_user_data: bool
    user_data: tuple[Difference, ...]
    fields: tuple[FieldChange, ...]

    @property
    def reasons(self) -> list[str]:
        """The changed parts in a few words, for progress messages: the user data, and the names of fields."""
        names = sorted({_top(change.path) for change in self.fields})
        return ["user data", *names] if self.replaces_user_data else names


def base_fields(template: Template | None, tree: Tree) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fields of the latest version without the user data, and the paths of fields that boto3 cannot send."""
    if template is None:
        return {}, ()
    data, lost = fields.sendable({name: value for name, value in template.data.items() if name != USER_DATA}, tree)
    return data, tuple(sorted({*lost, *template.unknown}))


def user_data_of(template: Template | None) -> bytes:
    """The user data of the latest version, b'' without any."""
    text = str(template.data.get(USER_DATA) or "") if template is not None else ""
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return text.encode("utf-8", "replace")


def decide(entry: Entry, template: Template | None, wanted: Mapping[str, Any], stored: bytes, family: str, tree: Tree) -> Decision:
    """What to create, so that the launch template has the fields C(wanted), and user data that means the same as C(stored)."""
    base, unknown = base_fields(template, tree)
    old = user_data_of(template)
    found = _differences(old, stored, family) if old != stored else ()
    # Text that does nothing is still not the same as none, after which EKS or the image decides.
    replaces = bool(found) or bool(old) != bool(stored)
    changed = tuple(fields.changes(base, wanted))
    data = {**wanted, **({USER_DATA: base64.b64encode(stored).decode("ascii")} if stored else {})}
    if template is None:
        return Decision(TEMPLATE, data, False, data, replaces, found, changed)
    removes = fields.removes(base, wanted) or bool(old and not stored)
    kept = {_top(path) for path in unknown}
    sent = {name: value for name, value in data.items() if name not in kept}
    return Decision(VERSION if replaces or changed else NOTHING, sent, not removes, data, replaces, found, changed)


def _differences(old: bytes, new: bytes, family: str) -> tuple[Difference, ...]:
    """What changes for a node. The same settings in the form of another family are a change: the new image does not read the old form."""
    found = differences(old, new, family)
    before, after = read(old).family, read(new).family
    if before == after:
        return tuple(found)
    return (Difference("node_group.family", before, after), *(one for one in found if one.path != "node_group.family"))


def lost_fields(entry: Entry, template: Template, decision: Decision, tree: Tree) -> Problem | None:
    """The problem with a new version that would lose fields that boto3 does not know, and that no program would report.

    EC2 copies whole fields from the source version. So a field can only stay if nothing is removed, and if nothing in it changes.
    """
    _base, unknown = base_fields(template, tree)
    if not unknown or decision.creates == NOTHING:
        return None
    touched = {_top(change.path) for change in decision.fields}
    # EC2 copies volumes without their snapshots.
    touched |= {"BlockDeviceMappings"} if any("SnapshotId" in (one.get("Ebs") or {}) for one in _volumes(template)) else set()
    lost = [path for path in unknown if not decision.inherit or _top(path) in touched]
    if not lost:
        return None
    message = f"version {template.latest} of {template.name} has fields that this version of boto3 does not know, and would lose: "
    return Problem("launch_template.unknown_field", f"{entry.path}.launch_template", message + ", ".join(lost), fix="update boto3")


def missing(decision: Decision, template: Template, tree: Tree) -> list[str]:
    """The paths of fields that a version does not have as decided, for a check of the version that was created."""
    base, _unknown = base_fields(template, tree)
    wanted = {name: value for name, value in decision.data.items() if name != USER_DATA}
    paths = [change.path for change in fields.changes(base, wanted) if change.after is not None]
    is_same = user_data_of(template) == base64.b64decode(str(decision.data.get(USER_DATA, "")))
    return paths if is_same else [USER_DATA, *paths]


def _top(path: str) -> str:
    """The name of the field that a path begins with."""
    return path.partition(".")[0].partition("[")[0]


def _volumes(template: Template) -> list[Mapping[str, Any]]:
    return list(template.data.get("BlockDeviceMappings") or ())
