# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action upgrade_nodes and the playbook upgrade upgrade hosts in place: a role of the test changes their Node objects."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit import kubernetes_api

from .upgrade_runs import credentials, play, result, results, shown

__all__ = ["credentials"]

pytestmark = pytest.mark.usefixtures("credentials")
ROLE = """\
- name: Install another version of kubelet
  ansible.builtin.uri:
    url: "{{ api }}/api/v1/nodes/{{ eks_node_upgrade__node }}"
    method: PATCH
    body_format: json
    body: "{{ patch }}"
"""
PATCH = {"status": {"nodeInfo": {"kubeletVersion": "v1.36.1"}}}
NOT_READY = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}


class Setup:
    def __init__(self, api: kubernetes_api.KubernetesApi, folder: Path) -> None:
        self.api, self.folder = api, folder
        (folder / "roles" / "kubelet" / "tasks").mkdir(parents=True)
        (folder / "roles" / "kubelet" / "tasks" / "main.yml").write_text(ROLE)
        local = f"ansible_connection=local ansible_python_interpreter={sys.executable}"
        hosts = "".join(f"{name} {local}\n" for name in ("node-1", "node-2", "node-3", "stranger"))
        (folder / "hosts").write_text(f"[workers]\n{hosts}[none]\n")
        for number in (1, 2, 3):
            api.node(f"node-{number}", f"i-{number}")
            api.pod(f"web-{number}", f"node-{number}")
        self.most_cordoned = 0
        patch = api._patch

        def watch(path: str, query: dict[str, str], body: Any) -> Any:
            answer = patch(path, query, body)
            self.most_cordoned = max(self.most_cordoned, len(self.cordoned()))
            return answer

        api._patch = watch  # type: ignore[method-assign]

    def run(self, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        values = {
            "eks_node_cluster": {"name": "demo"},
            "eks_node_hosts": "workers:!stranger",
            "eks_node_upgrade_in_place": True,
            "eks_node_upgrade_kubeconfig": str(self.api.kubeconfig(self.folder / "kubeconfig")),
            "eks_node_upgrade_kubernetes_version": "1.36",
            "eks_node_upgrade_roles": [{"name": str(self.folder / "roles" / "kubelet")}],
            "eks_node_upgrade_load_balancer_wait": 0,
            "eks_node_upgrade_poll_interval": 0.1,
            "eks_node_upgrade_node_timeout": 2,
            "eks_node_upgrade_drain_timeout": 20,
            "api": self.api.url,
            "patch": PATCH,
            **more,
        }
        return play(self.folder, values, "-i", str(self.folder / "hosts"), *arguments)

    def versions(self) -> list[str]:
        return [node["status"]["nodeInfo"]["kubeletVersion"] for _name, node in sorted(self.api.nodes().items())]

    def cordoned(self) -> list[str]:
        return [name for name, node in self.api.nodes().items() if node["spec"].get("unschedulable")]

    def leftovers(self) -> list[str]:
        found = [path for path in self.api.objects if "/leases/" in path]
        for name, node in self.api.nodes().items():
            found += [f"{name} {key}" for key in [*node["metadata"].get("annotations", {}), *node["metadata"].get("labels", {})]]
        return found + self.cordoned()


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[Setup]:
    with kubernetes_api.serving() as api:
        yield Setup(api, tmp_path)


def test_all_nodes_are_upgraded_and_a_second_run_changes_nothing(setup: Setup) -> None:
    check = setup.run("--check")
    assert (check.returncode, setup.api.changes()) == (0, []), shown(check)
    [plan] = [one["plan"] for one in results(check) if "plan" in one]
    assert [row["node"] for row in plan["rows"]] == ["node-1", "node-2", "node-3"]
    done = setup.run()
    assert done.returncode == 0, shown(done)
    assert (setup.versions(), setup.leftovers(), setup.most_cordoned) == (["v1.36.1"] * 3, [], 1), shown(done)
    before = len(setup.api.changes())
    again = setup.run()
    assert (again.returncode, len(setup.api.changes())) == (0, before), shown(again)


@pytest.mark.matrix
def test_several_nodes_at_once(setup: Setup) -> None:
    done = setup.run(eks_node_upgrade_max_unavailable="70%", eks_node_upgrade_canary=0)
    assert done.returncode == 0, shown(done)
    assert (setup.versions(), setup.leftovers(), setup.most_cordoned) == (["v1.36.1"] * 3, [], 2), shown(done)


def test_a_role_that_fails_stops_the_upgrade_and_uncordons_its_node(setup: Setup) -> None:
    done = setup.run(patch={}, api="http://127.0.0.1:1")
    assert done.returncode == 2, shown(done)
    assert (setup.versions(), setup.cordoned()) == (["v1.35.1"] * 3, []), shown(done)
    finished = setup.run()
    assert finished.returncode == 0, shown(finished)
    assert (setup.versions(), setup.leftovers()) == (["v1.36.1"] * 3, []), shown(finished)


@pytest.mark.matrix
def test_a_node_that_does_not_become_ready_stops_the_upgrade_and_stays_cordoned(setup: Setup) -> None:
    done = setup.run(patch=NOT_READY)
    assert (done.returncode, setup.cordoned()) == (2, ["node-1"]), shown(done)
    outcomes = [one.get("outcome") for one in results(done)]
    assert "node_not_ready" in outcomes, shown(done)
    setup.api.objects["/api/v1/nodes/node-1"]["status"]["conditions"][0]["status"] = "True"
    aborted = setup.run("--tags", "abort")
    assert (aborted.returncode, setup.leftovers()) == (0, []), shown(aborted)


@pytest.mark.matrix
def test_a_pod_that_does_not_leave_stops_the_upgrade(setup: Setup) -> None:
    setup.api.refuse = lambda pod: (429, "Cannot evict pod")
    done = setup.run(eks_node_upgrade_drain_timeout=6)
    assert (done.returncode, setup.cordoned(), setup.versions()) == (2, [], ["v1.35.1"] * 3), shown(done)
    assert "PodEvictionFailure" in [one.get("outcome") for one in results(done)], shown(done)


BAD = {
    "a host without a node": ({"eks_node_hosts": "workers"}, "stranger"),
    "no host": ({"eks_node_hosts": "none"}, "eks_node_hosts"),
    "max_unavailable": ({"eks_node_upgrade_max_unavailable": "many"}, "33%"),
    "another endpoint": ({"eks_node_cluster": {"name": "demo", "endpoint": "https://other.example.com"}}, "other.example.com"),
    "misspelt endpoint": ({"eks_node_cluster": {"name": "demo", "endpont": "https://other.example.com"}}, "endpoint"),
}
USUAL = ("a host without a node", "another endpoint")
FEW = [pytest.param(name, marks=[] if name in USUAL else pytest.mark.matrix) for name in BAD]


@pytest.mark.parametrize("name", FEW)
def test_bad_input_changes_nothing(setup: Setup, name: str) -> None:
    more, word = BAD[name]
    done = setup.run(**more)
    assert (done.returncode, setup.api.changes()) == (2, []), shown(done)
    assert word in result(done)["msg"], shown(done)


def test_nodes_of_karpenter_are_refused(setup: Setup) -> None:
    setup.api.objects["/api/v1/nodes/node-2"]["metadata"]["labels"] = {"karpenter.sh/nodepool": "default"}
    done = setup.run()
    assert (done.returncode, setup.api.changes()) == (2, []), shown(done)
    assert "EC2NodeClass" in result(done)["msg"]


@pytest.mark.parametrize("cordoned", [["node-2"], pytest.param(["node-1", "node-2"], marks=pytest.mark.matrix)])
def test_nodes_that_stay_cordoned_and_would_stop_the_upgrade_are_named(setup: Setup, cordoned: list[str]) -> None:
    for name in cordoned:
        setup.api.objects[f"/api/v1/nodes/{name}"]["spec"]["unschedulable"] = True
    done = setup.run()
    found = result(done)
    assert (done.returncode, setup.api.changes(), found["outcome"]) == (2, [], "already_unavailable"), shown(done)
    assert all(name in found["msg"] for name in cordoned)
    assert [row["node"] for row in found["plan"]["rows"] if row["state"] == "cordoned"] == cordoned
    assert found["plan"]["unavailable_nodes"] == [f"{name} (cordoned)" for name in cordoned]
    assert [one["node"] for one in found["findings"] if one["id"] == "drain.already_cordoned"] == cordoned
