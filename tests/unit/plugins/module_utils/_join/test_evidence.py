# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is gathered on a machine whose files lie below a folder, and whose systemd and journal are tables."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import api_client as apis
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import diagnosis as causes
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import evidence as look
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import instance
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import journald as journal
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.join_node import KUBELET, Node

SNAP, CONTAINERD = "snap.kubelet-eks.daemon.service", "containerd.service"
FATAL = 'E1121 22:55:32.212722 1977 run.go:74] "command failed" err="failed to parse kubelet flag: unknown flag: --no-such-flag"'
EXITED = ("kubelet.service: Main process exited, code=exited, status=1/FAILURE", "kubelet.service: Failed with result 'exit-code'.")
OLD_EXITED = ("kubelet.service: main process exited, code=exited, status=1/FAILURE", "Unit kubelet.service entered failed state.")
AGAIN, OLD_AGAIN = (
    "kubelet.service: Scheduled restart job, restart counter is at 1.",
    "kubelet.service holdoff time over, scheduling restart.",
)
KUBECONFIG = "/var/lib/kubelet/kubeconfig"


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    made = Node(tmp_path)
    monkeypatch.setattr(journal.programs, "first_lines", made.first_lines)
    monkeypatch.setattr(apis.Api, "ask", lambda *_unused: {"kind": "answer", "status": 200, "node": {"ready": "True"}})
    return made


def seen(node: Node, now: float = 1000.0) -> dict[str, Any]:
    """What a look finds; JSON can hold it."""
    found: dict[str, Any] = json.loads(json.dumps(look.Look(node, clock=lambda: now)()))
    return found


# --- units and exits ---------------------------------------------------------------------------------------------------------------


def test_nothing_runs_here(node: Node) -> None:
    assert seen(node)["units"] == {} and seen(node)["kubelet"] is None
    node.answers = False
    assert seen(node)["units"] is None


def test_the_snap_runs_kubelet_where_there_is_one(node: Node) -> None:
    node.unit(KUBELET, "inactive", "dead", pid=0)
    node.unit(SNAP)
    node.process()
    assert seen(node)["kubelet"]["unit"] == SNAP


def one_failed_start(node: Node, at: float, pid: int = 5, lived: float = 0.3, exited: Any = EXITED, again: str = AGAIN) -> None:
    node.says("Started kubelet.service", at=at, pid=1)
    node.says("Flag --x has been deprecated", FATAL, at=at + 0.1, pid=pid)
    node.says(*exited, at=at + lived, pid=1)
    node.says(again, at=at + lived + 5, pid=1)


@pytest.mark.parametrize(("exited", "again"), [(EXITED, AGAIN), (OLD_EXITED, OLD_AGAIN)])
def test_a_restart_loop_is_told_by_its_last_finished_start(node: Node, exited: Any, again: str) -> None:
    one_failed_start(node, 90.0, pid=4, exited=exited, again=again)
    node.said = [row for row in node.said if row[3] != FATAL]
    one_failed_start(node, 96.0, exited=exited, again=again)
    node.unit(KUBELET, "activating", "auto-restart", pid=0, since=96.0, Result="exit-code", ExecMainStatus=1)
    assert seen(node)["kubelet"]["exit"]["lines"] == ["Flag --x has been deprecated", FATAL]
    assert causes.diagnose(seen(node)).cause == "unknown_flag"
    # systemd starts it again: nothing is better until it lives longer than the last one did.
    node.unit(KUBELET, pid=6, since=102.0)
    node.process(pid=6)
    young = seen(node, now=103.0)
    assert young["kubelet"]["running"] and young["kubelet"]["exit"]["lines"][-1] == FATAL and young["api"] is None
    node.process(f"--kubeconfig={KUBECONFIG}", pid=6)
    old = seen(node, now=105.0)
    assert old["kubelet"]["exit"] is None and old["api"]["status"] == 200


