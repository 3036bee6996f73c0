# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What publish does with launch templates: properties over node groups and fields, against an account in memory."""

from __future__ import annotations

import base64
import copy
import gzip
import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import publish_task
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.migrate_user_data import migrate_user_data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render_text
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.publish.memory_account import MemoryAccount, StoredTemplate
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

GROUP = {"name": "workers", "family": "al2023", "labels": {"role": "web"}}
BASE: dict[str, Any] = {"ImageId": "ami-al2023", "IamInstanceProfile": {"Name": "node"}}
VALUES: dict[str, tuple[Any, Any]] = {
    "BlockDeviceMappings": (
        [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 80, "Encrypted": True}}],
        [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 100}}],
    ),
    "CpuOptions": ({"CoreCount": 2, "ThreadsPerCore": 1}, {"ThreadsPerCore": 2}),
    "CreditSpecification": ({"CpuCredits": "standard"}, {"CpuCredits": "unlimited"}),
    "DisableApiTermination": (True, False),
    "EbsOptimized": (True, False),
    "EnclaveOptions": ({"Enabled": True}, {"Enabled": False}),
    "IamInstanceProfile": ({"Name": "node"}, {"Arn": "arn:aws:iam::123456789012:instance-profile/other"}),
    "ImageId": ("ami-al2023", "ami-own"),
    "InstanceType": ("m5.large", "m5.xlarge"),
    "KeyName": ("one", "two"),
    "MetadataOptions": ({"HttpTokens": "required", "HttpPutResponseHopLimit": 2}, {"HttpPutResponseHopLimit": 3}),
    "Monitoring": ({"Enabled": True}, {"Enabled": False}),
    "Placement": ({"GroupName": "near", "Tenancy": "default"}, {"GroupId": "pg-1"}),
    "PrivateDnsNameOptions": ({"HostnameType": "ip-name"}, {"HostnameType": "resource-name"}),
    "SecurityGroupIds": (["sg-1", "sg-2"], ["sg-2"]),
    "TagSpecifications": (
        [{"ResourceType": "instance", "Tags": [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": ""}]}],
        [{"ResourceType": "instance", "Tags": [{"Key": "a", "Value": "2"}, {"Key": "b", "Value": ""}]}],
    ),
}
"""A value of a field, and another one that is set over it."""

templates = st.sets(st.sampled_from(sorted(VALUES))).map(lambda names: {**{name: VALUES[name][0] for name in names}, **BASE})
GROUPS: list[dict[str, Any]] = [
    {},
    {"labels": {"role": "db"}},
    {"max_pods": 20},
    {"commands": {"pre": ["echo one"]}},
    {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]},
    {"kubelet": {"config": {"podPidsLimit": 100}}},
    {"containerd": {"registry_mirrors": {"docker.io": ["https://mirror.example"]}}},
    {"proxy": {"https": "http://proxy.example:3128"}},
]
"""What node groups have beside the fields of GROUP."""


def publish(account: MemoryAccount, group: dict[str, Any], fields: dict[str, Any], **entry: Any) -> dict[str, Any]:
    options = {
        "cluster": COMPLETE,
        "node_groups": [group],
        "eksctl_config": None,
        "sources": None,
        "templates": [{"group": "workers", "launch_template": "web", "fields": fields, **entry}],
        "encoding": "plain",
        "files_dir": ".",
        "set_default": False,
    }
    result = publish_task.publish_task(options, account, check_mode=False, diff=True, say=lambda _text: None, now=0.0)
    assert not [text for row in result["templates"] for text in row["warnings"] if "EC2" in text]
    return result


def account_with(data: dict[str, Any], group: dict[str, Any] = GROUP, **more: Any) -> MemoryAccount:
    """An account with a launch template that has the user data of a group."""
    user_data = render_text(COMPLETE, group, "base64")
    return MemoryAccount([StoredTemplate("lt-1", "web", [(copy.deepcopy({**data, "UserData": user_data}), "")], **more)])


def latest(account: MemoryAccount) -> dict[str, Any]:
    return account.templates[0].versions[-1][0]


@given(templates, st.sampled_from(GROUPS))
def test_the_second_run_changes_nothing(data: dict[str, Any], more: dict[str, Any]) -> None:
    account = account_with(data)
    publish(account, {**GROUP, **more}, {})
    before = list(account.calls)
    assert publish(account, {**GROUP, **more}, {})["changed"] is False
    assert account.calls == before
    assert before == (["version"] if more else [])


@given(templates, st.sampled_from(sorted(VALUES)), st.integers(0, 1))
def test_a_change_of_one_field_makes_one_version_that_keeps_all_others(data: dict[str, Any], name: str, at: int) -> None:
    account = account_with(data)
    fields = {name: VALUES[name][at]}
    first = publish(account, GROUP, fields)
    is_set = name in data and at == 0 and data[name] == VALUES[name][0]
    assert account.calls == ([] if is_set else ["version"])
    assert first["changed"] is not is_set
    assert publish(account, GROUP, fields)["changed"] is False
    before, after = account.templates[0].versions[0][0], latest(account)
    assert {key: value for key, value in after.items() if key != name} == {key: value for key, value in before.items() if key != name}


@given(templates, st.sampled_from(GROUPS[1:]))
def test_a_change_of_the_node_group_makes_one_version_that_keeps_all_fields(data: dict[str, Any], more: dict[str, Any]) -> None:
    account = account_with(data)
    (row,) = publish(account, {**GROUP, **more}, {})["templates"]
    assert (row["version"], row["default_version"], row["created"], row["fields"]) == (2, 1, "version", [])
    assert row["user_data"]
    assert {**latest(account), "UserData": ""} == {**data, "UserData": ""}


@given(templates, st.sampled_from(sorted(VALUES)))
def test_a_removed_field_is_gone(data: dict[str, Any], name: str) -> None:
    if name in BASE:
        return
    account = account_with(data)
    publish(account, GROUP, {name: None})
    assert name not in latest(account)
    assert account.calls == (["version"] if name in data else [])
    assert publish(account, GROUP, {name: None})["changed"] is False


OTHER_BYTES = """MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="x"

--x
Content-Type: application/node.eks.aws

---
# The same node, written by hand.
kind: NodeConfig
apiVersion: node.eks.aws/v1alpha1
spec:
  kubelet: {{flags: ["--node-labels=role=web"], config: {{clusterDNS: [10.100.0.10]}}}}
  cluster: {{name: demo, cidr: 10.100.0.0/16, apiServerEndpoint: {endpoint}, certificateAuthority: {certificate_authority}}}
--x--
"""


@pytest.mark.parametrize("is_compressed", [False, True])
def test_other_bytes_with_the_same_meaning_make_no_version(is_compressed: bool) -> None:
    account = account_with(BASE)
    other = OTHER_BYTES.format(**COMPLETE).encode()
    latest(account)["UserData"] = base64.b64encode(gzip.compress(other) if is_compressed else other).decode()
    assert publish(account, GROUP, {})["changed"] is False
    assert account.calls == []


@pytest.mark.parametrize(
    "fields",
    [
        {"SecurityGroupIds": ["sg-2", "sg-1"]},
        {"BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": "80"}}]},
        {"Monitoring": {"Enabled": "yes"}},
        {"KeyName": None},
        {"Placement": {}},
        {"TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "b"}, {"Key": "a", "Value": 1}]}]},
    ],
)
def test_other_spellings_of_the_same_fields_make_no_version(fields: dict[str, Any]) -> None:
    data = {**BASE, **{name: VALUES[name][0] for name in ("SecurityGroupIds", "BlockDeviceMappings", "Monitoring", "TagSpecifications")}}
    account = account_with(data)
    assert publish(account, GROUP, fields)["changed"] is False


