# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data in an AWS account, read from moto's server by the playbook lint and by the reader alone."""

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
from moto.server import ThreadedMotoServer

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client, user_data
from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

REGION = "eu-west-1"
GOOD = "#!/bin/bash\ntrue\n"
BAD = "#cloud-config\nruncmd: echo hello\n"
KEYS = {"access_key": "AKIACANARYACCESSKEY0", "secret_key": "canary-of-a-secret-key", "session_token": None}
PLAY = """
- hosts: localhost
  gather_facts: false
  tasks:
    - nodebootstrap.eks.lint: "{{ options }}"
"""


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.fixture(autouse=True)
def no_credentials_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Launch templates, one with two versions, a launch configuration, and groups of them."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    account: dict[str, Any] = {"region_name": REGION, "endpoint_url": url, "aws_access_key_id": "x", "aws_secret_access_key": "x"}
    ec2, groups = boto3.client("ec2", **account), boto3.client("autoscaling", **account)
    image = ec2.describe_images()["Images"][0]["ImageId"]
    for name, data in (("web", {"UserData": encoded(GOOD)}), ("none", {})):
        tags = [{"ResourceType": "launch-template", "Tags": [{"Key": "team", "Value": name}]}]
        ec2.create_launch_template(
            LaunchTemplateName=name, LaunchTemplateData={"ImageId": image, "InstanceType": "m5.large", **data}, TagSpecifications=tags
        )
    ec2.create_launch_template_version(LaunchTemplateName="web", LaunchTemplateData={"ImageId": image, "UserData": encoded(BAD)})
    groups.create_launch_configuration(LaunchConfigurationName="old", ImageId=image, InstanceType="m5.large", UserData=BAD)
    size = {"MinSize": 0, "MaxSize": 0, "AvailabilityZones": [f"{REGION}a"]}
    latest = {"LaunchTemplateName": "web", "Version": "$Latest"}
    mixed = {"LaunchTemplate": {"LaunchTemplateSpecification": latest, "Overrides": [{"InstanceType": "m5.large"}]}}
    groups.create_auto_scaling_group(AutoScalingGroupName="old", LaunchConfigurationName="old", **size)
    groups.create_auto_scaling_group(AutoScalingGroupName="web", LaunchTemplate=latest, **size)
    groups.create_auto_scaling_group(AutoScalingGroupName="mixed", MixedInstancesPolicy=mixed, **size)
    yield url
    server.stop()


def read(endpoint: str, **wanted: Any) -> list[tuple[str, str]]:
    reader = user_data.Reader({**KEYS, "region": REGION, "profile": None, "endpoint_url": endpoint})
    return [(found.name, base64.b64decode(found.base64).decode()) for found in reader.read(wanted)]


WEB = "launch template web, version"


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"launch_template": "web"}, [(f"{WEB} 1", GOOD)]),
        ({"launch_template": "web", "version": "$Latest"}, [(f"{WEB} 2", BAD)]),
        ({"launch_template": "web", "version": 2}, [(f"{WEB} 2", BAD)]),
        ({"launch_template": "none"}, [("launch template none, version 1", "")]),
        ({"all_launch_templates": True}, [(f"{WEB} 1", GOOD), ("launch template none, version 1", "")]),
        ({"all_launch_templates": True, "tags": {"team": "web"}, "version": "$Latest"}, [(f"{WEB} 2", BAD)]),
        ({"all_launch_templates": True, "tags": {"team": "other"}}, []),
        ({"auto_scaling_group": "web"}, [(f"Auto Scaling group web, {WEB} 2", BAD)]),
        ({"auto_scaling_group": "mixed"}, [(f"Auto Scaling group mixed, {WEB} 2", BAD)]),
        ({"auto_scaling_group": "old"}, [("Auto Scaling group old, launch configuration old", BAD)]),
    ],
)
def test_what_an_entry_names(endpoint: str, wanted: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert sorted(read(endpoint, **wanted)) == sorted(expected)


def test_an_instance(endpoint: str) -> None:
    ec2 = boto3.client("ec2", region_name=REGION, endpoint_url=endpoint, aws_access_key_id="x", aws_secret_access_key="x")
    image = ec2.describe_images()["Images"][0]["ImageId"]
    found = ec2.run_instances(ImageId=image, MinCount=2, MaxCount=2, UserData=BAD)["Instances"]
    assert read(endpoint, instance=found[0]["InstanceId"]) == [(f"instance {found[0]['InstanceId']}", BAD)]


@pytest.mark.parametrize(
    ("wanted", "facts"),
    [
        ({"launch_template": "absent"}, ["ec2:DescribeLaunchTemplateVersions", "InvalidLaunchTemplateName.NotFoundException"]),
        ({"launch_template": "lt-0123456789abcdef0"}, ["InvalidLaunchTemplateId.NotFound"]),
        ({"auto_scaling_group": "absent"}, ["absent", REGION]),
        ({"instance": "i-0123456789abcdef0"}, ["ec2:DescribeInstanceAttribute", "InvalidInstanceID.NotFound"]),
    ],
)
def test_what_does_not_exist(endpoint: str, wanted: dict[str, Any], facts: list[str]) -> None:
    with pytest.raises(client.AwsError) as error:
        read(endpoint, **wanted)
    assert mentions(str(error.value), *facts)


class Refusing:
    """A client whose permission is missing."""

    def get_paginator(self, operation: str) -> Any:
        self.operation = operation
        return self

    def paginate(self, **_arguments: Any) -> Any:
        raise client.exceptions.ClientError({"Error": {"Code": "UnauthorizedOperation", "Message": "no"}}, self.operation)


def test_a_missing_permission(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "new_session", lambda _options: None)
    monkeypatch.setattr(client, "new_client", lambda *_unused: Refusing())
    with pytest.raises(client.AwsError) as error:
        read("http://127.0.0.1:1", all_launch_templates=True)
    assert mentions(str(error.value), "ec2:DescribeLaunchTemplates", "UnauthorizedOperation")


def test_without_boto3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "BOTO3_ERROR", "Traceback")
    with pytest.raises(client.AwsError) as error:
        read("http://127.0.0.1:1", launch_template="web")
    assert mentions(str(error.value), "boto3")


