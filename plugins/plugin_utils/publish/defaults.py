# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of a launch template that is created: what a node needs, and what is safe, unless the input sets another value."""

from __future__ import annotations

from typing import Any

from .model import Image

METADATA = {"HttpEndpoint": "enabled", "HttpTokens": "required", "HttpPutResponseHopLimit": 2}
"""Only sessions with a token (IMDSv2), which pods without the network of the host can also open."""

_ROOT = {"ubuntu": "/dev/sda1", "windows": "/dev/sda1"}
_GIB = 80
"""Size of the volume for container images, as eksctl has it. An image with a larger volume keeps its size."""


def fields(family: str, mode: str, cluster: str | None, image: Image | None) -> dict[str, Any]:
    """The fields in the form of the EC2 API. image: if the launch template has one, and it could be read."""
    root = (image.root_device if image is not None else "") or _ROOT.get(family, "/dev/xvda")
    size = max(_GIB, image.root_size if image is not None else 0)
    volumes = [_volume(root, size)]
    if family == "bottlerocket":
        # The root volume has only the operating system; containers are on the other one.
        volumes = [_volume(root, None), _volume("/dev/xvdb", _GIB)]
    found: dict[str, Any] = {"BlockDeviceMappings": volumes, "MetadataOptions": dict(METADATA)}
    if mode == "self_managed" and cluster:
        # The cloud controller of EKS finds the instances of a cluster by this tag.
        tags = [{"Key": f"kubernetes.io/cluster/{cluster}", "Value": "owned"}]
        found["TagSpecifications"] = [{"ResourceType": "instance", "Tags": tags}]
    return found


def _volume(device: str, size: int | None) -> dict[str, Any]:
    sized = {} if size is None else {"VolumeSize": size}
    return {"DeviceName": device, "Ebs": {"DeleteOnTermination": True, "Encrypted": True, "VolumeType": "gp3", **sized}}
