# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table in docs/launch-templates.md: the playbook publish and amazon.aws.ec2_launch_template with the same launch templates.

moto's server ignores SourceVersion, so it is taught what the API reference says: the new version inherits the fields of the source
version, and fields of the request replace them.
"""

from __future__ import annotations

import base64
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.ec2.responses.launch_templates import LaunchTemplates
from moto.server import ThreadedMotoServer

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render_text
from ansible_collections.nodebootstrap.eks.tests.consistency import project
from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

REGION = "ap-south-1"
CLUSTER = {**COMPLETE, "region": REGION}
WORKERS: dict[str, Any] = {"name": "workers", "family": "al2023", "labels": {"role": "web"}}
MANAGED: dict[str, Any] = {"name": "workers", "family": "al2023", "mode": "managed", "max_pods": 20}
PROFILE = "arn:aws:iam::123456789012:instance-profile/node"
OURS, THEIRS = "publish", "amazon.aws"


class Account:
    """moto's server, with one launch template for each scenario and program."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.ec2 = boto3.client("ec2", region_name=REGION, endpoint_url=url, aws_access_key_id="x", aws_secret_access_key="x")
        names = {"al2023": "amazon-eks-node-al2023-x86_64-standard-1.32-v20260101", "al2": "amazon-eks-node-1.32-v20260101"}
        self.images = {key: self.ec2.register_image(Name=name, Architecture="x86_64")["ImageId"] for key, name in names.items()}

    def make(self, name: str, text: str, **fields: Any) -> None:
        user_data = {"UserData": base64.b64encode(text.encode()).decode()} if text else {}
        data = {"InstanceType": "m5.large", **user_data, **fields}
        self.ec2.create_launch_template(LaunchTemplateName=name, VersionDescription="by hand", LaunchTemplateData=data)

    def versions(self, name: str) -> list[dict[str, Any]]:
        answer = self.ec2.describe_launch_template_versions(LaunchTemplateName=name)
        return sorted(answer["LaunchTemplateVersions"], key=lambda one: int(one["VersionNumber"]))

    def ours(self, name: str, group: dict[str, Any], fields: dict[str, Any], *arguments: str) -> subprocess.CompletedProcess[str]:
        entry = {"group": "workers", "launch_template": name, "fields": fields}
        given = {"eks_node_cluster": CLUSTER, "eks_node_groups": [group], "eks_node_publish_templates": [entry]}
        return self._run(str(project.TOP / "playbooks/publish.yml"), "-e", json.dumps(given), *arguments)

    def theirs(self, name: str, options: dict[str, Any], *arguments: str) -> subprocess.CompletedProcess[str]:
        given = {"region": REGION, "name": name, "instance_type": "m5.large", **options}
        tasks = [{"name": "Launch template", "amazon.aws.ec2_launch_template": given}]
        play = [
            {
                "hosts": "localhost",
                "connection": "local",
                "gather_facts": False,
                "vars": {"ansible_python_interpreter": sys.executable},
                "tasks": tasks,
            }
        ]
        path = self.folder / f"{name}.yml"
        path.write_text(json.dumps(play), encoding="utf-8")
        return self._run(str(path), *arguments)

    def _run(self, *command: str) -> subprocess.CompletedProcess[str]:
        settings = {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        return ansible_runs.run(self.folder, "ansible-playbook", "-i", "localhost,", *command, settings=settings)


def inherit(create: Any) -> Any:
    """CreateLaunchTemplateVersion of moto, with SourceVersion."""

    def create_with_source(self: LaunchTemplates) -> Any:
        source, template = self._get_param("SourceVersion"), self._get_param("LaunchTemplateId")
        result = create(self)
        if source:
            versions = self.ec2_backend.get_launch_template(template).versions
            versions[-1].data = {**versions[int(source) - 1].data, **versions[-1].data}
        return result

    return create_with_source


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LaunchTemplates, "create_launch_template_version", inherit(LaunchTemplates.create_launch_template_version))
        yield Account(f"http://{host}:{port}", tmp_path_factory.mktemp("runs"))
    server.stop()


def node(account: Account, **more: Any) -> dict[str, Any]:
    """Fields of a launch template that publish does not need to change."""
    options = {"HttpTokens": "required", "HttpPutResponseHopLimit": 2}
    return {"ImageId": account.images["al2023"], "IamInstanceProfile": {"Arn": PROFILE}, "MetadataOptions": options, **more}


def same(account: Account, text: str) -> dict[str, Any]:
    """The options of amazon.aws for the fields of C(node)."""
    return {
        "image_id": account.images["al2023"],
        "iam_instance_profile": PROFILE,
        "metadata_options": {"http_tokens": "required", "http_put_response_hop_limit": 2},
        "user_data": base64.b64encode(text.encode()).decode(),
    }


TEXT = render_text(CLUSTER, WORKERS)
OTHER_BYTES = TEXT.replace("kind: NodeConfig", "# by hand\nkind: NodeConfig")


def count(account: Account, name: str, runs: int, run: Any) -> list[int]:
    """The number of versions after each run."""
    counts = []
    for _number in range(runs):
        done = run()
        assert done.returncode == 0, done.stdout + done.stderr
        counts.append(len(account.versions(name)))
    return counts


# amazon.aws fills its defaults into the options, so a launch template that it can compare as equal has them.
FILLED = {"HttpEndpoint": "enabled", "HttpProtocolIpv6": "disabled", "InstanceMetadataTags": "disabled"}


