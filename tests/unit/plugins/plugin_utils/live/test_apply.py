# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One node from input to result: what is contacted and in which order, and what people read of it."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import format_failure
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import apply as live
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live.options import PHASES
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

REFUSAL = "the module refuses it"
WARNING = "of the module"

GROUP = {"family": "al2023", "max_pods": 20, "instance": {"type": "m5.large"}}
DONE = {"changed": True, "healthy": True, "waited": 1.24, "actions": ["write /a", "write /b", "restart kubelet.service"], "warnings": []}
NOT_YET = {"changed": True, "healthy": False, "waited": 5.0, "missing": ["kubelet.service is activating"], "actions": ["write /a"]}
WHO = {"imds": {"instance_type": "m5.large"}}


@dataclass
class Machine:
    """A node that gives the answers it was told to give. Its clock goes on by the seconds that a call waits in vain."""

    answers: list[Mapping[str, Any]]
    check_mode: bool = False
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    clock: float = 100.0

    def run(self, module: str, options: Mapping[str, Any], may_be_gone: bool = False) -> Mapping[str, Any]:
        assert may_be_gone is bool(self.calls and self.calls[-1][0] == "apply_plan")
        self.calls.append((module.rpartition(".")[2], dict(options)))
        answer = self.answers.pop(0)
        waits = not answer.get("healthy") or (answer.get("join") or {}).get("cause")
        self.clock += options.get("wait_timeout", 0) if waits else 0.0
        return answer

    def now(self) -> float:
        return self.clock

    def pause(self, seconds: float) -> None:
        self.clock += seconds

    def apply(self, phases: Any = PHASES, **options: Any) -> dict[str, Any]:
        given = {"cluster": COMPLETE, "node_group": GROUP, "state": "present", "restart": "when_changed", "wait_timeout": 300}
        given |= {"take_over": False, "reconcile": False, "wait_for": "ready", "drift": "repair", "lock_timeout": 30} | options
        node = live.Node("node-1", self.run, self.lines.append, self.now, self.pause, format_failure, "2.19.1", self.check_mode)
        return live.apply(node, given, phases)


def plan_of(call: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(call[1]["plan"])))
    return found


def test_a_healthy_node_is_called_once() -> None:
    machine = Machine([DONE | {"facts": {"hostname": "x"}, "invocation": {"module_args": {}}, "foreign": {"user_data": "secret"}}])
    result = machine.apply(take_over=True)
    assert [name for name, _options in machine.calls] == ["apply_plan"]
    options = machine.calls[0][1]
    assert plan_of(machine.calls[0])["cluster"]["name"] == "demo"
    assert {key: value for key, value in options.items() if key != "plan"} == {
        "phases": list(PHASES), "wait_timeout": 5, "state": "present", "restart": "when_changed", "take_over": True, "reconcile": False,
        "drift": "repair", "lock_timeout": 30,
        "wait_for": "ready",
    }  # fmt: skip
    assert machine.lines == [
        "node-1: configure: 2 files written",
        "node-1: start: restarted kubelet.service",
        "node-1: verify: healthy after 1.2 s",
    ]
    assert (result["changed"], result["healthy"], result["phases"], result["facts"]) == (True, True, list(PHASES), {"hostname": "x"})
    assert "secret" not in json.dumps(result)
    assert not {"foreign", "invocation", "registration", "waited"} & result.keys()
    assert [warning.partition(":")[0] for warning in result["warnings"]] == ["node_group.max_pods"]


def test_an_unchanged_node_is_not_worth_a_line() -> None:
    machine = Machine([{"changed": False, "healthy": True, "actions": []}])
    assert machine.apply()["changed"] is False
    assert machine.lines == []


def test_check_mode_says_what_would_be_done() -> None:
    machine = Machine([DONE | {"healthy": None}], check_mode=True)
    result = machine.apply()
    assert machine.lines == ["node-1: configure: would write 2 files", "node-1: start: would restart kubelet.service"]
    assert result["healthy"] is None
    assert len(machine.calls) == 1


