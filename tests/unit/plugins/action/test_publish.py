# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook publish against moto's server: versions of launch templates, in several regions, and what surrounds them."""

from __future__ import annotations

import base64
import json
import logging
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.ec2.models import ec2_backends
from moto.server import ThreadedMotoServer

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client, launch_templates
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render_text
from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.action import aws_proxy
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import CA, COMPLETE

PLAYBOOK = Path(__file__).resolve().parents[4] / "playbooks/publish.yml"
REGION, OTHER_REGION = "eu-north-1", "us-west-2"
"""Regions that no other test has, because the servers of one process have the same account."""

CLUSTER = {**COMPLETE, "region": REGION}
WORKERS: dict[str, Any] = {"name": "workers", "family": "al2023", "labels": {"role": "web"}}
IMAGE = "amazon-eks-node-al2023-x86_64-standard-1.32-v20260101"
KEYS = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
_numbers = iter(range(1000))


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


class Account:
    """The account as another program sees it, and runs of the playbook in an own folder."""

    def __init__(self, folder: Path, server: str, url: str) -> None:
        self.folder, self.server, self.url = folder, server, url
        self.name = f"web-{next(_numbers)}"
        self.image = self.ec2().register_image(Name=IMAGE, Architecture="x86_64", RootDeviceName="/dev/xvda")["ImageId"]

    def client(self, service: str, region: str = REGION) -> Any:
        return boto3.client(service, region_name=region, endpoint_url=self.server, **KEYS)

    def ec2(self, region: str = REGION) -> Any:
        return self.client("ec2", region)

    def make(self, text: str, region: str = REGION, **data: Any) -> None:
        fields = {
            "ImageId": self.image,
            "IamInstanceProfile": {"Name": "node"},
            "InstanceType": "m5.large",
            "UserData": encoded(text),
            **data,
        }
        self.ec2(region).create_launch_template(LaunchTemplateName=self.name, LaunchTemplateData=fields)

    def versions(self, region: str = REGION) -> list[dict[str, Any]]:
        answer = self.ec2(region).describe_launch_template_versions(LaunchTemplateName=self.name)
        return sorted(answer["LaunchTemplateVersions"], key=lambda one: int(one["VersionNumber"]))

    def publish(self, *arguments: str, group: Any = WORKERS, fields: Any = None, **variables: Any) -> subprocess.CompletedProcess[str]:
        entry = {"group": "workers", "launch_template": self.name, "fields": fields or {}}
        given = {"eks_node_cluster": CLUSTER, "eks_node_groups": [group], "eks_node_publish_templates": [entry], **variables}
        given = {name: value for name, value in given.items() if value is not None}
        command = ("ansible-playbook", str(PLAYBOOK), "-i", "localhost,", "-e", json.dumps(given), *arguments)
        return ansible_runs.run(self.folder, *command, settings={"AWS_ENDPOINT_URL": self.url})


@pytest.fixture
def proxy(server: str) -> Iterator[aws_proxy.AwsProxy]:
    with aws_proxy.running(server) as proxy:
        yield proxy


@pytest.fixture
def account(server: str, proxy: aws_proxy.AwsProxy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Account:
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
    }.items():
        monkeypatch.setenv(name, value)
    return Account(tmp_path, server, proxy.url)


def text_of(version: dict[str, Any]) -> str:
    return base64.b64decode(version["LaunchTemplateData"]["UserData"]).decode()


def changed(done: subprocess.CompletedProcess[str]) -> bool:
    assert done.returncode == 0, done.stdout + done.stderr
    return "changed=1" in done.stdout


FIELDS: dict[str, Any] = {
    "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 120, "VolumeType": "gp3", "Encrypted": True}}],
    "CreditSpecification": {"CpuCredits": "unlimited"},
    "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 2, "InstanceMetadataTags": "enabled"},
    "Monitoring": {"Enabled": True},
    "Placement": {"Tenancy": "dedicated"},
    "SecurityGroupIds": ["sg-1", "sg-2"],
    "TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": "web"}]}],
}


def test_a_new_version_keeps_what_others_set_and_the_default_version(account: Account) -> None:
    account.make("#!/bin/bash\ntrue\n", **FIELDS)
    done = account.publish()
    assert changed(done)
    first, second = account.versions()
    assert text_of(second) == render_text(CLUSTER, WORKERS)
    assert {**second["LaunchTemplateData"], "UserData": ""} == {**first["LaunchTemplateData"], "UserData": ""}
    assert (first["DefaultVersion"], second["DefaultVersion"]) == (True, False)
    assert mentions(done.stdout, account.name, "version 2 (user data)")
    assert not changed(account.publish())
    assert len(account.versions()) == 2


