# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook migrate with directories, files of other tools, and launch templates of moto's server."""

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

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

PLAYBOOK = Path(__file__).resolve().parents[4] / "playbooks/migrate.yml"
OLD = "#!/bin/bash\n/etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=20'\n"
NEW = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n"
REGION = "eu-central-1"
"""Not the one of test_lint_account.py, because the servers of one process have the same account."""


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Launch templates of Amazon Linux 2, of Amazon Linux 2023, and without user data; and a group with the first one."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    account: dict[str, Any] = {"region_name": REGION, "endpoint_url": url, "aws_access_key_id": "x", "aws_secret_access_key": "x"}
    ec2, groups = boto3.client("ec2", **account), boto3.client("autoscaling", **account)
    image = ec2.describe_images()["Images"][0]["ImageId"]
    for name, data in (("old", {"UserData": encoded(OLD)}), ("new", {"UserData": encoded(NEW)}), ("none", {})):
        ec2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData={"ImageId": image, "InstanceType": "m5.large", **data})
    groups.create_auto_scaling_group(
        AutoScalingGroupName="old", LaunchTemplate={"LaunchTemplateName": "old"}, MinSize=0, MaxSize=0, AvailabilityZones=[f"{REGION}a"]
    )
    yield url
    server.stop()


def migrate(folder: Path, *sources: Any, region: str | None = None) -> subprocess.CompletedProcess[str]:
    given = {"eks_node_migrate_sources": list(sources), "eks_node_cluster": COMPLETE}
    if region is not None:
        given["eks_node_migrate_region"] = region
    return ansible_runs.run(folder, "ansible-playbook", str(PLAYBOOK), "-i", "localhost,", "-e", json.dumps(given))


