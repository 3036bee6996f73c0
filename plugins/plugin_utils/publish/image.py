# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which node an image is for, by the names that AWS, Canonical and Bottlerocket give to images and to their parameters.

Sources: L(images of Amazon Linux,https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html), L(of
Bottlerocket,https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id-bottlerocket.html), L(of
Windows,https://docs.aws.amazon.com/eks/latest/userguide/retrieve-windows-ami-id.html) and L(of
Ubuntu,https://documentation.ubuntu.com/aws/aws-how-to/kubernetes/).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..data import instance_types, kubernetes_versions
from ..errors import Problem
from ..kubernetes import parse_version
from .model import Image

RESOLVE = "resolve:ssm:"
"""The begin of an image that EC2 looks up in a parameter of Systems Manager at each launch."""

_VERSION = r"(?P<version>1\.\d+)"
_NAMES = (
    ("al2023", re.compile(rf"amazon-eks-node-al2023-\w+-\w+-{_VERSION}-.*")),
    ("al2", re.compile(rf"amazon-eks-(?:gpu-|arm64-)?node-{_VERSION}-.*")),
    ("bottlerocket", re.compile(rf"bottlerocket-aws-k8s-{_VERSION}-.*")),
    ("ubuntu", re.compile(rf"ubuntu-eks(?:-pro)?/k8s_{_VERSION}/.*")),
    ("windows", re.compile(rf"Windows_Server-\d+-English-\w+-EKS_Optimized(?:-{_VERSION})?.*")),
)
_PARAMETERS = (
    ("al2023", re.compile(rf"/aws/service/eks/optimized-ami/{_VERSION}/amazon-linux-2023/.*")),
    ("al2", re.compile(rf"/aws/service/eks/optimized-ami/{_VERSION}/amazon-linux-2(?:-arm64|-gpu)?/.*")),
    ("bottlerocket", re.compile(rf"/aws/service/bottlerocket/aws-k8s-{_VERSION}[\w-]*/.*")),
    ("ubuntu", re.compile(rf"/aws/service/canonical/ubuntu/eks(?:-pro)?/[\d.]+/{_VERSION}/.*")),
    ("windows", re.compile(rf"/aws/service/ami-windows-latest/Windows_Server-\d+-English-\w+-EKS_Optimized(?:-{_VERSION})?/.*")),
)
_SKEW = 3
"""Minor versions by which kubelet can be older than the API server (L(version skew policy,
https://kubernetes.io/releases/version-skew-policy/))."""


@dataclass(frozen=True)
class Node:
    """The node that an image is for. family, version: None if the name does not tell. is_windows: what EC2 says about every image."""

    family: str | None
    version: tuple[int, int] | None = None
    is_windows: bool | None = None


def is_known_parameter(image: str) -> bool:
    """Whether the name of the parameter tells the family, so that its value does not matter."""
    return image.startswith(RESOLVE) and node_of(image, None).family is not None


def node_of(image: str, found: Image | None) -> Node:
    """The node of an image. image: the ID or the parameter in the launch template. found: the image itself, if it could be read."""
    named = _matched(_PARAMETERS, image.removeprefix(RESOLVE)) if image.startswith(RESOLVE) else None
    if named is not None or found is None:
        return named or Node(None)
    is_windows = found.platform == "windows"
    one = _matched(_NAMES, found.name) or Node("windows" if is_windows else None)
    return Node(one.family, one.version, is_windows)


def _matched(table: tuple[tuple[str, re.Pattern[str]], ...], name: str) -> Node | None:
    for family, pattern in table:
        if match := pattern.fullmatch(name):
            return Node(family, parse_version(match["version"]), family == "windows")
    return None


def problems_of(
    node: Node, found: Image | None, family: str, version: tuple[int, int] | None, instance_type: str, path: str
) -> list[Problem]:
    """What is wrong with an image for user data of C(family). version: of the cluster. path: of the image."""
    name = _name(family)
    shown = found.name or found.id if found is not None else "the parameter"
    result = []
    if node.family not in (None, family):
        message = f"is an image of {_name(node.family)} ({shown}), and the user data is for {name}"
        fix = f"use an image of {name}, or change family of the node group"
        result.append(Problem("launch_template.wrong_image", path, message, fix=fix))
    elif node.is_windows is False and family == "windows":
        message = f"is not an image of Windows ({shown}), and the user data is for {name}"
        result.append(Problem("launch_template.wrong_image", path, message, fix=f"use an image of {name}"))
    if node.version is not None and version is not None:
        result += _version_problems(node.version, version, shown, path)
    needed = instance_types().get(instance_type, {}).get("architecture")
    if found is not None and needed and found.architecture and needed != found.architecture:
        message = f"is for {found.architecture} ({shown}), and {instance_type} has {needed}"
        fix = f"use an image for {needed}, or another InstanceType"
        result.append(Problem("launch_template.wrong_image", path, message, fix=fix))
    return result


def _version_problems(image: tuple[int, int], cluster: tuple[int, int], shown: str, path: str) -> list[Problem]:
    texts = [f"{major}.{minor}" for major, minor in (image, cluster)]
    if image > cluster:
        message = f"has kubelet {texts[0]} ({shown}), which is newer than the cluster with {texts[1]}"
        return [Problem("launch_template.version_skew", path, message, fix="upgrade the cluster first, or use an older image")]
    if cluster[1] - image[1] > _SKEW:
        message = f"has kubelet {texts[0]} ({shown}), which is more than {_SKEW} minor versions older than the cluster with {texts[1]}"
        return [Problem("launch_template.version_skew", path, message, fix=f"use an image for Kubernetes {texts[1]}")]
    return []


def _name(family: str | None) -> str:
    return str(kubernetes_versions()["families"][family]["name"])
