# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The finding that follows from the evidence of recorded and built joins. The golden file tests/golden/join has the messages."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import diagnosis
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import (
    CAUSES,
    Containerd,
    Evidence,
    FailedUnit,
    Finding,
    JoinResult,
    NodeObject,
    format_failure,
)
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import join_evidence as build
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.join_evidence import CONTAINERD, KUBELET


def find(evidence: Evidence) -> Finding:
    finding = diagnosis.diagnose(evidence)
    assert finding is not None
    for text in (finding.message, finding.fix):
        assert text == " ".join(text.split()), "one line"
    return finding


def outcome(evidence: Evidence) -> tuple[str, bool]:
    finding = find(evidence)
    return finding.cause, finding.final


def test_the_messages_are_those_of_the_golden_file() -> None:
    assert build.GOLDEN.read_text(encoding="utf-8") == build.messages(), "make golden writes it anew; review the difference"


def test_the_cases_show_every_cause() -> None:
    causes = {find(evidence).cause for evidence in build.CASES.values()}
    assert causes == set(CAUSES) - {"check_failed"}
    for name, evidence in build.CASES.items():
        finding = find(evidence)
        assert finding.cause in CAUSES
        assert finding.fix and not finding.fix.endswith("."), name
        assert len(finding.message) < 2500 and len(finding.fix) < 2500, name


# --- kubelet exits -----------------------------------------------------------------------------------------------------------------

EXITS: dict[str, str | tuple[str, str]] = {
    "ca_file_garbage": "wrong_certificate_authority",
    "ca_file_missing": "wrong_certificate_authority",
    "cgroup_v1": "cgroup_v1",
    "client_ca_missing_in_kubelet": ("wrong_certificate_authority", "missing_file"),
    "containerd_broken_config": "no_container_runtime",
    "containerd_cri_disabled": "no_container_runtime",
    "containerd_socket_wrong": "no_container_runtime",
    "credential_provider_missing": "no_credential_provider",
    "dropin_wrong_kind": "invalid_config",
    "environment_file_missing": "no_kubelet",
    "flag_bad_value": "invalid_flag",
    "forbidden_label": "forbidden_label",
    "forbidden_label_k8sio": "forbidden_label",
    "forbidden_label_restriction": "forbidden_label",
    "invalid_json_config": "invalid_config",
    "invalid_type_config": "invalid_config",
    "invalid_type_dropin": "invalid_config",
    "invalid_value_config": "invalid_config",
    "invalid_value_dropin": "invalid_config",
    "kernel_defaults": "kernel_defaults",
    "kubeconfig_garbage": "bad_kubeconfig",
    "kubelet_program_missing": "no_kubelet",
    "no_container_runtime": "no_container_runtime",
    "no_kubeconfig": "no_kubeconfig",
    "removed_feature_gate_true": "unknown_feature_gate",
    "removed_flag": "unknown_flag",
    "swap_on": "swap_on",
    "unknown_feature_gate": "unknown_feature_gate",
    "unknown_flag": "unknown_flag",
}


def test_every_recording_is_in_the_table() -> None:
    assert {name.rpartition("-")[0] for name in build.RECORDED["exits"]} == set(EXITS)


@pytest.mark.parametrize("name", sorted(build.RECORDED["exits"]))
def test_why_a_kubelet_exits(name: str) -> None:
    cause = EXITS[name.rpartition("-")[0]]
    finding = find(build.recorded(name))
    assert finding.cause in ((cause,) if isinstance(cause, str) else cause)
    assert finding.final is (finding.cause != "no_container_runtime"), "containerd may still start"
    assert any(line.startswith(f"journal of {KUBELET}: ") for line in finding.evidence)
    assert any("kubelet.service is activating (auto-restart)" in line for line in finding.evidence)


def test_early_lines_that_mean_nothing_explain_no_exit() -> None:
    """Every kubelet logs some of these while it starts; only the last lines count."""
    innocent = (
        'E1121 22:49:25.5 294 remote_runtime.go:1177] "RuntimeConfig from runtime service failed" err="rpc error: code = Unimplemented '
        'desc = unknown method RuntimeConfig for service runtime.v1.RuntimeService"',
        'I1121 22:49:25.5 294 pod.go:1] "Pod said" text="unknown flag: --x; running with swap on is not supported"',
        'E1121 22:49:26.5 294 server.go:1] "Something new" err="a new reason"',
        "Flag --register-with-taints has been deprecated, This parameter should be set via the config file",
    )
    evidence = build.ended(innocent, ("Main process exited, status=1",))
    assert outcome(evidence) == ("kubelet_exits", False)
    assert f"journal of {KUBELET}: {innocent[2]}" in find(evidence).evidence


def test_a_unit_for_which_systemd_lacks_resources_is_tried_again() -> None:
    """systemd reports the result `resources` both for a missing file and for a lack of memory."""
    for reason in ("Failed to fork: Cannot allocate memory", "Failed to load environment files: Too many open files"):
        lines = (f"{KUBELET}: {reason}", f"{KUBELET}: Failed to run 'start' task: x", f"{KUBELET}: Failed with result 'resources'.")
        assert outcome(build.ended((), lines, "0", "resources")) == ("kubelet_exits", False)
    old = ("Failed to load environment files: No such file or directory", f"{KUBELET} failed to run 'start' task: No such file")
    assert outcome(build.ended((), old, "0", "resources")) == ("no_kubelet", True), "the lines of systemd 219"


