# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook upgrade replaces real nodes of an Auto Scaling group, or upgrades real nodes in place, and the users notice nothing."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabNode
from ansible_collections.nodebootstrap.eks.tests.lab.auto_scaling import Group
from ansible_collections.nodebootstrap.eks.tests.lab.availability import Client, HealthyPods
from ansible_collections.nodebootstrap.eks.tests.lab.binaries import KUBELETS
from ansible_collections.nodebootstrap.eks.tests.lab.drain_plays import Play, in_containers
from ansible_collections.nodebootstrap.eks.tests.lab.joining import PATIENCE
from ansible_collections.nodebootstrap.eks.tests.lab.node import KUBELETS as OTHER_KUBELETS
from ansible_collections.nodebootstrap.eks.tests.lab.progress import TOP
from ansible_collections.nodebootstrap.eks.tests.lab.workloads import Namespace, affinity_to, budget, deployment, service, worker
from ansible_collections.nodebootstrap.eks.tests.matrix import repeated

pytestmark = pytest.mark.docker


PLAYBOOK = TOP / "playbooks/upgrade.yml"
KILLS = repeated([0, 4, 15], 4)
"""How often the playbook is killed. Without kills, a test shows less."""

ROLE = f"""\
- name: Install kubelet 1.36
  ansible.builtin.file:
    src: {OTHER_KUBELETS}/1.36/kubelet
    dest: /usr/bin/kubelet
    state: link
    force: true

- name: Restart kubelet
  ansible.builtin.systemd_service:
    name: kubelet.service
    state: restarted
"""


def common_variables(lab: Lab) -> dict[str, Any]:
    return {
        "eks_node_cluster": {"name": "demo", "endpoint": lab.state.endpoint, "region": lab.state.region},
        "eks_node_upgrade_load_balancer_wait": 2,
        "eks_node_upgrade_poll_interval": 1,
    }


def left_on_nodes(lab: Lab, nodes: Iterable[LabNode]) -> list[str]:
    """What an upgrade must not leave behind in the cluster."""
    leases = lab.api.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases")["items"]
    found = [f"lease {one['metadata']['name']}" for one in leases if "nodebootstrap" in one["metadata"]["name"]]
    for node in nodes:
        one = lab.node_object(node.name)
        words = [*one["metadata"].get("annotations", {}), *one["metadata"].get("labels", {})]
        found += [f"{node.name} {word}" for word in words if word.startswith(("nodebootstrap.eks/", "cluster-autoscaler"))]
        found += [f"{node.name} excluded" for word in words if word.startswith("node.kubernetes.io/exclude")]
        found += [f"{node.name} cordoned"] if one["spec"].get("unschedulable") else []
    return found


def left_on_group(group: Group) -> list[str]:
    """The same in AWS."""
    described = group.describe()
    found = [f"tag {tag['Key']}" for tag in described["Tags"] if "nodebootstrap" in tag["Key"]]
    return found + [f"suspended {process['ProcessName']}" for process in described["SuspendedProcesses"]]


@contextmanager
def web(lab: Lab, name: str) -> Iterator[Namespace]:
    """A workload of two pods on two nodes, one of which must be healthy."""
    with Namespace(lab, name) as space:
        apart = affinity_to("web", "podAntiAffinity", is_required=False)
        space.create(deployment("web", 2, **apart), service("web"), budget("web", minAvailable=1))
        space.wait_ready("web", 2)
        yield space


def upgrade(play: Play, space: Namespace, kills: int) -> str:
    """Kill the playbook at random moments, and run it to its end. Users of the workload must not notice. Returns the output."""
    moments = random.Random(1)
    with Client(space, "web") as client, HealthyPods(space, "web") as healthy:
        killed = [play.run_and_kill(moments.uniform(0.5, 9)) for _unused in range(kills)]
        code, output = play.run()
    assert code == 0, output
    # The last ones may find that everything is done.
    assert killed[: kills // 2] == [True] * (kills // 2)
    assert (client.failures, healthy.least >= 1) == ([], True), output
    return output


def kubelets(lab: Lab, nodes: Iterable[LabNode]) -> set[str]:
    return {lab.node_object(node.name)["status"]["nodeInfo"]["kubeletVersion"] for node in nodes}


def changes_nothing(play: Play) -> bool:
    code, output = play.run()
    assert code == 0, output
    return "changed=0" in output


@pytest.mark.parametrize("kills", KILLS)
def test_three_nodes_are_replaced_without_a_failed_request(lab: Lab, kills: int, tmp_path: Path) -> None:
    """Also if the playbook is killed at random moments, and run again."""
    with Group(lab, f"replaced-{kills}", size=3, minor="1.35") as group:
        group.wait_ready(3)
        before = set(group.nodes)
        with web(lab, f"upgraded-{kills}") as space:
            version = group.add_version("1.36")
            play = Play(lab, tmp_path, PLAYBOOK, {**common_variables(lab), "eks_node_upgrade_auto_scaling_group": group.name})
            output = upgrade(play, space, kills)
            described = group.describe()
            assert [one["LaunchTemplate"]["Version"] for one in described["Instances"]] == [version] * 3, output
            nodes = group.wait_ready(3)
            assert (described["DesiredCapacity"], described["MaxSize"]) == (3, 3), output
            assert left_on_group(group) + left_on_nodes(lab, nodes) == [], output
            assert kubelets(lab, nodes) == {KUBELETS["1.36"].version}
            assert not before & set(group.nodes)
            assert changes_nothing(play)


@pytest.mark.parametrize("kills", KILLS)
def test_three_nodes_are_upgraded_in_place_without_a_failed_request(lab: Lab, kills: int, tmp_path: Path) -> None:
    """The same for nodes that stay: a role installs another kubelet on each of them."""
    role = tmp_path / "roles/kubelet/tasks/main.yml"
    role.parent.mkdir(parents=True)
    role.write_text(ROLE)
    with ExitStack() as stack:
        nodes = [stack.enter_context(worker(lab, "1.35", upgrades=("1.36",))) for _unused in range(3)]
        before = [node.wait_ready(PATIENCE)["metadata"]["uid"] for node in nodes]
        space = stack.enter_context(web(lab, f"in-place-{kills}"))
        own = {
            "eks_node_hosts": "workers",
            "eks_node_upgrade_in_place": True,
            "eks_node_upgrade_kubernetes_version": "1.36",
            "eks_node_upgrade_roles": [{"name": str(role.parents[1])}],
        }
        play = Play(lab, tmp_path, PLAYBOOK, {**common_variables(lab), **own}, in_containers(nodes, "workers"))
        output = upgrade(play, space, kills)
        assert kubelets(lab, nodes) == {KUBELETS["1.36"].version}, output
        assert left_on_nodes(lab, nodes) == [], output
        assert [node.wait_ready(PATIENCE)["metadata"]["uid"] for node in nodes] == before
        assert changes_nothing(play)