def test_another_description_makes_no_version() -> None:
    account = account_with(BASE)
    account.templates[0].versions[0] = (account.templates[0].versions[0][0], "by hand")
    assert publish(account, GROUP, {})["changed"] is False


def test_the_description_has_the_digest_of_the_user_data() -> None:
    account = account_with(BASE, {**GROUP, "labels": {"role": "old"}})
    (row,) = publish(account, GROUP, {})["templates"]
    digest = hashlib.sha256(render_text(COMPLETE, GROUP).encode()).hexdigest()
    assert account.templates[0].versions[-1][1] == row["description"] == f"demo/workers sha256:{digest}"


def test_the_default_version_moves_only_when_asked() -> None:
    account = account_with(BASE, {**GROUP, "labels": {"role": "old"}})
    publish(account, GROUP, {})
    assert (account.templates[0].default, account.calls) == (1, ["version"])
    assert publish(account, GROUP, {}, set_default=True)["changed"] is True
    assert (account.templates[0].default, account.calls) == (2, ["version", "default"])
    assert publish(account, GROUP, {}, set_default=True)["changed"] is False


def test_a_new_launch_template_is_safe_and_the_second_run_changes_nothing() -> None:
    account = MemoryAccount()
    fields = {**BASE, "MetadataOptions": {"HttpPutResponseHopLimit": 1}}
    (row,) = publish(account, GROUP, fields, create=True, tags={"team": "web"})["templates"]
    assert (row["created"], row["version"], row["default_version"]) == ("template", 1, 1)
    made = latest(account)
    assert made["MetadataOptions"] == {"HttpEndpoint": "enabled", "HttpTokens": "required", "HttpPutResponseHopLimit": 1}
    assert made["BlockDeviceMappings"][0]["Ebs"]["Encrypted"] is True
    assert made["TagSpecifications"][0]["Tags"] == [{"Key": "kubernetes.io/cluster/demo", "Value": "owned"}]
    assert account.templates[0].tags == {"team": "web"}
    assert publish(account, GROUP, fields, create=True, tags={"team": "web"})["changed"] is False


