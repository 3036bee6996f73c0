# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recorded node's evidence is taken for. The lines are those of real kubelets 1.30 and 1.36 (recorded_joins.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import diagnosis as causes
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import Finding, sentence

RECORDED = json.loads((Path(__file__).parent / "recorded_joins.json").read_text(encoding="utf-8"))
KUBELET = "kubelet.service"
NAME = "ip-10-0-0-5.eu-central-1.compute.internal"
SERVER = "https://10.0.0.1:6443"
CA = "/etc/kubernetes/pki/ca.crt"


def unit(state: str = "active", sub: str = "running", **fields: Any) -> dict[str, Any]:
    found = {"load": "loaded", "state": state, "sub": sub, "result": "success", "enabled": "enabled", "restarts": 0, "status": "0"}
    return {**found, "pid": 7, "since": 100.0, "running": state == "active", **fields}


def node(ready: str | None = "True", message: str = "", reason: str = "KubeletReady", heartbeat: float = 1010.0) -> dict[str, Any]:
    return {"ready": ready, "reason": reason, "message": message, "heartbeat": heartbeat, "taints": []}


def api(kind: str = "answer", status: int | None = 200, said: str = "", **fields: Any) -> dict[str, Any]:
    """What was asked and answered, as far as it got."""
    found = {"kubeconfig": "/k", "server": SERVER, "host": "10.0.0.1", "proxy": None, "user": {"kind": "exec", "cluster": "demo"}}
    found.update(credentials="the token of aws", expires=None, authority=CA, kind=kind, said=said)
    if kind == "answer":
        found.update(status=status, kubernetes=True, skew=0.0)
    return {**found, **fields}


def running(asked: dict[str, Any] | None = None, found: dict[str, Any] | None = None, lines: tuple[str, ...] = (), **fields: Any) -> Any:
    """A machine whose kubelet runs."""
    kubelet = {"unit": KUBELET, "running": True, "exit": None, "lines": list(lines), "started": 1000.0, "registers": True}
    kubelet.update(whole=True, bootstraps=False, cgroup_driver="systemd", config=["/etc/kubernetes/kubelet/config.json"])
    seen = {"time": 1020.0, "name": NAME, "hostname": "host", "units": {KUBELET: unit()}, "kubelet": kubelet, "api": asked or api()}
    seen.update(node=found, containerd={"lines": [], "systemd_cgroup": True}, nodeadm=None, instance=None)
    return {**seen, **fields}


def ended(recorded: dict[str, Any], **fields: Any) -> Any:
    """A machine whose kubelet ended with these words."""
    seen = running()
    state = unit("activating", "auto-restart", result=recorded["result"], status=recorded["status"], restarts=3)
    seen["units"][KUBELET] = state
    seen["kubelet"] = {"unit": KUBELET, "running": False, "lines": [], "exit": {"lines": recorded["lines"], "systemd": recorded["systemd"]}}
    return {**seen, "api": None, "name": None, "containerd": None, **fields}


def found_in(seen: dict[str, Any]) -> Finding:
    finding = causes.diagnose(json.loads(json.dumps(seen)))
    assert finding is not None
    for text in (finding.message, finding.fix):
        assert text and not text.endswith("."), text
        assert text == " ".join(text.split()), "one line"
    return finding


# --- kubelet exits -----------------------------------------------------------------------------------------------------------------

