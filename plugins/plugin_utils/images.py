# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of the images that AWS builds for EKS: parameters of Systems Manager, and types of managed node groups.

Sources: L(images of Amazon Linux,https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html), L(of
Bottlerocket,https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id-bottlerocket.html) and L(amiType,
https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .data import instance_types
from .model.fields import AMI_TYPES

_AL2 = re.compile(r"/aws/service/eks/optimized-ami/(?P<version>\d+\.\d+)/amazon-linux-2(?P<variant>-arm64|-gpu)?/[\w./-]+")
_ACCELERATORS = ((re.compile(r"(?:p\d|g4dn|g5|g6|gr6)"), "nvidia"), (re.compile(r"(?:inf|trn)\d"), "neuron"))
"""Instance types with devices of Nvidia or AWS, by the begin of their names. The devices of g4ad are from another vendor."""
VERSION = "VERSION"
"""Stands for the Kubernetes version if it is unknown."""


@dataclass(frozen=True)
class Variant:
    """Which image a node needs. version: such as C(1.33), or None. architecture: C(x86_64) or C(arm64), or None if it is unknown.

    accelerator: C(standard), C(nvidia) or C(neuron).
    """

    version: str | None = None
    architecture: str | None = None
    accelerator: str = "standard"


def variant_of_parameter(name: str) -> Variant | None:
    """The variant that a parameter of an Amazon Linux 2 image names, also after C(resolve:ssm:). None for another text."""
    found = _AL2.fullmatch(name.removeprefix("resolve:ssm:"))
    if found is None:
        return None
    kind = found["variant"]
    return Variant(found["version"], "arm64" if kind == "-arm64" else "x86_64", "nvidia" if kind == "-gpu" else "standard")


def variant_of_type(instance_type: str, version: str | None = None) -> Variant:
    """The variant for an instance type, such as C(m5.large)."""
    row = instance_types().get(instance_type, {})
    accelerator = next((name for begin, name in _ACCELERATORS if begin.match(instance_type)), "standard")
    return Variant(version, row.get("architecture"), accelerator)


def parameter(family: str, variant: Variant) -> str:
    """The parameter with the ID of the newest image. It contains C(VERSION) if the version is unknown, and C(ARCHITECTURE) likewise."""
    version, architecture = variant.version or VERSION, variant.architecture or "ARCHITECTURE"
    if family == "bottlerocket":
        suffix = "-nvidia" if variant.accelerator == "nvidia" else ""
        return f"/aws/service/bottlerocket/aws-k8s-{version}{suffix}/{architecture}/latest/image_id"
    return f"/aws/service/eks/optimized-ami/{version}/amazon-linux-2023/{architecture}/{variant.accelerator}/recommended/image_id"


def ami_types(family: str, variant: Variant) -> list[str]:
    """The C(amiType) of a managed node group. Several if the architecture is unknown, none if AWS builds no such image."""
    architectures = {"arm64": ("ARM_64",), "x86_64": ("x86_64",)}.get(variant.architecture or "", ("x86_64", "ARM_64"))
    ending = {"standard": "_STANDARD" if family == "al2023" else ""}.get(variant.accelerator, f"_{variant.accelerator.upper()}")
    names = [f"{family.upper()}_{architecture}{ending}" for architecture in architectures]
    return [name for name in names if name in AMI_TYPES]
