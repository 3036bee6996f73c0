# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Strategy static to the end: finished files, real systemd and snap settings, and a start that asks and forks little."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tomllib
from nodelab import Al2Node, BootstrapNode, UbuntuNode

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.tests.matrix import repeated
from ansible_collections.nodebootstrap.eks.tests.oracle.process_trace import traced
from ansible_collections.nodebootstrap.eks.tests.oracle.script_nodes import (
    CLUSTER,
    HOSTILE,
    IPV6_CLUSTER,
    LIST_FLAG,
    PAUSE,
    STATIC,
    accepted,
    boot,
    text,
)

pytestmark = pytest.mark.docker

#: What containerd.service runs in these nodes.
CONTAINERD = "/bin/sleep"


@pytest.fixture(params=["al2", "ubuntu"])
def node(request: pytest.FixtureRequest) -> BootstrapNode:
    found: BootstrapNode = request.getfixturevalue(f"{request.param}_node")
    return found


def static_words(provider: str) -> set[str]:
    return {
        "--config=/etc/kubernetes/kubelet/kubelet-config.json",
        "--kubeconfig=/var/lib/kubelet/kubeconfig",
        "--container-runtime-endpoint=unix:///run/containerd/containerd.sock",
        f"--image-credential-provider-config={provider}/config.json",
        f"--image-credential-provider-bin-dir={provider}",
        "--node-ip=10.0.0.5",
        "--cloud-provider=external",
        "--hostname-override=ip-10-0-0-5.eu-central-1.compute.internal",
        f"--pod-infra-container-image={PAUSE}",
        "--provider-id=aws:///eu-central-1a/i-1234567890abcdef0",
    }


def test_static_starts_kubelet_once_with_finished_files(node: BootstrapNode) -> None:
    labels = {"a": "b", "life": "{instance_lifecycle}", "id": "{instance_id}"}
    config = {"evictionHard": {"memory.available": "200Mi"}, "clusterDomain": "corp.local", "staticPodURLHeader": {"h": ["%b", "a'b"]}}
    start = boot(
        node, **STATIC, labels=labels, taints=[{"key": "k", "effect": "NoSchedule"}], kubelet={"config": config, "flags": {"v": 4}}
    )
    own = {"--node-labels=a=b,id=i-1234567890abcdef0,life=on-demand", "--register-with-taints=k=:NoSchedule"}
    provider = "/etc/eks/image-credential-provider" if node.family == "al2" else "/etc/eks/ecr-credential-provider"
    words = static_words(provider) | own | ({"--v=2"} if node.family == "al2" else set())
    assert set(start["argv"][:-1]) == words
    assert start["argv"][-1] == "--v=4", "the user's flags come last, so they win"
    assert node.bootstrap_calls() == []
    written = json.loads(start["files"]["/etc/kubernetes/kubelet/kubelet-config.json"])
    assert written["evictionHard"] == {"memory.available": "200Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"}
    assert written["clusterDomain"] == "corp.local"
    assert written["staticPodURLHeader"] == {"h": ["%b", "a'b"]}
    assert written["maxPods"] == 29
    assert written["clusterDNS"] == ["10.100.0.10"]
    assert written["kubeReserved"] == {"cpu": "70m", "memory": "574Mi", "ephemeral-storage": "1Gi"}
    assert "demo" in start["files"]["/var/lib/kubelet/kubeconfig"]
    assert node.read("/etc/kubernetes/pki/ca.crt").startswith(b"-----BEGIN CERTIFICATE-----\n")
    assert (
        tomllib.loads(node.read("/etc/containerd/config.toml").decode())["plugins"]["io.containerd.grpc.v1.cri"]["sandbox_image"] == PAUSE
    )
    assert [request["path"] for request in node.imds_requests()] == [
        "/latest/api/token",
        "/latest/dynamic/instance-identity/document",
        "/latest/meta-data/instance-life-cycle",
    ]
    assert all(request["status"] == 200 for request in node.imds_requests())


def test_static_hostile_values_reach_kubelet_exactly_or_are_refused(node: BootstrapNode) -> None:
    values = accepted(node.family, **STATIC)
    assert "h:%b" in values
    start = boot(node, **STATIC, labels={"zone": "{availability_zone}"}, kubelet={"flags": {LIST_FLAG: values}})
    assert [word for word in start["argv"] if word.startswith(f"--{LIST_FLAG}=")] == [f"--{LIST_FLAG}={value}" for value in values]
    if node.family == "al2":
        assert {value for value in HOSTILE if value.isprintable()} == set(values), "systemd's own quoting carries everything printable"


def test_static_ipv6_asks_five_times_at_most(node: BootstrapNode) -> None:
    start = boot(node, IPV6_CLUSTER, **STATIC, labels={"life": "{instance_lifecycle}"})
    assert "--node-ip=2001:db8::5" in start["argv"]
    assert "--hostname-override=ip-10-0-0-5.eu-central-1.compute.internal" in start["argv"]
    assert len(node.imds_requests()) == 5


def test_static_resource_name(node: BootstrapNode) -> None:
    start = boot(node, **{**STATIC, "instance": {"type": "m5.large", "hostname_type": "resource_name"}})
    assert "--hostname-override=i-1234567890abcdef0.eu-central-1.compute.internal" in start["argv"]