EXITS = {
    "ca_file_garbage": ("wrong_certificate_authority", "cannot read the cluster's certificate authority"),
    "ca_file_missing": ("wrong_certificate_authority", f"{CA}: open {CA}: no such file"),
    "cgroup_v1": ("cgroup_v1", "cgroups of version 1"),
    "client_ca_missing_in_kubelet": (("wrong_certificate_authority", "missing_file"), "/etc/kubernetes/pki/none.crt"),
    "containerd_broken_config": ("no_container_runtime", "no container runtime answers"),
    "containerd_cri_disabled": ("no_container_runtime", "no container runtime answers"),
    "containerd_socket_wrong": ("no_container_runtime", "no container runtime answers"),
    "credential_provider_missing": ("no_credential_provider", "did not exist"),
    "dropin_wrong_kind": ("invalid_config", "40-nodeadm.conf, unknown apiVersion/kind"),
    "environment_file_missing": ("no_kubelet", "a file that it names is missing"),
    "flag_bad_value": ("invalid_flag", 'invalid argument "many" for "--max-pods"'),
    "forbidden_label": ("forbidden_label", "the labels kubernetes.io/role"),
    "forbidden_label_k8sio": ("forbidden_label", "the labels example.k8s.io/a"),
    "forbidden_label_restriction": ("forbidden_label", "the labels node-restriction.kubernetes.io/a"),
    "invalid_json_config": ("invalid_config", "in /etc/kubernetes/kubelet/config.json: unexpected end of JSON input"),
    "invalid_type_config": ("invalid_config", "in /etc/kubernetes/kubelet/config.json: json: cannot unmarshal string"),
    "invalid_type_dropin": ("invalid_config", "cannot unmarshal string into Go struct field"),
    "invalid_value_config": ("invalid_config", "imageGCLowThresholdPercent"),
    "invalid_value_dropin": ("invalid_config", "must be less than imageGCHighThresholdPercent"),
    "kernel_defaults": ("kernel_defaults", "kernel.panic is 0 and not 10"),
    "kubeconfig_garbage": ("bad_kubeconfig", "yaml: line 1"),
    "kubelet_program_missing": ("no_kubelet", "systemd cannot run kubelet's program"),
    "no_container_runtime": ("no_container_runtime", "no container runtime answers"),
    "no_kubeconfig": ("no_kubeconfig", "no kubeconfig at /var/lib/kubelet/kubeconfig"),
    "removed_feature_gate_true": ("unknown_feature_gate", "the feature gate DynamicKubeletConfig"),
    "removed_flag": ("unknown_flag", "the flag --container-runtime"),
    "swap_on": ("swap_on", "swap is on"),
    "unknown_feature_gate": ("unknown_feature_gate", "the feature gate NoSuchGate"),
    "unknown_flag": ("unknown_flag", "the flag --no-such-flag"),
}


def test_every_recording_is_in_the_table() -> None:
    assert {name.rpartition("-")[0] for name in RECORDED["exits"]} == set(EXITS)


@pytest.mark.parametrize("name", sorted(RECORDED["exits"]))
def test_why_a_kubelet_exits(name: str) -> None:
    cause, words = EXITS[name.rpartition("-")[0]]
    finding = found_in(ended(RECORDED["exits"][name]))
    assert finding.cause in ((cause,) if isinstance(cause, str) else cause)
    assert words in finding.message
    assert finding.final is (finding.cause != "no_container_runtime"), "containerd may still come up"
    assert any(line.startswith(f"journal of {KUBELET}: ") for line in finding.evidence)
    assert any("kubelet.service is activating (auto-restart)" in line for line in finding.evidence)


def test_early_lines_that_mean_nothing_explain_no_exit() -> None:
    """Every kubelet says some of these on its way up; only the last words count."""
    innocent = [
        'E1121 22:49:25.5 294 remote_runtime.go:1177] "RuntimeConfig from runtime service failed" err="rpc error: code = Unimplemented '
        'desc = unknown method RuntimeConfig for service runtime.v1.RuntimeService"',
        'I1121 22:49:25.5 294 pod.go:1] "Pod said" text="unknown flag: --x; running with swap on is not supported"',
        'E1121 22:49:26.5 294 server.go:1] "Something new" err="nobody knows"',
        "Flag --register-with-taints has been deprecated, This parameter should be set via the config file",
    ]
    finding = found_in(ended({"status": "1", "result": "exit-code", "lines": innocent, "systemd": ["Main process exited, status=1"]}))
    assert finding.cause == "kubelet_exits" and not finding.final
    assert '"Something new" err="nobody knows"' in finding.message


