# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The evidence that is collected on a machine whose files are below a directory, and whose systemd and journal are tables."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import containerd, diagnosis
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import evidence as collecting
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.api_client import ApiClient
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.evidence import EvidenceCollector
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import (
    ApiResult,
    Containerd,
    Evidence,
    FailedUnit,
    Finding,
    Instance,
    Kubelet,
    KubeletExit,
    NodeObject,
)
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import http_client, imds, instance_identity, journald, programs, toml
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.join_node import KUBELET, FakeNode

SNAP, CONTAINERD = "snap.kubelet-eks.daemon.service", "containerd.service"
FATAL = 'E1121 22:55:32.212722 1977 run.go:74] "command failed" err="failed to parse kubelet flag: unknown flag: --no-such-flag"'
EXITED = ("kubelet.service: Main process exited, code=exited, status=1/FAILURE", "kubelet.service: Failed with result 'exit-code'.")
OLD_EXITED = ("kubelet.service: main process exited, code=exited, status=1/FAILURE", "Unit kubelet.service entered failed state.")
AGAIN, OLD_AGAIN = (
    "kubelet.service: Scheduled restart job, restart counter is at 1.",
    "kubelet.service holdoff time over, scheduling restart.",
)
KUBECONFIG = "/var/lib/kubelet/kubeconfig"


READY = ApiResult("answer", status=200, is_kubernetes=True, node=NodeObject("True"))


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeNode:
    made = FakeNode(tmp_path)
    monkeypatch.setattr(programs, "first_lines", made.first_lines)
    monkeypatch.setattr(ApiClient, "request_node", lambda *_unused: READY)
    return made


def collect(node: FakeNode, now: float = 1000.0) -> Evidence:
    return EvidenceCollector(node, clock=lambda: now).collect()


def kubelet_of(node: FakeNode, now: float = 1000.0) -> Kubelet:
    kubelet = collect(node, now).kubelet
    assert kubelet is not None
    return kubelet


def exit_of(node: FakeNode, now: float = 1000.0) -> KubeletExit:
    found = kubelet_of(node, now).exit
    assert found is not None
    return found


def finding_of(node: FakeNode) -> Finding:
    finding = diagnosis.diagnose(collect(node))
    assert finding is not None
    return finding


# --- units and exits ---------------------------------------------------------------------------------------------------------------


def test_no_kubelet_unit(node: FakeNode) -> None:
    assert collect(node).units == {} and collect(node).kubelet is None
    node.answers = False
    assert collect(node).units is None


def test_the_snap_takes_precedence(node: FakeNode) -> None:
    node.unit(KUBELET, "inactive", "dead", pid=0)
    node.unit(SNAP)
    node.process()
    assert kubelet_of(node).unit == SNAP


def one_failed_start(node: FakeNode, at: float, pid: int = 5, lived: float = 0.3, exited: Any = EXITED, again: str = AGAIN) -> None:
    node.logs("Started kubelet.service", at=at, pid=1)
    node.logs("Flag --x has been deprecated", FATAL, at=at + 0.1, pid=pid)
    node.logs(*exited, at=at + lived, pid=1)
    node.logs(again, at=at + lived + 5, pid=1)


@pytest.mark.parametrize(("exited", "again"), [(EXITED, AGAIN), (OLD_EXITED, OLD_AGAIN)])
def test_in_a_restart_loop_the_last_complete_start_counts(node: FakeNode, exited: Any, again: str) -> None:
    one_failed_start(node, 90.0, pid=4, exited=exited, again=again)
    node.log = [row for row in node.log if row[3] != FATAL]
    one_failed_start(node, 96.0, exited=exited, again=again)
    node.unit(KUBELET, "activating", "auto-restart", pid=0, since=96.0, Result="exit-code", ExecMainStatus=1)
    assert exit_of(node).lines == ("Flag --x has been deprecated", FATAL)
    assert finding_of(node).cause == "unknown_flag"
    # systemd starts it again: nothing is better until it lives longer than the last one did.
    node.unit(KUBELET, pid=6, since=102.0)
    node.process(pid=6)
    young = collect(node, now=103.0)
    assert young.kubelet is not None and young.kubelet.is_running and young.kubelet.exit is not None
    assert young.kubelet.exit.lines[-1] == FATAL and young.api is None
    node.process(f"--kubeconfig={KUBECONFIG}", pid=6)
    old = collect(node, now=105.0)
    assert old.kubelet is not None and old.kubelet.exit is None and old.api == READY


