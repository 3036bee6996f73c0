# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What publish refuses, and what it warns about: rules of EC2 and of EKS, images, node groups of EKS, and wrong input."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.user_data_kind import classify
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import publish_task
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.publish.memory_account import MemoryAccount, StoredTemplate
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

Golden = Callable[..., None]
NODE = {
    "ImageId": "ami-al2023",
    "IamInstanceProfile": {"Name": "node"},
    "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 2},
}
SAFE = {"MetadataOptions": NODE["MetadataOptions"]}
IMAGE = {**SAFE, "ImageId": "ami-al2023"}
MODES: dict[str, dict[str, Any]] = {"self_managed": NODE, "managed": SAFE, "managed_custom_ami": IMAGE}


def publish(account: MemoryAccount, *entries: Any, mode: str = "self_managed", groups: Any = None, **more: Any) -> dict[str, Any]:
    options = {
        "cluster": COMPLETE,
        "node_groups": groups or [{"name": "workers", "family": "al2023", "mode": mode, **more}],
        "eksctl_config": None,
        "sources": None,
        "templates": list(entries),
        "encoding": "plain",
        "files_dir": ".",
        "set_default": False,
    }
    return publish_task.publish_task(options, account, check_mode=False, diff=False, say=lambda _text: None, now=0.0)


def entry(**more: Any) -> dict[str, Any]:
    return {"group": "workers", "launch_template": "web", **more}


def account_with(data: dict[str, Any], **more: Any) -> MemoryAccount:
    return MemoryAccount([StoredTemplate("lt-1", "web", [(data, "")], **more)])


def refused(golden_message: Golden, account: MemoryAccount, *entries: Any, **more: Any) -> list[tuple[str, str]]:
    """(rule, path) of the problems. Nothing may have been written."""
    with pytest.raises(SpecError) as error:
        publish(account, *entries, **more)
    assert account.calls == []
    golden_message(error.value)
    return [(problem.rule.removeprefix("launch_template."), problem.path.removeprefix("templates[0].")) for problem in error.value.problems]


@pytest.mark.parametrize("mode", MODES)
def test_a_good_launch_template_has_no_problem(mode: str) -> None:
    account = account_with(MODES[mode])
    (row,) = publish(account, entry(), mode=mode, max_pods=20)["templates"]
    assert (row["notes"], row["created"]) == ([], "version")


CAPACITY_BLOCK = {
    "InstanceMarketOptions": {"MarketType": "capacity-block"},
    "CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": "cr-1"}},
    "InstanceType": "p5.48xlarge",
}


