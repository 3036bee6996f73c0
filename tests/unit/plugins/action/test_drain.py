# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules drain_report and node_drain, and the playbook drain_report, in real runs against an HTTP server in place of the API."""

from __future__ import annotations

import json
import logging
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client, subnets
from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.kubernetes_stand_in import (
    SECRET,
    Objects,
    Server,
    kubeconfig,
    serving,
    status,
)
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.drain.api_objects import exhausted, lists, node, pod

PLAYBOOK = Path(__file__).resolve().parents[4] / "playbooks/drain_report.yml"
DENIED = (429, status(429, "TooManyRequests", details={"causes": [{"message": "web needs 2 healthy pods"}]}), {"Retry-After": "1"})


@contextmanager
def cluster(folder: Path, *objects: dict[str, Any], **more: Any) -> Iterator[tuple[Server, Objects]]:
    found = Objects(lists(*objects, **more))  # type: ignore[arg-type]
    with serving(reply=found.reply) as server:
        kubeconfig(folder / "kubeconfig", server.url)
        yield server, found


def report(folder: Path, *arguments: str, **variables: Any) -> subprocess.CompletedProcess[str]:
    given = {"eks_node_drain_kubeconfig": str(folder / "kubeconfig")}
    given |= {name if name.startswith("eks_") else f"eks_node_drain_{name}": value for name, value in variables.items()}
    return ansible_runs.run(folder, "ansible-playbook", str(PLAYBOOK), "-e", json.dumps(given), *arguments)