def test_after_a_manual_restart_the_start_before_does_not_count(node: FakeNode) -> None:
    one_failed_start(node, 96.0, lived=5.0)
    node.log = [row for row in node.log if row[3] != AGAIN]
    node.logs("Stopping kubelet.service", "Started kubelet.service", at=109.0, pid=1)
    node.unit(KUBELET, pid=6, since=110.0)
    node.process(pid=6)
    assert kubelet_of(node, now=110.5).exit is None


@pytest.mark.parametrize(("state", "sub"), [("activating", "start-pre"), ("deactivating", "stop-sigterm")])
def test_while_it_starts_or_stops_the_last_start_counts_only_in_a_loop(node: FakeNode, state: str, sub: str) -> None:
    one_failed_start(node, 96.0)
    node.unit(KUBELET, state, sub, pid=0, since=96.0)
    assert finding_of(node).cause == "unknown_flag", "systemd starts it again"
    node.log = [row for row in node.log if row[3] != AGAIN]
    found = finding_of(node)
    assert (found.cause, found.final) == ("kubelet_not_started", False)
    assert any(f"is {state} ({sub})" in line for line in found.evidence), "systemd was told to"


def test_lines_of_earlier_starts_do_not_count(node: FakeNode) -> None:
    node.logs('"Using lenient decoding as strict decoding failed" err="unknown field \\"a\\""', at=50.0, pid=3)
    node.unit(KUBELET)
    node.process()
    node.logs("Successfully registered node", at=101.0)
    assert kubelet_of(node).lines == ("Successfully registered node",)


def test_the_first_lines_of_a_kubelet_that_has_run_for_long(node: FakeNode) -> None:
    node.unit(KUBELET)
    node.process()
    node.logs("the first line", at=100.5)
    node.logs(*(f"line {number}" for number in range(2 * journald.LINES)), at=200.0)
    lines = kubelet_of(node).lines
    assert lines[0] == "the first line" and lines[-1] == f"line {2 * journald.LINES - 1}"


def test_whether_the_log_of_kubelet_has_its_first_lines(node: FakeNode) -> None:
    node.unit(KUBELET)
    node.process()
    assert not kubelet_of(node).has_first_lines, "the journal may have been deleted, or is not persistent"
    node.logs("what it says later", at=150.0)
    assert not kubelet_of(node).has_first_lines
    node.log.clear()
    node.logs("Started kubelet.service", at=99.9, pid=1)
    node.logs("Flag --x has been deprecated", at=100.4)
    assert kubelet_of(node).has_first_lines
    node.logs(*(f"line {number}" for number in range(2 * journald.LINES)), at=200.0)
    assert kubelet_of(node).has_first_lines, "the first lines are read, too"
    node.log = node.log[5:]
    assert not kubelet_of(node).has_first_lines


def test_whether_the_log_of_an_exit_is_complete(node: FakeNode) -> None:
    node.unit(KUBELET, "failed", "failed", pid=0, since=96.0, Result="signal", ExecMainStatus=9)
    one_failed_start(node, 96.0)
    assert exit_of(node).is_complete
    del node.log[0]
    assert not exit_of(node).is_complete, "there is nothing before its first line"
    node.logs("Flag --x has been deprecated", at=91.0, pid=4)
    node.log.sort(key=lambda row: row[2])
    assert exit_of(node).is_complete, "there is something of an earlier start"
    del node.log[0]
    node.unit(KUBELET, pid=6, since=102.0)
    node.process(pid=6)
    assert not exit_of(node, now=102.5).is_complete
    node.log.clear()
    node.unit(KUBELET, "failed", "failed", pid=0, since=96.0, Result="signal", ExecMainStatus=9)
    node.logs("Started kubelet.service", at=96.0, pid=1)
    node.logs("Probe failed output=<", *("Error: unknown flag: --check",) * journald.LINES, at=96.1, pid=5)
    assert not exit_of(node).is_complete
    assert finding_of(node).cause == "kubelet_exits", "the first of these lines is missing"


def test_hostile_bytes_in_a_journal(node: FakeNode) -> None:
    node.unit(KUBELET)
    node.process()
    node.logs(list(b"\x1b[31m\xff\x00red"), None, 5, [999], {"a": 1}, b"no json\n", b"\xff" * 100 + b"\n", b"[]\n", "x" * 100000, at=101.0)
    node.logs("proxy http://user:cAnArY@proxy:1 and k8s-aws-v1.cAnArY", '1 flags.go:64] FLAG: --node-labels="cAnArY"', at=102.0)
    began = time.monotonic()
    lines = kubelet_of(node).lines
    assert time.monotonic() - began < 100
    assert lines[0] == "[31m\ufffd red" and lines[-1] == "proxy http://********@proxy:1 and ********"
    assert not any("cAnArY" in line or len(line) > 2000 for line in lines)