def test_a_slow_node_is_waited_for_with_a_line_each_time() -> None:
    machine = Machine([NOT_YET, {"healthy": False, "missing": ["no answer from X"]}, {"healthy": True}])
    result = machine.apply()
    assert [(options["phases"], options["wait_timeout"]) for _name, options in machine.calls[1:]] == [(["verify"], 10), (["verify"], 10)]
    assert machine.lines == [
        "node-1: configure: 1 file written",
        "node-1: verify: kubelet.service is activating (5 s of 300 s)",
        "node-1: verify: no answer from X (15 s of 300 s)",
        "node-1: verify: healthy after 15.0 s",
    ]
    assert (result["healthy"], result["missing"], result["changed"]) == (True, [], True)
    assert "failed" not in result


@pytest.mark.parametrize(("timeout", "waits"), [(60, [5, 10, 10, 10, 10, 10, 5]), (12, [5, 7]), (3, [3]), (0, [0])])
def test_the_wait_is_bounded_and_ends_with_what_is_missing(timeout: int, waits: list[int], golden_message: GoldenMessages) -> None:
    first = NOT_YET | {"waited": float(waits[0])}
    machine = Machine([first, *[{"healthy": False, "missing": ["kubelet.service failed"]}] * 20])
    result = machine.apply(wait_timeout=timeout)
    assert [options["wait_timeout"] for _name, options in machine.calls] == waits
    assert result["failed"] is True
    assert result["changed"] is True
    golden_message(result["msg"])
    assert "journalctl -b --no-pager -n 200 -u nodeadm-config -u nodeadm-run -u containerd -u kubelet\n" in result["msg"]
    assert result["missing"] == (["kubelet.service failed"] if len(waits) > 1 else NOT_YET["missing"])


@pytest.mark.parametrize("option", [{"wait_timeout": -1}, {"wait_for": "joined"}])
def test_an_impossible_wait_is_refused_before_any_contact(option: dict[str, Any]) -> None:
    machine = Machine([])
    with pytest.raises(SpecError) as caught:
        machine.apply(**option)
    assert [problem.path for problem in caught.value.problems] == [*option]
    assert machine.calls == []


def test_a_wait_that_fails_is_a_failure() -> None:
    machine = Machine([NOT_YET, {"failed": True, "msg": REFUSAL}])
    result = machine.apply()
    assert (result["failed"], result["msg"]) == (True, REFUSAL)


@pytest.mark.parametrize("phases", [["configure"], ["preflight", "configure", "validate", "start"]])
def test_without_verify_there_is_no_wait(phases: list[str]) -> None:
    machine = Machine([NOT_YET | {"healthy": None}])
    assert "failed" not in machine.apply(phases)
    assert machine.calls[0][1]["phases"] == phases
    assert len(machine.calls) == 1


def test_no_phase_is_left() -> None:
    machine = Machine([])
    assert machine.apply([])["skipped"] is True
    assert machine.calls == []


@pytest.mark.parametrize("max_pods", ["auto", 0])
def test_all_problems_are_told_before_any_contact(max_pods: Any) -> None:
    bad = {"family": "al2", "strategy": "static", "max_pods": max_pods, "kubelet": {"config": {"maxPodz": 1}, "flags": {"no-such": "1"}}}
    machine = Machine([])
    with pytest.raises(SpecError) as caught:
        machine.apply(node_group=bad)
    assert "node_group.kubelet.config.maxPodz" in str(caught.value)
    assert "node_group.kubelet.flags.no-such" in str(caught.value)
    assert machine.calls == []


def test_the_node_is_asked_for_its_type_only_for_auto() -> None:
    machine = Machine([WHO, DONE])
    machine.apply(node_group={"family": "al2023", "max_pods": "auto"})
    assert [name for name, _options in machine.calls] == ["imds_info", "apply_plan"]
    assert "maxPods: 29" in plan_of(machine.calls[1])["files"][0]["content"]
    removed = Machine([{"changed": True, "actions": ["remove /a", "stop kubelet.service"], "healthy": None}])
    removed.apply(node_group={"family": "al2023", "max_pods": "auto"}, state="absent")
    assert [name for name, _options in removed.calls] == ["apply_plan"]
    assert removed.lines == ["node-1: configure: 1 file removed", "node-1: start: stopped kubelet.service"]


