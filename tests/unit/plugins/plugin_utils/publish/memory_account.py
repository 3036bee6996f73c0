# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An account in memory: launch templates with the rules of EC2 for source versions, images and managed node groups."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import botocore.session

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws.launch_templates import FoundImage, FoundTemplate, _tree

REGION = "eu-west-1"
TREE = _tree(
    botocore.session.get_session()
    .get_service_model("ec2")
    .operation_model("CreateLaunchTemplateVersion")
    .input_shape.members["LaunchTemplateData"]
)
AL2023 = FoundImage("ami-al2023", "amazon-eks-node-al2023-x86_64-standard-1.32-v20260101", "", "x86_64", "/dev/xvda", 20)
AL2 = FoundImage("ami-al2", "amazon-eks-node-1.32-v20260101", "", "x86_64", "/dev/xvda", 20)
OWN = FoundImage("ami-own", "golden-2026", "", "x86_64", "/dev/xvda", 200)
IMAGES = {image.id: image for image in (AL2023, AL2, OWN)}


@dataclass
class StoredTemplate:
    """A launch template. versions: data and description of each. hidden: fields of each version that boto3 does not know."""

    id: str
    name: str
    versions: list[tuple[dict[str, Any], str]]
    hidden: list[dict[str, Any]] = field(default_factory=list)
    default: int = 1
    tags: dict[str, str] = field(default_factory=dict)


@dataclass
class MemoryAccount:
    """An account with one region. node_groups: by the name of the cluster and of the group. calls, sent: what was written.

    denied: why images and node groups cannot be read."""

    templates: list[StoredTemplate] = field(default_factory=list)
    node_groups: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    sent: list[Mapping[str, Any]] = field(default_factory=list)
    denied: str = ""
    region: str = REGION

    def in_region(self, region: str | None) -> MemoryAccount:
        assert region in (None, self.region)
        return self

    def fields(self) -> Mapping[str, Any]:
        return TREE

    def find(self, name: str) -> StoredTemplate | None:
        return next((one for one in self.templates if name in (one.id, one.name)), None)

    def read(self, name: str) -> FoundTemplate | None:
        one = self.find(name)
        if one is None:
            return None
        data, description = copy.deepcopy(one.versions[-1])
        hidden = tuple(one.hidden[-1]) if one.hidden else ()
        return FoundTemplate(one.id, one.name, one.default, len(one.versions), one.tags, data, description, hidden)

    def image(self, name: str) -> tuple[FoundImage | None, str]:
        return (None, self.denied) if self.denied else (IMAGES.get(name), "")

    def node_group(self, cluster: str, name: str) -> tuple[dict[str, Any] | None, str]:
        return (None, self.denied) if self.denied else (self.node_groups.get((cluster, name)), "")

    def create(self, name: str, data: Mapping[str, Any], description: str, tags: Mapping[str, str]) -> list[str]:
        self.calls.append("create")
        self.sent.append(data)
        self.templates.append(
            StoredTemplate(f"lt-{len(self.templates)}", name, [(copy.deepcopy(dict(data)), description)], tags=dict(tags))
        )
        return []

    def create_version(self, template: Any, data: Mapping[str, Any], description: str, *, inherit: bool) -> tuple[int, list[str]]:
        self.calls.append("version")
        self.sent.append(data)
        one = self.find(template.id)
        assert one is not None
        # As the API reference of CreateLaunchTemplateVersion says: parameters of the request replace inherited ones.
        source = one.versions[template.latest - 1][0] if inherit else {}
        one.versions.append((copy.deepcopy({**source, **data}), description))
        if one.hidden:
            one.hidden.append(dict(one.hidden[-1]) if inherit else {})
        return len(one.versions), []

    def set_default(self, template: Any, number: int) -> None:
        self.calls.append("default")
        one = self.find(template.id)
        assert one is not None
        one.default = number