PROBED = (
    'I1121 22:49:25.5 294 prober.go:120] "Probe failed" probeType="Liveness" pod="default/a" probeResult="failure" output=<',
    "Error: unknown flag: --check",
    "panic: failed to set feature gates: unrecognized feature gate: Nothing",
    '"command failed" err="running with swap on is not supported"',
    'app.go:7] "command failed" err="failed to parse kubelet flag: unknown flag: --check"',
    "Usage: check",
    ">",
)
EXITED = ("kubelet.service: Main process exited, code=exited, status=255/EXCEPTION", "kubelet.service: Failed with result 'exit-code'.")


def exited(*lines: str, is_complete: bool = True) -> Finding:
    return find(build.ended(lines, EXITED, "255", "exit-code", is_complete))


def test_the_output_of_a_pod_explains_no_exit() -> None:
    after = 'I1121 22:49:26.5 294 kubelet.go:1] "SyncLoop (probe)" probe="liveness"'
    sick = 'E1121 22:49:27.5 294 a.go:1] "Sick"'
    for lines, shown in (
        (PROBED, PROBED[0]),
        ((*PROBED, after), after),
        (("Flag --x has been deprecated", *PROBED), PROBED[0]),
        ((*PROBED, sick, *PROBED), sick),
    ):
        finding = exited(*lines)
        assert (finding.cause, finding.final) == ("kubelet_exits", False)
        assert f"journal of {KUBELET}: {shown}" in finding.evidence
        assert "--x" not in finding.message
    headless = exited(*PROBED[1:], is_complete=False)
    assert headless.cause == "kubelet_exits", "nothing shows where these lines belong"
    assert not any(line.endswith(PROBED[1:]) for line in headless.evidence)
    assert exited("Error: unknown flag: --x").cause == "unknown_flag", "logged before klog is set up"


def test_the_last_error_after_the_output_of_a_pod() -> None:
    fatal = 'E1121 22:49:27.5 294 run.go:72] "command failed" err=<'
    assert exited(*PROBED, fatal, "failed to validate kubelet flags: bad --node-ip x", ">").cause == "invalid_flag"
    started = 'W1121 22:49:24.5 294 feature_gate.go:1] "Setting GA feature gate"'
    assert exited(started, "panic: unrecognized feature gate: NoSuchGate", "goroutine 1 [running]:").cause == "unknown_feature_gate"
    json_line = '{"ts":1.5,"caller":"app/run.go:72","msg":"%s","v":0,"err":"failed to run Kubelet: running with swap on is not supported"}'
    assert exited(started, json_line % "command failed").cause == "swap_on"
    assert exited(started, json_line % "Probe failed").cause == "kubelet_exits"


def test_a_command_before_kubelet_that_fails() -> None:
    """A program of ExecStartPre failed, as the one of our static units does without a metadata service."""
    finding = find(build.ended(("curl: (52) Empty reply",), build.CONTROL_EXIT, "0"))
    assert (finding.cause, finding.final) == ("kubelet_not_started", False)
    assert f"journal of {KUBELET}: curl: (52) Empty reply" in finding.evidence


# --- before kubelet ----------------------------------------------------------------------------------------------------------------


def test_why_kubelet_is_not_started() -> None:
    assert outcome(build.CASES["no kubelet unit"]) == ("kubelet_not_started", False), (
        "user data may install it, and snapd removes the unit while it replaces it"
    )
    assert outcome(build.CASES["systemd does not answer"]) == ("kubelet_not_started", False), "that does not prove it"
    assert outcome(build.stopped()) == ("kubelet_not_started", False)
    assert outcome(build.stopped(load="masked")) == ("kubelet_not_started", True)
    assert outcome(build.CASES["nodeadm is still running"]) == ("kubelet_not_started", False)


def test_nodeadm_that_failed(golden_message: GoldenMessages) -> None:
    finding = find(build.CASES["nodeadm failed"])
    assert (finding.cause, finding.final) == ("nodeadm_failed", True)
    golden_message(finding.message)
    line = "nodeadm: cluster.certificateAuthority is missing"
    assert line in find(build.stopped(nodeadm=FailedUnit("nodeadm-run.service", (line,)))).message
    assert outcome(build.CASES["nodeadm failed without a log"]) == ("nodeadm_failed", True)


