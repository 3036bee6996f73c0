# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The wait for a node to join: who is asked how often, what people read meanwhile, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live.options import PHASES
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.live.test_apply import DONE, NOT_YET, Machine

REFUSAL = "the module refuses it"

NODE = "ip-10-0-0-5.ec2.internal"
READY = {"node": NODE, "registered": True, "ready": True, "cause": None, "message": None, "fix": None, "evidence": [], "final": False}
SILENT = {"cause": "endpoint_silent", "message": "the API server does not answer", "fix": "open port 443", "evidence": ["kubelet: timeout"]}
CNI = {"cause": "no_network_plugin", "message": "there is no network plugin", "fix": "install one", "evidence": ["Node: cni"]}
CA = {
    "cause": "wrong_ca",
    "message": "another CA signed it",
    "fix": "correct it",
    "evidence": ["TLS: no"],
    "final": True,
}
GONE = {"unreachable": True, "msg": "ssh: timeout"}
UNREGISTERED = {"node": NODE, "registered": False, "ready": False, "final": False}


def joins(waited: float = 0.4, **finding: Any) -> dict[str, Any]:
    """An answer of a healthy node that joined after so many seconds, or did not because of a finding."""
    found = (UNREGISTERED if finding else READY) | finding
    return {"changed": True, "healthy": True, "waited": 1.0, "missing": [], "join": found | {"waited": waited}}


def test_a_ready_node_is_one_call_and_no_line() -> None:
    machine = Machine([joins() | {"changed": False, "actions": []}])
    result = machine.apply()
    assert (len(machine.calls), machine.lines) == (1, [])
    assert (result["healthy"], result["join"]["ready"], result["join"]["node"]) == (True, True, NODE)


def test_a_node_that_was_set_up_is_told_with_its_name() -> None:
    machine = Machine([DONE | joins()])
    assert machine.apply()["changed"] is True
    assert machine.lines[-1] == f"node-1: verify: healthy after 1.0 s, ready as {NODE} after 1.4 s"
    registered = Machine([DONE | joins() | {"join": READY | {"ready": False, "waited": 2.0}}])
    registered.apply(wait_for="registered")
    assert registered.lines[-1] == f"node-1: verify: healthy after 1.0 s, registered as {NODE} after 3.0 s"


def test_what_is_wrong_with_a_node_that_has_joined_is_a_warning() -> None:
    late = "kubelet has no serving certificate"
    answer = joins() | {"changed": False, "actions": [], "join": READY | {"waited": 0.4, "evidence": [late]}}
    assert Machine([answer]).apply()["warnings"][-1] == late
    assert Machine([DONE | joins(4.0, **CA)]).apply()["warnings"] == Machine([DONE | joins()]).apply()["warnings"]


@pytest.mark.parametrize("healthy", [True, False])
def test_a_final_finding_ends_the_run_at_once(healthy: bool, golden_message: GoldenMessages) -> None:
    missing = [] if healthy else ["kubelet.service is activating (auto-restart)"]
    machine = Machine([DONE | joins(4.0, **CA) | {"healthy": healthy, "missing": missing}])
    result = machine.apply()
    assert len(machine.calls) == 1
    assert (result["failed"], result["changed"], result["healthy"], result["missing"]) == (True, True, healthy, missing)
    golden_message(result["msg"])
    assert result["join"]["cause"] == "wrong_ca"


def test_a_ready_node_with_a_final_finding_fails(golden_message: GoldenMessages) -> None:
    machine = Machine([joins(4.0, **CA, registered=True, ready=True) | {"changed": False, "actions": []}])
    golden_message(machine.apply()["msg"])


def test_what_may_pass_is_waited_for_with_a_line_for_each_cause() -> None:
    """A line when the cause changes, and otherwise every ten seconds."""
    answers = [joins(4.0, **SILENT), *[joins(5.0, **SILENT)] * 3, joins(5.0, **CNI), joins(0.5)]
    machine = Machine([DONE | answers[0], *answers[1:]])
    result = machine.apply()
    assert [(options["wait_timeout"], options["wait_for"]) for _name, options in machine.calls] == [(5, "ready")] * 6
    assert [options["phases"] for _name, options in machine.calls[1:]] == [["verify"]] * 5
    assert machine.lines[2:] == [
        "node-1: verify: the API server does not answer (5 s of 300 s)",
        "node-1: verify: the API server does not answer (15 s of 300 s)",
        "node-1: verify: there is no network plugin (25 s of 300 s)",
        f"node-1: verify: healthy after 1.0 s, ready as {NODE} after 25.0 s",
    ]
    assert "failed" not in result and result["join"]["ready"] is True