@pytest.mark.parametrize(
    ("mode", "fields", "expected"),
    [
        ("managed", {"IamInstanceProfile": {"Name": "node"}}, [("forbidden_field", "fields.IamInstanceProfile")]),
        ("managed", {"InstanceInitiatedShutdownBehavior": "stop"}, [("forbidden_field", "fields.InstanceInitiatedShutdownBehavior")]),
        ("managed", {"HibernationOptions": {"Configured": True}}, [("forbidden_field", "fields.HibernationOptions")]),
        ("managed", {"NetworkInterfaces": [{"DeviceIndex": 0, "SubnetId": "subnet-1"}]}, [("forbidden_field", "fields.NetworkInterfaces")]),
        ("managed", {"InstanceMarketOptions": {"MarketType": "spot"}}, [("forbidden_field", "fields.InstanceMarketOptions")]),
        ("managed", {"InstanceMarketOptions": {"MarketType": "capacity-block"}}, [("missing_field", "fields.InstanceMarketOptions")]),
        ("managed", {"ImageId": "ami-al2023"}, [("forbidden_image", "fields.ImageId")]),
        ("managed_custom_ami", {"IamInstanceProfile": {"Name": "node"}}, [("forbidden_field", "fields.IamInstanceProfile")]),
        ("managed_custom_ami", {"ImageId": None}, [("missing_field", "fields.ImageId")]),
        (
            "managed_custom_ami",
            {"ImageId": "resolve:ssm:/aws/service/eks/optimized-ami/1.32/amazon-linux-2023/x86_64/standard/recommended/image_id"},
            [("unreadable_parameter", "fields.ImageId")],
        ),
        ("self_managed", {"ImageId": None}, [("missing_field", "fields.ImageId")]),
        ("self_managed", {"IamInstanceProfile": None}, [("missing_field", "fields.IamInstanceProfile")]),
        (
            "self_managed",
            {"NetworkInterfaces": [{"DeviceIndex": 0}], "SecurityGroupIds": ["sg-1"]},
            [("security_groups_twice", "fields.SecurityGroupIds")],
        ),
        ("self_managed", {"MetadataOptions": {"HttpEndpoint": "disabled"}}, [("no_metadata", "fields.MetadataOptions")]),
        ("self_managed", {"ImageId": "ami-al2"}, [("wrong_image", "fields.ImageId")]),
        ("self_managed", {"ImageId": "ami-absent"}, [("wrong_image", "fields.ImageId")]),
        ("self_managed", {"InstanceType": "m7g.large"}, [("wrong_image", "fields.ImageId")]),
        (
            "self_managed",
            {"ImageId": "resolve:ssm:/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended/image_id"},
            [("version_skew", "fields.ImageId")],
        ),
        (
            "self_managed",
            {"ImageId": "resolve:ssm:/aws/service/bottlerocket/aws-k8s-1.28/x86_64/latest/image_id"},
            [("version_skew", "fields.ImageId"), ("wrong_image", "fields.ImageId")],
        ),
        ("managed", {"InstanceRequirements": {"VCpuCount": {"Min": 2}}}, [("forbidden_field", "fields.InstanceRequirements")]),
    ],
)
def test_what_a_launch_template_of_nodes_cannot_have(
    mode: str, fields: dict[str, Any], expected: list[tuple[str, str]], golden_message: Golden
) -> None:
    assert refused(golden_message, account_with(MODES[mode]), entry(fields=fields), mode=mode) == expected


@pytest.mark.parametrize(
    ("mode", "fields"),
    [
        ("managed", CAPACITY_BLOCK),
        ("managed", {"NetworkInterfaces": [{"DeviceIndex": 0, "Groups": ["sg-1"]}]}),
        ("managed", {"KeyName": "admin"}),
        ("self_managed", {"InstanceMarketOptions": {"MarketType": "spot"}}),
        ("self_managed", {"InstanceInitiatedShutdownBehavior": "terminate"}),
        (
            "self_managed",
            {"ImageId": "resolve:ssm:/aws/service/eks/optimized-ami/1.32/amazon-linux-2023/x86_64/standard/recommended/image_id"},
        ),
        (
            "self_managed",
            {"ImageId": "resolve:ssm:/aws/service/eks/optimized-ami/1.29/amazon-linux-2023/x86_64/standard/recommended/image_id"},
        ),
    ],
)
def test_what_a_launch_template_of_nodes_can_have(mode: str, fields: dict[str, Any]) -> None:
    account = account_with(MODES[mode])
    publish(account, entry(fields=fields), mode=mode)
    assert account.calls == ["version"]


def test_fields_of_the_existing_launch_template_are_refused_with_their_cures(golden_message: Golden) -> None:
    data = {**NODE, "HibernationOptions": {"Configured": True}, "InstanceMarketOptions": {"MarketType": "spot"}}
    found = refused(golden_message, account_with(data), entry(), mode="managed")
    assert sorted(path for _rule, path in found) == [
        "fields.HibernationOptions",
        "fields.IamInstanceProfile",
        "fields.ImageId",
        "fields.InstanceMarketOptions",
    ]
    cures = {path.removeprefix("fields."): None for _rule, path in found}
    account = account_with(data)
    publish(account, entry(fields=cures), mode="managed", max_pods=20)
    assert account.calls == ["version"]