def test_a_unit_that_systemd_lacks_resources_for_is_tried_again() -> None:
    """systemd calls it by the same word, whether a file is missing or the machine has no memory to fork."""
    for said in ("Failed to fork: Cannot allocate memory", "Failed to load environment files: Too many open files"):
        lines = [f"{KUBELET}: {said}", f"{KUBELET}: Failed to run 'start' task: x", f"{KUBELET}: Failed with result 'resources'."]
        finding = found_in(ended({"status": "0", "result": "resources", "lines": [], "systemd": lines}))
        assert finding.cause == "kubelet_exits" and not finding.final
    old = ["Failed to load environment files: No such file or directory", f"{KUBELET} failed to run 'start' task: No such file"]
    finding = found_in(ended({"status": "0", "result": "resources", "lines": [], "systemd": old}))
    assert finding.cause == "no_kubelet" and finding.final, "as systemd 219 says it"


PROBED = (
    'I1121 22:49:25.5 294 prober.go:120] "Probe failed" probeType="Liveness" pod="default/a" probeResult="failure" output=<',
    "Error: unknown flag: --check",
    "panic: failed to set feature gates: unrecognized feature gate: Nothing",
    '"command failed" err="running with swap on is not supported"',
    'app.go:7] "command failed" err="failed to parse kubelet flag: unknown flag: --check"',
    "Usage: check",
    ">",
)
KILLED = ("kubelet.service: Main process exited, code=killed, status=9/KILL", "kubelet.service: Failed with result 'oom-kill'.")


def exited(*lines: str, **fields: Any) -> Finding:
    seen = ended({"status": "9", "result": "oom-kill", "lines": list(lines), "systemd": list(KILLED)})
    seen["kubelet"]["exit"].update(fields)
    return found_in(seen)


def test_what_a_pod_prints_explains_no_exit() -> None:
    after = 'I1121 22:49:26.5 294 kubelet.go:1] "SyncLoop (probe)" probe="liveness"'
    for lines, told in (
        (PROBED, "Probe failed"),
        ((*PROBED, after), "SyncLoop"),
        (("Flag --x has been deprecated", *PROBED), "Probe failed"),
        ((*PROBED, 'E1121 22:49:27.5 294 a.go:1] "Sick"', *PROBED), '"Sick"'),
    ):
        finding = exited(*lines)
        assert (finding.cause, finding.final) == ("kubelet_exits", False)
        assert told in finding.message and "unknown flag" not in finding.message
    assert exited(*PROBED[1:], whole=False).cause == "kubelet_exits", "nobody knows where these lines belong"
    assert "it says nothing" in exited(*PROBED[1:], whole=False).message
    assert exited("Error: unknown flag: --x", whole=True).cause == "unknown_flag", "klog was not there yet"


def test_what_kubelet_says_last_after_a_pod_printed_something() -> None:
    fatal = 'E1121 22:49:27.5 294 run.go:72] "command failed" err=<'
    assert exited(*PROBED, fatal, "failed to validate kubelet flags: bad --node-ip x", ">").cause == "invalid_flag"
    started = 'W1121 22:49:24.5 294 feature_gate.go:1] "Setting GA feature gate"'
    assert exited(started, "panic: unrecognized feature gate: NoSuchGate", "goroutine 1 [running]:").cause == "unknown_feature_gate"
    json_line = '{"ts":1.5,"caller":"app/run.go:72","msg":"%s","v":0,"err":"failed to run Kubelet: running with swap on is not supported"}'
    assert exited(started, json_line % "command failed").cause == "swap_on"
    assert exited(started, json_line % "Probe failed").cause == "kubelet_exits"


