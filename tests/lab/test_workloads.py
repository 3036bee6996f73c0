# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's pods: they run on every kubelet, a client notices an outage, and the nodes of an Auto Scaling group come and go with it."""

from __future__ import annotations

import time
from contextlib import ExitStack
from functools import partial

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import Lab
from ansible_collections.nodebootstrap.eks.tests.lab.api import Object
from ansible_collections.nodebootstrap.eks.tests.lab.auto_scaling import Group
from ansible_collections.nodebootstrap.eks.tests.lab.availability import Client, HealthyPods
from ansible_collections.nodebootstrap.eks.tests.lab.binaries import KUBELETS
from ansible_collections.nodebootstrap.eks.tests.lab.joining import PATIENCE
from ansible_collections.nodebootstrap.eks.tests.lab.progress import wait_for
from ansible_collections.nodebootstrap.eks.tests.lab.workloads import (
    READINESS,
    Namespace,
    affinity_to,
    budget,
    can_evict,
    deployment,
    service,
    worker,
)

pytestmark = pytest.mark.docker


def names(pods: list[Object]) -> set[str]:
    return {one["metadata"]["name"] for one in pods}


@pytest.mark.matrix
def test_pods_of_every_kubelet_are_replaced_without_a_failed_request(lab: Lab) -> None:
    with ExitStack() as stack:
        nodes = {minor: stack.enter_context(worker(lab, minor)) for minor in KUBELETS}
        space = stack.enter_context(Namespace(lab, "replaced"))
        versions = {node.name: node.wait_ready(PATIENCE)["status"]["nodeInfo"]["kubeletVersion"] for node in nodes.values()}
        assert list(versions.values()) == [kubelet.version for kubelet in KUBELETS.values()]
        space.create(
            deployment("web", 3, **affinity_to("web", "podAntiAffinity", is_required=False)), service("web"), budget("web", minAvailable=2)
        )
        before = space.wait_ready("web", 3)
        assert {one["spec"]["nodeName"] for one in before} == versions.keys()
        with Client(space, "web") as client, HealthyPods(space, "web") as healthy:
            for one in before:
                space.delete("Pod", one["metadata"]["name"])
                after = names(space.wait_ready("web", 3))
                wait_for("an answer of every new pod", partial(after.issubset, client.pods), 60)
        assert not names(before) & after
        assert (client.failures, healthy.least) == ([], 2)
        assert client.requests > 20


def test_an_outage_is_seen(lab: Lab) -> None:
    with worker(lab, "1.36") as node, Namespace(lab, "outage") as space:
        node.wait_ready(PATIENCE)
        impatient = {"readinessProbe": {**READINESS, "timeoutSeconds": 1, "failureThreshold": 1}}
        space.create(deployment("web", 1, container=impatient), service("web"), budget("web", minAvailable=1))
        [found] = space.wait_ready("web", 1)
        wait_for("the verdict of the API server", lambda: can_evict(lab, found)[0] == 429, PATIENCE)
        with Client(space, "web") as client, HealthyPods(space, "web") as healthy:
            time.sleep(1)
            assert client.failures == []
            node.exec(["ip", "link", "set", "pod1", "down"], check=True)
            wait_for("the pod that is not ready", lambda: space.ready("web") == [], PATIENCE)
        assert client.failures
        assert healthy.least == 0


def test_nodes_of_an_auto_scaling_group_come_and_go(lab: Lab) -> None:
    with Group(lab, "come-and-go", size=1, minor="1.35") as group:
        [old] = group.wait_ready(1)
        [instance] = group.nodes
        version = group.add_version("1.36", labels={"example.com/pool": "fresh"})
        group.auto_scaling.update_auto_scaling_group(
            AutoScalingGroupName=group.name, LaunchTemplate={"LaunchTemplateId": group.template, "Version": version}
        )
        assert [one["LaunchTemplate"]["Version"] for one in group.describe()["Instances"]] == ["1"]
        group.auto_scaling.terminate_instance_in_auto_scaling_group(InstanceId=instance, ShouldDecrementDesiredCapacity=False)
        wait_for("the end of the node", lambda: old.object() is None, PATIENCE)
        [fresh] = group.wait_ready(1)
        found = lab.node_object(fresh.name)
        assert found["status"]["nodeInfo"]["kubeletVersion"] == KUBELETS["1.36"].version
        assert found["metadata"]["labels"]["example.com/pool"] == "fresh"
        assert [one["LaunchTemplate"]["Version"] for one in group.describe()["Instances"]] == [version]
        assert group.launched == [instance, *group.nodes]
