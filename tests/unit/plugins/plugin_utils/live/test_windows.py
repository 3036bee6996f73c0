# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One Windows node: the calls, what is told of each answer, the wait and its end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import windows
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live.options import PHASES
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

OPTIONS = {"state": "present", "restart": "when_changed", "take_over": False, "reconcile": False, "wait_for": "healthy", "wait_timeout": 60}
GROUP: dict[str, Any] = {"family": "windows", "labels": {"role": "web"}, "max_pods": 20}
CANARY = "canary-4711"


def said(**fields: Any) -> dict[str, Any]:
    """An answer of win_powershell with more in it than users should see."""
    changed = bool(fields.get("actions"))
    result = {"problem": "", "trace": "", "actions": [], "restarted": [], "warnings": [], "missing": [], "recovered": None}
    return {"changed": changed, "failed": False, "output": [CANARY], "host_out": CANARY, "result": result | {"registration": None} | fields}


class Lab:
    """A node that answers what it is told to; its clock goes on by the seconds that each call is asked to wait."""

    def __init__(self, *answers: Mapping[str, Any], **modes: bool) -> None:
        self.answers = list(answers)
        self.calls: list[Mapping[str, Any]] = []
        self.lines: list[str] = []
        self.clock = 100.0
        self.node = windows.Node("w", self.run, lambda name: f"text of {name}", self.lines.append, lambda: self.clock, self.pause, **modes)

    def run(self, options: Mapping[str, Any], may_be_gone: bool) -> Mapping[str, Any]:
        self.calls.append({**options, "may_be_gone": may_be_gone})
        if "parameters" in options:
            self.clock += options["parameters"]["Wait"]
        return self.answers.pop(0)

    def pause(self, seconds: float) -> None:
        self.clock += seconds

    def apply(self, group: Any = None, phases: tuple[str, ...] = PHASES, **options: Any) -> dict[str, Any]:
        asked = {"cluster": COMPLETE, "node_group": group or GROUP, **OPTIONS, **options}
        found = windows.apply(self.node, asked, phases)
        assert CANARY not in json.dumps(found)
        return found


def test_the_call() -> None:
    lab = Lab(said())
    result = lab.apply()
    (call,) = lab.calls
    assert call["script"] == "\n".join(f"text of {name}" for name in windows.SCRIPT)
    assert call["parameters"] == {"Steps": list(PHASES), "TakeOver": False, "Reconcile": False, "Restart": "when_changed", "Wait": 5}
    assert [given["name"] for given in call["sensitive_parameters"]] == ["Plan"]
    assert call["may_be_gone"] is False
    nothing: dict[str, Any] = {key: [] for key in ("actions", "restarted", "warnings", "node_patches", "node_taints", "missing")}
    told = {"changed": False, "recovered": None, "phases": list(PHASES), "healthy": True, "unchecked": result["unchecked"]}
    assert result == {**nothing, **told}
    assert lab.lines == []


def test_the_lines_of_a_change() -> None:
    lab = Lab(said(actions=["write C:\\a", "set the arguments of kubelet", "restart kubelet"], recovered="undone", warnings=["look"]))
    result = lab.apply()
    assert lab.lines == [
        "w: preflight: undid an interrupted run",
        "w: configure: 1 file written",
        "w: start: set the arguments of kubelet; restarted kubelet",
        "w: verify: healthy after 0.0 s",
    ]
    assert (result["changed"], result["recovered"], result["warnings"]) == (True, "undone", ["look"])


def test_diffs_are_shown_on_demand_only() -> None:
    answer = said(actions=["write C:\\a"]) | {"diff": {"before": "", "after": "x"}}
    assert "diff" not in Lab(answer).apply()
    assert Lab(answer, diff=True).apply()["diff"] == {"before": "", "after": "x"}


def test_check_mode_waits_only_for_a_node_that_is_to_stay_as_it_is() -> None:
    assert Lab(said(actions=["restart kubelet"], missing=["x"]), check_mode=True).apply()["healthy"] is None
    assert Lab(said(), check_mode=True).apply()["healthy"] is True


def test_the_wait() -> None:
    lab = Lab(said(missing=["a"]), {"unreachable": True, "msg": "refused"}, said(missing=["b"]), said())
    result = lab.apply()
    assert [call["parameters"]["Wait"] for call in lab.calls] == [5, 10, 10, 10]
    assert [call["parameters"]["Steps"] for call in lab.calls] == [list(PHASES), ["verify"], ["verify"], ["verify"]]
    assert [call["may_be_gone"] for call in lab.calls] == [False, True, True, True]
    assert lab.lines == [
        "w: verify: a (0 s of 60 s)",
        "w: verify: no connection: refused (15 s of 60 s)",
        "w: verify: b (25 s of 60 s)",
        "w: verify: healthy after 35.0 s",
    ]
    assert (result["healthy"], result["missing"]) == (True, [])


