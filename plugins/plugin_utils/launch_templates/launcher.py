# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What launches the instances of a launch template: an Auto Scaling group, a managed node group of EKS, or Karpenter.

Sources: L(launch templates of managed node groups,https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html), and the tags
that EKS, eksctl and Karpenter set on the instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_GROUP = "the node group of EKS"
REFUSED: Mapping[str, tuple[str, str]] = {
    "IamInstanceProfile": (f"{_GROUP} sets it from its node role", f"remove it, and set the node role of {_GROUP}"),
    "InstanceInitiatedShutdownBehavior": ("EKS controls when instances stop and end", "remove it"),
    "InstanceRequirements": ("EKS does not support it", f"remove it, and set the instance types of {_GROUP}"),
    "HibernationOptions": ("EKS controls when instances stop and end", "remove it"),
}
"""Fields that a launch template of a managed node group cannot have, each with the reason and the fix."""

_OF_KARPENTER = ("karpenter.sh/nodepool", "karpenter.sh/provisioner-name", "karpenter.sh/nodeclaim", "karpenter.k8s.aws/ec2nodeclass")
_OF_EKS = ("eks:nodegroup-name",)
_TYPE_OF_EKSCTL = "alpha.eksctl.io/nodegroup-type"
_WITH_IMAGE, _WITHOUT_IMAGE = "managed_custom_ami", "managed"


@dataclass(frozen=True)
class Launcher:
    """mode: the C(mode) of the node group. reason: a clause. is_assumption: whether no tag and no field shows it."""

    mode: str
    reason: str
    is_assumption: bool = False


def launcher_of(settings: Mapping[str, Any]) -> Launcher:
    """What launches the instances. settings: the fields of the launch template, in the form of the EC2 API."""
    tags = dict(_tags(settings.get("TagSpecifications")))
    managed = _WITH_IMAGE if settings.get("ImageId") else _WITHOUT_IMAGE
    for name in tags:
        if name in _OF_KARPENTER:
            return Launcher("karpenter", f"the tag {name} is set by Karpenter")
        if name in _OF_EKS:
            return Launcher(managed, f"the tag {name} is set by managed node groups of EKS")
    kind = tags.get(_TYPE_OF_EKSCTL)
    if kind in ("managed", "unmanaged"):
        return Launcher(managed if kind == "managed" else "self_managed", f"eksctl set the tag {_TYPE_OF_EKSCTL} to {kind}")
    for name in REFUSED:
        if settings.get(name):
            return Launcher("self_managed", f"it has {name}, which EKS refuses for a managed node group")
    return Launcher(managed, "no tag shows what launches the instances, and without IamInstanceProfile only EKS gives them a role", True)


def _tags(specifications: Any) -> Iterator[tuple[str, str]]:
    for one in specifications if isinstance(specifications, list) else ():
        tags = one.get("Tags") if isinstance(one, Mapping) else None
        for tag in tags if isinstance(tags, list) else ():
            if isinstance(tag, Mapping):
                yield str(tag.get("Key")), str(tag.get("Value"))
