# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals that families share: fields a family or a mode has no place for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import Problems, joined
from ..model.spec import NodeSpec

ALWAYS_ALLOWED = (
    "name",
    "family",
    "mode",
    "strategy",
    "instance",
    "labels",
    "taints",
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
    for path in sorted(_given_paths(spec.given, permitted)):
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
                joined("node_group.labels", key),
                "is resolved on the node, and EKS sets the labels of a managed node group",
                value=value,
                fix="give a fixed value, or set mode: managed_custom_ami",
            )


def refuse_dns_of_managed(spec: NodeSpec, problems: Problems) -> None:
    """With C(mode: managed), report C(cluster.dns_ips) if EKS would certainly set other name servers."""
    if spec.managed and not spec.dns_of_eks and not spec.dns_of_group and spec.cluster.service_cidr is not None:
        problems.add(
            "mode.unsupported_dns_ips",
            "cluster.dns_ips",
            f"cannot be given to a managed node group of {spec.family}, whose user data EKS completes with host 10 of the service CIDR",
            value=list(spec.dns_ips),
            fix="set mode: managed_custom_ami (a launch template with your own AMI), or remove it",
        )


def _given_paths(given: Mapping[str, Any], permitted: Iterable[str]) -> Iterable[str]:
    permitted = tuple(permitted)
    for field, value in given.items():
        if field in permitted or value in ({}, []):
            continue
        partly = [path for path in permitted if path.startswith(f"{field}.")]
        if not partly:
            yield field
        elif isinstance(value, Mapping):
            yield from (f"{field}.{name}" for name in value if f"{field}.{name}" not in partly and value[name] not in ({}, []))
