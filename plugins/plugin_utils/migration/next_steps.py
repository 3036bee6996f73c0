# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do after a migration, in order: with a launch template, or with a new managed node group."""

from __future__ import annotations

from ..data import kubernetes_versions
from ..images import Variant, ami_types, parameter
from .model import Migration

_OTHER_IMAGE = "Set ImageId to use another one. For a managed node group, set it to the ID of an image."
_CHECK = "Launch one instance, and check that its node is Ready and that its pods run."


def next_steps(found: Migration, needed: Variant, *, chooses_image: bool, publish: str | None = None) -> list[str]:
    """The steps as sentences. needed: the image. chooses_image: whether the launch template names an image.

    publish: the path of the variables of the playbook publish, which writes the new user data to the launch template.
    """
    first = [] if found.user_data is not None else ["Make the decisions, and run the migration again."]
    is_managed = found.node_group.get("mode") == "managed" and not chooses_image
    return first + (_managed(found, needed, publish) if is_managed else _own_image(found, needed, publish, chooses_image=chooses_image))


def _published(publish: str, what: str, image: str = "") -> list[str]:
    run = f"ansible-playbook nodebootstrap.eks.publish -e @{publish}"
    return [f"Review {publish}.{image}", f"Run {run} --check --diff, and then without --check. It creates {what}, and replaces no node."]


def _own_image(found: Migration, needed: Variant, publish: str | None, *, chooses_image: bool) -> list[str]:
    family = found.report.family_after
    path = parameter(family, needed)
    if publish:
        named = f" Its image is the one of the parameter {path} of Systems Manager. {_OTHER_IMAGE}"
        missing = f" Set ImageId to an image of {_name(family)}, such as resolve:ssm:{path}."
        first = _published(publish, "a new version of the launch template", named if chooses_image else missing)
    else:
        image = f"an image of {_name(family)}, such as the one of the parameter {path} of Systems Manager"
        made = "with the playbook publish: it takes the new cluster and node group, and"
        first = [f"Create a launch template, or a new version of the old one, {made} {image}."]
    return [
        *first,
        _CHECK,
        "Use the version in the Auto Scaling group or the node group, and replace the nodes: launch new ones, then drain the old ones.",
    ]


def _managed(found: Migration, needed: Variant, publish: str | None) -> list[str]:
    """EKS cannot change the C(amiType) of a node group (L(UpdateNodegroupVersion,
    https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateNodegroupVersion.html) has no such field)."""
    family = found.report.family_after
    new = "a launch template without an image, with the new user data and the other fields of the old one"
    types = " or ".join(ami_types(family, needed)) or f"of {_name(family)}"
    return [
        "The AMI type of a managed node group cannot change, so create a new group. Keep the launch template of the old group until the "
        "last step.",
        *(_published(publish, new) if publish else [f"Create {new}, with the playbook publish (create: true)."]),
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