@pytest.mark.parametrize(
    ("options", "fields", "expected"),
    [
        ({}, {}, ["launch_template.imdsv1"]),
        ({"HttpTokens": "optional", "HttpPutResponseHopLimit": 2}, {}, ["launch_template.imdsv1"]),
        ({"HttpTokens": "required"}, {}, ["launch_template.hop_limit"]),
        ({"HttpTokens": "required", "HttpPutResponseHopLimit": 1}, {}, ["launch_template.hop_limit"]),
        ({"HttpTokens": "required", "HttpPutResponseHopLimit": 2}, {}, []),
        ({}, {"HttpTokens": "required", "HttpPutResponseHopLimit": 1}, []),
        ({"HttpPutResponseHopLimit": 2}, {"HttpTokens": "optional"}, []),
    ],
)
def test_warnings_about_the_metadata_service(options: dict[str, Any], fields: dict[str, Any], expected: list[str]) -> None:
    """There is no warning about what the input sets itself."""
    given = entry(fields={"MetadataOptions": fields} if fields else {})
    (row,) = publish(account_with({**NODE, "MetadataOptions": options}), given)["templates"]
    assert [note["rule"] for note in row["notes"]] == expected


def test_what_cannot_be_checked_is_said() -> None:
    account = account_with({**NODE, "ImageId": "ami-own"})
    (row,) = publish(account, entry())["templates"]
    assert [(note["rule"], note["path"]) for note in row["notes"]] == [("launch_template.not_checked", "templates[0].fields.ImageId")]
    account = account_with(IMAGE)
    account.denied = "the credentials may not call ec2:DescribeImages"
    (row,) = publish(account, entry(), mode="managed_custom_ami")["templates"]
    assert [note["path"] for note in row["notes"]] == ["templates[0].fields.ImageId", "templates[0].group"]


OURS = {"id": "lt-1", "version": "1"}


@pytest.mark.parametrize(
    ("mode", "fields", "group", "expected"),
    [
        ("managed", {}, {"amiType": "AL2023_x86_64_STANDARD"}, [("other_node_group", "group")]),
        ("managed", {}, {"amiType": "AL2023_x86_64_STANDARD", "launchTemplate": {"id": "lt-2"}}, [("other_node_group", "group")]),
        ("managed", {}, {"amiType": "CUSTOM", "launchTemplate": OURS}, [("other_node_group", "group")]),
        ("managed", {}, {"amiType": "AL2_x86_64", "launchTemplate": OURS}, [("other_node_group", "group")]),
        ("managed_custom_ami", {}, {"amiType": "AL2023_x86_64_STANDARD", "launchTemplate": OURS}, [("other_node_group", "group")]),
        (
            "managed",
            {"InstanceType": "m5.large"},
            {"amiType": "AL2023_x86_64_STANDARD", "launchTemplate": OURS, "instanceTypes": ["m5.large"]},
            [("forbidden_field", "fields.InstanceType")],
        ),
    ],
)
def test_a_node_group_that_cannot_use_the_launch_template(
    mode: str, fields: dict[str, Any], group: dict[str, Any], expected: list[tuple[str, str]], golden_message: Golden
) -> None:
    account = account_with(MODES[mode])
    account.node_groups[("demo", "workers")] = group
    assert refused(golden_message, account, entry(fields=fields), mode=mode) == expected


@pytest.mark.parametrize(("mode", "kind"), [("managed", "AL2023_x86_64_STANDARD"), ("managed_custom_ami", "CUSTOM")])
def test_a_node_group_that_can_use_the_launch_template(mode: str, kind: str) -> None:
    account = account_with(MODES[mode])
    account.node_groups[("demo", "workers")] = {"amiType": kind, "launchTemplate": OURS, "instanceTypes": None}
    publish(account, entry(), mode=mode, max_pods=20)
    assert account.calls == ["version"]