def test_somebody_who_starts_it_anew_gets_no_old_news(node: Node) -> None:
    one_failed_start(node, 96.0, lived=5.0)
    node.said = [row for row in node.said if row[3] != AGAIN]
    node.says("Stopping kubelet.service", "Started kubelet.service", at=109.0, pid=1)
    node.unit(KUBELET, pid=6, since=110.0)
    node.process(pid=6)
    assert seen(node, now=110.5)["kubelet"]["exit"] is None


@pytest.mark.parametrize(("state", "sub"), [("activating", "start-pre"), ("deactivating", "stop-sigterm")])
def test_while_it_is_started_or_stopped_old_words_count_only_in_a_loop(node: Node, state: str, sub: str) -> None:
    one_failed_start(node, 96.0)
    node.unit(KUBELET, state, sub, pid=0, since=96.0)
    assert causes.diagnose(seen(node)).cause == "unknown_flag", "systemd starts it again"
    node.said = [row for row in node.said if row[3] != AGAIN]
    found = causes.diagnose(seen(node))
    assert (found.cause, found.final) == ("kubelet_not_started", False) and f"is {state} ({sub})" in found.message, "somebody does"


def test_lines_of_earlier_starts_do_not_count(node: Node) -> None:
    node.says('"Using lenient decoding as strict decoding failed" err="unknown field \\"a\\""', at=50.0, pid=3)
    node.unit(KUBELET)
    node.process()
    node.says("Successfully registered node", at=101.0)
    assert seen(node)["kubelet"]["lines"] == ["Successfully registered node"]


def test_what_a_kubelet_said_long_ago_is_found_at_its_start(node: Node) -> None:
    node.unit(KUBELET)
    node.process()
    node.says("the first line", at=100.5)
    node.says(*(f"line {number}" for number in range(2 * journal.LINES)), at=200.0)
    lines = seen(node)["kubelet"]["lines"]
    assert lines[0] == "the first line" and lines[-1] == f"line {2 * journal.LINES - 1}"


def test_whether_the_words_of_a_kubelet_are_all_there(node: Node) -> None:
    node.unit(KUBELET)
    node.process()
    assert not seen(node)["kubelet"]["whole"], "the journal may have been thrown away, or is not kept"
    node.says("what it says later", at=150.0)
    assert not seen(node)["kubelet"]["whole"]
    node.said.clear()
    node.says("Started kubelet.service", at=99.9, pid=1)
    node.says("Flag --x has been deprecated", at=100.4)
    assert seen(node)["kubelet"]["whole"]
    node.says(*(f"line {number}" for number in range(2 * journal.LINES)), at=200.0)
    assert seen(node)["kubelet"]["whole"], "the first lines are asked for, too"
    node.said = node.said[5:]
    assert not seen(node)["kubelet"]["whole"]


def test_whether_the_words_of_an_exit_are_all_there(node: Node) -> None:
    node.unit(KUBELET, "failed", "failed", pid=0, since=96.0, Result="signal", ExecMainStatus=9)
    one_failed_start(node, 96.0)
    assert seen(node)["kubelet"]["exit"]["whole"]
    del node.said[0]
    assert not seen(node)["kubelet"]["exit"]["whole"], "before its first line nothing is left"
    node.says("Flag --x has been deprecated", at=91.0, pid=4)
    node.said.sort(key=lambda row: row[2])
    assert seen(node)["kubelet"]["exit"]["whole"], "of an earlier start something is"
    del node.said[0]
    node.unit(KUBELET, pid=6, since=102.0)
    node.process(pid=6)
    assert not seen(node, now=102.5)["kubelet"]["exit"]["whole"]
    node.said.clear()
    node.unit(KUBELET, "failed", "failed", pid=0, since=96.0, Result="signal", ExecMainStatus=9)
    node.says("Started kubelet.service", at=96.0, pid=1)
    node.says("Probe failed output=<", *("Error: unknown flag: --check",) * journal.LINES, at=96.1, pid=5)
    assert not seen(node)["kubelet"]["exit"]["whole"]
    assert causes.diagnose(seen(node)).cause == "kubelet_exits", "the head of these lines is gone"


