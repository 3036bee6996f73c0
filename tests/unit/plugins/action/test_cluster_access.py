# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action cluster_access by the playbook access, and the modules for access entries, against the stand-in for AWS.

aws-auth: C(tests/lab/test_access.py).
"""

from __future__ import annotations

import base64
import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.consistency.documented import CERTIFICATE
from ansible_collections.nodebootstrap.eks.tests.eks_api import ApiError, AwsStandIn
from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

PLAYBOOK = Path(__file__).resolve().parents[4] / "playbooks" / "access.yml"
ROLE = "arn:aws:iam::123456789012:role/"
GROUPS = [
    {"name": "web", "family": "al2023", "role_arn": f"{ROLE}team/web"},
    {"name": "db", "family": "bottlerocket", "role_arn": f"{ROLE}db"},
]


@pytest.fixture(scope="module")
def server() -> Iterator[AwsStandIn]:
    with AwsStandIn() as running:
        yield running


@pytest.fixture
def aws(server: AwsStandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AwsStandIn:
    """A cluster that only uses access entries, and the environment of the plays."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN", "KUBECONFIG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "test",
        "HOME": str(tmp_path),
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    server.eks.add_cluster("demo", authentication_mode="API")
    server.calls.clear()
    return server


def play(folder: Path, *arguments: str, **variables: Any) -> subprocess.CompletedProcess[str]:
    given = {"eks_node_cluster": {"name": "demo", "region": "eu-west-1"}, "eks_node_groups": GROUPS, **variables}
    (folder / "my.yml").write_text(json.dumps(given), encoding="utf-8")
    return ansible_runs.run(folder, "ansible-playbook", str(PLAYBOOK), "-e", "@my.yml", *arguments)


def entries(aws: AwsStandIn) -> dict[str, str]:
    return {arn.removeprefix(ROLE): entry["type"] for arn, entry in aws.eks.clusters["demo"].entries.items()}


def test_the_playbook(aws: AwsStandIn, tmp_path: Path) -> None:
    planned = play(tmp_path, "--check", "--diff")
    assert planned.returncode == 0, planned.stdout
    assert aws.operations(changes_only=True) == []
    assert "changed=1" in planned.stdout
    assert mentions(planned.stdout, f"{ROLE}team/web  EC2_LINUX", "+type: EC2_LINUX")
    assert "changed=1" in play(tmp_path).stdout
    assert entries(aws) == {"team/web": "EC2_LINUX", "db": "EC2_LINUX"}
    again = play(tmp_path, "--diff")
    assert "changed=0" in again.stdout
    assert len(aws.operations(changes_only=True)) == 2
    purged = play(tmp_path, eks_node_groups=GROUPS[:1], eks_cluster_access_purge=True)
    assert "changed=1" in purged.stdout
    assert entries(aws) == {"team/web": "EC2_LINUX"}


def test_a_refused_plan_changes_nothing(aws: AwsStandIn, tmp_path: Path) -> None:
    aws.eks.add_entry("demo", f"{ROLE}db", "STANDARD", tags={"cost": "7"})
    aws.calls.clear()
    done = play(tmp_path)
    assert done.returncode != 0
    assert mentions(done.stdout + done.stderr, "node_groups[1].role_arn", "recreate: true")
    assert aws.operations(changes_only=True) == []
    assert "changed=1" in play(tmp_path, eks_cluster_access_recreate=True).stdout
    assert entries(aws) == {"team/web": "EC2_LINUX", "db": "EC2_LINUX"}
    assert aws.eks.clusters["demo"].entries[f"{ROLE}db"]["tags"] == {"cost": "7", "nodebootstrap.eks/managed": "true"}


