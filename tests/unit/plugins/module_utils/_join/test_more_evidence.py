# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence that is collected only if something else points to it, on a machine whose files are below a directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import diagnosis, kubelet_exit_diagnosis
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.api_client import ApiClient
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.evidence import EvidenceCollector, find_full_disks
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import ApiResult, Evidence, Finding, KubeletExit, NodeObject
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import network, programs
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import FreeSpace
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import join_evidence as build
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.join_node import KERNEL, KUBELET, FakeNode

CONTAINERD, CNI = "containerd.service", "/etc/cni/net.d/10-aws.conflist"
READY = ApiResult("answer", status=200, is_kubernetes=True, node=NodeObject("True"))
NO_NETWORK = READY._replace(node=NodeObject("False", "KubeletNotReady", build.CNI_MESSAGE))


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeNode:
    made = FakeNode(tmp_path)
    monkeypatch.setattr(programs, "first_lines", made.first_lines)
    monkeypatch.setattr(ApiClient, "request_node", lambda *_unused: READY)
    return made


def collect(node: FakeNode) -> Evidence:
    return EvidenceCollector(node, clock=lambda: 1000.0).collect()


def finding(node: FakeNode) -> Finding | None:
    return diagnosis.diagnose(collect(node))


def fails(
    node: FakeNode, *lines: str, ending: tuple[str, ...] = ("kubelet.service: Main process exited, code=exited, status=1/FAILURE",)
) -> None:
    """A kubelet that logs some lines, ends, and waits to be restarted."""
    node.log.clear()
    node.logs("Started kubelet.service", at=100.0, pid=1)
    node.logs(*lines, at=100.1, pid=5)
    node.logs(*ending, at=101.0, pid=1)
    node.unit(KUBELET, "activating", "auto-restart", pid=0, since=100.0, Result="exit-code", ExecMainStatus=1)


def start(node: FakeNode) -> KubeletExit:
    kubelet = collect(node).kubelet
    assert kubelet is not None and kubelet.exit is not None
    return kubelet.exit


def runs(node: FakeNode, *words: str) -> None:
    node.unit(KUBELET)
    node.process("--kubeconfig=/k", *words)


def test_the_log_of_the_kernel_is_read_for_a_kubelet_that_was_killed(node: FakeNode) -> None:
    fails(node, build.WARNING)
    node.logs(build.KERNEL_LINE, at=100.9, pid=0, unit=KERNEL)
    assert start(node).kernel_lines == (), "it was not killed"
    fails(node, build.WARNING, ending=("kubelet.service: Main process exited, code=killed, status=9/KILL",))
    node.logs("Out of memory: Killed process 12 (kubelet) of an earlier start", at=50.0, pid=0, unit=KERNEL)
    node.logs("eth0: link up", build.KERNEL_LINE, at=100.9, pid=0, unit=KERNEL)
    assert start(node).kernel_lines == (build.KERNEL_LINE,)
    found = finding(node)
    assert found is not None and found.cause == "kubelet_killed"


@pytest.mark.parametrize(
    ("properties", "limit"),
    [
        ({}, None),
        ({"MemoryMax": "infinity", "MemoryLimit": "infinity"}, None),
        ({"MemoryLimit": 18446744073709551615}, None),
        ({"MemoryMax": 12 << 20, "MemoryLimit": "infinity"}, 12 << 20),
        ({"MemoryLimit": 12 << 20}, 12 << 20),
    ],
)
def test_the_memory_limit_of_a_kubelet_that_was_killed(node: FakeNode, properties: dict[str, Any], limit: int | None) -> None:
    fails(node, build.WARNING, ending=("kubelet.service: Main process exited, code=killed, status=9/KILL",))
    node.units[KUBELET] |= properties
    assert start(node).memory_limit == limit
    found = finding(node)
    assert found is not None and found.cause == "kubelet_killed"


def test_an_earlier_kubelet_that_was_killed_explains_nothing(node: FakeNode) -> None:
    fails(node, build.command_failed("failed to run Kubelet: running with swap on is not supported"))
    node.log[:0] = [(KUBELET, 1, 90.0 + index, line) for index, line in enumerate(("Started kubelet.service", *build.OOM_KILLED))]
    found = finding(node)
    assert found is not None and found.cause == "swap_on"