def test_hostile_bytes_in_a_journal(node: Node) -> None:
    node.unit(KUBELET)
    node.process()
    node.says(list(b"\x1b[31m\xff\x00red"), None, 5, [999], {"a": 1}, b"no json\n", b"\xff" * 100 + b"\n", b"[]\n", "x" * 100000, at=101.0)
    node.says("proxy http://user:cAnArY@proxy:1 and k8s-aws-v1.cAnArY", '1 flags.go:64] FLAG: --node-labels="cAnArY"', at=102.0)
    began = time.monotonic()
    lines = seen(node)["kubelet"]["lines"]
    assert time.monotonic() - began < 10
    assert lines[0] == "[31m\ufffd red" and lines[-1] == "proxy http://********@proxy:1 and ********"
    assert not any("cAnArY" in line or len(line) > 2000 for line in lines)


def test_units_that_failed_are_asked_for_their_words(node: Node) -> None:
    node.unit(KUBELET, "inactive", "dead", pid=0)
    node.unit("nodeadm-config.service", "failed", "failed", pid=0, Result="exit-code")
    node.unit("nodeadm-run.service", "inactive", "dead", pid=0)
    node.says("of an earlier boot", at=50.0, unit="nodeadm-config.service")
    node.says("nodeadm: cluster.name is missing", at=101.0, unit="nodeadm-config.service")
    node.unit(CONTAINERD, "failed", "failed", pid=0, Result="exit-code")
    node.says("containerd: failed to load TOML", at=101.0, unit=CONTAINERD)
    found = seen(node)
    assert found["nodeadm"] == {"unit": "nodeadm-config.service", "lines": ["nodeadm: cluster.name is missing"]}
    assert found["containerd"]["lines"] == ["containerd: failed to load TOML"]
    assert causes.diagnose(found).cause == "nodeadm_failed"


# --- the process -------------------------------------------------------------------------------------------------------------------


def test_what_is_known_of_the_process(node: Node) -> None:
    node.file("/k/config.json", '{"cgroupDriver": "systemd", "registerNode": false}')
    node.unit(KUBELET, since=time.monotonic() + 60)
    node.process("--config=/k/config.json", "--hostname-override=Node-A", f"--kubeconfig={KUBECONFIG}")
    found = seen(node)
    assert found["name"] == "node-a" and found["kubelet"]["registers"] is False and found["kubelet"]["cgroup_driver"] == "systemd"
    assert abs(found["kubelet"]["started"] - (time.time() + 60)) < 5
    node.process("--register-node=true", "--cgroup-driver=cgroupfs", f"--kubeconfig={KUBECONFIG}")
    found = seen(node)
    assert found["name"] == found["hostname"].lower() and found["kubelet"]["registers"] and found["kubelet"]["cgroup_driver"] == "cgroupfs"


def test_a_configuration_that_kubelet_may_not_have_read_proves_nothing(node: Node) -> None:
    node.unit(KUBELET, since=time.monotonic() - 600)
    node.process("--config=/k/config.json")
    node.file("/k/config.json", '{"cgroupDriver": "cgroupfs"}')
    assert seen(node)["kubelet"]["cgroup_driver"] is None, "it changed after the start"
    node.unit(KUBELET, since=time.monotonic() + 60)
    assert seen(node)["kubelet"]["cgroup_driver"] == "cgroupfs"
    node.file("/k/config.json", "{broken")
    assert seen(node)["kubelet"]["cgroup_driver"] is None