def test_entries_are_created_without_the_api_server(aws: AwsStandIn, tmp_path: Path) -> None:
    """aws-auth is only for the report then, which says why it was not read."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        endpoint = f"https://127.0.0.1:{unused.getsockname()[1]}"
        authority = {"data": base64.b64encode(CERTIFICATE.encode()).decode()}
        aws.eks.add_cluster("demo", authentication_mode="API_AND_CONFIG_MAP", endpoint=endpoint, certificateAuthority=authority)
        done = play(tmp_path)
        assert done.returncode == 0, done.stdout
        assert mentions(done.stdout, "kube-system/aws-auth", "note")
        assert entries(aws) == {"team/web": "EC2_LINUX", "db": "EC2_LINUX"}
        aws.eks.add_cluster("demo", authentication_mode="CONFIG_MAP", endpoint=endpoint, certificateAuthority=authority)
        assert play(tmp_path).returncode != 0


WRONG: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "unknown cluster": ({"eks_node_cluster": {"name": "dmeo", "region": "eu-west-1"}}, ("dmeo", "demo")),
    "endpoint of another cluster": (
        {"eks_node_cluster": {"name": "demo", "region": "eu-west-1", "endpoint": "https://other.example"}},
        ("cluster.endpoint", "https://other.example"),
    ),
    "no role": ({"eks_node_groups": [{"name": "web", "family": "al2023"}]}, ("node_groups[0].role_arn",)),
    "no groups": ({"eks_node_groups": []}, ("eks_cluster_access_roles",)),
    "no region": ({"eks_node_cluster": {"name": "demo"}}, ("AWS_REGION",)),
    "instance profile": (
        {"eks_node_groups": [{**GROUPS[0], "role_arn": "arn:aws:iam::123456789012:instance-profile/p"}]},
        ("node_groups[0].role_arn", "get-instance-profile"),
    ),
}


@pytest.mark.parametrize(("variables", "facts"), WRONG.values(), ids=WRONG)
def test_wrong_input(aws: AwsStandIn, tmp_path: Path, variables: dict[str, Any], facts: tuple[str, ...]) -> None:
    done = play(tmp_path, **variables)
    assert done.returncode != 0
    assert mentions(done.stdout + done.stderr, *facts)
    assert "Traceback" not in done.stdout + done.stderr
    assert aws.operations(changes_only=True) == []


def test_an_error_in_the_middle_is_finished_by_the_next_run(aws: AwsStandIn, tmp_path: Path) -> None:
    aws.fail_once("eks:CreateAccessEntry", ApiError("InvalidParameterException", "not now"))
    first = play(tmp_path)
    assert first.returncode != 0
    assert mentions(first.stdout + first.stderr, "not now")
    assert "changed=1" in play(tmp_path).stdout
    assert entries(aws) == {"team/web": "EC2_LINUX", "db": "EC2_LINUX"}


TASKS = """
- hosts: localhost
  gather_facts: false
  vars:
    names: {cluster: demo, region: eu-west-1}
  tasks:
    - nodebootstrap.eks.access_entry: "{{ names | combine(entry) }}"
      register: made
    - nodebootstrap.eks.access_entry_info: "{{ names }}"
      register: all_entries
    - nodebootstrap.eks.access_entry_info: "{{ names | combine({'principal_arn': 'arn:aws:iam::123456789012:role/none'}) }}"
      register: no_entry
    - ansible.builtin.copy:
        dest: result.json
        content: "{{ {'made': made, 'all': all_entries, 'none': no_entry} | to_json }}"
      check_mode: false
"""


def test_the_modules_for_entries(aws: AwsStandIn, tmp_path: Path) -> None:
    entry = {"principal_arn": f"{ROLE}dev", "access_policies": [{"policy": "AmazonEKSViewPolicy", "namespaces": ["web"]}]}
    (tmp_path / "play.yml").write_text(TASKS, encoding="utf-8")
    found = []
    for arguments in (["--check", "--diff"], [], []):
        done = ansible_runs.run(tmp_path, "ansible-playbook", "play.yml", "-e", json.dumps({"entry": entry}), *arguments)
        assert done.returncode == 0, done.stdout
        found.append(json.loads((tmp_path / "result.json").read_text(encoding="utf-8")))
    assert [one["made"]["changed"] for one in found] == [True, True, False]
    assert [len(one["all"]["entries"]) for one in found] == [0, 1, 1]
    assert found[1]["all"]["entries"] == [found[2]["made"]["entry"]]
    assert (found[1]["none"]["entries"], found[1]["none"]["authentication_mode"]) == ([], "API")
    wrong = {**entry, "kubernetes_groups": ["system:masters"]}
    done = ansible_runs.run(tmp_path, "ansible-playbook", "play.yml", "-e", json.dumps({"entry": wrong}))
    assert done.returncode != 0
    assert mentions(done.stdout + done.stderr, "kubernetes_groups[0]", "AmazonEKSClusterAdminPolicy")
