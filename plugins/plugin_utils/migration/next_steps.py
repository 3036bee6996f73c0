# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do after a migration, in order: with a launch template, or with a new managed node group."""

from __future__ import annotations

from ..data import kubernetes_versions
from ..images import Variant, ami_types, parameter
from .model import Migration

_CHECK = "Launch one instance, and check that its node is Ready and that its pods run."


def next_steps(found: Migration, needed: Variant, *, chooses_image: bool) -> list[str]:
    """The steps as sentences. needed: the image. chooses_image: whether the launch template names an image."""
    first = [] if found.user_data is not None else ["Make the decisions, and run the migration again."]
    is_managed = found.node_group.get("mode") == "managed" and not chooses_image
    return first + (_managed(found, needed) if is_managed else _own_image(found, needed))


def _own_image(found: Migration, needed: Variant) -> list[str]:
    family = found.report.family_after
    return [
        "Create a launch template, or a new version of the old one, with the playbook publish: it takes the new cluster and "
        f"node group, and an image of {_name(family)}, such as the one of the parameter {parameter(family, needed)} of Systems Manager.",
        _CHECK,
        "Use the version in the Auto Scaling group or the node group, and replace the nodes: launch new ones, then drain the old ones.",
    ]


def _managed(found: Migration, needed: Variant) -> list[str]:
    """EKS cannot change the C(amiType) of a node group (L(UpdateNodegroupVersion,
    https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateNodegroupVersion.html) has no such field)."""
    family = found.report.family_after
    types = " or ".join(ami_types(family, needed)) or f"of {_name(family)}"
    return [
        "The AMI type of a managed node group cannot change, so create a new group. Keep the launch template of the old group until the "
        "last step.",
        "Create a launch template without an image, with the playbook publish (create: true) and the other fields of the old one.",
        f"Create a managed node group with the AMI type {types} and this launch template. Copy the subnets, the node role, the scaling, "
        "the labels, the taints and the tags of the old group.",
        "Check that its nodes are Ready and that pods run on them.",
        "Drain the nodes of the old group: kubectl drain --ignore-daemonsets --selector eks.amazonaws.com/nodegroup=OLD.",
        "Delete the old group and its launch template.",
        f"With Karpenter, do not create a group: set amiSelectorTerms of the EC2NodeClass to an image of {_name(family)}, and userData to "
        "the new user data. Karpenter then replaces its nodes.",
    ]


def _name(family: str) -> str:
    return str(kubernetes_versions()["families"][family]["name"])