def test_the_process_that_uses_the_port(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(network, "listeners", lambda _host, port: asked.append(port) or ["web (pid 8)"])
    fails(node, build.LISTEN)
    assert start(node).port_owners == ("web (pid 8)",) and asked == [10250]
    fails(node, build.WARNING)
    assert start(node).port_owners == () and asked == [10250]


def test_full_file_systems(node: FakeNode) -> None:
    fails(node, build.command_failed("failed to run Kubelet: mkdir /data/kubelet: no space left on device"))
    node.disk = FreeSpace(0, 20 << 30, 5, 10)
    assert start(node).full_disks == ("file system of /data/kubelet: 0 of 20480 MiB are free",)
    node.disk = FreeSpace(1 << 30, 20 << 30, 0, 10)
    assert "inodes" in start(node).full_disks[0]
    for fine in (None, FreeSpace(1 << 30, 20 << 30, 5, 10), FreeSpace(1 << 30, 20 << 30, 0, 0)):
        node.disk = fine
        assert find_full_disks(node, "/data") == ()


def test_the_settings_of_a_kubelet_that_exits(node: FakeNode) -> None:
    fails(node, build.command_failed("failed to parse kubelet flag: unknown flag: --container-runtime"))
    node.units[KUBELET] |= {"FragmentPath": "/u", "EnvironmentFiles": "/etc/eks/kubelet/environment (ignore_errors=no)"}
    node.unit("nodeadm-run.service", "inactive", "dead", pid=0)
    node.file("/u", "ExecStart=/usr/bin/kubelet $NODEADM_KUBELET_ARGS\n")
    node.file("/etc/eks/kubelet/environment", "NODEADM_KUBELET_ARGS=--container-runtime=remote\n")
    node.file("/etc/eks/nodeadm.d/10-own.yaml", "flags: [--container-runtime=remote]\n")
    found = finding(node)
    assert found is not None
    assert "/etc/eks/kubelet/environment" in found.fix and "/etc/eks/nodeadm.d/10-own.yaml" in found.fix


def test_addresses_of_the_node_that_the_machine_does_not_have(node: FakeNode) -> None:
    for words, missing in (
        ([], ()),
        (["--node-ip=10.0.0.5"], ()),
        (["--node-ip=10.0.0.5,fd00::5"], ()),
        (["--node-ip=::"], ()),
        (["--node-ip=0.0.0.0"], ()),
        (["--node-ip=eth0"], ()),
        (["--node-ip=10.9.9.9"], ("10.9.9.9",)),
        (["--node-ip=10.9.9.9, FD00::9"], ("10.9.9.9", "fd00::9")),
    ):
        runs(node, *words)
        kubelet = collect(node).kubelet
        assert kubelet is not None and kubelet.process.missing_addresses == (), "the addresses of the machine are not known"
        node.file("/proc/net/fib_trie", "Local:\n  |-- 10.0.0.5\n     /32 host LOCAL\n")
        node.file("/proc/net/if_inet6", "fd000000000000000000000000000005 02 40 00 80 eth0\n")
        kubelet = collect(node).kubelet
        assert kubelet is not None and kubelet.process.missing_addresses == missing
        (node.root / "proc/net/fib_trie").unlink()


def test_where_a_missing_address_is_set(node: FakeNode) -> None:
    runs(node, "--node-ip=10.9.9.9")
    node.units[KUBELET] |= {"FragmentPath": "/u"}
    node.file("/u", "ExecStart=/usr/bin/kubelet --node-ip=10.9.9.9\n")
    node.file("/proc/net/fib_trie", "")
    found = finding(node)
    assert found is not None and (found.cause, found.final) == ("wrong_node_ip", True)
    assert "/u" in found.fix
    node.file("/proc/net/fib_trie", "|-- 10.9.9.9\n   /32 host LOCAL\n")
    node.logs(build.NODE_IP_LINE, at=101.0)
    assert finding(node) is None, "the machine has it now"


def test_the_network_configuration_is_read_if_the_network_is_not_ready(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    runs(node)
    node.file(CNI, "{")
    assert collect(node).network is None and finding(node) is None
    monkeypatch.setattr(ApiClient, "request_node", lambda *_unused: NO_NETWORK)
    found = finding(node)
    assert found is not None and (found.cause, found.final) == ("invalid_cni_config", False) and CNI in found.message
    node.file(CNI, json.dumps({"name": "aws", "plugins": [{"type": "aws-cni"}]}))
    found = finding(node)
    assert found is not None and found.cause == "no_network_plugin"


def test_the_thresholds_of_evictions(node: FakeNode) -> None:
    runs(node, "--config=/k.json", "--eviction-soft=memory.available<1Gi")
    node.file("/k.json", json.dumps({"evictionHard": {"nodefs.available": "10%", "memory.available": "100Mi"}}))
    kubelet = collect(node).kubelet
    assert kubelet is not None and kubelet.process.eviction == (
        "evictionHard of kubelet (/k.json): memory.available: 100Mi, nodefs.available: 10%",
        "--eviction-soft of kubelet: memory.available<1Gi",
    )


@pytest.mark.parametrize(("owner", "final"), [("web (pid 8, web.service)", True), ("kubelet (pid 9, kubelet.service)", False)])
def test_a_taken_port_is_not_final_once_kubelet_has_it(owner: str, final: bool) -> None:
    why = "listen tcp 0.0.0.0:10250: bind: address already in use"
    line = f'E1123 13:25:31.359855 356 server.go:209] "Failed to listen and serve" err="{why}"'
    finding = kubelet_exit_diagnosis.diagnose("kubelet.service", None, KubeletExit((line,), port_owners=(owner,)))
    assert (finding.cause, finding.final) == ("port_in_use", final)
