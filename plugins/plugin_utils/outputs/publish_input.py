# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of the playbook publish for the launch template of a migrated user data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..formats import yaml
from ..launch_templates.launcher import launcher_of
from ..migration.model import Migration
from ..migration.template import Change

_HEAD = """\
# The new user data of the launch template {name}, and its other fields that change. Review them, then run:
#
#   ansible-playbook nodebootstrap.eks.publish -e @{path} --check --diff
#   ansible-playbook nodebootstrap.eks.publish -e @{path}
"""
_TEMPLATE = re.compile(r"\{[{%#]")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 63


def publish_input(
    name: str,
    region: str | None,
    path: str,
    found: Migration,
    cluster: Mapping[str, Any],
    changes: Sequence[Change],
    settings: Mapping[str, Any],
) -> str:
    """The file with the variables. name: of the launch template, or its ID. region: None for the one of the cluster. path: of the file.

    settings: of the launch template. changes: of its fields.

    A managed node group without an image of its own needs a new group, so it gets a launch template of its own, too.
    """
    group = {"name": _NOT_IN_NAMES.sub("-", name).strip("-_")[:_LONGEST_NAME] or "group", **found.node_group}
    launcher = launcher_of(settings)
    if "mode" not in group and launcher.mode != "managed":
        group["mode"] = launcher.mode
        reason = f"# mode is {'an assumption' if launcher.is_assumption else launcher.mode}: {launcher.reason}.\n"
    else:
        reason = ""
    item: dict[str, Any] = {"group": group["name"], "launch_template": name, **({"region": region} if region else {})}
    if is_replaced(found, settings):
        item |= {"launch_template": f"{name}-{found.report.family_after}", "create": True}
        item["fields"] = _with_changes({key: value for key, value in settings.items() if key != "ImageId"}, changes)
    elif fields := _with_changes({}, changes):
        item["fields"] = fields
    variables = {
        "eks_node_cluster": found.cluster or cluster,
        "eks_node_groups": [group],
        "eks_node_publish_templates": [item],
    }
    return _HEAD.format(name=name, path=path) + reason + yaml.dump(_plain(variables))


def is_replaced(found: Migration, settings: Mapping[str, Any]) -> bool:
    """Whether EKS chooses the image of the node group, so that the group cannot be migrated in place."""
    return found.node_group.get("mode") == "managed" and not settings.get("ImageId")


def _with_changes(fields: Mapping[str, Any], changes: Sequence[Change]) -> dict[str, Any]:
    """The fields with the changes that have a value. The others are for a person to decide."""
    result = dict(fields)
    for change in changes:
        name, _dot, member = change.field.partition(".")
        if change.after is not None:
            result[name] = {**result.get(name, {}), member: change.after} if member else change.after
    return result


def _plain(value: Any) -> Any:
    """Plain data, in which Ansible does not take text of scripts, such as C(${#names[@]}), for a template."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return yaml.Unsafe(value) if isinstance(value, str) and _TEMPLATE.search(value) else value
