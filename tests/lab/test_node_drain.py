# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module node_drain on a real node with real pods: what it waits for, what it refuses, and what it leaves behind."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import Lab, control_plane
from ansible_collections.nodebootstrap.eks.tests.lab.api import Object
from ansible_collections.nodebootstrap.eks.tests.lab.availability import HealthyPods
from ansible_collections.nodebootstrap.eks.tests.lab.blockers import idle, webhook
from ansible_collections.nodebootstrap.eks.tests.lab.drain_plays import Play, kill, processes
from ansible_collections.nodebootstrap.eks.tests.lab.faulty_proxies import TcpProxy
from ansible_collections.nodebootstrap.eks.tests.lab.joining import PATIENCE
from ansible_collections.nodebootstrap.eks.tests.lab.progress import wait_for
from ansible_collections.nodebootstrap.eks.tests.lab.workloads import (
    Namespace,
    budget,
    can_evict,
    deployment,
    pod,
    service,
    user_data,
    worker,
)
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

LONG = "20m"
"""A timeout that no test waits for: Play.finish does not have so much time."""

SHORT = "6s"
"""A timeout within which an eviction is refused twice."""

ENOUGH = "30s"
"""A timeout within which a test can interfere, also on a busy machine."""

LABELS = {"role": "drained"}
"""The labels of both nodes."""


class Stage(NamedTuple):
    """Two nodes. node: the one that is drained. spare: the one to which its pods go."""

    lab: Lab
    node: str
    spare: str

    def cordon(self, name: str, is_cordoned: bool) -> None:
        self.lab.api.patch(f"/api/v1/nodes/{name}", {"spec": {"unschedulable": is_cordoned or None}})

    def is_cordoned(self) -> bool:
        return bool(self.lab.node_object(self.node)["spec"].get("unschedulable"))

    def pods(self) -> list[Object]:
        """The pods of both nodes."""
        items = self.lab.api.get("/api/v1/pods")["items"]
        return [one for one in items if one["spec"].get("nodeName") in (self.node, self.spare)]

    def place(self, space: Namespace, *objects: Object) -> None:
        """Create objects, whose pods run on the node that is drained."""
        self.cordon(self.spare, True)
        space.create(*objects)
        for one in objects:
            if one["kind"] in ("Pod", "Deployment"):
                space.wait_ready(one["metadata"]["name"], one["spec"].get("replicas", 1))
        assert {one["spec"]["nodeName"] for one in space.pods()} == {self.node}
        self.cordon(self.spare, False)

    def state(self) -> tuple[bool, set[tuple[str, bool]]]:
        """What only a drain changes: whether the node is cordoned, and its pods, with whether they are ending."""
        own = [one["metadata"] for one in self.pods() if one["spec"]["nodeName"] == self.node]
        return self.is_cordoned(), {(one["uid"], "deletionTimestamp" in one) for one in own}


class Drain:
    """Tasks of node_drain in one play. options: of each task, and C(check_mode)."""

    def __init__(self, stage: Stage, folder: Path, *options: dict[str, Any], kubeconfig: Path | None = None) -> None:
        path, self._results = folder / "drain.yml", folder / "results.json"
        tasks = [self._task(number, stage.node, kubeconfig or stage.lab.kubeconfig(), one) for number, one in enumerate(options)]
        results = ", ".join(task["register"] for task in tasks)
        copy = {"content": f"{{{{ [{results}] | to_json }}}}", "dest": str(self._results)}
        play = {"hosts": "localhost", "gather_facts": False, "tasks": [*tasks, {"ansible.builtin.copy": copy}]}
        path.write_text(json.dumps([play]))
        self.play = Play(stage.lab, folder, path, {})

    @staticmethod
    def _task(number: int, node: str, kubeconfig: Path, options: dict[str, Any]) -> dict[str, Any]:
        own = {name: value for name, value in options.items() if name != "check_mode"}
        module = {"nodebootstrap.eks.node_drain": {"name": node, "kubeconfig": str(kubeconfig), **own}}
        return {**module, "register": f"result_{number}", "ignore_errors": True, "check_mode": options.get("check_mode", False)}

    def run(self) -> list[dict[str, Any]]:
        """Run the play. Returns the results of the tasks."""
        return self.finish(self.play.start())

    def finish(self, process: subprocess.Popen[bytes]) -> list[dict[str, Any]]:
        """The same for a play that has begun."""
        code, output = self.play.finish(process)
        assert code == 0, output
        found: list[dict[str, Any]] = json.loads(self._results.read_text())
        return found

    def wait_said(self, process: subprocess.Popen[bytes], *words: str) -> None:
        """Wait until the output has words. A play that ended before is a failure."""

        def is_said() -> bool:
            found = all(word in self.play.output for word in words)
            assert found or process.poll() is None, self.play.output
            return found

        wait_for(f"the output {words}", is_said, PATIENCE, 0.1)