def test_the_wait_ends_in_time(golden_message: GoldenMessages) -> None:
    lab = Lab(*[said(missing=["there is no service kubelet"])] * 9)
    result = lab.apply(wait_timeout=25)
    assert (result["failed"], result["healthy"], result["missing"]) == (True, False, ["there is no service kubelet"])
    golden_message(result["msg"])
    assert [call["parameters"]["Wait"] for call in lab.calls] == [5, 10, 10, 5]


@pytest.mark.parametrize(
    "answer",
    [
        {"failed": True, "msg": "no PowerShell"},
        {"failed": True, "error": [{"exception": {"message": "denied"}}]},
        {"failed": True, "error": [{"exception": None}]},
        {"changed": True, "result": {}},
        {"changed": True, "msg": "skipped, running in check mode"},
        said(problem="first\nsecond"),
        {"unreachable": True},
    ],
    ids=["message", "exception", "no exception", "no result", "skipped", "problem", "unreachable"],
)
def test_what_is_no_success(answer: dict[str, Any], golden_message: GoldenMessages) -> None:
    result = Lab(answer | {"output": [CANARY]}).apply()
    golden_message(result["msg"])
    assert result.get("failed") or result.get("unreachable")


def test_a_problem_while_waiting_ends_the_wait() -> None:
    result = Lab(said(missing=["a"]), said(problem="broken")).apply()
    assert (result["failed"], result["msg"]) == (True, "broken")


def test_the_way_back() -> None:
    lab = Lab(said(actions=["stop kubelet"]))
    assert lab.apply(state="absent")["healthy"] is None
    assert lab.calls[0]["parameters"]["Steps"] == ["remove"]
    assert Lab().apply(state="absent", phases=("preflight", "verify"))["skipped"] is True


def test_tags_that_leave_nothing() -> None:
    assert Lab().apply(phases=())["skipped"] is True


def test_the_instance_type_is_asked_for_where_it_is_needed() -> None:
    lab = Lab({"result": {"problem": "", "instance_type": "m5.large"}}, said())
    lab.apply(GROUP | {"max_pods": "auto"})
    assert lab.calls[0] == {"script": f"text of {windows.ASKS}", "may_be_gone": False}
    assert len(lab.calls) == 2
    refused = Lab({"result": {"problem": "no answer"}}).apply(GROUP | {"max_pods": "auto"})
    assert (refused["failed"], refused["msg"]) == (True, "no answer")
    gone = Lab(said())
    gone.apply(GROUP | {"max_pods": "auto"}, state="absent")
    assert len(gone.calls) == 1


BEFORE = {"node": "IP-10-0-0-5.ec2.internal", "labels": ["gone=1", "role=db"], "taints": ["k:NoSchedule", "old=x:NoExecute"]}


def test_patches_of_a_registered_node() -> None:
    taints = [{"key": "k", "effect": "NoSchedule"}, {"key": "new", "value": "v", "effect": "NoExecute"}]
    result = Lab(said(registration=BEFORE)).apply(GROUP | {"taints": taints}, reconcile=True)
    node = "ip-10-0-0-5.ec2.internal"
    assert result["node_patches"] == [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": {"role": "web", "gone": None}}}
    ]
    assert result["node_taints"] == [
        {"name": node, "state": "absent", "taints": [{"key": "old", "effect": "NoExecute"}]},
        {"name": node, "state": "present", "taints": [{"key": "new", "effect": "NoExecute", "value": "v"}]},
    ]


def test_a_node_that_is_registered_correctly_needs_no_patch() -> None:
    result = Lab(said(registration=BEFORE | {"labels": ["role=web"], "taints": []})).apply(reconcile=True)
    assert (result["node_patches"], result["node_taints"]) == ([], [])


@pytest.mark.parametrize(
    ("group", "problem"),
    [
        ({"family": "al2023"}, "live.wrong_family node_group.family"),
        ({"family": "windows", "max_pods": 0}, "capacity.zero_max_pods node_group.max_pods"),
    ],
)
def test_problems_of_the_input_contact_no_node(group: dict[str, Any], problem: str, golden_message: GoldenMessages) -> None:
    lab = Lab()
    error = error_of(lab.apply, group)
    assert problem in rules_and_paths(error)
    golden_message(error)
    assert lab.calls == []