def test_containerd_is_the_cause_before_kubelet() -> None:
    log = Containerd((build.CONTAINERD_LINE,))
    evidence = build.recorded("no_container_runtime-1.36")._replace(containerd=log)
    for fields, final in (
        ({"active": "activating", "sub": "auto-restart", "result": "exit-code"}, False),
        ({"active": "failed", "sub": "failed", "result": "exit-code"}, True),
        ({"active": "inactive", "sub": "dead", "load": "masked"}, True),
    ):
        assert evidence.units is not None
        units = {**evidence.units, CONTAINERD: build.unit(CONTAINERD, **fields)}
        finding = find(evidence._replace(units=units))
        assert (finding.cause, finding.final) == ("no_container_runtime", final)
        assert any(build.CONTAINERD_LINE in line for line in finding.evidence) is ("load" not in fields)
    flag = build.recorded("unknown_flag-1.36")._replace(containerd=log)
    assert flag.units is not None
    units = {**flag.units, CONTAINERD: build.unit(CONTAINERD, "activating", "auto-restart")}
    assert find(flag._replace(units=units)).cause == "unknown_flag", "a final cause comes first"


# --- while kubelet runs ------------------------------------------------------------------------------------------------------------


def test_a_node_that_joined() -> None:
    healthy = build.recorded("healthy-1.36")
    assert diagnosis.diagnose(healthy) is None
    assert (diagnosis.is_registered(healthy), diagnosis.is_ready(healthy)) == (True, True)
    missing = build.running()
    assert (diagnosis.is_registered(missing), diagnosis.is_ready(missing)) == (False, False)


def test_a_node_that_an_earlier_kubelet_reported_ready_is_not_ready() -> None:
    old = build.running(found=build.node(heartbeat=900.0))
    assert (diagnosis.is_registered(old), diagnosis.is_ready(old)) == (True, False)
    assert outcome(old) == ("not_ready", False)
    gone = build.recorded("unknown_flag-1.30")._replace(api=build.api(node=build.node()))
    assert (diagnosis.is_registered(gone), diagnosis.is_ready(gone)) == (False, False) and find(gone).cause == "unknown_flag"


READINESS = [
    (build.node("False", build.CNI_MESSAGE, "KubeletNotReady"), "no_network_plugin"),
    (build.node("False", "PLEG is not healthy", "KubeletNotReady"), "not_ready"),
    (build.node("Unknown", "Kubelet stopped posting node status.", "NodeStatusUnknown"), "not_ready"),
    (build.node(None), "not_ready"),
]


@pytest.mark.parametrize(("found", "cause"), READINESS)
def test_a_node_that_is_not_ready(found: NodeObject, cause: str) -> None:
    evidence = build.running(found=found)
    assert outcome(evidence) == (cause, False)
    assert (diagnosis.is_registered(evidence), diagnosis.is_ready(evidence)) == (True, False)


@pytest.mark.parametrize("minor", ["1.30", "1.36"])
def test_a_field_that_kubelet_does_not_know(minor: str) -> None:
    for name, field in (("unknown_field_config", "noSuchField"), ("unknown_field_nested_config", "authentication.webhok")):
        evidence = build.recorded(f"{name}-{minor}")
        assert outcome(evidence) == ("unknown_config_field", True) and field in find(evidence).message
        # A pod's output is in the journal of kubelet line by line.
        lines = tuple(line.partition("] ")[2] for line in build.RECORDED["running"][f"{name}-{minor}"]["lines"])
        assert diagnosis.diagnose(build.running(found=build.node(), lines=lines)) is None
    assert diagnosis.diagnose(build.recorded(f"unknown_field_dropin-{minor}")) is None, "kubelet logs nothing about a drop-in file"


def test_cgroup_drivers() -> None:
    evidence = build.running(found=build.node(), cgroup_driver="cgroupfs")
    assert outcome(evidence) == ("cgroup_driver_mismatch", True)
    assert "SystemdCgroup of containerd: true" in find(evidence).evidence
    line = 'I1 server.go:1448] "Using cgroup driver setting received from the CRI runtime" cgroupDriver="systemd"'
    assert evidence.kubelet is not None
    harmless: dict[str, Any] = {
        "kubelet uses the driver of the runtime": {"kubelet": evidence.kubelet._replace(lines=(line,))},
        "it may have logged that it does": {"kubelet": evidence.kubelet._replace(has_first_lines=False)},
        "the setting of containerd is not known": {"containerd": Containerd()},
    }
    for reason, fields in harmless.items():
        assert diagnosis.diagnose(evidence._replace(**fields)) is None, reason
    assert diagnosis.diagnose(build.running(found=build.node(), cgroup_driver=None)) is None, "the driver of kubelet is not known"


def test_a_node_without_a_serving_certificate_joined_and_gets_a_warning() -> None:
    for has_certificate, lines in ((True, 0), (None, 0), (False, 1)):
        evidence = build.running(found=build.node())._replace(has_serving_certificate=has_certificate)
        assert diagnosis.diagnose(evidence) is None and len(diagnosis.warnings(evidence)) == lines


def test_cause_fix_and_evidence_have_lines_of_their_own() -> None:
    finding = Finding("x", "swap is on", "turn it off", ("a: b", "c: d"))
    failed = JoinResult(finding=finding)
    assert format_failure(failed.plain()) == "the node did not join: swap is on\nFix: turn it off\nEvidence:\n  - a: b\n  - c: d"
    joined = JoinResult(is_ready=True, finding=finding._replace(evidence=()))
    assert format_failure(joined.plain()) == "the node has joined, but swap is on\nFix: turn it off"