def lint(folder: Path, endpoint: str, *sources: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    (folder / "play.yml").write_text(PLAY, encoding="utf-8")
    given = {"sources": list(sources), "region": REGION, "endpoint_url": endpoint, "access_key": "x", "secret_key": "x", **options}
    return ansible_runs.run(folder, "ansible-playbook", "play.yml", "-i", "localhost,", "-e", json.dumps({"options": given}), "-v")


def test_findings_in_an_account(endpoint: str, tmp_path: Path) -> None:
    (tmp_path / "good.sh").write_text(GOOD, encoding="utf-8")
    done = lint(tmp_path, endpoint, {"auto_scaling_group": "web"}, {"auto_scaling_group": "web"}, "good.sh", {"launch_template": "none"})
    assert done.returncode == 2, done.stdout + done.stderr
    facts = (f"Auto Scaling group web, {WEB} 2:2:9: error: ", "[sources.no_user_data]", "1 error, 2 warnings, 1 note")
    assert mentions(done.stdout, *facts)
    assert lint(tmp_path, endpoint, {"launch_template": "web"}).returncode == 0
    sarif = lint(tmp_path, endpoint, {"launch_template": "web", "version": "$Latest"}, format="sarif", report="out.sarif")
    assert sarif.returncode == 2
    results = json.loads((tmp_path / "out.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert [one["ruleId"] for one in results] == ["launch_template.imdsv1", "cloud_config.wrong_type"]
    assert all(one["locations"] == [{"logicalLocations": [{"fullyQualifiedName": f"{WEB} 2"}]}] for one in results)
    github = lint(tmp_path, endpoint, {"launch_template": "web", "version": "$Latest"}, format="github")
    assert mentions(github.stdout, f"::error title=cloud_config.wrong_type::{WEB} 2:2:9: ")


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ({}, "input.conflict"),
        ({"launch_template": "a", "auto_scaling_group": "b"}, "input.conflict"),
        ({"launch_template": 3}, "input.wrong_type"),
        ({"launch_template": "a", "tags": {}}, "input.unknown_field"),
        ({"launch_template": "a", "version": "newest"}, "input.unknown_value"),
        ({"all_launch_templates": False}, "input.unknown_value"),
        ({"all_launch_templates": True, "tags": ["a"]}, "input.wrong_type"),
        (3, "input.wrong_type"),
    ],
)
def test_entries_that_cannot_be_used(tmp_path: Path, source: Any, rule: str) -> None:
    done = lint(tmp_path, "http://127.0.0.1:1", source)
    assert done.returncode == 2
    assert rule in done.stdout


def test_missing_credentials(tmp_path: Path) -> None:
    done = lint(tmp_path, "http://127.0.0.1:1", {"launch_template": "web"}, access_key=None, secret_key=None)
    assert done.returncode == 2
    assert mentions(done.stdout, "AWS_ACCESS_KEY_ID")