def test_a_larger_root_volume_of_the_image_keeps_its_size() -> None:
    account = MemoryAccount()
    publish(account, GROUP, {**BASE, "ImageId": "ami-own"}, create=True)
    assert latest(account)["BlockDeviceMappings"][0]["Ebs"]["VolumeSize"] == 200


def test_migrated_user_data_is_published_although_it_means_the_same() -> None:
    """The old and the new form have the same settings, and an image of Amazon Linux 2023 does not read the old one."""
    facts = "--apiserver-endpoint {endpoint} --b64-cluster-ca {certificate_authority} --service-ipv4-cidr {service_cidr}".format(**COMPLETE)
    old = f"#!/bin/bash\n/etc/eks/bootstrap.sh demo {facts} --use-max-pods false --kubelet-extra-args '--max-pods=20'\n"
    migrated = migrate_user_data(old, COMPLETE)
    assert migrated["report"]["needs_decision"] == []
    account = account_with(BASE)
    latest(account)["UserData"] = base64.b64encode(old.encode()).decode()
    group = {**migrated["node_group"], "name": "workers"}
    (row,) = publish(account, group, {})["templates"]
    assert account.calls == ["version"]
    assert [one["path"] for one in row["user_data"]][:1] == ["node_group.family"]
    assert publish(account, group, {})["changed"] is False


@pytest.mark.parametrize("text", ["", "#cloud-config\n{}\n", "not user data"])
def test_a_launch_template_without_useful_user_data_gets_it(text: str) -> None:
    account = account_with(BASE)
    latest(account)["UserData"] = base64.b64encode(text.encode()).decode()
    publish(account, GROUP, {})
    assert base64.b64decode(latest(account)["UserData"]).decode() == render_text(COMPLETE, GROUP)


def test_a_group_without_user_data_removes_it() -> None:
    data = {name: value for name, value in BASE.items() if name not in ("ImageId", "IamInstanceProfile")}
    account = account_with({**data, "InstanceType": "m5.large"})
    group = {"name": "workers", "family": "al2023", "mode": "managed"}
    (row,) = publish(account, group, {})["templates"]
    assert latest(account) == {"InstanceType": "m5.large"}
    assert row["description"] == "demo/workers no user data"
    assert publish(account, group, {})["changed"] is False


@pytest.mark.parametrize(
    ("hidden", "fields", "is_kept"),
    [
        ({"NewField": 1}, {"InstanceType": "m5.xlarge"}, True),
        ({"MetadataOptions.NewField": 1}, {"InstanceType": "m5.xlarge"}, True),
        ({"MetadataOptions.NewField": 1}, {"MetadataOptions": {"HttpPutResponseHopLimit": 3}}, False),
        ({"NewField": 1}, {"KeyName": None}, False),
    ],
)
def test_fields_that_boto3_does_not_know_are_never_lost(hidden: dict[str, Any], fields: dict[str, Any], is_kept: bool) -> None:
    data = {**BASE, "KeyName": "one", "MetadataOptions": VALUES["MetadataOptions"][0]}
    account = account_with(data, hidden=[hidden])
    if is_kept:
        publish(account, GROUP, fields)
        assert account.templates[0].hidden[-1] == hidden
        assert latest(account)["MetadataOptions"] == data["MetadataOptions"]
        return
    with pytest.raises(SpecError) as error:
        publish(account, GROUP, fields)
    assert [(problem.rule, problem.path) for problem in error.value.problems] == [
        ("launch_template.unknown_field", "templates[0].launch_template")
    ]
    assert account.calls == []


def test_nothing_is_read_only_to_be_sent_back() -> None:
    """EC2 shows the state of the options, and refuses it in a request."""
    account = account_with({**BASE, "MetadataOptions": {**VALUES["MetadataOptions"][0], "State": "applied"}})
    publish(account, {**GROUP, "max_pods": 7}, {})
    assert account.calls == ["version"]
    assert account.sent[0]["MetadataOptions"] == VALUES["MetadataOptions"][0]


def test_a_structure_with_nothing_to_send_is_left_out() -> None:
    account = account_with({**BASE, "Operator": {"Managed": False}, "MetadataOptions": {"State": "applied"}})
    publish(account, {**GROUP, "max_pods": 7}, {})
    assert account.calls == ["version"]
    assert account.sent[0].keys() == {*BASE, "UserData"}
    assert publish(account, {**GROUP, "max_pods": 7}, {})["changed"] is False