def test_a_kubelet_that_never_ran() -> None:
    """A program of ExecStartPre failed, as the one of our static units does without a metadata service."""
    said = ["kubelet.service: Control process exited, code=exited, status=52/n/a", "kubelet.service: Failed with result 'exit-code'."]
    finding = found_in(ended({"status": "0", "result": "exit-code", "lines": ["curl: (52) Empty reply"], "systemd": said}))
    assert finding.cause == "kubelet_not_started" and "before kubelet failed: curl: (52) Empty reply" in finding.message


# --- before kubelet ----------------------------------------------------------------------------------------------------------------


def stopped(**fields: Any) -> Any:
    seen = ended({"status": "0", "result": "success", "lines": [], "systemd": []}, **fields)
    seen["kubelet"]["exit"] = None
    seen["units"] = {KUBELET: unit("inactive", "dead", pid=0), **fields.pop("units", {})}
    return seen


NODEADM = (
    '{"level":"info","ts":1,"caller":"init.go:73","msg":"Validating configuration.."}',
    '{"level":"fatal","ts":1,"caller":"main.go:36","msg":"Command failed","error":"Name is missing in cluster configuration"}',
)


def test_what_keeps_kubelet_from_being_started() -> None:
    none = stopped()
    none.update(units={}, kubelet=None)
    assert "no unit that runs kubelet" in found_in(none).message
    assert not found_in(none).final, "user data may install it, and snapd takes the unit away while it puts a new one there"
    assert not found_in({**none, "units": None}).final, "systemd that does not answer is no proof"
    assert "kubelet.service is inactive (dead)" in found_in(stopped()).message and not found_in(stopped()).final
    masked = stopped()
    masked["units"][KUBELET]["load"] = "masked"
    assert found_in(masked).final and found_in(masked).fix == f"systemctl unmask {KUBELET}"
    busy = stopped(units={"nodeadm-run.service": unit("activating", "start")})
    assert "nodeadm-run.service is at work" in found_in(busy).message and not found_in(busy).final


def test_nodeadm_that_failed() -> None:
    finding = found_in(stopped(nodeadm={"unit": "nodeadm-config.service", "lines": list(NODEADM)}))
    assert finding.cause == "nodeadm_failed" and finding.final
    assert finding.message.endswith("Command failed: Name is missing in cluster configuration")
    plain = found_in(stopped(nodeadm={"unit": "nodeadm-run.service", "lines": ["nodeadm: cluster.certificateAuthority is missing"]}))
    assert "cluster.certificateAuthority is missing" in plain.message
    assert "it says nothing" in found_in(stopped(nodeadm={"unit": "nodeadm-run.service", "lines": []})).message


def test_containerd_that_does_not_run_is_named_before_kubelet() -> None:
    said = "containerd: failed to load TOML: /etc/containerd/config.toml: (2, 1): unterminated array"
    seen = ended(RECORDED["exits"]["no_container_runtime-1.36"], containerd={"lines": [said], "systemd_cgroup": None})
    seen["units"]["containerd.service"] = unit("activating", "auto-restart", running=False, result="exit-code")
    finding = found_in(seen)
    assert finding.cause == "no_container_runtime" and said in finding.message and not finding.final
    seen["units"]["containerd.service"].update(state="failed", sub="failed")
    assert found_in(seen).final
    seen["units"]["containerd.service"].update(state="inactive", sub="dead", load="masked", result="success")
    assert found_in(seen).final and "masked" in found_in(seen).message
    flag = ended(RECORDED["exits"]["unknown_flag-1.36"], containerd={"lines": [said], "systemd_cgroup": None})
    flag["units"]["containerd.service"] = unit("activating", "auto-restart", running=False)
    assert found_in(flag).cause == "unknown_flag", "what nothing changes comes first"


# --- kubelet runs ------------------------------------------------------------------------------------------------------------------


def test_a_node_that_joined() -> None:
    assert causes.diagnose(running(found=node(), lines=tuple(RECORDED["running"]["healthy-1.36"]["lines"]))) is None
    assert causes.standing(running(found=node())) == (True, True)
    assert causes.standing(running(found=None)) == (False, False)


