# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook upgrade replaces real nodes of an Auto Scaling group, and the users of a workload notice nothing."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import Lab
from ansible_collections.nodebootstrap.eks.tests.lab.auto_scaling import Group
from ansible_collections.nodebootstrap.eks.tests.lab.availability import Client, HealthyPods
from ansible_collections.nodebootstrap.eks.tests.lab.binaries import KUBELETS
from ansible_collections.nodebootstrap.eks.tests.lab.drain_plays import run, run_and_kill
from ansible_collections.nodebootstrap.eks.tests.lab.progress import TOP
from ansible_collections.nodebootstrap.eks.tests.lab.workloads import Namespace, affinity_to, budget, deployment, service

pytestmark = pytest.mark.docker


def variables(lab: Lab, group: Group) -> dict[str, Any]:
    return {
        "eks_node_cluster": {"name": "demo", "endpoint": lab.state.endpoint, "region": lab.state.region},
        "eks_node_upgrade_auto_scaling_group": group.name,
        "eks_node_upgrade_load_balancer_wait": 2,
        "eks_node_upgrade_poll_interval": 1,
    }


def leftovers(lab: Lab, group: Group) -> list[str]:
    """What an upgrade must not leave behind."""
    described = group.describe()
    found = [f"tag {tag['Key']}" for tag in described["Tags"] if "nodebootstrap" in tag["Key"]]
    found += [f"suspended {process['ProcessName']}" for process in described["SuspendedProcesses"]]
    leases = lab.api.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases")["items"]
    found += [f"lease {one['metadata']['name']}" for one in leases if "nodebootstrap" in one["metadata"]["name"]]
    for node in group.ready():
        one = lab.node_object(node.name)
        words = [*one["metadata"].get("annotations", {}), *one["metadata"].get("labels", {})]
        found += [f"{node.name} {word}" for word in words if word.startswith(("nodebootstrap.eks/", "cluster-autoscaler"))]
        found += [f"{node.name} excluded" for word in words if word.startswith("node.kubernetes.io/exclude")]
        found += [f"{node.name} cordoned"] if one["spec"].get("unschedulable") else []
    return found


KILLS = 10
PLAYBOOK = TOP / "playbooks/upgrade.yml"


# Without kills, it shows less.
@pytest.mark.parametrize("kills", [pytest.param(0, marks=pytest.mark.matrix), KILLS])
def test_three_nodes_are_replaced_without_a_failed_request(lab: Lab, kills: int) -> None:
    """Also if the playbook is killed at random moments, and run again."""
    moments = random.Random(1)
    with Group(lab, f"replaced-{kills}", size=3, minor="1.35") as group, Namespace(lab, f"upgraded-{kills}") as space:
        group.wait_ready(3)
        before = set(group.nodes)
        apart = affinity_to("web", "podAntiAffinity", is_required=False)
        space.create(deployment("web", 2, **apart), service("web"), budget("web", minAvailable=1))
        space.wait_ready("web", 2)
        version = group.add_version("1.36")
        with Client(space, "web") as client, HealthyPods(space, "web") as healthy:
            killed = [run_and_kill(lab, PLAYBOOK, variables(lab, group), moments.uniform(3, 12)) for _unused in range(kills)]
            code, output = run(lab, PLAYBOOK, variables(lab, group))
        assert code == 0, output
        # The last ones may find that everything is done.
        assert killed[: kills // 2] == [True] * (kills // 2)
        assert (client.failures, healthy.least >= 1) == ([], True), output
        described = group.describe()
        assert [one["LaunchTemplate"]["Version"] for one in described["Instances"]] == [version] * 3
        assert (described["DesiredCapacity"], described["MaxSize"], leftovers(lab, group)) == (3, 3, [])
        kubelets = {lab.node_object(node.name)["status"]["nodeInfo"]["kubeletVersion"] for node in group.wait_ready(3)}
        assert kubelets == {KUBELETS["1.36"].version}
        assert not before & set(group.nodes)
        again, output = run(lab, PLAYBOOK, variables(lab, group))
        assert (again, "changed=0" in output) == (0, True), output