WORKERS = {"name": "workers", "family": "al2023"}
KARPENTER = {"name": "burst", "family": "al2023", "mode": "karpenter"}


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], [("input.missing_field", "templates")]),
        (["web"], [("input.wrong_type", "templates[0]")]),
        ([{"group": "workers"}], [("input.missing_field", "launch_template")]),
        ([entry(create=True, launch_template="lt-1")], [("input.conflict", "create")]),
        ([entry(tags={"a": "b"})], [("input.conflict", "tags")]),
        ([entry(fields={"UserData": "x"})], [("input.conflict", "fields.UserData")]),
        ([entry(launch_template="no spaces")], [("input.invalid_text", "launch_template")]),
        ([entry(group="worker")], [("input.unknown_value", "group")]),
        ([entry(cluster="demon")], [("input.unknown_value", "cluster")]),
        ([entry(group="burst")], [("karpenter", "group")]),
        ([entry(launch_template="webs")], [("absent", "launch_template")]),
        ([entry(launch_template="lt-2")], [("absent", "launch_template")]),
        ([entry(), entry(group="other", launch_template="lt-1")], [("shared", "templates[1].launch_template")]),
        (
            [entry(fields={"ImageID": "ami-1", "Monitoring": True, "EbsOptimized": "maybe", "MetadataOptions": {"HttpTokens": "requird"}})],
            [
                ("input.wrong_type", "fields.EbsOptimized"),
                ("input.unknown_field", "fields.ImageID"),
                ("input.unknown_value", "fields.MetadataOptions.HttpTokens"),
                ("input.wrong_type", "fields.Monitoring"),
            ],
        ),
    ],
)
def test_wrong_input(entries: list[Any], expected: list[tuple[str, str]], golden_message: Golden) -> None:
    groups = [WORKERS, {**WORKERS, "name": "other"}, KARPENTER]
    assert refused(golden_message, account_with(NODE), *entries, groups=groups) == expected


def test_a_launch_template_of_eks(golden_message: Golden) -> None:
    account = account_with(NODE, tags={"eks:nodegroup-name": "workers"})
    assert refused(golden_message, account, entry()) == [("made_by_eks", "launch_template")]


def test_fields_that_would_be_lost(golden_message: Golden) -> None:
    account = account_with(NODE, hidden=[{"NewField": 1}])
    assert refused(golden_message, account, entry(fields={"IamInstanceProfile": {"Arn": "arn"}})) == [("unknown_field", "launch_template")]


def test_problems_of_the_node_groups_come_together_with_those_of_the_entries(golden_message: Golden) -> None:
    groups = [{**WORKERS, "labels": {"a b": "c"}}]
    found = refused(golden_message, account_with(NODE), entry(colour="blue"), groups=groups)
    assert [path for _rule, path in found] == ['node_groups[0].labels["a b"]', "colour"]


def test_nothing_is_written_if_another_entry_has_a_problem(golden_message: Golden) -> None:
    groups = [WORKERS, {**WORKERS, "name": "other"}]
    entries = [entry(), entry(group="other", launch_template="absent")]
    assert refused(golden_message, account_with(NODE), *entries, groups=groups) == [("absent", "templates[1].launch_template")]


@pytest.mark.parametrize(
    ("group", "form"),
    [
        ({"family": "al2", "commands": {"pre": ["true"]}}, "mime"),
        ({"family": "al2023", "max_pods": 20}, "mime"),
        ({"family": "al2023", "commands": {"pre": ["true"]}}, "mime"),
        ({"family": "bottlerocket", "max_pods": 20}, "toml"),
        ({"family": "windows", "commands": {"pre": ["Write-Host hello"]}}, "powershell"),
    ],
)
def test_user_data_of_a_managed_node_group_has_the_form_that_eks_merges(group: dict[str, Any], form: str) -> None:
    account = account_with(SAFE)
    publish(account, entry(), groups=[{"name": "workers", "mode": "managed", **group}])
    text = base64.b64decode(account.sent[0]["UserData"]).decode()
    assert classify(text) == form


def test_user_data_that_leaves_no_room_for_the_part_of_eks(golden_message: Golden) -> None:
    large = {"commands": {"pre": [f"echo {number:06}" for number in range(1150)]}}
    found = refused(golden_message, account_with(SAFE), entry(), mode="managed", **large)
    assert found == [("user_data.too_large", "node_groups[0].user_data")]
    account = account_with(NODE)
    publish(account, entry(), **large)
    assert account.calls == ["version"]