@pytest.fixture(scope="module")
def stage(lab: Lab) -> Iterator[Stage]:
    with ExitStack() as stack:
        text = user_data(lab, "1.36", max_pods=60, labels=LABELS)
        nodes = [stack.enter_context(worker(lab, "1.36", text=text)) for _unused in range(2)]
        for node in nodes:
            node.wait_ready(PATIENCE)
        yield Stage(lab, *(node.name for node in nodes))


@pytest.fixture
def space(stage: Stage, request: pytest.FixtureRequest) -> Iterator[Namespace]:
    """A namespace of the test. The pods of the test before are gone, and no node is cordoned."""
    wait_for("the end of the pods of other tests", lambda: stage.pods() == [], PATIENCE, 0.2)
    for name in (stage.node, stage.spare):
        stage.cordon(name, False)
    with Namespace(stage.lab, request.node.name.removeprefix("test_").replace("_", "-")[:60].strip("-")) as space:
        yield space


def web(replicas: int, **more: Any) -> Object:
    """A workload that may run on both nodes."""
    return deployment("web", replicas, **idle(nodeSelector=LABELS, **more))


def full_names(space: Namespace) -> list[str]:
    return sorted(f"{space.name}/{one['metadata']['name']}" for one in space.pods())


def left(result: dict[str, Any]) -> list[str]:
    return sorted(one["pod"] for one in result["left"])


def refuses(space: Namespace) -> Callable[[], bool]:
    """Whether the API server refuses to evict the pods of a namespace now, because of their budget."""
    return lambda: [can_evict(space.lab, one)[0] for one in space.pods()] == [429] * len(space.pods())


# --- budgets


def test_a_budget_is_waited_for_and_honored(stage: Stage, space: Namespace, tmp_path: Path) -> None:
    stage.place(space, web(2), budget("web", minAvailable=2))
    pods = full_names(space)
    drain = Drain(stage, tmp_path, {"timeout": LONG})
    with HealthyPods(space, "web") as healthy:
        process = drain.play.start()
        drain.wait_said(process, pods[0], pods[1], "disruption budget web")
        assert (full_names(space), stage.is_cordoned()) == (pods, True)
        space.patch("PodDisruptionBudget", "web", {"spec": {"minAvailable": 1}})
        [result] = drain.finish(process)
    assert (result["failed"], result["changed"], result["cordoned"], result["evicted"], result["left"]) == (False, True, True, pods, [])
    assert stage.state() == (True, set()) and healthy.least == 1


@pytest.mark.matrix
def test_several_budgets_end_the_drain_at_once(stage: Stage, space: Namespace, tmp_path: Path) -> None:
    stage.place(space, web(1), budget("web", maxUnavailable=1), budget("too", "web", maxUnavailable=1))
    before = stage.state()
    [result] = Drain(stage, tmp_path, {"timeout": LONG}).run()
    assert (result["failed"], result["error"], left(result)) == (True, "PodEvictionFailure", full_names(space))
    assert mentions(result["msg"], "several PodDisruptionBudgets", full_names(space)[0])
    assert stage.state() == before
    assert can_evict(stage.lab, space.pods()[0])[0] == 500


def test_a_budget_that_never_allows_fails_the_drain_or_its_pods_are_deleted(stage: Stage, space: Namespace, tmp_path: Path) -> None:
    stage.place(space, web(1), budget("web", minAvailable=1))
    wait_for("the verdict of the API server", refuses(space), PATIENCE)
    before, pods = stage.state(), full_names(space)
    checked, result = Drain(stage, tmp_path, {"check_mode": True}, {"timeout": SHORT}).run()
    assert (checked["failed"], checked["changed"], checked["evicted"]) == (False, True, pods)
    assert [(one["id"], one["pod"]) for one in checked["report"]["findings"]] == [("drain.budget_never_allows", pods[0])]
    assert (result["failed"], result["error"], left(result), result["cordoned"]) == (True, "PodEvictionFailure", pods, False)
    assert mentions(result["msg"], pods[0], "budget", SHORT)
    assert stage.state() == before
    [result] = Drain(stage, tmp_path, {"timeout": SHORT, "delete_after_timeout": True}).run()
    assert (result["failed"], result["evicted"], result["left"]) == (False, pods, [])
    assert stage.state() == (True, set())