@pytest.mark.parametrize(("timeout", "waits"), [(20, [5, 5, 5, 5]), (7, [5, 2]), (4, [4]), (0, [0])])
def test_the_wait_for_a_join_is_bounded(timeout: int, waits: list[int]) -> None:
    machine = Machine([DONE | joins(4.0, **SILENT), *[joins(5.0, **SILENT)] * 20])
    result = machine.apply(wait_timeout=timeout)
    assert [options["wait_timeout"] for _name, options in machine.calls] == waits
    assert (result["failed"], result["healthy"]) == (True, True)
    cause, fix, evidence, line, advice = result["msg"].splitlines()
    assert mentions(cause, SILENT["message"]) and mentions(fix, SILENT["fix"])
    assert (evidence, line) == ("Evidence:", "  - kubelet: timeout")
    assert f" {timeout} s, increase wait_timeout " in advice


def test_health_and_join_share_one_deadline() -> None:
    machine = Machine([NOT_YET, *[{"healthy": False, "missing": ["no answer"], "waited": 10.0}] * 4, joins(3.0, **SILENT), joins()])
    result = machine.apply(wait_timeout=60)
    assert "failed" not in result
    assert machine.lines[1:3] == [
        "node-1: verify: kubelet.service is activating (5 s of 60 s)",
        "node-1: verify: no answer (15 s of 60 s)",
    ]
    assert machine.lines[-2] == "node-1: verify: the API server does not answer (55 s of 60 s)"
    answers = [NOT_YET, *[{"healthy": False, "missing": ["no answer"], "waited": 10.0}] * 4, *[joins(5.0, **SILENT)] * 9]
    late = Machine(answers).apply(wait_timeout=60)
    assert (late["failed"], late["join"]["cause"]) == (True, "endpoint_silent")


def test_a_node_that_does_not_become_healthy_says_why_it_cannot_join(golden_message: GoldenMessages) -> None:
    broken = {"healthy": False, "missing": ["kubelet.service is activating"], "join": UNREGISTERED | SILENT | {"waited": 0.0}}
    result = Machine([NOT_YET | broken, *[broken] * 9]).apply(wait_timeout=10)
    golden_message(result["msg"])
    assert result["failed"] is True


def test_a_node_that_stops_being_healthy_has_the_same_deadline() -> None:
    broken = {"healthy": False, "missing": ["kubelet.service is activating"], "join": UNREGISTERED | SILENT | {"waited": 0.0}}
    machine = Machine([DONE | joins(4.0, **SILENT), *[broken] * 30])
    result = machine.apply(wait_timeout=30)
    assert (result["failed"], result["healthy"], len(machine.calls)) == (True, False, 6)


def test_a_connection_that_comes_back_goes_on() -> None:
    machine = Machine([DONE | joins(4.0, **SILENT), GONE, GONE, joins()])
    result = machine.apply()
    assert machine.lines[2:5] == [
        "node-1: verify: the API server does not answer (5 s of 300 s)",
        "node-1: verify: no connection: ssh: timeout (10 s of 300 s)",
        "node-1: verify: no connection: ssh: timeout (20 s of 300 s)",
    ]
    assert (result["healthy"], result["join"]["ready"], "unreachable" in result) == (True, True, False)


def test_a_connection_that_does_not_come_back_is_unreachable(golden_message: GoldenMessages) -> None:
    result = Machine([DONE | joins(4.0, **SILENT), *[GONE] * 9]).apply(wait_timeout=30)
    assert (result["unreachable"], result["changed"], "failed" in result) == (True, True, False)
    golden_message(result["msg"])


@pytest.mark.parametrize(
    ("phases", "options", "asked"),
    [
        (PHASES, {}, "ready"),
        (("verify",), {"wait_for": "registered"}, "registered"),
        (("start", "verify"), {}, "ready"),
        (("configure", "verify"), {}, "healthy"),
        (PHASES, {"restart": "never"}, "healthy"),
        (PHASES, {"wait_for": "healthy"}, "healthy"),
    ],
)
def test_there_is_no_wait_for_the_join_of_a_node_whose_restart_is_held_back(phases: Any, options: Mapping[str, Any], asked: str) -> None:
    machine = Machine([{"changed": False, "healthy": True, "actions": [], "join": None}])
    assert "failed" not in machine.apply(phases, **options)
    assert [call["wait_for"] for _name, call in machine.calls] == [asked]


@pytest.mark.parametrize(("options", "check_mode"), [({"state": "absent"}, False), ({}, True)])
def test_what_does_not_look_does_not_wait(options: Mapping[str, Any], check_mode: bool) -> None:
    machine = Machine([DONE | {"healthy": None, "join": None}], check_mode=check_mode)
    assert machine.apply(**options)["join"] is None
    assert len(machine.calls) == 1


def test_a_call_that_fails_in_between_is_the_result() -> None:
    machine = Machine([DONE | joins(4.0, **SILENT), {"failed": True, "msg": REFUSAL, "foreign": {}}])
    result = machine.apply()
    assert (result["failed"], result["msg"], result["changed"]) == (True, REFUSAL, True)