def test_which_kubeconfig(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(apis.Api, "__init__", lambda self, _machine, path, environment: asked.append((path, environment)))
    node.unit(KUBELET)
    node.process(f"--kubeconfig={KUBECONFIG}", "--bootstrap-kubeconfig=/b", environ="HTTPS_PROXY=http://p:1\0A=b=c\0junk\0")
    seen(node)
    assert asked[-1] == (KUBECONFIG, {"HTTPS_PROXY": "http://p:1", "A": "b=c"})
    node.file("/b", "x")
    found = seen(node)
    assert asked[-1][0] == "/b" and found["kubelet"]["bootstraps"], "the certificate has not come yet"
    node.file(KUBECONFIG, "x")
    seen(node)
    assert asked[-1][0] == KUBECONFIG
    node.process()
    assert seen(node)["api"] == {"kind": "standalone", "final": True}
    finding = causes.diagnose(seen(node))
    assert (finding.cause, finding.final) == ("no_kubeconfig", True)


@pytest.mark.parametrize(
    "words", [["/usr/bin/snap", "run", "kubelet-eks.daemon"], ["(kubelet)"], ["/bin/sh", "-c", "exec kubelet --kubeconfig=/k"], []]
)
def test_a_program_in_front_of_kubelet_gives_way_to_it(node: Node, words: list[str]) -> None:
    node.unit(KUBELET)
    node.file("/proc/7/cmdline", "".join(f"{word}\0" for word in words))
    node.file("/proc/7/environ", "")
    whole = look.Look(node, clock=lambda: 1000.0)
    finding = causes.diagnose(whole())
    assert (finding.cause, finding.final) == ("no_kubeconfig", False)
    assert whole()["kubelet"]["cgroup_driver"] is None
    node.process(f"--kubeconfig={KUBECONFIG}")
    found = whole()
    assert found["api"]["status"] == 200 and found["node"] == {"ready": "True"}, "the same process is kubelet now"


def test_a_kubelet_that_has_its_certificate_is_asked_about_with_it(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(apis.Api, "__init__", lambda self, _machine, path, _environment: setattr(self, "place", path))
    monkeypatch.setattr(apis.Api, "ask", lambda self, _name: asked.append(self.place) or {"kind": "answer", "status": 403})
    node.unit(KUBELET)
    node.process(f"--kubeconfig={KUBECONFIG}", "--bootstrap-kubeconfig=/b")
    node.file("/b", "x")
    whole = look.Look(node, clock=lambda: 1000.0)
    assert whole()["kubelet"]["bootstraps"]
    kept = whole._api
    assert whole()["kubelet"]["bootstraps"] and whole._api is kept, "credentials are kept as long as they are the same"
    node.file(KUBECONFIG, "x")
    assert not whole()["kubelet"]["bootstraps"] and asked == ["/b", "/b", KUBECONFIG]
    process = whole._process
    whole()
    assert whole._process is process, "nothing of it changes now"


def test_the_instance_is_asked_only_after_401(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(instance, "facts", lambda: calls.append(1) or {"clusters": {}})
    node.unit(KUBELET)
    node.process(f"--kubeconfig={KUBECONFIG}")
    assert seen(node)["instance"] is None and not calls
    monkeypatch.setattr(apis.Api, "ask", lambda *_unused: {"kind": "answer", "status": 401})
    whole = look.Look(node)
    assert whole()["instance"] == {"clusters": {}} and whole()["instance"] is not None and len(calls) == 1


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
    assert look.of_toml(text) is expected


def test_where_containerds_setting_is_read(node: Node) -> None:
    node.process("--config", "/c.toml", pid=9, program="containerd")
    node.file("/c.toml", f"{V2}.runtimes.runc.options]\nSystemdCgroup = true\n")
    assert look.systemd_cgroup(node, 9) is True
    node.dump = f"{V2}.runtimes.runc.options]\n  SystemdCgroup = false\n"
    node.file("/c.toml", 'imports = ["/d/*.toml"]\n' + f"{V2}.runtimes.runc.options]\nSystemdCgroup = true\n")
    assert look.systemd_cgroup(node, 9) is False, "other files count, too: containerd itself is asked"
    node.file("/c.toml", "version = 2\n")
    assert look.systemd_cgroup(node, 9) is False
    node.dump = None
    assert look.systemd_cgroup(node, 9) is None


def test_what_containerd_may_not_have_read_proves_nothing(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    changed: dict[str, float] = {"/e/c.toml": 50.0}
    monkeypatch.setattr(node, "changed_at", changed.get)
    node.process("--config", "/e/c.toml", pid=9, program="containerd")
    node.dump = f"{V2}.runtimes.runc.options]\n  SystemdCgroup = false\n"
    node.file("/e/c.toml", f"{V2}.runtimes.runc.options]\nSystemdCgroup = true\n")
    assert look.systemd_cgroup(node, 9, 60.0) is True
    assert look.systemd_cgroup(node, 9, 40.0) is None, "it changed after the start"
    node.file("/d/a.toml", "x = 1\n")
    node.file("/e/d/a.toml", "x = 1\n")
    for imports, folder in (('["/d/*.toml"]', "/d"), ("['d/*.toml']", "/e/d"), ('[\n  "/x/one.toml",\n  "/d/*.toml", # more\n]', "/d")):
        node.file("/e/c.toml", f"imports = {imports}\n")
        for late in (folder, f"{folder}/a.toml"):
            assert look.systemd_cgroup(node, 9, 60.0) is False
            changed[late] = 70.0
            assert look.systemd_cgroup(node, 9, 60.0) is None, "what it imports changed"
            assert look.systemd_cgroup(node, 9, 80.0) is False
            del changed[late]
    (node.root / "e/c.toml").unlink()
    changed.update({"/e": 70.0, "/e/c.toml": 0.0})
    assert look.systemd_cgroup(node, 9, 80.0) is False and look.systemd_cgroup(node, 9, 60.0) is None, "it may have been there"


def test_containerd_is_asked_for_what_it_started_with(node: Node) -> None:
    node.process("--cgroup-driver=systemd", f"--kubeconfig={KUBECONFIG}")
    node.unit(KUBELET)
    node.process("--config", "/c.toml", pid=9, program="containerd")
    node.file("/c.toml", f"{V2}.runtimes.runc.options]\nSystemdCgroup = false\n")
    node.unit(CONTAINERD, pid=9, since=time.monotonic() + 60)
    assert seen(node)["containerd"]["systemd_cgroup"] is False
    node.unit(CONTAINERD, pid=9, since=time.monotonic() - 60)
    assert seen(node)["containerd"]["systemd_cgroup"] is None


# --- what else is asked ------------------------------------------------------------------------------------------------------------


def test_the_serving_certificate_is_looked_at_after_a_minute(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(apis.https, "has_certificate", lambda _host, port, _moment: asked.append(port))
    node.unit(KUBELET, since=100.0)
    for words, ports in (
        (["--rotate-server-certificates=true"], [10250]),
        (["--rotate-server-certificates", "--port=10260"], [10260]),
        (["--rotate-server-certificates", "--port=junk"], []),
        ([], []),
    ):
        node.process(*words, f"--kubeconfig={KUBECONFIG}")
        seen(node, now=159.0)
        assert asked == []
        seen(node, now=161.0)
        assert asked == ports
        asked.clear()


def test_a_kubelet_that_asks_the_cloud_for_its_name(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(apis.Api, "ask", lambda _self, name: asked.append(name) or {"kind": "answer", "status": 404})
    node.unit(KUBELET)
    node.process("--cloud-provider=aws", f"--kubeconfig={KUBECONFIG}")
    hostname = look.os.uname()[1].lower()
    assert seen(node)["name"] == hostname
    node.says('I1121 22:55:32.2 7 kubelet_node_status.go:70] "Attempting to register node" node="ip-10-0-0-5.ec2.internal"', at=101.0)
    assert seen(node)["name"] == "ip-10-0-0-5.ec2.internal" and asked == [hostname, "ip-10-0-0-5.ec2.internal"]
