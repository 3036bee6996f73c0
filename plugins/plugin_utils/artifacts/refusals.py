# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals that families share: fields a family or a mode has no place for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from ..errors import Problem, Problems, SpecError
from ..model.own_fields import label_path
from ..model.spec import NodeSpec
from .boot_labels import split_labels

ALWAYS_ALLOWED = (
    "name",
    "family",
    "role_arn",
    "mode",
    "strategy",
    "instance",
    "labels",
    "taints",
    "user_data_files",
    "user_data_precedence",
    "allow_secrets_in_user_data",
)
"""Fields that describe the group or steer rendering; no family refuses them as such."""

_OWN_FIELDS = {"nodeadm": "al2023", "bottlerocket": "bottlerocket", "windows": "windows", "ubuntu": "ubuntu"}


def given_at(spec: NodeSpec, path: str) -> Any:
    """What the user wrote at the dotted C(path) of the node group; None when nothing (an empty map or list is nothing)."""
    node: Any = spec.given
    for key in path.split("."):
        node = node.get(key) if isinstance(node, Mapping) else None
    return None if node in ({}, []) else node


def refuse(spec: NodeSpec, reasons: Mapping[str, tuple[str, str]], problems: Problems) -> None:
    """Report every given field of C(reasons): dotted path → (why the family cannot express it, what to do)."""
    for path, (reason, fix) in reasons.items():
        if given_at(spec, path) is not None and not problems.touches(f"node_group.{path}"):
            problems.add("family.unsupported_field", f"node_group.{path}", reason, fix=fix)


def refuse_foreign_fields(spec: NodeSpec, problems: Problems) -> None:
    """Report fields that belong to another family."""
    for field, family in _OWN_FIELDS.items():
        if family != spec.family and given_at(spec, field) is not None:
            problems.add(
                "family.foreign_field", f"node_group.{field}", f"has no effect on {spec.family}", fix=f"remove it, or set family: {family}"
            )


def refuse_unless_managed_can(spec: NodeSpec, allowed: Iterable[str], problems: Problems) -> None:
    """With C(mode: managed), report every given field outside C(allowed) (dotted paths; a path allows all below it)."""
    if not spec.managed:
        return
    permitted = (*ALWAYS_ALLOWED, *allowed)
    for path in sorted(given_paths(spec.given, permitted)):
        if not problems.touches(f"node_group.{path}"):
            problems.add(
                "mode.unsupported_field",
                f"node_group.{path}",
                "cannot be added to a managed node group whose user data EKS completes",
                fix="set mode: managed_custom_ami (a launch template with your own AMI), or remove it",
            )
    for key, value in spec.labels.items():
        if "{" in value:
            problems.add(
                "labels.known_at_boot_only",
                label_path(spec.given, key),
                "is resolved on the node, and EKS sets the labels of a managed node group",
                value=value,
                fix="use a fixed value" + ("" if spec.family in ("bottlerocket", "windows") else ", or set mode: managed_custom_ami"),
            )


def refuse_dns_of_managed(spec: NodeSpec, problems: Problems) -> None:
    """With C(mode: managed), report C(cluster.dns_ips) if EKS would certainly set other name servers."""
    if spec.managed and not spec.dns_of_eks and not spec.dns_of_group and spec.cluster.service_cidr is not None:
        problems.add(
            "mode.unsupported_dns_ips",
            "cluster.dns_ips",
            f"cannot be set for a managed node group of {spec.family}, whose user data EKS completes with host 10 of the service CIDR",
            value=list(spec.dns_ips),
            fix="set mode: managed_custom_ami (a launch template with your own AMI), or remove it",
        )


def given_paths(given: Mapping[str, Any], permitted: Iterable[str]) -> Iterable[str]:
    """The given fields outside C(permitted): dotted paths, where a path permits everything below it."""
    permitted = tuple(permitted)
    for field, value in given.items():
        if field in permitted or value in ({}, []):
            continue
        partly = [path for path in permitted if path.startswith(f"{field}.")]
        if not partly:
            yield field
        elif isinstance(value, Mapping):
            yield from (f"{field}.{name}" for name in value if f"{field}.{name}" not in partly and value[name] not in ({}, []))


def refuse_managed(spec: NodeSpec) -> None:
    """Raise C(SpecError) for a managed node group: its nodes are set up by EKS when they boot."""
    if spec.mode == "karpenter":
        refuse_karpenter(spec)
    if spec.managed:
        fix = "put the user data of this group into its launch template (filter user_data), or set mode: managed_custom_ami"
        message = "cannot be applied to a live node: EKS completes the user data, and sets up the node when it boots"
        raise SpecError([Problem("live.managed_group", "node_group.mode", message, value=spec.mode, fix=fix)])


def refuse_karpenter(spec: NodeSpec) -> NoReturn:
    """Raise C(SpecError) for a node group of Karpenter, whose nodes Karpenter sets up when they boot."""
    fix = "put the user data of this group into its EC2NodeClass (filter karpenter_manifests), or set mode: self_managed"
    message = "cannot be applied to a live node: Karpenter completes the user data, and sets up the node when it boots"
    raise SpecError([Problem("live.managed_group", "node_group.mode", message, value=spec.mode, fix=fix)])


def refuse_boot_labels(spec: NodeSpec, problems: Problems) -> None:
    """Report label values that a script on the node would have to fill in."""
    if spec.managed:
        return  # every such label of a managed group is reported already
    for key, value in split_labels(spec.labels)[1].items():
        problems.add(
            "labels.known_at_boot_only",
            label_path(spec.given, key),
            f"is known only on the node, and {spec.family} cannot resolve it before kubelet registers",
            value=value,
            fix="use a fixed value, or set the label on the Node object after the node has joined",
        )


def refuse_outpost(spec: NodeSpec, problems: Problems) -> None:
    """Report a local cluster on Outposts."""
    if spec.cluster.outpost:
        problems.add(
            "cluster.unsupported_outpost",
            "cluster.outpost",
            f"{spec.family} nodes cannot join a local cluster on Outposts",
            fix="set family: al2023 or al2",
        )


def refuse_apply(spec: NodeSpec, reason: str) -> NoReturn:
    """Raise C(SpecError): the action C(apply) works through a shell and files. The family's role does it another way."""
    fix = f"use the role nodebootstrap.eks.eks_node_{spec.family}"
    raise SpecError([Problem("live.wrong_family", "node_group.family", reason, value=spec.family, allowed="al2, al2023, ubuntu", fix=fix)])