def test_the_same_meaning_in_other_bytes_and_another_description_make_no_version(account: Account) -> None:
    account.make(render_text(CLUSTER, WORKERS).replace("kind: NodeConfig", "# by hand\nkind: NodeConfig"), **FIELDS)
    before = account.versions()
    done = account.publish(eks_node_publish_set_default=True)
    assert not changed(done)
    assert account.versions() == before


def test_the_default_version_moves_when_asked(account: Account) -> None:
    account.make("#!/bin/bash\ntrue\n", **FIELDS)
    assert changed(account.publish())
    assert changed(account.publish(eks_node_publish_set_default=True))
    assert [one["DefaultVersion"] for one in account.versions()] == [False, True]
    assert not changed(account.publish(eks_node_publish_set_default=True))


def test_check_mode_writes_nothing_and_shows_the_decoded_parts(account: Account) -> None:
    account.make(render_text({**CLUSTER, "service_cidr": "10.200.0.0/16"}, WORKERS), **FIELDS)
    done = account.publish("--check", "--diff", fields={"InstanceType": "m5.xlarge"})
    assert changed(done)
    assert len(account.versions()) == 1
    facts = (
        "-    cidr: 10.200.0.0/16",
        "+    cidr: 10.100.0.0/16",
        "-InstanceType: m5.large",
        "+InstanceType: m5.xlarge",
        "cluster.service_cidr",
    )
    assert mentions(done.stdout, *facts)
    for hidden in (CA, account.versions()[0]["LaunchTemplateData"]["UserData"]):
        assert hidden not in done.stdout


def test_secrets_are_never_shown(account: Account) -> None:
    secret = "AKIACANARYACCESSKEY0 wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    old = f"#!/bin/bash\nexport AWS_SECRET_ACCESS_KEY={secret.split()[1]}\n"
    account.make(old, **FIELDS)
    group = {**WORKERS, "commands": {"pre": [f"export AWS_SECRET_ACCESS_KEY={secret.split()[1]}"]}, "allow_secrets_in_user_data": True}
    done = account.publish("--diff", "-vvv", group=group)
    assert changed(done)
    output = (done.stdout + done.stderr).split("TASK [nodebootstrap.eks.eks_node_publish : Publish", 1)[1]
    result = output.split('"invocation"', 1)[0]
    assert secret.split()[1] not in result
    assert encoded(old) not in output


def test_several_clusters_and_regions_in_one_run(account: Account) -> None:
    far = {**CLUSTER, "name": "far", "region": OTHER_REGION}
    image = account.ec2(OTHER_REGION).register_image(Name=IMAGE, Architecture="x86_64", RootDeviceName="/dev/xvda")["ImageId"]
    account.make("#!/bin/bash\ntrue\n", **FIELDS)
    account.make("#!/bin/bash\ntrue\n", OTHER_REGION, **{**FIELDS, "ImageId": image})
    entries = [{"group": "workers", "cluster": name, "launch_template": account.name} for name in ("demo", "far")]
    sources = [{"cluster": cluster, "node_groups": [WORKERS]} for cluster in (CLUSTER, far)]
    variables = {"eks_node_cluster": None, "eks_node_groups": None, "eks_node_sources": sources, "eks_node_publish_templates": entries}
    done = account.publish(**variables)
    assert changed(done)
    assert mentions(done.stdout, f"{REGION}: launch template", f"{OTHER_REGION}: launch template")
    assert [text_of(account.versions(region)[-1]) for region in (REGION, OTHER_REGION)] == [
        render_text(cluster, WORKERS) for cluster in (CLUSTER, far)
    ]
    assert not changed(account.publish(**variables))


def test_a_new_launch_template_has_safe_defaults(account: Account) -> None:
    fields = {"ImageId": account.image, "IamInstanceProfile": {"Name": "node"}}
    entry = {"group": "workers", "launch_template": account.name, "create": True, "tags": {"team": "web"}, "fields": fields}
    assert changed(account.publish(eks_node_publish_templates=[entry]))
    (made,) = account.versions()
    data = made["LaunchTemplateData"]
    assert data["MetadataOptions"] == {"HttpEndpoint": "enabled", "HttpTokens": "required", "HttpPutResponseHopLimit": 2}
    assert [one["Ebs"]["Encrypted"] for one in data["BlockDeviceMappings"]] == [True]
    assert text_of(made) == render_text(CLUSTER, WORKERS)
    assert not changed(account.publish(eks_node_publish_templates=[entry]))


