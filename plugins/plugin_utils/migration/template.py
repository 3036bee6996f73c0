# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a launch template needs for the new family beside the user data: image, volumes, metadata service, key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..data import kubernetes_versions
from ..images import VERSION, Variant, parameter, variant_of_parameter, variant_of_type

_ROOT = "/dev/xvda"
_UBUNTU_ROOT = "/dev/sda1"
_DATA = "/dev/xvdb"
_IMDS = "https://docs.aws.amazon.com/eks/latest/userguide/al2023.html"
_VOLUMES = "https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-ami-bottlerocket.html"


@dataclass(frozen=True)
class Change:
    """A field of the launch template that the new family needs otherwise.

    before, after: plain data in the form of the EC2 API, None if the field is absent. reason: why. source: where the fact comes from.
    """

    field: str
    before: Any
    after: Any
    reason: str
    source: str | None = None

    def plain(self) -> dict[str, Any]:
        """The change as the module returns it."""
        return {"field": self.field, "before": self.before, "after": self.after, "reason": self.reason, "source": self.source}


@dataclass(frozen=True)
class Families:
    """before: C(al2), C(ubuntu) or None if it is unknown. after: the new one."""

    before: str | None
    after: str


def variant(settings: Mapping[str, Any] | None, version: str | None) -> Variant:
    """The image that the launch template needs. version: of the cluster, such as C(1.33); None if only the old image can tell it."""
    given = settings or {}
    named = variant_of_parameter(str(given.get("ImageId", "")))
    if named is not None:
        return replace(named, version=version or named.version)
    return variant_of_type(str(given.get("InstanceType", "")), version)


def changes(settings: Mapping[str, Any], families: Families, needed: Variant) -> tuple[Change, ...]:
    """The fields to change, in the order of the report. Without a field, nothing is said about it.

    settings: of the launch template, in the form of the EC2 API. needed: the image.
    """
    return tuple(
        (
            *_image(settings.get("ImageId"), families, needed),
            *_volumes(settings.get("BlockDeviceMappings"), families),
            *_metadata(settings.get("MetadataOptions"), families),
            *_key(settings.get("KeyName"), families),
        )
    )


def _image(image: Any, families: Families, needed: Variant) -> Iterator[Change]:
    """Nothing without an image: EKS chooses it, and next_steps says how."""
    if not image:
        return
    name = kubernetes_versions()["families"][families.after]["name"]
    path = parameter(families.after, needed)
    reason = f"the new user data needs an image of {name}: this one of AWS, or your own"
    unknown = [text for text, value in ((VERSION, needed.version), ("ARCHITECTURE", needed.architecture)) if value is None]
    if unknown:
        reason += f"; replace {' and '.join(unknown)}"
    yield Change("ImageId", image, f"resolve:ssm:{path}", reason)


def _volumes(mappings: Any, families: Families) -> Iterator[Change]:
    if not isinstance(mappings, list) or not all(isinstance(one, Mapping) for one in mappings):
        return
    names = [one.get("DeviceName") for one in mappings]
    root = next((name for name in (_UBUNTU_ROOT, _ROOT) if name in names), None)
    if families.after == "bottlerocket" and root is not None:
        yield _data_volume(mappings, names, root)
    elif root == _UBUNTU_ROOT and _ROOT not in names and families.before != "al2":
        reason = f"the root volume is {_ROOT}; with {_UBUNTU_ROOT}, a second volume is attached, and the root volume keeps its default size"
        yield Change("BlockDeviceMappings", mappings, _renamed(mappings, root, _ROOT), reason)


def _data_volume(mappings: list[Any], names: list[Any], root: str) -> Change:
    reason = f"Bottlerocket keeps images, containers and logs on {_DATA}; the volume of the operating system is small and read-only"
    if _DATA in names:
        return Change("BlockDeviceMappings", mappings, None, f"{reason}; choose one of the two volumes for it, and remove {root}", _VOLUMES)
    return Change("BlockDeviceMappings", mappings, _renamed(mappings, root, _DATA), reason, _VOLUMES)


def _renamed(mappings: list[Any], old: str, new: str) -> list[Any]:
    return [{**one, "DeviceName": new} if one.get("DeviceName") == old else dict(one) for one in mappings]


def _metadata(options: Any, families: Families) -> Iterator[Change]:
    given = dict(options) if isinstance(options, Mapping) else {}
    if given.get("HttpEndpoint") == "disabled":
        reason = "the node reads its user data and its credentials from the instance metadata service"
        yield Change("MetadataOptions.HttpEndpoint", "disabled", "enabled", reason, _IMDS)
    if "HttpTokens" not in given:
        reason = "the default of the image changes: programs that use IMDSv1 get no answer"
        yield Change("MetadataOptions.HttpTokens", None, "required", reason, _IMDS)
    if "HttpPutResponseHopLimit" not in given:
        reason = (
            "the default can change with the image: with 1, pods without the network of the host cannot reach the service; with 2, they can"
        )
        yield Change("MetadataOptions.HttpPutResponseHopLimit", None, None, f"{reason}; set what your pods need", _IMDS)


def _key(key: Any, families: Families) -> Iterator[Change]:
    if key and families.after == "bottlerocket":
        reason = "Bottlerocket has no SSH server outside of its admin container, which is off by default"
        yield Change("KeyName", key, None, reason, "https://bottlerocket.dev/en/os/latest/#/concepts/access/")
