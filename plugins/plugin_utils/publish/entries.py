# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The input C(templates): which launch template each node group has, and which of its fields are set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import Problems, joined
from ..model.plain import INVALID
from ..model.schema import boolean, map_of, mapping, record, text

OPTION = "templates"

_CHARACTERS = "3 to 128 of A-Z a-z 0-9 ( ) . - / _"
_NAME = text(pattern=r"[a-zA-Z0-9().\-/_]{3,128}", what="the name or the ID of a launch template", allowed=_CHARACTERS)
_ENTRY = record(
    {
        "group": text(),
        "cluster": text(),
        "launch_template": _NAME,
        "region": text(pattern=r"[a-z]{2}(-[a-z]+)+-\d", what="the name of a region", allowed="a name such as eu-west-1"),
        "create": boolean,
        "set_default": boolean,
        "fields": mapping,
        "tags": map_of(text(empty=True)),
    },
    required={"group": "the name of a node group", "launch_template": "a name, or an ID such as lt-0123456789abcdef0"},
)


@dataclass(frozen=True)
class Entry:
    """The launch template of one node group.

    path: in the input, such as C(templates[0]). fields: in the form of the EC2 API, null for a field to remove. tags: of a template
    that is created. set_default: None if the task decides.
    """

    path: str
    group: str
    launch_template: str
    cluster: str | None = None
    region: str | None = None
    create: bool = False
    set_default: bool | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)

    def field_path(self, name: str) -> str:
        """The place in the input that sets a field of the launch template."""
        return joined(f"{self.path}.fields", name)


def entries(given: Sequence[Any], problems: Problems) -> list[Entry]:
    """The valid entries. Report everything else."""
    found = [one for index, item in enumerate(given) if (one := _entry(item, joined(OPTION, index), problems)) is not None]
    if not given:
        fix = "list the groups with their launch templates; for the playbook publish, in eks_node_publish_templates"
        problems.add("input.missing_field", OPTION, "is empty", fix=fix)
    return found


def _entry(item: Any, path: str, problems: Problems) -> Entry | None:
    before = len(problems)
    checked = _ENTRY(item, path, problems)
    if checked is INVALID or len(problems) > before:
        return None
    one = Entry(path, **checked)
    if one.create and one.launch_template.startswith("lt-"):
        problems.add("input.conflict", f"{path}.create", "needs a name, because EC2 chooses the ID", fix="set launch_template to a name")
    elif one.tags and not one.create:
        message = "is used only when a launch template is created"
        problems.add("input.conflict", f"{path}.tags", message, fix="set create: true, or remove it")
    if "UserData" in one.fields:
        message = f"is rendered from the node group {one.group}"
        problems.add("input.conflict", one.field_path("UserData"), message, fix="remove it, and use user_data of the node group")
    return one