@pytest.mark.parametrize(
    "answer",
    [
        {"meta-data/local-ipv4": "10.0.0.5;id"},
        {"meta-data/local-ipv4": "10.0.0"},
        {"meta-data/local-ipv4": ""},
        {"meta-data/instance-id": "i-$(id)"},
        {"meta-data/placement/availability-zone": "eu central"},
        {"dynamic/instance-identity/document": "<html></html>"},
        {"dynamic/instance-identity/document": '{"privateIp" : null, "instanceId" : "i-1", "availabilityZone" : "eu-central-1a"}'},
    ],
)
def test_static_validates_what_it_is_told(al2_node: Al2Node, answer: dict[str, str]) -> None:
    al2_node.write({"/etc/nodelab/imds.json": json.dumps(answer)})
    done = al2_node.run_user_data(text("al2", **STATIC))
    assert done.returncode != 0
    assert al2_node.records("kubelet") == []
    assert not al2_node.exists("/run/nodebootstrap/kubelet.env")


def test_static_reads_the_identity_document_as_ec2_prints_it(al2_node: Al2Node) -> None:
    document = (
        '{\n  "accountId" : "1",\n  "instanceId" : "i-0f",\n  "privateIp" : "192.168.1.9",\n  "availabilityZone" : "eu-central-1c"\n}'
    )
    al2_node.write({"/etc/nodelab/imds.json": json.dumps({"dynamic/instance-identity/document": document})})
    start = boot(al2_node, **STATIC)
    assert {"--node-ip=192.168.1.9", "--provider-id=aws:///eu-central-1c/i-0f"} <= set(start["argv"])


def lay(node: BootstrapNode, **fields: Any) -> None:
    """The files of a live node; nothing of it runs yet."""
    files = node_files(CLUSTER, {"family": node.family, **STATIC, **fields})
    node.write({file["path"]: (file["content"], int(file["mode"], 8)) for file in files})


@pytest.mark.matrix
def test_static_boot_forks_little(al2_node: Al2Node) -> None:
    """A node that was set up boots: everything from nothing to kubelet, with the most that may be asked of the metadata service."""
    lay(al2_node, labels={"life": "{instance_lifecycle}"})
    al2_node.exec(["systemctl", "daemon-reload"], check=True)
    with traced(al2_node) as trace:
        al2_node.exec(["systemctl", "start", "kubelet"], check=True)
        al2_node.kubelet_records()
    facts = ["/etc/nodebootstrap/node-facts", "/usr/bin/curl", "/usr/bin/curl", "/usr/bin/curl", "/usr/bin/mkdir"]
    assert trace.before("/usr/bin/kubelet") == [CONTAINERD, "/sbin/iptables", *facts]
    assert len(al2_node.imds_requests()) == 3


@pytest.mark.parametrize("node", repeated(("al2", "ubuntu"), "al2"), indirect=True)
def test_static_first_boot_forks_little(node: BootstrapNode) -> None:
    """What user data runs once its files lie there: at most ten processes around containerd and kubelet themselves."""
    lay(node, labels={"life": "{instance_lifecycle}"})
    script = "/etc/nodebootstrap/bootstrap.sh"
    with traced(node) as trace:
        node.exec(["systemd-run", "--quiet", "--wait", script], check=True)
        node.kubelet_records()
    # What snap does inside is the snap's: the stand-in calls systemctl there.
    forked = [name for name in trace.before("/usr/bin/kubelet", apart=["/usr/bin/snap"]) if name not in (script, CONTAINERD)]
    assert len(forked) <= 10, forked
    assert len(node.imds_requests()) == 3


def test_static_survives_a_restart_of_kubelet(al2_node: Al2Node) -> None:
    boot(al2_node, **STATIC)
    al2_node.exec(["systemctl", "restart", "kubelet"], check=True)
    first, second = al2_node.kubelet_starts()
    assert first == second


def test_static_units_are_understood_by_systemd(al2_node: Al2Node) -> None:
    boot(al2_node, **STATIC)
    verified = al2_node.exec(["systemd-analyze", "verify", "--man=no", "kubelet.service", "sandbox-image.service"])
    assert "kubelet.service" not in verified.stderr.decode(), verified.stderr.decode()
    assert al2_node.property("kubelet.service", "UnitFileState") == "enabled"


@pytest.mark.parametrize("node", repeated(("al2", "ubuntu"), "ubuntu"), indirect=True)
def test_files_of_a_live_node_start_it_like_the_user_data(node: BootstrapNode) -> None:
    fields: dict[str, Any] = {"labels": {"a": "b", "id": "{instance_id}"}, "kubelet": {"config": {"cpuManagerPolicy": "static"}}}
    for strategy in ({}, STATIC):
        node.reset()
        from_user_data = boot(node, **fields, **strategy)
        node.reset()
        files = node_files(CLUSTER, {"family": node.family, **fields, **strategy})
        node.write({file["path"]: (file["content"], int(file["mode"], 8)) for file in files})
        done = node.exec(["/etc/nodebootstrap/bootstrap.sh"])
        assert done.returncode == 0, done.stderr.decode()
        [start] = node.kubelet_records()
        assert (start["argv"], start["files"]) == (from_user_data["argv"], from_user_data["files"])


def test_ubuntu_settings_are_tried_again_while_a_refresh_runs(ubuntu_node: UbuntuNode) -> None:
    busy = (
        '#!/bin/sh\nif [ "$1" = set ] && [ ! -e /run/recorded/tried ]; then touch /run/recorded/tried; echo busy >&2; exit 10; fi\n'
        'exec /usr/bin/snap "$@"\n'
    )
    ubuntu_node.write({"/usr/local/bin/snap": (busy, 0o755)})
    boot(ubuntu_node, **STATIC)
    verbs = [call[0] for call in ubuntu_node.snap_calls()]
    assert verbs == ["stop", "set", "start"]