def test_a_node_that_another_kubelet_made_ready_is_not_ready() -> None:
    old = running(found=node(heartbeat=900.0))
    assert causes.standing(old) == (True, False)
    assert found_in(old).cause == "not_ready" and "has not heard from this kubelet" in found_in(old).message
    gone = ended(RECORDED["exits"]["unknown_flag-1.30"], node=node())
    assert causes.standing(gone) == (False, False) and found_in(gone).cause == "unknown_flag"


READINESS = [
    (
        node("False", "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:x", "KubeletNotReady"),
        "no_network_plugin",
    ),
    (node("False", "PLEG is not healthy", "KubeletNotReady"), "not_ready"),
    (node("Unknown", "Kubelet stopped posting node status.", "NodeStatusUnknown"), "not_ready"),
    (node(None), "not_ready"),
]


@pytest.mark.parametrize(("found", "cause"), READINESS)
def test_a_node_that_is_not_ready(found: dict[str, Any], cause: str) -> None:
    finding = found_in(running(found=found))
    assert finding.cause == cause and not finding.final
    assert causes.standing(running(found=found)) == (True, False)


@pytest.mark.parametrize("minor", ["1.30", "1.36"])
def test_a_field_that_kubelet_does_not_know(minor: str) -> None:
    for name, field in (("unknown_field_config", "noSuchField"), ("unknown_field_nested_config", "authentication.webhok")):
        finding = found_in(running(found=node(), lines=tuple(RECORDED["running"][f"{name}-{minor}"]["lines"])))
        assert (finding.cause, finding.final) == ("unknown_config_field", True) and f"does not know {field} " in finding.message
        # A pod's output stands in kubelet's journal line by line.
        bare = tuple(line.partition("] ")[2] for line in RECORDED["running"][f"{name}-{minor}"]["lines"])
        assert causes.diagnose(running(found=node(), lines=bare)) is None
    quiet = running(found=node(), lines=tuple(RECORDED["running"][f"unknown_field_dropin-{minor}"]["lines"]))
    assert causes.diagnose(quiet) is None, "of a file in the drop-in folder kubelet says nothing"


def test_cgroup_drivers() -> None:
    seen = running(found=node())
    seen["kubelet"]["cgroup_driver"] = "cgroupfs"
    finding = found_in(seen)
    assert (finding.cause, finding.final) == ("cgroup_driver_mismatch", True) and "SystemdCgroup of containerd: true" in finding.evidence
    seen["kubelet"]["lines"] = ['I1 server.go:1448] "Using cgroup driver setting received from the CRI runtime" cgroupDriver="systemd"']
    assert causes.diagnose(seen) is None, "such a kubelet does as the runtime says"
    seen["kubelet"].update(lines=[], cgroup_driver=None)
    assert causes.diagnose(seen) is None, "nothing is known, so nothing is claimed"
    seen["kubelet"]["cgroup_driver"] = "cgroupfs"
    seen["containerd"]["systemd_cgroup"] = None
    assert causes.diagnose(seen) is None
    seen["containerd"]["systemd_cgroup"] = True
    seen["kubelet"]["whole"] = False
    assert causes.diagnose(seen) is None, "it may have said that it obeys the runtime"


def test_a_node_without_a_serving_certificate_has_joined_and_is_warned_about() -> None:
    for serves, lines in ((True, 0), (None, 0), (False, 1)):
        seen = running(found=node(), serves=serves)
        assert causes.diagnose(seen) is None and len(causes.warnings(seen)) == lines
    assert "tls: internal error" in causes.warnings(running(found=node(), serves=False))[0]


def test_the_sentence() -> None:
    finding = Finding("x", "swap is on", "switch it off", ("a: b", "c: d"))
    assert sentence(finding) == "the node did not join: swap is on. Fix: switch it off. Evidence: a: b | c: d"
    assert sentence(finding._asdict()) == sentence(finding)
    assert sentence(Finding("x", "swap is on", "switch it off")) == "the node did not join: swap is on. Fix: switch it off"
