# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook access on a real API server: aws-auth, its copy, and the ConfigMap for Windows nodes. EKS itself is a stand-in."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws.access_account import Account
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import config_maps
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import access_task
from ansible_collections.nodebootstrap.eks.tests.eks_api import AwsStandIn
from ansible_collections.nodebootstrap.eks.tests.lab import Lab
from ansible_collections.nodebootstrap.eks.tests.lab.api import ApiError
from ansible_collections.nodebootstrap.eks.tests.lab.control_plane import admin_kubeconfig, stranger_token
from ansible_collections.nodebootstrap.eks.tests.lab.progress import TOP
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"
ROLE = "arn:aws:iam::123456789012:role/"
FOREIGN = f"""\
# Written by hand. Ask the platform team before you change it!
- rolearn: {ROLE}admin   # break-glass
  username: 'admin'
  groups: ["system:masters"]

-   groups:
    - system:bootstrappers
    - system:nodes
    rolearn: {ROLE}managed
    username: system:node:{{{{EC2PrivateDNSName}}}}
# end
"""
GROUPS = [
    {"name": "web", "family": "al2023", "role_arn": f"{ROLE}team/web"},
    {"name": "win", "family": "windows", "role_arn": f"{ROLE}win"},
]


@pytest.fixture(scope="module")
def aws() -> Iterator[AwsStandIn]:
    with AwsStandIn() as server:
        yield server


@pytest.fixture(autouse=True)
def cluster(lab: Lab, aws: AwsStandIn) -> Iterator[None]:
    """A cluster that only uses aws-auth, without any of the ConfigMaps and nodes of these tests."""
    aws.eks.add_cluster("lab", authentication_mode="CONFIG_MAP", endpoint=lab.state.endpoint, certificateAuthority={
        "data": lab.cluster("1.36")["certificate_authority"]
    })  # fmt: skip
    yield
    for found in lab.api.get(CONFIG_MAPS)["items"]:
        name = found["metadata"]["name"]
        if name.startswith("aws-auth") or name == "amazon-vpc-cni":
            lab.api.call("DELETE", f"{CONFIG_MAPS}/{name}")
    with suppress(ApiError):
        lab.api.call("DELETE", "/api/v1/nodes/linux-of-access")


def write(lab: Lab, text: str, **data: str) -> dict[str, Any]:
    """Create aws-auth."""
    metadata = {"name": "aws-auth", "namespace": "kube-system", "labels": {"owner": "terraform"}}
    return lab.api.call("POST", CONFIG_MAPS, {"metadata": metadata, "data": {"mapRoles": text, "mapUsers": "[]\n", **data}})


def read(lab: Lab, name: str = "aws-auth") -> dict[str, Any]:
    return lab.api.get(f"{CONFIG_MAPS}/{name}")


