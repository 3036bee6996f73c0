# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a launch template needs beside the user data, and the next steps."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration import template
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration.migrate import migrate
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration.next_steps import next_steps
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

IMDS = {"HttpTokens": "required", "HttpPutResponseHopLimit": 1}
FULL: dict[str, Any] = {"InstanceType": "m7g.large", "MetadataOptions": IMDS}
CALL = "#!/bin/bash\n/etc/eks/bootstrap.sh demo\n"
WITHOUT_CALL = "#!/bin/bash\nsysctl -w vm.max_map_count=262144\n"


def changed(settings: dict[str, Any], after: str = "al2023", before: str | None = "al2", version: str | None = "1.33") -> dict[str, Any]:
    families = template.Families(before, after)
    found = template.changes({**FULL, **settings}, families, template.variant({**FULL, **settings}, version))
    assert all(one.reason for one in found)
    return {one.field: one.after for one in found}


def volume(name: str, size: int = 80) -> dict[str, Any]:
    return {"DeviceName": name, "Ebs": {"VolumeSize": size, "Encrypted": True}}


def test_nothing_changes_without_a_reason() -> None:
    assert changed({"BlockDeviceMappings": [volume("/dev/xvda")], "KeyName": "ops", "EbsOptimized": True}) == {}


@pytest.mark.parametrize(
    ("image", "version", "place"),
    [
        ("ami-1", "1.33", "1.33/amazon-linux-2023/arm64/standard"),
        ("ami-1", None, "VERSION/amazon-linux-2023/arm64/standard"),
        (
            "resolve:ssm:/aws/service/eks/optimized-ami/1.29/amazon-linux-2-gpu/recommended/image_id",
            None,
            "1.29/amazon-linux-2023/x86_64/nvidia",
        ),
        (
            "resolve:ssm:/aws/service/eks/optimized-ami/1.29/amazon-linux-2/recommended/image_id",
            "1.31",
            "1.31/amazon-linux-2023/x86_64/standard",
        ),
    ],
)
def test_the_image(image: str, version: str | None, place: str) -> None:
    path = f"resolve:ssm:/aws/service/eks/optimized-ami/{place}/recommended/image_id"
    assert changed({"ImageId": image}, version=version) == {"ImageId": path}


@pytest.mark.parametrize(
    ("before", "after", "names", "expected"),
    [
        ("ubuntu", "al2023", ["/dev/sda1", "/dev/sdf"], ["/dev/xvda", "/dev/sdf"]),
        (None, "al2023", ["/dev/sda1"], ["/dev/xvda"]),
        ("ubuntu", "bottlerocket", ["/dev/sda1"], ["/dev/xvdb"]),
        ("al2", "bottlerocket", ["/dev/xvda", "/dev/sdf"], ["/dev/xvdb", "/dev/sdf"]),
    ],
)
def test_the_volume_that_grows_is_the_one_that_was_meant(before: str | None, after: str, names: list[str], expected: list[str]) -> None:
    found = changed({"BlockDeviceMappings": [volume(name) for name in names]}, after, before)["BlockDeviceMappings"]
    assert found == [volume(name) for name in expected]


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [("al2", "al2023", ["/dev/sda1"]), ("ubuntu", "al2023", ["/dev/sdf"]), ("al2", "bottlerocket", ["/dev/xvdb"])],
)
def test_volumes_that_mean_the_same_stay(before: str, after: str, names: list[str]) -> None:
    assert "BlockDeviceMappings" not in changed({"BlockDeviceMappings": [volume(name) for name in names]}, after, before)


def test_two_volumes_for_one_are_a_choice() -> None:
    found = changed({"BlockDeviceMappings": [volume("/dev/xvda"), volume("/dev/xvdb")]}, "bottlerocket")
    assert found["BlockDeviceMappings"] is None


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (None, {"HttpTokens": "required", "HttpPutResponseHopLimit": None}),
        ({"HttpTokens": "optional", "HttpPutResponseHopLimit": 2}, {}),
        ({**IMDS, "HttpEndpoint": "disabled"}, {"HttpEndpoint": "enabled"}),
    ],
)
def test_the_metadata_service(options: Any, expected: dict[str, Any]) -> None:
    assert changed({"MetadataOptions": options}) == {f"MetadataOptions.{name}": value for name, value in expected.items()}


def test_a_key_without_effect() -> None:
    assert changed({"KeyName": "ops"}, "bottlerocket") == {"KeyName": None}


@pytest.mark.parametrize("mappings", [None, "x", [3], [{}], [{"DeviceName": None}]])
def test_a_wrong_form_is_left_alone(mappings: Any) -> None:
    assert changed({"BlockDeviceMappings": mappings}, "bottlerocket") == {}


@pytest.mark.parametrize(
    ("text", "chooses_image", "fact"),
    [
        (CALL, True, "/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/arm64/standard/recommended/image_id"),
        (CALL, False, "/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/arm64/standard/recommended/image_id"),
        (WITHOUT_CALL, True, "/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/arm64/standard/recommended/image_id"),
        (WITHOUT_CALL, False, "AL2023_ARM_64_STANDARD"),
    ],
)
@pytest.mark.parametrize("publish", [None, "out/web.publish.yml"])
def test_a_group_whose_image_is_chosen_by_eks_is_replaced(text: str, *, chooses_image: bool, fact: str, publish: str | None) -> None:
    steps = next_steps(migrate(text, COMPLETE), template.variant(FULL, "1.33"), chooses_image=chooses_image, publish=publish)
    assert [fact in step for step in steps].count(True) == 1
    assert any(f"nodebootstrap.eks.publish -e @{publish}" in step for step in steps) == (publish is not None)


def test_decisions_come_first() -> None:
    decided, open_ = (next_steps(migrate(CALL, cluster), template.variant(None, None), chooses_image=True) for cluster in (COMPLETE, None))
    assert open_[1:] == decided