def test_the_log_of_units_that_failed(node: FakeNode) -> None:
    node.unit(KUBELET, "inactive", "dead", pid=0)
    node.unit("nodeadm-config.service", "failed", "failed", pid=0, Result="exit-code")
    node.unit("nodeadm-run.service", "inactive", "dead", pid=0)
    node.logs("of an earlier boot", at=50.0, unit="nodeadm-config.service")
    node.logs("nodeadm: cluster.name is missing", at=101.0, unit="nodeadm-config.service")
    node.unit(CONTAINERD, "failed", "failed", pid=0, Result="exit-code")
    node.logs("containerd: failed to load TOML", at=101.0, unit=CONTAINERD)
    evidence = collect(node)
    assert evidence.nodeadm == FailedUnit("nodeadm-config.service", ("nodeadm: cluster.name is missing",))
    assert evidence.containerd == Containerd(("containerd: failed to load TOML",))
    assert finding_of(node).cause == "nodeadm_failed"


# --- the process -------------------------------------------------------------------------------------------------------------------


def test_the_settings_of_the_process(node: FakeNode) -> None:
    node.file("/k/config.json", '{"cgroupDriver": "systemd", "registerNode": false}')
    node.unit(KUBELET, since=time.monotonic() + 60)
    node.process("--config=/k/config.json", "--hostname-override=Node-A", f"--kubeconfig={KUBECONFIG}")
    settings = kubelet_of(node).process
    assert collect(node).node_name == "node-a" and not settings.registers_node and settings.cgroup_driver == "systemd"
    assert settings.started is not None and abs(settings.started - (time.time() + 60)) < 5 and settings.config_files == ("/k/config.json",)
    node.process("--register-node=true", "--cgroup-driver=cgroupfs", f"--kubeconfig={KUBECONFIG}")
    settings = kubelet_of(node).process
    assert collect(node).node_name == os.uname()[1].lower() and settings.registers_node and settings.cgroup_driver == "cgroupfs"


def test_a_configuration_that_changed_after_the_start_proves_nothing(node: FakeNode) -> None:
    node.unit(KUBELET, since=time.monotonic() - 600)
    node.process("--config=/k/config.json")
    node.file("/k/config.json", '{"cgroupDriver": "cgroupfs"}')
    assert kubelet_of(node).process.cgroup_driver is None, "it changed after the start"
    node.unit(KUBELET, since=time.monotonic() + 60)
    assert kubelet_of(node).process.cgroup_driver == "cgroupfs"
    node.file("/k/config.json", "{broken")
    assert kubelet_of(node).process.cgroup_driver is None