def test_a_node_that_goes_needs_no_cluster_that_still_exists() -> None:
    gone = Machine([{"changed": True, "actions": ["remove /a"], "healthy": None}])
    gone.apply(cluster={"name": "demo"}, node_group={"family": "al2", "strategy": "static"}, state="absent")
    assert plan_of(gone.calls[0])["cluster"] == {"name": "demo", "endpoint": ""}


def test_a_node_that_goes_is_not_warned_about() -> None:
    gone = Machine([{"changed": True, "actions": ["remove /a"], "healthy": None, "warnings": [WARNING]}])
    assert gone.apply(state="absent")["warnings"] == [WARNING]


def test_a_node_without_metadata_service() -> None:
    machine = Machine([{"failed": True, "msg": "no answer: raise the hop limit", "invocation": {}}])
    result = machine.apply(node_group={"family": "al2023", "max_pods": "auto"})
    assert result == {"failed": True, "msg": "no answer: raise the hop limit"}


def test_a_type_that_is_not_known() -> None:
    with pytest.raises(SpecError) as caught:
        Machine([{"imds": {"instance_type": "m99.large"}}]).apply(node_group={"family": "al2023", "max_pods": "auto"})
    assert "m99.large" in str(caught.value)


def test_a_refusal_of_the_module_is_passed_on() -> None:
    machine = Machine([{"failed": True, "msg": "belongs to cluster other", "rc": 1, "changed": False, "foreign": {"user_data": "x"}}])
    result = machine.apply(node_group=GROUP | {"max_pods": 29})
    assert result == {"failed": True, "msg": "belongs to cluster other", "rc": 1, "changed": False, "warnings": []}
    assert machine.lines == []


def test_old_python_is_told_with_the_cure(golden_message: GoldenMessages) -> None:
    answer = {"failed": True, "msg": "MODULE FAILURE", "rc": 1, "module_stderr": "SyntaxError: future feature annotations is not defined"}
    message = Machine([answer]).apply()["msg"]
    golden_message(message)
    assert "2.16 or 2.17" in message


def test_what_the_controller_has_to_patch() -> None:
    registration = {"node": "ip-1", "labels": {"a": "b", "gone": None}, "taints": {}}
    registration["taints"] = {"set": ["k=v:NoSchedule"], "remove": ["k=w:NoSchedule", "old=1:NoExecute"]}
    result = Machine([DONE | {"registration": registration}]).apply(reconcile=True)
    assert result["node_patches"] == [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "ip-1", "labels": {"a": "b", "gone": None}}}
    ]
    assert result["node_taints"] == [
        {"name": "ip-1", "state": "absent", "taints": [{"key": "old", "effect": "NoExecute"}]},
        {"name": "ip-1", "state": "present", "taints": [{"key": "k", "effect": "NoSchedule", "value": "v"}]},
    ]
    nothing = Machine([DONE | {"registration": None}]).apply()
    assert (nothing["node_patches"], nothing["node_taints"]) == ([], [])


def test_other_nodeconfigs_are_warned_about(golden_message: GoldenMessages) -> None:
    other = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 5}}}\n"
    foreign = {"/etc/eks/nodeadm.d/90-baked.yaml": other, "/etc/eks/nodeadm.d/60-nodebootstrap-labels.yaml": other}
    group = GROUP | {"max_pods": 29, "labels": {"id": "{instance_id}"}}
    for answer in (DONE, {"failed": True, "msg": "kubelet did not start"}):
        result = Machine([answer | {"foreign": foreign, "warnings": [WARNING]}]).apply(node_group=group)
        assert result["warnings"][0] == WARNING and len(result["warnings"]) == 2
        golden_message(result["warnings"][1])
