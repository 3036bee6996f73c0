# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a launch template of nodes must contain, and must not contain: rules of EC2, and of EKS for managed node groups.

Sources: L(launch templates of managed node groups,https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html),
L(LaunchTemplateSpecification,https://docs.aws.amazon.com/eks/latest/APIReference/API_LaunchTemplateSpecification.html), L(Capacity
Blocks,https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html), and L(resolve:ssm with managed node
groups,https://github.com/aws/containers-roadmap/issues/1951).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import Problem
from ..launch_templates import metadata_options
from ..launch_templates.launcher import REFUSED
from ..model.fields import AMI_TYPES
from .entries import Entry
from .image import RESOLVE
from .model import Template

MANAGED = ("managed", "managed_custom_ami")
_GROUP = "the node group of EKS"


def problems_of(entry: Entry, mode: str, data: Mapping[str, Any]) -> Iterator[Problem]:
    """The problems of a launch template, errors and warnings. data: all fields that it will have."""
    yield from _managed(entry, data) if mode in MANAGED else _self_managed(entry, data)
    yield from _image(entry, mode, data)
    yield from _network(entry, data)
    name = metadata_options.FIELD
    yield from metadata_options.problems_of(data.get(name), entry.field_path(name), entry.fields.get(name) or ())


def _forbidden(entry: Entry, name: str, reason: str, fix: str) -> Problem:
    shown = name if name in entry.fields else f"{name} of the launch template"
    message = f"{shown} is refused for a managed node group: {reason}"
    cure = fix.replace("remove it", f"set {name} in fields to null", 1) if name not in entry.fields else fix
    return Problem("launch_template.forbidden_field", entry.field_path(name), message, fix=cure)


def _managed(entry: Entry, data: Mapping[str, Any]) -> Iterator[Problem]:
    for name, (reason, fix) in REFUSED.items():
        if data.get(name):
            yield _forbidden(entry, name, reason, fix)
    if any(one.get("SubnetId") for one in _interfaces(data)):
        fix = f"leave SubnetId out of NetworkInterfaces, and set the subnets of {_GROUP}"
        yield _forbidden(entry, "NetworkInterfaces", f"SubnetId is set, and {_GROUP} chooses the subnets", fix)
    yield from _market(entry, data)


def _market(entry: Entry, data: Mapping[str, Any]) -> Iterator[Problem]:
    market = data.get("InstanceMarketOptions")
    if not market:
        return
    name = "InstanceMarketOptions"
    if market.get("MarketType") != "capacity-block":
        yield _forbidden(entry, name, f"{_GROUP} has its own capacity type", f"remove it, and set capacityType of {_GROUP} to SPOT")
    elif missing := [field for field in ("CapacityReservationSpecification", "InstanceType") if not data.get(field)]:
        message = f"MarketType capacity-block also needs {' and '.join(missing)}"
        yield Problem("launch_template.missing_field", entry.field_path(name), message, fix=f"add {' and '.join(missing)} to fields")


def _self_managed(entry: Entry, data: Mapping[str, Any]) -> Iterator[Problem]:
    if not data.get("IamInstanceProfile"):
        message = "is missing: without the role of an instance profile, a node cannot join the cluster"
        fix = "set it to {Name: NAME} or {Arn: ARN}"
        yield Problem("launch_template.missing_field", entry.field_path("IamInstanceProfile"), message, fix=fix)


def _image(entry: Entry, mode: str, data: Mapping[str, Any]) -> Iterator[Problem]:
    image, path = data.get("ImageId"), entry.field_path("ImageId")
    if mode == "managed" and image:
        message = "is set, but with mode: managed, EKS chooses the image by its amiType, and adds its own user data"
        fix = "set ImageId in fields to null, or use mode: managed_custom_ami (a node group of EKS cannot switch between the two)"
        yield Problem("launch_template.forbidden_image", path, message, fix=fix)
    elif mode != "managed" and not image:
        message = f"is missing, and mode: {mode} needs an image"
        fix = "set it" if mode == "self_managed" else "set it, or use mode: managed, with which EKS chooses the image"
        yield Problem("launch_template.missing_field", path, message, fix=fix)
    elif mode == "managed_custom_ami" and str(image).startswith(RESOLVE):
        message = "names a parameter, which the service role of managed node groups cannot read"
        yield Problem("launch_template.unreadable_parameter", path, message, fix="set the ID of an image")


def _network(entry: Entry, data: Mapping[str, Any]) -> Iterator[Problem]:
    names = [name for name in ("SecurityGroupIds", "SecurityGroups") if data.get(name)]
    if names and _interfaces(data):
        message = "cannot be combined with NetworkInterfaces, whose security groups are in their field Groups"
        fix = f"set Groups of the network interfaces, and {names[0]} in fields to null"
        yield Problem("launch_template.security_groups_twice", entry.field_path(names[0]), message, fix=fix)


def _interfaces(data: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return [one for one in data.get("NetworkInterfaces") or () if isinstance(one, Mapping)]


def node_group_problems(
    entry: Entry, mode: str, family: str, data: Mapping[str, Any], template: Template | None, group: Mapping[str, Any]
) -> Iterator[Problem]:
    """The problems with a managed node group that exists. group: as EKS describes it."""
    path, kind = f"{entry.path}.group", str(group.get("amiType", ""))
    used = (group.get("launchTemplate") or {}).get("id")
    if not used:
        message = f"{entry.group} exists without a launch template of yours, and cannot get one"
        yield Problem("launch_template.other_node_group", path, message, fix="create a new node group with this launch template")
    elif template is None or used != template.id:
        message = f"{entry.group} exists with the launch template {used}, and cannot get another one"
        yield Problem("launch_template.other_node_group", path, message, fix=f"set launch_template to {used}, or create a new node group")
    if mode == "managed" and kind == "CUSTOM":
        message = f"{entry.group} exists with an image of its own (amiType CUSTOM), and the node group here has mode: managed"
        yield Problem("launch_template.other_node_group", path, message, fix="use mode: managed_custom_ami, or create a new node group")
    elif mode == "managed_custom_ami" and kind not in ("", "CUSTOM"):
        message = f"{entry.group} exists with amiType {kind}, and cannot get an image of its own"
        yield Problem("launch_template.other_node_group", path, message, fix="use mode: managed, or create a new node group")
    elif kind in AMI_TYPES and AMI_TYPES[kind][0] != family:
        message = f"{entry.group} exists with amiType {kind}, and the user data is for {family}"
        fix = f"set family: {AMI_TYPES[kind][0]}, or create a new node group"
        yield Problem("launch_template.other_node_group", path, message, fix=fix)
    if group.get("instanceTypes") and data.get("InstanceType"):
        message = f"is set, and {entry.group} exists with instance types of its own ({', '.join(map(str, group['instanceTypes']))})"
        fix = "set InstanceType in fields to null"
        yield Problem("launch_template.forbidden_field", entry.field_path("InstanceType"), message, fix=fix)