def test_which_kubeconfig(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(ApiClient, "__init__", lambda _self, _machine, path, environment: asked.append((path, environment)))
    node.unit(KUBELET)
    node.process(f"--kubeconfig={KUBECONFIG}", "--bootstrap-kubeconfig=/b", environ="HTTPS_PROXY=http://p:1\0A=b=c\0junk\0")
    collect(node)
    assert asked[-1] == (KUBECONFIG, {"HTTPS_PROXY": "http://p:1", "A": "b=c"})
    node.file("/b", "x")
    assert kubelet_of(node).process.is_bootstrapping and asked[-1][0] == "/b", "there is no certificate yet"
    node.file(KUBECONFIG, "x")
    collect(node)
    assert asked[-1][0] == KUBECONFIG
    node.process()
    assert collect(node).api == ApiResult("standalone")
    finding = finding_of(node)
    assert (finding.cause, finding.final) == ("no_kubeconfig", True)


@pytest.mark.parametrize(
    "words", [["/usr/bin/snap", "run", "kubelet-eks.daemon"], ["(kubelet)"], ["/bin/sh", "-c", "exec kubelet --kubeconfig=/k"], []]
)
def test_a_program_that_kubelet_replaces_later(node: FakeNode, words: list[str]) -> None:
    node.unit(KUBELET)
    node.file("/proc/7/cmdline", "".join(f"{word}\0" for word in words))
    node.file("/proc/7/environ", "")
    collector = EvidenceCollector(node, clock=lambda: 1000.0)
    evidence = collector.collect()
    finding = diagnosis.diagnose(evidence)
    assert finding is not None and (finding.cause, finding.final) == ("no_kubeconfig", False)
    assert evidence.kubelet is not None and evidence.kubelet.process.cgroup_driver is None
    node.process(f"--kubeconfig={KUBECONFIG}")
    assert collector.collect().api == READY, "the same process is kubelet now"


def test_a_kubelet_with_a_certificate_uses_it(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[tuple[Any, str]] = []
    monkeypatch.setattr(ApiClient, "__init__", lambda self, _machine, path, _environment: setattr(self, "place", path))
    monkeypatch.setattr(
        ApiClient, "request_node", lambda self, _name: requests.append((self, self.place)) or ApiResult("answer", status=403)
    )
    node.unit(KUBELET)
    node.process(f"--kubeconfig={KUBECONFIG}", "--bootstrap-kubeconfig=/b")
    node.file("/b", "x")
    collector = EvidenceCollector(node, clock=lambda: 1000.0)

    def is_bootstrapping() -> bool:
        kubelet = collector.collect().kubelet
        assert kubelet is not None
        return kubelet.process.is_bootstrapping

    assert is_bootstrapping() and is_bootstrapping()
    assert requests[0][0] is requests[1][0], "credentials are kept as long as the kubeconfig is the same"
    node.file(KUBECONFIG, "x")
    assert not is_bootstrapping() and [place for _client, place in requests] == ["/b", "/b", KUBECONFIG]
    monkeypatch.setattr(collecting, "read_process", lambda *_unused: pytest.fail("nothing of it changes any more"))
    assert not is_bootstrapping()


def test_the_instance_is_read_only_after_401(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(collecting, "read_instance", lambda: calls.append(1) or Instance())
    node.unit(KUBELET)
    node.process(f"--kubeconfig={KUBECONFIG}")
    assert collect(node).instance is None and not calls
    monkeypatch.setattr(ApiClient, "request_node", lambda *_unused: ApiResult("answer", status=401))
    collector = EvidenceCollector(node)
    assert collector.collect().instance == collector.collect().instance == Instance() and len(calls) == 1


# --- containerd --------------------------------------------------------------------------------------------------------------------

V2 = '[plugins."io.containerd.grpc.v1.cri".containerd'
RUNC_WITHOUT = f"{V2}.runtimes.runc.options]\nSystemdCgroup = false\n"
V3 = "[plugins.'io.containerd.cri.v1.runtime'.containerd"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{V2}.runtimes.runc.options]\nSystemdCgroup = true # yes\n", True),
        (f"  {V3}.runtimes.runc.options]\n    SystemdCgroup = false\n", False),
        (f"{V2}]\ndefault_runtime_name = 'n'\n{RUNC_WITHOUT}{V2}.runtimes.n.options]\nSystemdCgroup = true\n", True),
        (f"{V2}.runtimes.nvidia.options]\nSystemdCgroup = true\n", None),
        ("[plugins.other.containerd.runtimes.runc.options]\nSystemdCgroup = true\n", None),
        ("SystemdCgroup = true\n", None),
        (f"{V2}.runtimes.runc.options]\nSystemdCgroup = 'x'\n", False),
        ("", None),
    ],
)  # fmt: skip
def test_the_cgroup_driver_of_containerd(text: str, expected: bool | None) -> None:
    assert containerd.find_systemd_cgroup(toml.parse(text)) is expected


def test_where_the_setting_of_containerd_is_read(node: FakeNode) -> None:
    node.process("--config", "/c.toml", pid=9, program="containerd")
    node.file("/c.toml", f"{V2}.runtimes.runc.options]\nSystemdCgroup = true\n")
    assert containerd.uses_systemd_cgroup(node, 9) is True
    node.dump = f"{V2}.runtimes.runc.options]\n  SystemdCgroup = false\n"
    node.file("/c.toml", 'imports = ["/d/*.toml"]\n' + f"{V2}.runtimes.runc.options]\nSystemdCgroup = true\n")
    assert containerd.uses_systemd_cgroup(node, 9) is False, "other files count, too, so containerd prints its configuration"
    node.file("/c.toml", "version = 2\n")
    assert containerd.uses_systemd_cgroup(node, 9) is False
    node.dump = None
    assert containerd.uses_systemd_cgroup(node, 9) is None


