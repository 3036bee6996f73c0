# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action upgrade_group and the playbook upgrade replace instances of moto, whose nodes are objects of a small Kubernetes API."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws.api import Api
from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws.auto_scaling import AutoScaling
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade import lease
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

from . import upgrade_lab
from .upgrade_lab import Group, variables
from .upgrade_runs import credentials, play, result, shown

__all__ = ["credentials"]

pytestmark = pytest.mark.usefixtures("credentials")


@pytest.fixture
def group() -> Iterator[Group]:
    with upgrade_lab.group() as made:
        yield made


def run(made: Group, folder: Path, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return play(folder, variables(made, folder, **more), *arguments)


def test_all_instances_are_replaced_and_a_second_run_changes_nothing(group: Group, tmp_path: Path) -> None:
    done = run(group, tmp_path)
    assert done.returncode == 0, shown(done)
    assert (group.versions(), group.leftovers()) == (["2", "2", "2"], []), shown(done)
    assert (group.describe()["DesiredCapacity"], group.describe()["MaxSize"]) == (3, 3)
    assert group.fewest_available == 3
    again = run(group, tmp_path)
    assert again.returncode == 0, shown(again)
    assert result(again)["changed"] is False


def test_check_mode_changes_nothing(group: Group, tmp_path: Path) -> None:
    done = run(group, tmp_path, "--check")
    assert done.returncode == 0, shown(done)
    assert [row["version"] for row in result(done)["plan"]["rows"]] == ["1", "1", "1"]
    assert result(done)["changed"] is True
    assert (group.api.changes(), group.changes()) == ([], [])


def test_check_mode_reports_the_version_of_the_new_image_and_subnets_without_addresses(group: Group, tmp_path: Path) -> None:
    group.move_nodes(f"{group.aws.region}a")
    group.use_image("amazon-eks-node-al2023-x86_64-standard-1.30-v20260101")
    without_nodes = group.add_subnet()
    for subnet in (group.subnet, without_nodes):
        group.use_all_addresses(subnet)
    done = run(group, tmp_path, "--check")
    assert done.returncode == 0, shown(done)
    found = {finding["id"]: finding for finding in result(done)["findings"] if finding["severity"] == "blocks"}
    assert set(found) == {"drain.kubelet_too_old", "drain.subnet_exhausted"}, shown(done)
    assert mentions(found["drain.kubelet_too_old"]["reason"], "1.30", "1.36")
    assert group.subnet in found["drain.subnet_exhausted"]["reason"]
    # The group can launch instances elsewhere.
    assert [one["reason"] for one in result(done)["findings"] if one["severity"] == "notice" and without_nodes in one["reason"]]
    refused = run(group, tmp_path)
    assert (refused.returncode, group.api.changes(), group.leftovers()) == (2, [], []), shown(refused)


@pytest.mark.matrix
def test_an_image_that_cannot_be_read_is_named(group: Group, tmp_path: Path) -> None:
    group.aws.deny("ec2:DescribeImages")
    done = run(group, tmp_path, "--check")
    assert [one["reason"] for one in result(done)["findings"] if "ec2:DescribeImages" in one["reason"]], shown(done)


def test_the_group_says_why_it_does_not_launch_instances(group: Group) -> None:
    keys = {"access_key": "AKIAIOSFODNN7EXAMPLE", "secret_key": "test", "session_token": None, "profile": None}
    scaling = AutoScaling(Api({**keys, "region": group.aws.region, "endpoint_url": group.aws.url}), upgrade_lab.NAME)
    assert scaling.failures() == [f"{upgrade_lab.CAPACITY} {upgrade_lab.CAUSE}", upgrade_lab.CAUSE]
    group.aws.deny("autoscaling:DescribeScalingActivities")
    assert scaling.failures() == []


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("json", '"rows"'),
        pytest.param("html", "<!doctype html>", marks=pytest.mark.matrix),
        pytest.param("text", "BATCH", marks=pytest.mark.matrix),
    ],
)
def test_check_mode_writes_the_report_and_the_plan(group: Group, tmp_path: Path, form: str, content: str) -> None:
    done = run(group, tmp_path, "--check", eks_node_upgrade_report=str(tmp_path / "plan"), eks_node_upgrade_format=form)
    assert content in (tmp_path / "plan").read_text(encoding="utf-8"), shown(done)