def test_the_same_input_makes_no_version(account: Account) -> None:
    """The control: where there is nothing to do, both do nothing."""
    fields = node(account)
    fields["MetadataOptions"] |= FILLED
    for name in ("control-ours", "control-theirs"):
        account.make(name, TEXT, **fields)
    assert count(account, "control-ours", 2, lambda: account.ours("control-ours", WORKERS, {})) == [1, 1]
    options = {**same(account, TEXT), "version_description": "by hand"}
    assert count(account, "control-theirs", 2, lambda: account.theirs("control-theirs", options)) == [1, 1]


def test_only_the_description_differs(account: Account) -> None:
    fields = node(account)
    fields["MetadataOptions"] |= FILLED
    for name in ("description-ours", "description-theirs"):
        account.make(name, TEXT, **fields)
    assert count(account, "description-ours", 1, lambda: account.ours("description-ours", WORKERS, {})) == [1]
    options = {**same(account, TEXT), "version_description": "a digest"}
    assert count(account, "description-theirs", 1, lambda: account.theirs("description-theirs", options)) == [2]


def test_other_bytes_with_the_same_meaning(account: Account) -> None:
    fields = node(account)
    fields["MetadataOptions"] |= FILLED
    for name in ("bytes-ours", "bytes-theirs"):
        account.make(name, OTHER_BYTES, **fields)
    assert count(account, "bytes-ours", 1, lambda: account.ours("bytes-ours", WORKERS, {})) == [1]
    options = {**same(account, TEXT), "version_description": "by hand"}
    assert count(account, "bytes-theirs", 1, lambda: account.theirs("bytes-theirs", options)) == [2]


def test_a_field_of_another_program_and_the_default_version(account: Account) -> None:
    for name in ("field-ours", "field-theirs"):
        account.make(name, "#!/bin/bash\ntrue\n", **node(account, KeyName="admin"))
    assert count(account, "field-ours", 3, lambda: account.ours("field-ours", WORKERS, {})) == [2, 2, 2]
    options = {**same(account, TEXT), "version_description": "by hand"}
    assert count(account, "field-theirs", 3, lambda: account.theirs("field-theirs", options)) == [2, 3, 4]
    assert [one["DefaultVersion"] for one in account.versions("field-ours")] == [True, False]
    assert [one["DefaultVersion"] for one in account.versions("field-theirs")] == [False, False, False, True]
    assert {one["LaunchTemplateData"]["KeyName"] for name in ("field-ours", "field-theirs") for one in account.versions(name)} == {"admin"}


def test_the_hop_limit_alone(account: Account) -> None:
    for name in ("hop-ours", "hop-theirs"):
        account.make(name, TEXT, **node(account))
    assert count(
        account, "hop-ours", 1, lambda: account.ours("hop-ours", WORKERS, {"MetadataOptions": {"HttpPutResponseHopLimit": 3}})
    ) == [2]
    options = {**same(account, TEXT), "metadata_options": {"http_put_response_hop_limit": 3}}
    assert count(account, "hop-theirs", 1, lambda: account.theirs("hop-theirs", options)) == [2]
    tokens = [account.versions(name)[-1]["LaunchTemplateData"]["MetadataOptions"]["HttpTokens"] for name in ("hop-ours", "hop-theirs")]
    assert tokens == ["required", "optional"]


def test_an_image_of_another_family(account: Account) -> None:
    for name in ("image-ours", "image-theirs"):
        account.make(name, TEXT, **node(account))
    done = account.ours("image-ours", WORKERS, {"ImageId": account.images["al2"]}, "-v")
    assert done.returncode == 2
    assert "launch_template.wrong_image" in done.stdout + done.stderr
    options = {**same(account, TEXT), "image_id": account.images["al2"]}
    assert count(account, "image-theirs", 1, lambda: account.theirs("image-theirs", options)) == [2]
    assert len(account.versions("image-ours")) == 1


def test_an_instance_profile_for_a_managed_node_group(account: Account) -> None:
    for name in ("managed-ours", "managed-theirs"):
        account.make(name, "")
    done = account.ours("managed-ours", MANAGED, {"IamInstanceProfile": {"Arn": PROFILE}}, "-v")
    assert done.returncode == 2
    assert "launch_template.forbidden_field" in done.stdout + done.stderr
    options = {"user_data": render_text(CLUSTER, MANAGED, "base64"), "iam_instance_profile": PROFILE}
    assert count(account, "managed-theirs", 1, lambda: account.theirs("managed-theirs", options)) == [2]
    assert len(account.versions("managed-ours")) == 1


def test_what_check_mode_shows(account: Account) -> None:
    for name in ("diff-ours", "diff-theirs"):
        account.make(name, render_text(CLUSTER, {**WORKERS, "labels": {"role": "old"}}), **node(account))
    ours = account.ours("diff-ours", WORKERS, {"InstanceType": "m5.xlarge"}, "--check", "--diff").stdout
    theirs = account.theirs("diff-theirs", {**same(account, TEXT), "instance_type": "m5.xlarge"}, "--check", "--diff").stdout
    assert ("+InstanceType: m5.xlarge" in ours, "role=web" in ours, "changed=1" in ours) == (True, True, True)
    assert ("m5.xlarge" in theirs, "role=web" in theirs, "changed=1" in theirs) == (False, False, True)
    assert [len(account.versions(name)) for name in ("diff-ours", "diff-theirs")] == [1, 1]


def test_the_page_names_the_version_that_is_compared() -> None:
    import ansible_collections.amazon.aws

    manifest = Path(next(iter(ansible_collections.amazon.aws.__path__)), "MANIFEST.json")
    version = json.loads(manifest.read_text(encoding="utf-8"))["collection_info"]["version"]
    assert f"`amazon.aws` {version}" in project.text("docs/launch-templates.md")