def test_a_configuration_of_containerd_that_changed_after_the_start_proves_nothing(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    changed: dict[str, float] = {"/e/c.toml": 50.0}
    monkeypatch.setattr(node, "changed_at", changed.get)
    node.process("--config", "/e/c.toml", pid=9, program="containerd")
    node.dump = f"{V2}.runtimes.runc.options]\n  SystemdCgroup = false\n"
    node.file("/e/c.toml", f"{V2}.runtimes.runc.options]\nSystemdCgroup = true\n")
    assert containerd.uses_systemd_cgroup(node, 9, 60.0) is True
    assert containerd.uses_systemd_cgroup(node, 9, 40.0) is None, "it changed after the start"
    node.file("/d/a.toml", "x = 1\n")
    node.file("/e/d/a.toml", "x = 1\n")
    for imports, folder in (('["/d/*.toml"]', "/d"), ("['d/*.toml']", "/e/d"), ('[\n  "/x/one.toml",\n  "/d/*.toml", # more\n]', "/d")):
        node.file("/e/c.toml", f"imports = {imports}\n")
        for late in (folder, f"{folder}/a.toml"):
            assert containerd.uses_systemd_cgroup(node, 9, 60.0) is False
            changed[late] = 70.0
            assert containerd.uses_systemd_cgroup(node, 9, 60.0) is None, "an imported file changed"
            assert containerd.uses_systemd_cgroup(node, 9, 80.0) is False
            del changed[late]
    (node.root / "e/c.toml").unlink()
    changed.update({"/e": 70.0, "/e/c.toml": 0.0})
    assert containerd.uses_systemd_cgroup(node, 9, 80.0) is False
    assert containerd.uses_systemd_cgroup(node, 9, 60.0) is None, "the file may have existed"


def test_the_configuration_with_which_containerd_started(node: FakeNode) -> None:
    node.process("--cgroup-driver=systemd", f"--kubeconfig={KUBECONFIG}")
    node.unit(KUBELET)
    node.process("--config", "/c.toml", pid=9, program="containerd")
    node.file("/c.toml", f"{V2}.runtimes.runc.options]\nSystemdCgroup = false\n")
    node.unit(CONTAINERD, pid=9, since=time.monotonic() + 60)
    assert collect(node).containerd == Containerd(uses_systemd_cgroup=False)
    node.unit(CONTAINERD, pid=9, since=time.monotonic() - 60)
    assert collect(node).containerd == Containerd()


# --- what else is asked ------------------------------------------------------------------------------------------------------------


def test_the_serving_certificate_is_checked_after_a_minute(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(http_client, "has_certificate", lambda _host, port, _moment: asked.append(port))
    node.unit(KUBELET, since=100.0)
    for words, ports in (
        (["--rotate-server-certificates=true"], [10250]),
        (["--rotate-server-certificates", "--port=10260"], [10260]),
        (["--rotate-server-certificates", "--port=junk"], []),
        ([], []),
    ):
        node.process(*words, f"--kubeconfig={KUBECONFIG}")
        collect(node, now=159.0)
        assert asked == []
        collect(node, now=161.0)
        assert asked == ports
        asked.clear()


def test_a_kubelet_that_gets_its_name_from_ec2(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(ApiClient, "request_node", lambda _self, name: asked.append(name) or ApiResult("answer", status=404))
    node.unit(KUBELET)
    node.process("--cloud-provider=aws", f"--kubeconfig={KUBECONFIG}")
    hostname = os.uname()[1].lower()
    assert collect(node).node_name == hostname
    node.logs('I1121 22:55:32.2 7 kubelet_node_status.go:70] "Attempting to register node" node="ip-10-0-0-5.ec2.internal"', at=101.0)
    assert collect(node).node_name == "ip-10-0-0-5.ec2.internal" and asked == [hostname, "ip-10-0-0-5.ec2.internal"]


# --- the instance ------------------------------------------------------------------------------------------------------------------

DOCUMENT = instance_identity.PATH
ROLE, TAGS = "meta-data/iam/security-credentials/", "meta-data/tags/instance/"


def test_the_instance() -> None:
    document = json.dumps({"accountId": "111122223333", "instanceId": "i-1", "region": "eu-central-1"})
    tags = "Name\naws:eks:cluster-name\nkubernetes.io/cluster/prod\neks:nodegroup-name\nKubernetesCluster"
    answers = {DOCUMENT: document, ROLE: "node-role\n", TAGS: tags, f"{TAGS}aws:eks:cluster-name": "prod"}
    clusters = {"aws:eks:cluster-name": "prod", "kubernetes.io/cluster/NAME": "prod"}
    assert collecting.read_instance(answers.get) == Instance(clusters, "node-role", "111122223333", "eu-central-1")


@pytest.mark.parametrize("text", ["<html>\n<body>", "[" * 100000, "5", "\x1b[31m"])
def test_another_server_in_place_of_the_metadata_service(text: str) -> None:
    found = collecting.read_instance(lambda _path: text)
    assert found.account is None and found.region is None and found.role in (None, "5")
    assert found.clusters == {}


def test_no_metadata_service(monkeypatch: pytest.MonkeyPatch) -> None:
    def get(*_unused: Any, **_unuseds: Any) -> str:
        raise imds.ImdsError("no answer")

    monkeypatch.setattr(imds.Client, "get", get)
    assert collecting.read_instance() == Instance()
