# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook upgrade lets EKS update a managed node group: the stand-in for EKS, with nodes of a small Kubernetes API."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.eks_api import AwsStandIn
from ansible_collections.nodebootstrap.eks.tests.unit import kubernetes_api

from .upgrade_runs import credentials, play, result, shown

__all__ = ["credentials"]

ROLE = "arn:aws:iam::123456789012:role/workers"
LABELS = {"eks.amazonaws.com/nodegroup": "workers"}
pytestmark = pytest.mark.usefixtures("credentials")


class Setup:
    def __init__(self, aws: AwsStandIn, api: kubernetes_api.KubernetesApi, folder: Path) -> None:
        self.aws, self.api, self.folder = aws, api, folder
        aws.eks.add_cluster("demo", version="1.34")
        api.version = "v1.34.0"
        self.group = aws.eks.add_node_group("demo", "workers", role=ROLE, version="1.33")
        for number in (1, 2):
            api.node(f"node-{number}", f"i-{number}", "v1.33.1", labels=dict(LABELS))
        api.pod("web-0", "node-1")

    def run(self, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        values = {
            "eks_node_cluster": {"name": "demo"},
            "eks_node_upgrade_region": self.aws.region,
            "eks_node_upgrade_managed_node_group": "workers",
            "eks_node_upgrade_kubeconfig": str(self.api.kubeconfig(self.folder / "kubeconfig")),
            "eks_node_upgrade_endpoint_url": self.aws.url,
            "eks_node_upgrade_poll_interval": 0.1,
            **more,
        }
        return play(self.folder, values, *arguments)

    def updates(self) -> list[dict[str, Any]]:
        return [call.request for call in self.aws.calls if call.operation == "eks:UpdateNodegroupVersion"]


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[Setup]:
    with ExitStack() as stack:
        yield Setup(stack.enter_context(AwsStandIn()), stack.enter_context(kubernetes_api.serving()), tmp_path)


def test_the_group_is_updated_to_the_version_of_the_cluster_once(setup: Setup) -> None:
    check = setup.run("--check")
    assert (check.returncode, result(check)["changed"], setup.updates()) == (0, True, []), shown(check)
    done = setup.run()
    assert (done.returncode, result(done)["changed"], result(done)["outcome"]) == (0, True, "done"), shown(done)
    assert [request["version"] for request in setup.updates()] == ["1.34"]
    again = setup.run()
    assert (again.returncode, result(again)["changed"], len(setup.updates())) == (0, False, 1), shown(again)


def test_a_failed_update_names_the_pod(setup: Setup) -> None:
    def fail(update: Any) -> None:
        setup.api.objects["/api/v1/nodes/node-1"]["spec"]["unschedulable"] = True
        if update.checks > 3:
            update.fail("PodEvictionFailure", "Reached max retries while trying to evict pods from nodes in node group workers", ["node-1"])

    budget = {
        "metadata": {"namespace": "default", "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 1},
        "status": {"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2, "observedGeneration": 1},
    }
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web"
    setup.api.put(path, budget)

    def exhaust(update: Any) -> None:
        setup.api.objects[path]["status"].update(disruptionsAllowed=0, currentHealthy=1)
        setup.api.refuse = lambda pod: (429, "Cannot evict pod as it would violate the pod's disruption budget.")
        fail(update)

    setup.aws.eks.on_describe_update = exhaust
    done = setup.run()
    assert (done.returncode, result(done)["outcome"]) == (2, "PodEvictionFailure"), shown(done)
    assert all(word in result(done)["msg"] for word in ("node-1", "default/web-0", "default/web")), shown(done)


def test_an_update_that_runs_already_is_watched(setup: Setup) -> None:
    client = setup.aws.client("eks")
    client.update_nodegroup_version(clusterName="demo", nodegroupName="workers", version="1.34")
    done = setup.run()
    assert (done.returncode, result(done)["outcome"], len(setup.updates())) == (0, "done", 1), shown(done)


@pytest.mark.matrix
def test_blockers_stop_before_the_update(setup: Setup) -> None:
    setup.api.pod("alone", "node-2")["metadata"].pop("ownerReferences")
    done = setup.run()
    assert (done.returncode, setup.updates()) == (2, []), shown(done)
    assert any(finding["pod"] == "default/alone" for finding in result(done)["findings"])


BAD = {
    "unknown group": ({"eks_node_upgrade_managed_node_group": "worker"}, (), "workers"),
    "max_unavailable of EKS": ({"eks_node_upgrade_max_unavailable": "50%"}, (), "update-nodegroup-config"),
    "no launch template": ({"eks_node_upgrade_launch_template_version": "3"}, (), "launch_template_version"),
    "abort": ({}, ("--tags", "abort"), "workers"),
    "older than the group": ({"eks_node_upgrade_kubernetes_version": "1.32"}, (), "1.32"),
}
USUAL = ("unknown group", "abort")
FEW = [pytest.param(name, marks=[] if name in USUAL else pytest.mark.matrix) for name in BAD]


@pytest.mark.parametrize("name", FEW)
def test_bad_input_starts_no_update(setup: Setup, name: str) -> None:
    more, arguments, word = BAD[name]
    done = setup.run(*arguments, **more)
    assert (done.returncode, setup.api.changes()) == (2, []), shown(done)
    assert word in result(done)["msg"], shown(done)
    assert setup.group["version"] == "1.33"


def test_a_denied_update_is_explained(setup: Setup) -> None:
    setup.aws.deny("eks:UpdateNodegroupVersion")
    done = setup.run()
    assert (done.returncode, setup.group["version"]) == (2, "1.33")
    assert "eks:UpdateNodegroupVersion" in result(done)["msg"]