@pytest.fixture
def account(endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The current directory, with credentials of the server."""
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    for name, value in {
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def written(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "out").iterdir())


def test_launch_templates(account: Path) -> None:
    done = migrate(account, {"all_launch_templates": True}, {"auto_scaling_group": "old"}, region=REGION)
    assert done.returncode == 0, done.stdout + done.stderr
    facts = ("launch template new, version 1: not migrated: ", "launch template none, version 1: not migrated: ")
    assert mentions(done.stdout, *facts)
    names = ("Auto-Scaling-group-old-launch-template-old-version-1", "launch-template-old-version-1")
    assert written(account) == [f"{name}{ending}" for name in names for ending in (".html", ".md", ".publish.yml", ".userdata")]
    for name in names:
        assert "maxPods: 20" in (account / f"out/{name}.userdata").read_text(encoding="utf-8")
        assert "resolve:ssm:" in (account / f"out/{name}.md").read_text(encoding="utf-8")
    assert "changed=0" in migrate(account, {"all_launch_templates": True}, {"auto_scaling_group": "old"}, region=REGION).stdout


@pytest.mark.parametrize(
    ("source", "facts"),
    [
        ({"launch_template": "new"}, ["sources[1]: ", "NodeConfig"]),
        ({"launch_template": "none"}, ["sources[1]: ", "user data"]),
        ({"launch_template": "absent"}, ["migrate: ", "InvalidLaunchTemplateName.NotFoundException"]),
        ({"launch_template": 3}, ["sources[1].launch_template: "]),
    ],
)
def test_a_single_object_that_cannot_be_migrated(account: Path, source: dict[str, Any], facts: list[str]) -> None:
    done = migrate(account, {"launch_template": "old"}, source, region=REGION)
    assert done.returncode == 2
    assert mentions(done.stdout, *facts)
    assert not (account / "out").exists()


def test_a_missing_region(account: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    assert mentions(migrate(account, {"launch_template": "old"}).stdout, "AWS_REGION")


def test_directories_and_files_of_other_tools(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes"
    nodes.mkdir()
    (nodes / "a.sh").write_text(OLD, encoding="utf-8")
    (nodes / "b.yaml").write_text(NEW, encoding="utf-8")
    (nodes / "README.md").write_text("# notes\n", encoding="utf-8")
    data = {"UserData": encoded(OLD), "ImageId": "ami-1", "KeyName": "ops"}
    versions = [{"LaunchTemplateName": name, "VersionNumber": 3, "LaunchTemplateData": data} for name in ("web/eu", "db")]
    (tmp_path / "cli.json").write_text(json.dumps({"LaunchTemplateVersions": versions}), encoding="utf-8")
    classes = "\n---\n".join(
        f"apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: {name}}}\n"
        f'spec:\n  amiFamily: {family}\n  userData: "#!/bin/bash\\ntrue\\n"\n'
        for name, family in (("one", "AL2"), ("two", "AL2023"))
    )
    (tmp_path / "karpenter.yaml").write_text(classes, encoding="utf-8")
    done = migrate(tmp_path, "nodes", "cli.*", "karpenter.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert mentions(done.stdout, "nodes/b.yaml: not migrated: ", "karpenter.yaml: EC2NodeClass/two.spec.userData: not migrated: ")
    assert [name for name in written(tmp_path) if name.endswith(".userdata")] == [
        "a.userdata",
        "cli-db-version-3.UserData.userdata",
        "cli-web-eu-version-3.UserData.userdata",
        "karpenter-EC2NodeClass-one.spec.userData.userdata",
    ]


def test_results_with_the_same_name(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "web.sh").write_text(OLD, encoding="utf-8")
    done = migrate(tmp_path, "a", "b/*.sh")
    assert done.returncode == 2
    assert mentions(done.stdout, "sources[1]: ", "b/web.sh", "a/web.sh", "sources[0]")
    assert not (tmp_path / "out").exists()


SCRIPT = """#!/bin/bash
names=(a b)
echo "${#names[@]}" '{{ item }}' '{% if %}'
/etc/eks/bootstrap.sh demo --use-max-pods false --kubelet-extra-args --max-pods=20
echo after
"""
RENDERED = ("-e", "eks_node_output_dir=rendered")
ADDITION = "#!/bin/bash\nyum install -y jq\n"


def test_the_variables_of_publish_render_the_same_user_data(tmp_path: Path) -> None:
    rows = {
        "web": {"UserData": encoded(SCRIPT), "ImageId": "ami-1"},
        "managed": {"UserData": encoded(ADDITION), "InstanceType": "m7g.large"},
    }
    versions = [{"LaunchTemplateName": name, "VersionNumber": 1, "LaunchTemplateData": data} for name, data in rows.items()]
    (tmp_path / "cli.json").write_text(json.dumps({"LaunchTemplateVersions": versions}), encoding="utf-8")
    assert migrate(tmp_path, "cli.json").returncode == 0
    for name in rows:
        stem = f"out/cli-{name}-version-1.UserData"
        done = ansible_runs.run(tmp_path, "ansible-playbook", "nodebootstrap.eks.render", "-e", f"@{stem}.publish.yml", *RENDERED)
        assert done.returncode == 0, done.stdout + done.stderr
        (rendered,) = (tmp_path / "rendered").rglob(f"{name}.userdata")
        assert rendered.read_text(encoding="utf-8") == (tmp_path / f"{stem}.userdata").read_text(encoding="utf-8")


def test_what_publish_writes(tmp_path: Path) -> None:
    found = {}
    for name, data in {"web": {"ImageId": "ami-1"}, "managed": {"InstanceType": "m7g.large"}}.items():
        text = SCRIPT if name == "web" else ADDITION
        document = {"LaunchTemplateName": name, "LaunchTemplateData": {"UserData": encoded(text), "EbsOptimized": True, **data}}
        (tmp_path / f"{name}.json").write_text(json.dumps({"LaunchTemplateVersions": [document]}), encoding="utf-8")
        assert migrate(tmp_path, f"{name}.json").returncode == 0
        (path,) = (tmp_path / "out").glob(f"{name}-*.publish.yml")
        (found[name],) = yaml.load(path.read_text(encoding="utf-8").replace("!unsafe ", ""))["eks_node_publish_templates"]
    assert (found["web"]["launch_template"], "create" in found["web"]) == ("web", False)
    assert found["web"]["fields"]["ImageId"].startswith("resolve:ssm:") and "EbsOptimized" not in found["web"]["fields"]
    assert (found["managed"]["launch_template"], found["managed"]["create"]) == ("managed-al2023", True)
    assert found["managed"]["fields"]["EbsOptimized"] is True and "ImageId" not in found["managed"]["fields"]


def test_publish_creates_the_version_that_migrate_describes(account: Path, endpoint: str) -> None:
    """In a region of its own, because other tests migrate all launch templates of theirs."""
    region = "eu-north-1"
    ec2 = boto3.client("ec2", region_name=region, endpoint_url=endpoint)
    data = {"ImageId": "ami-0123456789abcdef0", "InstanceType": "m5.large", "IamInstanceProfile": {"Name": "node"}}
    ec2.create_launch_template(LaunchTemplateName="web", LaunchTemplateData={**data, "UserData": encoded(SCRIPT)})
    assert migrate(account, {"launch_template": "web"}, region=region).returncode == 0
    publish = ("ansible-playbook", "nodebootstrap.eks.publish", "-e", "@out/launch-template-web-version-1.publish.yml")
    first, second = (ansible_runs.run(account, *publish) for _unused in range(2))
    assert first.returncode == 0 and "changed=1" in first.stdout, first.stdout + first.stderr
    assert second.returncode == 0 and "changed=0" in second.stdout, second.stdout + second.stderr
    versions = ec2.describe_launch_template_versions(LaunchTemplateName="web")["LaunchTemplateVersions"]
    found = {row["VersionNumber"]: row["LaunchTemplateData"] for row in versions}
    assert sorted(found) == [1, 2] and found[1]["ImageId"] == data["ImageId"]
    assert "amazon-linux-2023" in found[2]["ImageId"] and found[2]["IamInstanceProfile"] == {"Name": "node"}
    new = (account / "out/launch-template-web-version-1.userdata").read_text(encoding="utf-8")
    assert base64.b64decode(found[2]["UserData"]).decode() == new