def test_no_node_is_replaced(account: Account) -> None:
    account.make("#!/bin/bash\ntrue\n")
    groups = account.client("autoscaling")
    template = {"LaunchTemplateName": account.name, "Version": "$Latest"}
    size = {"MinSize": 2, "MaxSize": 2, "AvailabilityZones": [f"{REGION}a"]}
    groups.create_auto_scaling_group(AutoScalingGroupName=account.name, LaunchTemplate=template, **size)

    def instances() -> list[tuple[str, str]]:
        (group,) = groups.describe_auto_scaling_groups(AutoScalingGroupNames=[account.name])["AutoScalingGroups"]
        return sorted((one["InstanceId"], one["LifecycleState"]) for one in group["Instances"])

    before = instances()
    assert len(before) == 2
    assert changed(account.publish(eks_node_publish_set_default=True))
    assert instances() == before


def test_a_managed_node_group_that_exists_is_compared(account: Account) -> None:
    account.make("", **{"MetadataOptions": FIELDS["MetadataOptions"]})
    data = {"MetadataOptions": FIELDS["MetadataOptions"], "UserData": encoded("#!/bin/bash\ntrue\n")}
    account.ec2().delete_launch_template(LaunchTemplateName=account.name)
    template = account.ec2().create_launch_template(LaunchTemplateName=account.name, LaunchTemplateData=data)["LaunchTemplate"]
    eks = account.client("eks")
    eks.create_cluster(name=account.name, roleArn="arn:aws:iam::123456789012:role/eks", resourcesVpcConfig={"subnetIds": []})
    common = {"clusterName": account.name, "subnets": [], "nodeRole": "arn:aws:iam::123456789012:role/node"}
    used = {"id": template["LaunchTemplateId"], "version": "1"}
    eks.create_nodegroup(nodegroupName="old", amiType="AL2_x86_64", launchTemplate=used, **common)
    cluster = {**CLUSTER, "name": account.name}
    group = {"name": "old", "family": "al2023", "mode": "managed", "max_pods": 20}
    entry = {"group": "old", "launch_template": account.name}
    done = account.publish("-v", group=group, eks_node_cluster=cluster, eks_node_publish_templates=[entry])
    assert done.returncode == 2
    assert mentions(done.stdout + done.stderr, "launch_template.other_node_group", "AL2_x86_64")
    assert len(account.versions()) == 1


def test_all_known_fields_are_sent_and_the_others_are_inherited(account: Account, proxy: aws_proxy.AwsProxy) -> None:
    """moto ignores SourceVersion, so what is sent must be complete; EC2 has fields that are newer than boto3."""
    account.make("#!/bin/bash\ntrue\n", **FIELDS)
    new = ("DescribeLaunchTemplateVersions", "<instanceType>", "<brandNew>yes</brandNew><instanceType>")
    proxy.answers.append(new)
    assert changed(account.publish())
    (sent,) = proxy.of("CreateLaunchTemplateVersion")
    assert sent["SourceVersion"] == "1"
    assert sent["LaunchTemplateData.InstanceType"] == "m5.large"
    assert mentions((done := account.publish("-v", fields={"KeyName": None, "Monitoring": None})).stdout + done.stderr, "BrandNew")
    assert done.returncode == 2
    assert len(account.versions()) == 2


def test_a_structure_with_an_unknown_field_is_left_to_ec2(account: Account, proxy: aws_proxy.AwsProxy) -> None:
    account.make("#!/bin/bash\ntrue\n", **FIELDS)
    proxy.answers.append(("DescribeLaunchTemplateVersions", "<monitoring>", "<monitoring><brandNew>1</brandNew>"))
    account.publish()
    (sent,) = proxy.of("CreateLaunchTemplateVersion")
    assert not [name for name in sent if name.startswith("LaunchTemplateData.Monitoring")]
    assert sent["SourceVersion"] == "1"