def test_a_node_that_does_not_become_ready_puts_the_group_back(group: Group, tmp_path: Path) -> None:
    group.never_ready.add("2")
    done = run(group, tmp_path, eks_node_upgrade_node_timeout=2)
    assert (done.returncode, result(done)["outcome"], result(done)["is_restored"]) == (2, "node_not_ready", True), shown(done)
    group.wait(lambda: len(group.ready()) == 3)
    assert (group.versions(), group.leftovers()) == (["1", "1", "1"], [])
    assert (group.describe()["LaunchTemplate"]["Version"], group.describe()["MaxSize"]) == ("1", 3)


@pytest.mark.matrix
def test_a_pod_that_does_not_leave_is_named(group: Group, tmp_path: Path) -> None:
    group.api.refuse = lambda pod: (429, "Cannot evict pod") if pod["metadata"]["name"] == "web-0" else None
    done = run(group, tmp_path, eks_node_upgrade_drain_timeout=6)
    assert (done.returncode, result(done)["outcome"]) == (2, "PodEvictionFailure"), shown(done)
    assert "default/web-0" in result(done)["msg"]
    group.wait(lambda: len(group.ready()) == 3)
    assert (group.leftovers(), group.describe()["DesiredCapacity"], group.describe()["MaxSize"]) == ([], 3, 3)


def test_an_interrupted_upgrade_can_be_aborted(group: Group, tmp_path: Path) -> None:
    group.groups.create_or_update_tags(
        Tags=[
            {
                "ResourceId": upgrade_lab.NAME,
                "ResourceType": "auto-scaling-group",
                "Key": "nodebootstrap.eks/upgrade",
                "Value": "run=r1 version=2 before=1 max=3 suspended=AZRebalance",
                "PropagateAtLaunch": False,
            }
        ]
    )
    group.groups.suspend_processes(AutoScalingGroupName=upgrade_lab.NAME, ScalingProcesses=["AZRebalance"])
    node = group.ready()[0]
    group.api.objects[f"/api/v1/nodes/{node}"]["spec"]["unschedulable"] = True
    group.api.objects[f"/api/v1/nodes/{node}"]["metadata"]["annotations"] = {"nodebootstrap.eks/upgrade": "run=r1 step=drain since=1"}
    done = run(group, tmp_path, "--tags", "abort")
    assert done.returncode == 0, shown(done)
    assert (group.versions(), group.leftovers()) == (["1", "1", "1"], [])
    nothing = run(group, tmp_path, "--tags", "resume")
    assert (nothing.returncode, result(nothing)["changed"]) == (0, False), shown(nothing)


BAD = {
    "another endpoint": ({"eks_node_cluster": {"name": "demo", "endpoint": "https://other.example.com"}}, "other.example.com"),
    "misspelt endpoint": ({"eks_node_cluster": {"name": "demo", "endpont": "https://other.example.com"}}, "endpoint"),
    "unknown group": ({"eks_node_upgrade_auto_scaling_group": "demo-worker"}, '"demo-workers"'),
    "unknown version": ({"eks_node_upgrade_launch_template_version": "9"}, "1, 2"),
    "karpenter": ({"eks_node_group": {"name": "a", "mode": "karpenter"}}, "EC2NodeClass"),
    "max_unavailable": ({"eks_node_upgrade_max_unavailable": "0%"}, "1%"),
    "no group": ({"eks_node_upgrade_auto_scaling_group": None}, "managed_node_group"),
}
USUAL = ("another endpoint", "unknown group", "unknown version")
FEW = [pytest.param(name, marks=[] if name in USUAL else pytest.mark.matrix) for name in BAD]


