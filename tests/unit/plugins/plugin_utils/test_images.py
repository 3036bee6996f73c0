# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of the images of EKS, against the examples in its documentation."""

from __future__ import annotations

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.images import (
    Variant,
    ami_types,
    parameter,
    variant_of_parameter,
    variant_of_type,
)

_EKS = "/aws/service/eks/optimized-ami"
_BOTTLEROCKET = "/aws/service/bottlerocket"


@pytest.mark.parametrize(
    ("old", "family", "new"),
    [
        (
            f"{_EKS}/1.29/amazon-linux-2/recommended/image_id",
            "al2023",
            f"{_EKS}/1.29/amazon-linux-2023/x86_64/standard/recommended/image_id",
        ),
        (
            f"resolve:ssm:{_EKS}/1.30/amazon-linux-2-arm64/recommended/image_id",
            "al2023",
            f"{_EKS}/1.30/amazon-linux-2023/arm64/standard/recommended/image_id",
        ),
        (
            f"{_EKS}/1.31/amazon-linux-2-gpu/recommended/image_id",
            "al2023",
            f"{_EKS}/1.31/amazon-linux-2023/x86_64/nvidia/recommended/image_id",
        ),
        (
            f"{_EKS}/1.31/amazon-linux-2-gpu/recommended/image_id",
            "bottlerocket",
            f"{_BOTTLEROCKET}/aws-k8s-1.31-nvidia/x86_64/latest/image_id",
        ),
        (f"{_EKS}/1.29/amazon-linux-2-arm64/recommended", "bottlerocket", f"{_BOTTLEROCKET}/aws-k8s-1.29/arm64/latest/image_id"),
    ],
)
def test_the_parameter_of_the_new_image_follows_from_the_old_one(old: str, family: str, new: str) -> None:
    found = variant_of_parameter(old)
    assert found is not None
    assert parameter(family, found) == new


@pytest.mark.parametrize("name", ["ami-0123456789abcdef0", "", f"{_EKS}/1.33/amazon-linux-2023/x86_64/standard/recommended/image_id"])
def test_another_image_tells_nothing(name: str) -> None:
    assert variant_of_parameter(name) is None


@pytest.mark.parametrize(
    ("instance_type", "types"),
    [
        ("m5.large", ["AL2023_x86_64_STANDARD"]),
        ("m7g.large", ["AL2023_ARM_64_STANDARD"]),
        ("g5.xlarge", ["AL2023_x86_64_NVIDIA"]),
        ("g5g.xlarge", ["AL2023_ARM_64_NVIDIA"]),
        ("g4ad.xlarge", ["AL2023_x86_64_STANDARD", "AL2023_ARM_64_STANDARD"]),
        ("inf2.xlarge", ["AL2023_x86_64_NEURON"]),
        ("", ["AL2023_x86_64_STANDARD", "AL2023_ARM_64_STANDARD"]),
    ],
)
def test_the_type_of_the_group_follows_from_the_instance_type(instance_type: str, types: list[str]) -> None:
    assert ami_types("al2023", variant_of_type(instance_type)) == types


def test_a_type_that_is_not_built() -> None:
    assert ami_types("bottlerocket", Variant(architecture="x86_64", accelerator="neuron")) == []