@pytest.mark.parametrize(("moment", "versions"), [("DescribeImages", [1, 2]), ("CreateLaunchTemplateVersion", [1, 2, 3])])
def test_a_version_of_another_program_is_not_overwritten_silently(
    account: Account, proxy: aws_proxy.AwsProxy, moment: str, versions: list[int]
) -> None:
    account.make("#!/bin/bash\ntrue\n", **FIELDS)
    done_once: list[str] = []

    def interfere(action: str) -> None:
        if action == moment and not done_once:
            done_once.append(action)
            account.ec2().create_launch_template_version(LaunchTemplateName=account.name, LaunchTemplateData={"KeyName": "theirs"})

    proxy.before = interfere
    done = account.publish(eks_node_publish_set_default=True)
    assert done.returncode == 2
    assert mentions(done.stdout + done.stderr, account.name, "version 2")
    assert [int(one["VersionNumber"]) for one in account.versions()] == versions
    assert account.versions()[0]["DefaultVersion"] is True


def templates(account: Account) -> launch_templates.Templates:
    keys = {"access_key": "x", "secret_key": "x", "session_token": None}
    return launch_templates.Account({**keys, "region": REGION, "profile": None, "endpoint_url": account.url}).in_region(None)


def test_two_equal_runs_at_the_same_time_create_one_version(account: Account, proxy: aws_proxy.AwsProxy) -> None:
    account.make("#!/bin/bash\ntrue\n", **FIELDS)
    found = templates(account).read(account.name)
    assert found is not None
    numbers: list[int] = []

    def other_run(action: str) -> None:
        if action == "CreateLaunchTemplateVersion":
            proxy.before = lambda _action: None
            numbers.append(templates(account).create_version(found, {"KeyName": "one"}, "", inherit=True)[0])

    proxy.before = other_run
    numbers.append(templates(account).create_version(found, {"KeyName": "one"}, "", inherit=True)[0])
    assert numbers == [2, 2]
    assert len(account.versions()) == 2


def test_a_version_that_was_deleted_is_created_again(account: Account) -> None:
    account.make("#!/bin/bash\ntrue\n", **FIELDS)
    found = templates(account).read(account.name)
    assert found is not None
    assert templates(account).create_version(found, {"KeyName": "one"}, "", inherit=True)[0] == 2
    # moto has no DeleteLaunchTemplateVersions.
    ec2_backends["123456789012"][REGION].launch_templates[found.id].versions.pop()
    templates(account).create_version(found, {"KeyName": "one"}, "", inherit=True)
    assert [one["LaunchTemplateData"].get("KeyName") for one in account.versions()] == [None, "one"]


class Refusing:
    """A client of any service whose permissions are missing."""

    def __getattr__(self, operation: str) -> Any:
        def refuse(**_arguments: Any) -> Any:
            raise client.exceptions.ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, operation)

        return refuse


def test_checks_without_a_permission_are_skipped_and_others_fail(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "new_client", lambda *_unused: Refusing())
    reader = templates(account)
    for found, action in (
        (reader.image("ami-0123456789abcdef0"), "ec2:DescribeImages"),
        (reader.image("resolve:ssm:/own/image"), "ssm:GetParameter"),
        (reader.node_group("demo", "workers"), "eks:DescribeNodegroup"),
    ):
        assert found[0] is None
        assert mentions(found[1], action)
    with pytest.raises(client.AwsDenied) as error:
        reader.read("web")
    assert mentions(error.value, "ec2:DescribeLaunchTemplates")


def test_what_is_refused_is_shown_with_its_cure_and_nothing_is_written(account: Account) -> None:
    account.make("#!/bin/bash\ntrue\n", **FIELDS)
    old = account.ec2().register_image(Name="amazon-eks-node-1.32-v20260101", Architecture="x86_64")["ImageId"]
    done = account.publish("-v", fields={"ImageId": old, "MetadataOptions": {"HttpEndpoint": "disabled"}})
    assert done.returncode == 2
    assert mentions(done.stdout + done.stderr, "launch_template.wrong_image", "launch_template.no_metadata", "Amazon Linux 2 ")
    assert len(account.versions()) == 1


def test_a_launch_template_that_does_not_exist(account: Account) -> None:
    done = account.publish("-v")
    assert done.returncode == 2
    assert mentions(done.stdout + done.stderr, "launch_template.absent", REGION, account.name)


def test_a_profile_that_does_not_exist(account: Account) -> None:
    done = account.publish(eks_node_publish_profile="absent")
    assert done.returncode == 2
    assert mentions(done.stdout + done.stderr, "AWS profile", "absent")


def test_no_region(account: Account) -> None:
    done = account.publish(eks_node_cluster={name: value for name, value in CLUSTER.items() if name != "region"})
    assert done.returncode == 2
    assert mentions(done.stdout + done.stderr, "AWS_REGION")
