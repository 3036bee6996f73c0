# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cause of a cluster that does not become available: which object is named, and which texts are recognized."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import cause
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.cause_table import CAUSES, recognize
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.capi_objects import (
    condition,
    creation,
    event,
    made,
    pod,
)

ROWS = {
    "image_credentials": ('failed to pull image "a:1": 401 Unauthorized', "GET /apis: 401 Unauthorized"),
    "image_limit": ("toomanyrequests: You have reached your limit", "too many retries"),
    "image_missing": ('failed to pull image "a:9": manifest unknown', "the Machine was not found"),
    "image_certificate": (
        "failed to pull image a: x509: certificate signed by unknown authority",
        "x509: certificate signed by unknown authority",
    ),
    "image_network": ('Failed to pull image "a:1": dial tcp 1.2.3.4:443: i/o timeout', "no such host in the list"),
    "image_pull": ("Back-off pulling: ImagePullBackOff", "the image was pulled"),
    "inotify": ("failed to create fsnotify watcher: too many open files", "too many machines"),
    "disk": ("write /var/lib/x: no space left on device", "there is space left"),
    "memory": ("container was OOMKilled", "memory is fine"),
    "cgroup_v1": ("kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported", "uses cgroup v2"),
    "load_balancer_files": ("[ALERT] Cannot raise FD limit to 200030, limit is 20000", "raised the limit"),
    "kubeadm_ignored_checks": ("invalid: don't specify individual checks if 'all' is used", "all checks are used"),
    "container_name": ('Conflict. The container name "/dev-cp" is already in use', "the container is in use"),
    "docker_permission": ("permission denied while trying to connect to the Docker daemon socket", "permission denied"),
    "privileged": ("runc create failed: unable to apply caps: operation not permitted", "operation not permitted"),
    "clock": ("x509: certificate has expired or is not yet valid: current time", "the certificate is valid"),
    "webhook": ('failed calling webhook "default.cluster": Post: connect: refused', "the webhook is called"),
    "cni": ("container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady", "the network is ready"),
    "endpoint": (
        "Get https://172.18.0.3:6443/version: dial tcp 172.18.0.3:6443: connect: connection refused",
        "connection closed by the client",
    ),
    "etcd": ("etcdserver: request timed out", "etcd is ready"),
    "kubeconfig_secret": ("kubeconfig secret does not exist", "the kubeconfig is written"),
    "paused": ("Error: cannot start operation while the following Clusters are paused: eksa-system/dev", "Paused NotPaused: no"),
    "provider_versions": ("provider core is older than in the source cluster", "the source cluster is old"),
    "github": ("failed to get repository: Get https://api.github.com/repos/x: EOF", "github is mentioned"),
    "disruption_budget": ("Cannot evict pod as it would violate the pod's disruption budget.", "the pod was evicted"),
    "provider_credentials": ("ServerFaultCode: Cannot complete login due to an incorrect user name or password.", "the user logged in"),
    "bmc": ("rufio: failed to power on: unable to open connection", "the machine was powered on"),
    "hardware": ("no available hardware for machine dev-cp", "the hardware is selected"),
    "addresses": ("no free address in pool dev", "the address is free"),
    "unschedulable": ("0/1 nodes are available: 1 node(s) had untolerated taint", "nodes are available"),
    "terminating": ("cannot create pod because it is being terminated", "the pod terminated"),
    "kubeadm": ("error execution phase wait-control-plane", "kubeadm is used"),
    "crash": ("back-off 5m0s restarting failed container: CrashLoopBackOff", "the container restarted"),
}


def test_every_known_cause_has_a_text_and_a_near_miss() -> None:
    assert list(ROWS) == [one.id for one in CAUSES]


@pytest.mark.parametrize("name", ROWS)
def test_a_known_cause_is_recognized_by_its_text_only(name: str) -> None:
    text, near_miss = ROWS[name]
    found, missed = recognize([text]), recognize([near_miss])
    assert found is not None and found.id == name and found.cure
    assert missed is None or missed.id != name


def test_the_first_text_decides() -> None:
    found = recognize(["nothing", ROWS["cni"][0], ROWS["image_limit"][0]])
    assert found is not None and found.id == "cni"