# --- options


def test_only_the_options_allow_to_lose_pods_and_data(stage: Stage, space: Namespace, tmp_path: Path) -> None:
    scratch = {"volumes": [{"name": "scratch", "emptyDir": {}}]}
    stage.place(space, web(1, **scratch), pod("alone", **idle(nodeSelector=LABELS)))
    before, pods = stage.state(), full_names(space)
    alone, data = f"{space.name}/alone", next(name for name in pods if "web" in name)
    both = {"delete_unmanaged_pods": True, "delete_emptydir_data": True}
    neither, only_data, only_pods, checked = Drain(
        stage, tmp_path, {}, {"delete_emptydir_data": True}, {"delete_unmanaged_pods": True}, {**both, "check_mode": True}
    ).run()
    assert [one["failed"] for one in (neither, only_data, only_pods, checked)] == [True, True, True, False]
    assert (left(neither), left(only_data), left(only_pods)) == (pods, [alone], [data])
    assert mentions(only_data["msg"], alone, "delete_unmanaged_pods") and mentions(only_pods["msg"], data, "delete_emptydir_data")
    assert checked["evicted"] == pods
    assert stage.state() == before
    [result] = Drain(stage, tmp_path, both).run()
    assert (result["failed"], result["evicted"]) == (False, pods)
    assert stage.state() == (True, set())
    [fresh] = space.wait_ready("web", 1)
    assert fresh["spec"]["nodeName"] == stage.spare


# --- failures


def test_a_webhook_that_fails_is_named(stage: Stage, space: Namespace, tmp_path: Path) -> None:
    stage.place(space, web(1), service("hook"))
    before, pods = stage.state(), full_names(space)
    hook = webhook(space.name)
    space.create(hook)
    try:
        wait_for("the webhook", lambda: can_evict(stage.lab, space.pods()[0])[0] == 500, PATIENCE)
        [result] = Drain(stage, tmp_path, {"timeout": SHORT}).run()
    finally:
        space.delete(hook["kind"], hook["metadata"]["name"])
    assert (result["failed"], result["error"], left(result)) == (True, "PodEvictionFailure", pods)
    assert mentions(result["msg"], pods[0], hook["webhooks"][0]["name"])
    assert stage.state() == before


def test_an_api_server_that_goes_away_leaves_nothing_cordoned(stage: Stage, space: Namespace, tmp_path: Path) -> None:
    stage.place(space, web(1), budget("web", minAvailable=1))
    wait_for("the verdict of the API server", refuses(space), PATIENCE)
    before = stage.state()
    with TcpProxy(stage.lab) as proxy:
        path = tmp_path / "kubeconfig"
        path.write_text(json.dumps(control_plane.admin_kubeconfig(proxy.endpoint, stage.lab.state.authority, stage.lab.state.token)))
        drain = Drain(stage, tmp_path, {"timeout": ENOUGH}, kubeconfig=path)
        process = drain.play.start()
        drain.wait_said(process, "disruption budget web")
        assert stage.is_cordoned()
        proxy.shut()
        drain.wait_said(process, "could not be uncordoned")
        proxy.open()
        [result] = drain.finish(process)
        address = proxy.endpoint.removeprefix("https://")
    assert (result["failed"], result["reason"]) == (True, "Unreachable") and mentions(result["msg"], address)
    assert stage.state() == before


def test_a_killed_playbook_stops_draining_and_the_next_one_finishes(stage: Stage, space: Namespace, tmp_path: Path) -> None:
    stage.place(space, web(2), budget("web", minAvailable=2))
    wait_for("the verdict of the API server", refuses(space), PATIENCE)
    before, pods = stage.state(), full_names(space)
    drain = Drain(stage, tmp_path, {"timeout": LONG})
    process = drain.play.start()
    drain.wait_said(process, "disruption budget web")
    kill(process)
    wait_for("the end of the killed drain", lambda: processes(drain.play) == [], PATIENCE)
    # Its task takes the cordon back. No process is left that could evict a pod now that the budget allows it.
    assert stage.state() == before
    space.patch("PodDisruptionBudget", "web", {"spec": {"minAvailable": 1}})
    [result] = drain.run()
    assert (result["failed"], result["evicted"]) == (False, pods)
    assert stage.state() == (True, set())