def task(folder: Path, module: str, *arguments: str, **options: Any) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Run one task, and return its result as well."""
    options = {"kubeconfig": str(folder / "kubeconfig"), **options}
    tasks = [
        {f"nodebootstrap.eks.{module}": options, "register": "found", "ignore_errors": True},
        {"ansible.builtin.copy": {"content": "{{ found | to_json }}", "dest": str(folder / "result.json")}, "check_mode": False},
    ]
    (folder / "play.yml").write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]), encoding="utf-8")
    done = ansible_runs.run(folder, "ansible-playbook", "play.yml", *arguments)
    assert SECRET not in done.stdout + done.stderr
    return done, json.loads((folder / "result.json").read_text(encoding="utf-8"))


# --- the report


def test_the_report_names_the_pod_and_changes_nothing(tmp_path: Path) -> None:
    with cluster(tmp_path, pod("p"), exhausted()) as (server, found):
        done = report(tmp_path)
    assert done.returncode == 0 and "changed=0" in done.stdout
    assert mentions(done.stdout, "web/p", "[drain.budget_exhausted]", "Deployment web/web")
    assert {one.method for one in server.requests} == {"GET"} or all(
        one.query == {"dryRun": "All"} for one in server.requests if one.method == "POST"
    )
    assert not found.lists["/api/v1/nodes"][0]["spec"].get("unschedulable")


def test_the_dry_run_of_the_api_server_is_part_of_the_report(tmp_path: Path) -> None:
    rule = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/eviction"]}
    hooks = [{"metadata": {"name": "check"}, "webhooks": [{"name": "check.example.com", "rules": [rule]}]}]
    pods = [pod("p"), pod("q"), pod("other", metadata__labels={})]
    with cluster(tmp_path, *pods, exhausted(status__disruptionsAllowed=1), VALIDATING=hooks) as (server, found):
        found.refuses["uid-p"] = (403, status(403, "Forbidden", "denied by check.example.com"), {})
        done = report(tmp_path)
        assert mentions(done.stdout, "[drain.eviction_refused]", "check.example.com")
        done = report(tmp_path, dry_run_evictions=False)
    assert "drain.eviction_refused" not in done.stdout
    assert [one.query for one in server.requests if one.method == "POST"] == [{"dryRun": "All"}]


@pytest.mark.parametrize(("suffix", "first"), [("html", "<!doctype html>"), ("json", "{"), ("txt", "NODE")])
def test_the_report_is_written_once_and_not_in_check_mode(tmp_path: Path, suffix: str, first: str) -> None:
    path = tmp_path / "out" / f"drain.{suffix}"
    given = {"report": str(path), **({"format": "json"} if suffix == "json" else {})}
    with cluster(tmp_path, pod("p"), pod("<script>", owner=None), exhausted()):
        assert report(tmp_path, "--check", **given).returncode == 0
        assert not path.exists()
        assert "changed=1" in report(tmp_path, **given).stdout
        text = path.read_text(encoding="utf-8")
        assert text.startswith(first) and "drain.budget_exhausted" in text and (suffix != "html" or "<script>" not in text)
        assert "changed=0" in report(tmp_path, **given).stdout
    if suffix == "json":
        found = json.loads(text)
        assert (found["blocked"], found["nodes"]) == (True, [{"name": "a", "pods": 2}, {"name": "b", "pods": 0}])
        assert set(found["findings"][0]) == {"id", "severity", "pod", "node", "reason", "fix"}


@pytest.mark.parametrize(("fail_on", "code"), [("blocks", 2), ("never", 0)])
def test_when_the_play_fails(tmp_path: Path, fail_on: str, code: int) -> None:
    with cluster(tmp_path, pod("p"), exhausted()):
        assert report(tmp_path, fail_on=fail_on).returncode == code


@pytest.mark.parametrize(
    ("variables", "facts"),
    [
        ({"nodes": ["aa"]}, ["nodes[0]", '"aa"', "a, b"]),
        ({"labels": {"group": "web"}}, ["labels", "group"]),
        ({"labels": {"topology.kubernetes.io/zone": "eu-west-1b"}}, ["labels", "eu-west-1a"]),
        (
            {"timeout": "soon", "target_version": "new", "eks_node_cluster": {"name": "web", "endpont": "https://other.example"}},
            ["timeout", "target_version", "cluster.endpont", '"endpoint"'],
        ),
        ({"eks_node_cluster": {"name": "web", "endpoint": "https://other.example"}}, ["cluster.endpoint", "other.example"]),
        ({"context": "tset"}, ["tset", "test"]),
        ({"kubeconfig": "/nonexistent"}, ["/nonexistent", "kubeconfig"]),
    ],
)
def test_wrong_input(tmp_path: Path, variables: dict[str, Any], facts: list[str]) -> None:
    with cluster(tmp_path, pod("p")):
        done = report(tmp_path, **variables)
    assert done.returncode != 0 and mentions(done.stdout, *facts) and "Traceback" not in done.stdout + done.stderr


def test_a_cluster_without_nodes(tmp_path: Path) -> None:
    with cluster(tmp_path, nodes=()):
        done = report(tmp_path)
    assert done.returncode != 0 and mentions(done.stdout, "nodes", "context")


def test_missing_permissions(tmp_path: Path) -> None:
    with cluster(tmp_path, pod("p")) as (_server, found):
        path, refused = "/apis/apps/v1/daemonsets", (403, status(403, "Forbidden"), {})
        reply = found.reply
        found.reply = lambda asked: refused if asked.path == path else reply(asked)  # type: ignore[method-assign]
        with serving(reply=found.reply) as server:
            kubeconfig(tmp_path / "kubeconfig", server.url)
            assert mentions(report(tmp_path).stdout, "[drain.not_checked]", "list daemonsets.apps")
            path = "/api/v1/pods"
            done = report(tmp_path)
    assert done.returncode != 0 and mentions(done.stdout, "list pods")


# --- node_drain


def test_a_node_is_drained_once(tmp_path: Path) -> None:
    with cluster(tmp_path, pod("p"), pod("other", "b")) as (server, found):
        _done, first = task(tmp_path, "node_drain", "--diff", name="a")
        assert (first["changed"], first["evicted"], first["cordoned"]) == (True, ["web/p"], True)
        assert first["diff"]["before"] != first["diff"]["after"]
        before = len(server.requests)
        _done, second = task(tmp_path, "node_drain", name="a")
        assert not second["changed"] and {one.method for one in server.requests[before:]} == {"GET"}
    assert [one["metadata"]["name"] for one in found.lists["/api/v1/pods"]] == ["other"]


def test_check_mode_reports_and_changes_nothing(tmp_path: Path) -> None:
    with cluster(tmp_path, pod("p"), exhausted()) as (server, _found):
        done, result = task(tmp_path, "node_drain", "--check", name="a")
    assert (result["changed"], result["evicted"], result["report"]["blocked"]) == (True, ["web/p"], True)
    assert mentions(done.stdout, "[drain.budget_exhausted]")
    assert all(one.method == "GET" or one.query == {"dryRun": "All"} for one in server.requests)


def test_a_drain_that_fails_names_the_pods_and_uncordons(tmp_path: Path) -> None:
    with cluster(tmp_path, pod("p"), pod("q")) as (_server, found):
        found.refuses["uid-p"] = DENIED
        done, result = task(tmp_path, "node_drain", name="a", timeout="3s")
        assert result["failed"] and result["error"] == "PodEvictionFailure"
        assert (result["left"], result["evicted"]) == ([{"pod": "web/p", "reason": "web needs 2 healthy pods"}], ["web/q"])
        assert not found.lists["/api/v1/nodes"][0]["spec"].get("unschedulable")
    assert mentions(done.stdout, "web/p", "web needs 2 healthy pods")


def test_the_options_decide_what_may_be_lost(tmp_path: Path) -> None:
    with cluster(tmp_path, pod("p", owner=None)) as (server, _found):
        _done, result = task(tmp_path, "node_drain", name="a")
        assert result["failed"] and not result["changed"] and mentions(result["msg"], "web/p", "delete_unmanaged_pods")
        assert {one.method for one in server.requests} == {"GET"}
        assert task(tmp_path, "node_drain", name="a", delete_unmanaged_pods=True)[1]["evicted"] == ["web/p"]


@pytest.mark.parametrize(("state", "cordoned"), [("cordoned", True), ("uncordoned", False)])
def test_cordon_and_uncordon(tmp_path: Path, state: str, cordoned: bool) -> None:
    with cluster(tmp_path, nodes=(node("a", spec__unschedulable=not cordoned),)) as (_server, found):
        checked = task(tmp_path, "node_drain", "--check", name="a", state=state)[1]
        assert checked["changed"] and found.lists["/api/v1/nodes"][0]["spec"]["unschedulable"] is not cordoned
        assert task(tmp_path, "node_drain", name="a", state=state)[1]["changed"]
        assert bool(found.lists["/api/v1/nodes"][0]["spec"].get("unschedulable")) is cordoned
        assert not task(tmp_path, "node_drain", name="a", state=state)[1]["changed"]


def test_an_unknown_node(tmp_path: Path) -> None:
    with cluster(tmp_path, pod("p")) as (server, _found):
        _done, result = task(tmp_path, "node_drain", name="c")
    assert result["failed"] and mentions(result["msg"], "nodes c")
    assert {one.method for one in server.requests} == {"GET"}


def test_an_api_server_that_is_away(tmp_path: Path) -> None:
    with cluster(tmp_path, pod("p")):
        pass
    _done, result = task(tmp_path, "node_drain", name="a")
    assert result["failed"] and result["reason"] == "Unreachable"


# --- subnets, from moto


@pytest.fixture(scope="module")
def account() -> Iterator[dict[str, Any]]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield {"endpoint_url": f"http://{host}:{port}", "access_key": "x", "secret_key": "x"}
    server.stop()


def test_free_addresses_of_the_subnets_of_nodes(account: dict[str, Any]) -> None:
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
    ec2 = boto3.client("ec2", region_name="eu-west-1", endpoint_url=account["endpoint_url"], **keys)
    image = ec2.describe_images()["Images"][0]["ImageId"]
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/28")["Subnet"]["SubnetId"]
    made = ec2.run_instances(ImageId=image, MinCount=2, MaxCount=2, SubnetId=subnet)["Instances"]
    identities = {f"n{number}": f"aws:///eu-west-1a/{one['InstanceId']}" for number, one in enumerate(made)}
    found = subnets.free_addresses(account, {**identities, "other": "kind://x", "gone": "aws:///eu-west-1a/i-0123456789abcdef0"})
    assert found == [(subnet, 9, ("n0", "n1"))]


def test_nodes_outside_of_ec2_need_no_credentials() -> None:
    assert subnets.free_addresses({}, {"a": "kind://docker/a", "b": ""}) == []


def test_without_credentials_the_subnets_are_not_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(client.AwsError):
        subnets.free_addresses({}, {"a": "aws:///eu-west-1a/i-0123456789abcdef0"})
