# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The wait of join_check and its lines, and what the rules of kubelet say about settings that kubelet rejects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import format_failure
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import join
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

READY: dict[str, Any] = {
    "node": "n",
    "registered": True,
    "ready": True,
    "cause": None,
    "message": None,
    "fix": None,
    "evidence": [],
    "final": False,
}
READY |= {"waited": 0.2, "changed": False, join.SETTINGS: None}
AWAY = {**READY, "ready": False, "cause": "endpoint_refused", "message": "it refuses", "fix": "open it", "failed": True, "msg": "x"}
CA = {**AWAY, "cause": "wrong_certificate_authority", "message": "another authority", "final": True, "evidence": ["x509"]}
GONE = {"unreachable": True, "msg": "ssh: timeout"}
PLACE = ["spec.kubelet.config of the NodeConfig in the user data", "replace the node"]


@dataclass
class Machine:
    """A node with prepared answers. Its clock goes on by the time that a call waits in vain."""

    answers: list[Mapping[str, Any]]
    calls: list[dict[str, Any]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    clock: float = 50.0

    def run(self, module: str, options: Mapping[str, Any], may_be_gone: bool = False) -> Mapping[str, Any]:
        assert module == "nodebootstrap.eks.join_check" and may_be_gone is bool(self.calls)
        self.calls.append(dict(options))
        answer = self.answers.pop(0)
        self.clock += 0.2 if answer.get("cause", "") is None else 4.0 if answer.get("final") else options["wait_timeout"]
        return answer

    def pause(self, seconds: float) -> None:
        self.clock += seconds

    def wait(self, timeout: float = 180, wait_for: str = "ready") -> dict[str, Any]:
        node = join.Node("web-1", self.run, self.lines.append, lambda: self.clock, self.pause, format_failure)
        return join.wait(node, wait_for, timeout)


def test_a_node_that_is_ready_is_one_call_and_no_line() -> None:
    machine = Machine([READY])
    result = machine.wait()
    assert machine.calls == [{"wait_for": "ready", "wait_timeout": 5}] and machine.lines == []
    assert result["cause"] is None and result["problems"] == [] and "msg" not in result and join.SETTINGS not in result


def test_a_wait_has_a_line_for_each_cause_and_every_ten_seconds() -> None:
    machine = Machine([AWAY, AWAY, AWAY, AWAY, {**AWAY, "message": "no network"}, READY])
    result = machine.wait(wait_for="registered")
    assert machine.lines == [
        "web-1: not registered yet: it refuses (5 s of 180 s)",
        "web-1: not registered yet: it refuses (15 s of 180 s)",
        "web-1: not registered yet: no network (25 s of 180 s)",
    ]
    assert result["cause"] is None and result["waited"] == pytest.approx(25.2) and not result.get("failed")


def test_a_final_cause_ends_the_wait(golden_message: GoldenMessages) -> None:
    machine = Machine([AWAY, CA])
    result = machine.wait()
    assert len(machine.calls) == 2 and result["waited"] == pytest.approx(9.0)
    assert result["failed"] and result["cause"] == CA["cause"]
    golden_message(result["msg"])


def test_the_timeout() -> None:
    machine = Machine([AWAY, AWAY, AWAY])
    result = machine.wait(12)
    assert [call["wait_timeout"] for call in machine.calls] == [5, 5, 2] and result["waited"] == pytest.approx(12.0)
    assert result["failed"] and AWAY["message"] in result["msg"]
    once = Machine([AWAY])
    once.wait(0)
    assert once.calls[0]["wait_timeout"] == 0 and once.lines == []


def test_a_lost_connection_is_waited_for() -> None:
    machine = Machine([AWAY, GONE, GONE, READY])
    machine.answers[1:3] = [dict(GONE), dict(GONE)]
    assert machine.wait()["cause"] is None
    assert "no connection: ssh: timeout" in machine.lines[1]
    assert Machine([AWAY, *[GONE] * 30]).wait(20) == GONE


@pytest.mark.parametrize("timeout", [-1.0, 3601.0, float("nan")])
def test_an_invalid_timeout_is_for_the_module_to_reject(timeout: float) -> None:
    refusal = {"failed": True, "msg": "out of range"}
    machine = Machine([refusal])
    assert machine.wait(timeout) == refusal and machine.calls[0]["wait_timeout"] is timeout


def test_an_answer_that_is_not_a_check_is_returned() -> None:
    refusal = {"failed": True, "msg": "root is required"}
    assert Machine([refusal]).wait() == refusal


# --- the rules of kubelet ----------------------------------------------------------------------------------------------------------


def rejected(*configs: Mapping[str, Any], version: str | None = "1.36.3", flags: Mapping[str, Any] | None = None) -> dict[str, Any]:
    places = {name: PLACE for config in configs for name in config} | {f"--{name}": ["/env", "restart it"] for name in flags or {}}
    return {"version": version, "configs": list(configs), "flags": dict(flags or {}), "places": places, "cpus": 2}


def rules(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(problem.rule, problem.path) for problem in join.find_problems(settings)]


def test_the_fix_says_what_is_wrong_and_where(golden_message: GoldenMessages) -> None:
    settings = rejected(
        {"cgroupDriver": "systemd"}, {"imageGCHighThresholdPercent": 75, "syncFrequency": "1 hour"}, flags={"cloud-provider": "aws"}
    )
    explained = join.with_rules({**AWAY, "cause": "invalid_config", join.SETTINGS: settings})
    assert join.SETTINGS not in explained
    assert [problem["rule"] for problem in explained["problems"]] == ["kubelet.unknown_value", "kubelet.invalid_value"]
    golden_message(explained["fix"])
    without = {name: value for name, value in settings["configs"][1].items() if name != "syncFrequency"}
    assert ("kubelet.inconsistent_fields", "imageGCHighThresholdPercent") in rules(
        {**settings, "configs": [settings["configs"][0], without]}
    )


def test_what_the_main_file_sets_counts_if_nothing_else_is_wrong() -> None:
    assert rules(rejected({"imageGCHighThresholdPercent": 75})) == [("kubelet.inconsistent_fields", "imageGCHighThresholdPercent")]
    assert rules(rejected({"imageGCHighThresholdPercent": 75}, {"maxPods": 20})) == [
        ("kubelet.inconsistent_fields", "imageGCHighThresholdPercent")
    ]


def test_flags_override_files() -> None:
    assert rules(rejected({"imageGCHighThresholdPercent": 75}, flags={"image-gc-high-threshold": "90"})) == []
    assert rules(rejected({}, flags={"image-gc-high-threshold": "75"})) == [("kubelet.inconsistent_fields", "--image-gc-high-threshold")]
    assert rules(rejected({}, flags={"container-runtime": "remote"})) == [("kubelet.flag_not_in_version", "--container-runtime")]


@pytest.mark.parametrize("version", [None, "", "1.99.0", "1.20.0", "unknown"])
def test_without_rules_of_the_version_the_fix_stays(version: str | None) -> None:
    told = {**AWAY, join.SETTINGS: rejected({"imageGCHighThresholdPercent": 75}, version=version)}
    explained = join.with_rules(told)
    assert explained["problems"] == [] and explained["fix"] == AWAY["fix"]


def test_a_result_without_settings_stays_as_it_is() -> None:
    assert join.with_rules(READY) == {key: value for key, value in READY.items() if key != join.SETTINGS} | {"problems": []}