@pytest.mark.parametrize("name", FEW)
def test_bad_input_changes_nothing(group: Group, tmp_path: Path, name: str) -> None:
    more, word = BAD[name]
    done = run(group, tmp_path, **more)
    assert done.returncode == 2, shown(done)
    assert word in result(done)["msg"], shown(done)
    assert (group.api.changes(), group.leftovers()) == ([], [])


@pytest.mark.parametrize("arguments", [(), ("--check",)], ids=["run", "check"])
def test_a_cluster_without_the_nodes_of_the_group_is_refused(group: Group, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    # The kubeconfig is of another cluster: none of its nodes is an instance of the group.
    group.close()
    for index, node in enumerate(group.api.nodes().values()):
        node["spec"]["providerID"] = f"aws:///us-west-2a/i-0000000000000000{index}"
    done = run(group, tmp_path, *arguments)
    assert done.returncode == 2, shown(done)
    assert all(word in result(done)["msg"] for word in ("demo-workers", "context", group.describe()["Instances"][0]["InstanceId"]))
    assert (group.api.changes(), group.leftovers()) == ([], [])


def test_missing_permissions_are_named_before_anything_is_changed(group: Group, tmp_path: Path) -> None:
    group.api.forbidden = {"patch nodes", "create pods/eviction"}
    done = run(group, tmp_path)
    assert done.returncode == 2
    assert all(word in result(done)["msg"] for word in group.api.forbidden), shown(done)
    assert (group.api.changes(), group.leftovers()) == ([], [])


@pytest.mark.matrix
def test_a_denied_request_puts_the_group_back(group: Group, tmp_path: Path) -> None:
    group.aws.deny("autoscaling:TerminateInstanceInAutoScalingGroup")
    done = run(group, tmp_path)
    assert (done.returncode, result(done)["outcome"]) == (2, "refused"), shown(done)
    assert "autoscaling:TerminateInstanceInAutoScalingGroup" in result(done)["msg"]
    assert [name for name, node in group.api.nodes().items() if node["spec"].get("unschedulable")] == []


@pytest.mark.matrix
def test_an_api_server_that_is_away_for_a_moment_is_waited_for(group: Group, tmp_path: Path) -> None:
    patch = group.api._patch
    failures = iter([True] * 3)

    def fail(path: str, query: dict[str, str], body: Any) -> tuple[int, dict[str, Any]]:
        return (503, {"kind": "Status", "message": "busy"}) if next(failures, False) else patch(path, query, body)

    group.api._patch = fail  # type: ignore[method-assign]
    done = run(group, tmp_path)
    assert done.returncode == 0, shown(done)
    assert (group.versions(), group.leftovers()) == (["2", "2", "2"], [])


@pytest.mark.matrix
def test_a_second_run_is_kept_out(group: Group, tmp_path: Path) -> None:
    assert run(group, tmp_path, "--check").returncode == 0
    name = lease.name_of("auto-scaling-group", upgrade_lab.NAME)
    path = f"{lease.PATH}/{name}"
    group.api.put(path, lease.taken(name, "elsewhere/1/2/3", time.time(), None, 60))

    def renew(method: str, place: str, query: dict[str, str], body: Any) -> tuple[int, dict[str, Any]]:
        if method == "GET" and place == path:
            group.api.put(path, group.api.objects[path])
        return answer(method, place, query, body)

    answer = group.api.answer
    group.api.answer = renew  # type: ignore[method-assign]
    done = run(group, tmp_path)
    assert (done.returncode, result(done)["outcome"]) == (2, "lease_held"), shown(done)
    assert "elsewhere" in result(done)["msg"]
    assert group.api.changes() == []