def play(lab: Lab, aws: AwsStandIn, *arguments: str, kubeconfig: Path | None = None, **variables: Any) -> subprocess.CompletedProcess[str]:
    """Run the playbook access."""
    given = {
        "eks_node_cluster": {"name": "lab", "region": aws.region},
        "eks_node_groups": GROUPS,
        "eks_cluster_access_kubeconfig": str(kubeconfig or lab.kubeconfig()),
        **variables,
    }
    environment = os.environ | {
        "ANSIBLE_COLLECTIONS_PATH": str(TOP / ".cache"), "ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCALHOST_WARNING": "0",
        "AWS_ENDPOINT_URL": aws.url, "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "test",
    }  # fmt: skip
    command = ["ansible-playbook", str(TOP / "playbooks" / "access.yml"), "-e", json.dumps(given), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def changed(done: subprocess.CompletedProcess[str]) -> bool:
    assert done.returncode == 0, done.stdout + done.stderr
    return "changed=1" in done.stdout


def test_roles_are_added_and_what_others_wrote_stays(lab: Lab, aws: AwsStandIn) -> None:
    before = write(lab, FOREIGN)
    planned = play(lab, aws, "--check", "--diff")
    assert changed(planned)
    assert f"+  rolearn: {ROLE}web" in planned.stdout
    assert read(lab) == before

    assert changed(play(lab, aws))
    after = read(lab)
    text = after["data"]["mapRoles"]
    head, tail = FOREIGN[: FOREIGN.index("# end")], FOREIGN[FOREIGN.index("# end") :]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert [(one["rolearn"].removeprefix(ROLE), len(one["groups"])) for one in yaml.safe_load(text)[2:]] == [("web", 2), ("win", 3)]
    assert after["data"]["mapUsers"] == "[]\n"
    assert after["metadata"]["labels"] == {"owner": "terraform"}
    assert json.loads(after["metadata"]["annotations"]["nodebootstrap.eks/managed"]) == [f"{ROLE}web", f"{ROLE}win"]

    assert not changed(play(lab, aws))
    assert read(lab)["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]

    only_web = play(lab, aws, eks_node_groups=GROUPS[:1], eks_cluster_access_purge=True)
    assert changed(only_web)
    assert changed(play(lab, aws, eks_node_groups=[{**GROUPS[0], "role_arn": f"{ROLE}other"}], eks_cluster_access_purge=True))
    assert [one["rolearn"].removeprefix(ROLE) for one in yaml.safe_load(read(lab)["data"]["mapRoles"])] == ["admin", "managed", "other"]


def test_aws_auth_is_created(lab: Lab, aws: AwsStandIn) -> None:
    assert changed(play(lab, aws))
    assert len(yaml.safe_load(read(lab)["data"]["mapRoles"])) == 2
    assert not changed(play(lab, aws))


class Disturbed:
    """ConfigMaps that another program changes between reading and writing, so that the API server refuses the change."""

    unreachable = ""

    def __init__(self, lab: Lab, real: config_maps.ConfigMaps, times: int) -> None:
        self.lab, self.real, self.times = lab, real, times

    def find(self, namespace: str, name: str) -> dict[str, Any]:
        return self.real.find(namespace, name)

    def write(self, namespace: str, name: str, body: Any, is_new: bool) -> bool:
        if self.times and name == "aws-auth":
            self.times -= 1
            text = self.find(namespace, name).get("data", {}).get("mapRoles", "")
            more = f"- rolearn: {ROLE}racer{self.times}\n  username: x\n  groups: []\n"
            if is_new:
                write(self.lab, more)
            else:
                self.lab.api.patch(f"{CONFIG_MAPS}/{name}", {"data": {"mapRoles": text + more}})
        return self.real.write(namespace, name, body, is_new)

    def linux_nodes(self) -> int | str:
        return self.real.linux_nodes()


def run_disturbed(lab: Lab, aws: AwsStandIn, times: int) -> tuple[dict[str, Any], list[str]]:
    """One task with a program that changes aws-auth this many times just before it is written."""
    keys = {"access_key": "AKIAIOSFODNN7EXAMPLE", "secret_key": "test", "session_token": None, "profile": None}
    options = {**keys, "region": aws.region, "endpoint_url": aws.url, "kubeconfig": str(lab.kubeconfig()), "context": None}
    lines: list[str] = []

    def connect(cluster: Any, is_needed: bool) -> Disturbed:
        return Disturbed(lab, config_maps.connect(options, cluster, is_needed), times)

    def start(name: str, _region: Any) -> access_task.Run:
        return access_task.Run(Account(options, name), connect, lines.append, check_mode=False)

    given = {"cluster": {"name": "lab"}, "node_groups": GROUPS[:1], "roles": None, "purge": False, "recreate": False, "force": False}
    return access_task.access_task(given, start), lines


@pytest.mark.parametrize("is_new", [False, True])
def test_a_change_between_reading_and_writing_is_not_lost(lab: Lab, aws: AwsStandIn, is_new: bool) -> None:
    if not is_new:
        write(lab, FOREIGN)
    result, lines = run_disturbed(lab, aws, times=2)
    assert result["changed"]
    assert len([line for line in lines if mentions(line, "meanwhile")]) == 2
    names = [one["rolearn"].removeprefix(ROLE) for one in yaml.safe_load(read(lab)["data"]["mapRoles"])]
    assert names == [*([] if is_new else ["admin", "managed"]), "racer1", "racer0", "web"]


def test_a_program_that_never_stops_ends_the_task(lab: Lab, aws: AwsStandIn) -> None:
    write(lab, FOREIGN)
    with pytest.raises(SpecError) as caught:
        run_disturbed(lab, aws, times=100)
    assert [problem.rule for problem in caught.value.problems] == ["access.changed_meanwhile"]
    assert "web" not in read(lab)["data"]["mapRoles"]


def test_broken_yaml_is_copied_and_not_changed(lab: Lab, aws: AwsStandIn) -> None:
    before = write(lab, "- rolearn: a\n   groups: [\n")
    assert play(lab, aws, "--check").returncode != 0
    assert len(lab.api.get(CONFIG_MAPS)["items"]) == len([one for one in lab.api.get(CONFIG_MAPS)["items"] if "backup" not in str(one)])
    for _run in range(2):
        done = play(lab, aws)
        assert done.returncode != 0
        assert mentions(done.stdout, ">    2 |    groups: [", "aws-auth-backup-")
        assert read(lab) == before
        copies = [one for one in lab.api.get(CONFIG_MAPS)["items"] if one["metadata"]["name"].startswith("aws-auth-backup-")]
        assert [one["data"] for one in copies] == [before["data"]]


def test_windows_nodes_get_their_ipam(lab: Lab, aws: AwsStandIn) -> None:
    lab.api.call("POST", CONFIG_MAPS, {"metadata": {"name": "amazon-vpc-cni"}, "data": {"enable-windows-ipam": "false", "other": "1"}})
    lab.api.call("POST", "/api/v1/nodes", {"metadata": {"name": "linux-of-access", "labels": {"kubernetes.io/os": "linux"}}})
    iam = aws.client("iam")
    iam.create_role(RoleName="cluster", AssumeRolePolicyDocument="{}")
    rules = {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "ec2:*", "Resource": "*"}}
    policy = iam.create_policy(PolicyName="AmazonEKSVPCResourceController", PolicyDocument=json.dumps(rules))
    try:
        first = play(lab, aws)
        assert changed(first)
        assert mentions(first.stdout, "missing", "AmazonEKSVPCResourceController")
        assert read(lab, "amazon-vpc-cni")["data"] == {"enable-windows-ipam": "true", "other": "1"}
        iam.attach_role_policy(RoleName="cluster", PolicyArn=policy["Policy"]["Arn"])
        second = play(lab, aws)
        assert not changed(second)
        assert second.stdout.count("  ok  ") == 3
    finally:
        with suppress(iam.exceptions.NoSuchEntityException):
            iam.detach_role_policy(RoleName="cluster", PolicyArn=policy["Policy"]["Arn"])
        iam.delete_policy(PolicyArn=policy["Policy"]["Arn"])
        iam.delete_role(RoleName="cluster")


def test_entries_and_the_way_out_of_aws_auth(lab: Lab, aws: AwsStandIn) -> None:
    write(lab, FOREIGN)
    assert changed(play(lab, aws))
    aws.eks.clusters["lab"].description["accessConfig"]["authenticationMode"] = "API_AND_CONFIG_MAP"
    before = read(lab)
    both = play(lab, aws)
    assert changed(both)
    assert set(aws.eks.clusters["lab"].entries) == {f"{ROLE}team/web", f"{ROLE}win"}
    assert read(lab) == before
    assert mentions(both.stdout, f"{ROLE}admin", "AmazonEKSClusterAdminPolicy", f"{ROLE}managed")
    assert changed(play(lab, aws, eks_cluster_access_purge=True))
    assert read(lab)["data"]["mapRoles"] == FOREIGN
    assert not changed(play(lab, aws, eks_cluster_access_purge=True))


def kubeconfig_of(lab: Lab, path: Path, endpoint: str, token: str) -> Path:
    path.write_text(json.dumps(admin_kubeconfig(endpoint, lab.state.authority, token)))
    return path


def test_wrong_credentials(lab: Lab, aws: AwsStandIn, tmp_path: Path) -> None:
    before = write(lab, FOREIGN)
    other = kubeconfig_of(lab, tmp_path / "other", "https://ABC.gr7.eu-west-1.eks.amazonaws.com", lab.state.token)
    stranger = kubeconfig_of(lab, tmp_path / "stranger", lab.state.endpoint, stranger_token(lab.state.token))
    expected = {other: ("ABC.gr7.eu-west-1.eks.amazonaws.com", lab.state.endpoint), stranger: ("get configmaps", "kube-system")}
    for path, facts in expected.items():
        done = play(lab, aws, kubeconfig=path)
        assert done.returncode != 0
        assert mentions(done.stdout + done.stderr, *(fact.lower() if path == other else fact for fact in facts))
        assert "Traceback" not in done.stdout + done.stderr
    assert read(lab) == before