def test_the_object_that_all_others_wait_for_is_named(golden_message: GoldenMessages) -> None:
    objects = creation()
    machine = next(one for one in objects if one["kind"] == "DockerMachine")
    objects += [
        event(machine, "Provisioning", "starts a container", kind="Normal", time="2026-01-01T00:00:30Z"),
        event(machine, "Failed", 'Conflict. The container name "/dev-cp" is already in use by container 12'),
        event(objects[0], "Other", "no space left on device", time="2026-01-01T00:09:00Z"),
    ]
    found = cause.find(objects)
    assert found is not None and found.known is not None
    assert (found.finding.kind, found.finding.name, found.known.id) == ("DockerMachine", "dev-cp", "container_name")
    assert len(found.events) == 2 and found.others == 5
    golden_message("\n".join(found.lines()))


def test_the_order_of_the_objects_does_not_matter() -> None:
    objects = creation()
    expected = cause.find(objects)
    for seed in range(20):
        shuffled = random.Random(seed).sample(objects, len(objects))  # the same order in every run
        assert cause.find(shuffled) == expected


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        (("Machine", "KubeadmControlPlane", "MachineDeployment", "Cluster"), ("Machine", "dev-cp", "InfrastructureReady")),
        (("KubeadmControlPlane", "MachineDeployment", "Cluster"), ("KubeadmControlPlane", "dev", "Initialized")),
        (("MachineDeployment", "Cluster"), ("MachineDeployment", "dev-md-0", "Available")),
        (("Cluster",), ("Cluster", "dev", "ControlPlaneInitialized")),
    ],
)
def test_the_deepest_object_is_named_and_control_planes_come_first(left: tuple[str, ...], expected: tuple[str, str, str]) -> None:
    found = cause.find([one for one in creation() if one["kind"] in left])
    assert found is not None
    assert (found.finding.kind, found.finding.name, found.finding.condition) == expected


def test_a_controller_that_does_not_run_comes_first() -> None:
    failing = pod("capd-manager", "capd-system", "ImagePullBackOff", 'Back-off pulling image "a:1": 401 Unauthorized')
    other = pod("web", "default", "CrashLoopBackOff")
    found = cause.find([*creation(), other, failing])
    assert found is not None and found.known is not None
    assert (found.finding.kind, found.finding.name, found.known.id) == ("Pod", "capd-manager", "image_credentials")
    assert found.finding.condition == "ContainersReady"


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([made("Cluster", "dev", condition("Available", "True"))], None),
        ([made("Cluster", "dev", condition("Paused", "False"), condition("ScalingUp", "False"))], None),
        ([made("Cluster", "dev", condition("Available", "True"), spec={"paused": True})], "Paused"),
        ([made("Machine", "m", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["machine.cluster"]})], "Deleting"),
        ([made("Cluster", "dev", status={"failureReason": "CreateError", "failureMessage": "broken"})], "Failed"),
        ([made("Cluster", "dev", status={"deprecated": {"v1beta1": {"failureMessage": "broken"}}})], "Failed"),
        ([made("Machine", "m", status={"v1beta2": {"conditions": [condition("NodeReady", "False")]}})], "NodeReady"),
        ([made("Machine", "m", condition("Ready", "Unknown"), condition("NodeHealthy", "Unknown"))], "NodeHealthy"),
        ([made("Deployment", "capi", condition("Available", "False"), namespace="capi-system")], "Available"),
        ([made("Deployment", "web", condition("Available", "False"), namespace="default")], None),
        ([pod("p", "capi-system", "ContainerCreating")], None),
        ([{"kind": "ConfigMap"}, {}, {"kind": "Machine", "apiVersion": "other/v1", "status": {"conditions": [{}]}}], None),
    ],
)
def test_what_counts_as_a_problem(objects: list[dict[str, Any]], expected: str | None) -> None:
    found = cause.find(objects)
    assert (None if found is None else found.finding.condition) == expected


def test_an_older_api_marks_what_only_waits_as_info() -> None:
    waiting = made("DockerMachine", "a", condition("ContainerProvisioned", "False", "Busy", severity="Info"))
    failing = made("DockerMachine", "b", condition("ContainerProvisioned", "False", "Broken", severity="Error"))
    found = cause.find([waiting, failing])
    assert found is not None and found.finding.name == "b"


def test_logs_are_the_last_place_to_look() -> None:
    assert (found := cause.find(creation(), ["E0101 Cannot raise FD limit to 200030"])) is not None
    assert found.known is not None and found.known.id == "load_balancer_files"
    assert cause.find([], ["E0101 Cannot raise FD limit to 200030"]) is None
    assert (plain := found.plain())["known_cause"]["id"] == "load_balancer_files" and plain["kind"] == "DockerMachine"
