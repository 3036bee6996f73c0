# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role for Windows nodes in real playbook runs: every module call with its options, and what users see of each answer.

The node is a recorder (windows_lab.py) that plays the answers of fresh, unchanged, changed and failed nodes. Nothing is executed on
Windows.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.action import apply_windows
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import windows
from ansible_collections.nodebootstrap.eks.tests.oracle.windows_lab import FACADE, Lab, Run, said
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

MODULE = "ansible_collections.ansible.windows.plugins.modules.win_powershell.ps1"
STEPS = ["preflight", "configure", "validate", "start", "verify"]
DEFAULTS = {"Steps": STEPS, "TakeOver": False, "Reconcile": False, "Restart": "when_changed", "Wait": 5}
GROUP: dict[str, Any] = {"family": "windows", "labels": {"role": "web"}, "max_pods": 20}
VARIABLES: dict[str, Any] = {"eks_node_cluster": COMPLETE, "eks_node_group": GROUP}
FILE = "C:\\ProgramData\\nodebootstrap\\bootstrap.psd1"
FRESH = ["make C:\\ProgramData\\nodebootstrap", f"write {FILE}", "run Start-EKSBootstrap"]
CANARY = "canary-4711"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def only(run: Run) -> Any:
    """The one call of a run, once it is known to be the right one."""
    (call,) = run.calls
    assert (call.module, call.first_line) == (MODULE, "#!powershell")
    assert call.options.keys() == {"script", "parameters", "sensitive_parameters"}
    assert [given.keys() for given in call.options["sensitive_parameters"]] == [{"name", "value"}]
    assert call.options["script"] == "\n".join((apply_windows.FOLDER / name).read_text("utf-8") for name in windows.SCRIPT)
    return call


def test_a_fresh_node_is_bootstrapped_in_one_call(lab: Lab) -> None:
    diff = {"before_header": "x", "after_header": "x", "before": "\n", "after": "KubeletExtraArgs\n"}
    run = lab.play("--diff", answers=[said(actions=FRESH, diff=diff)], variables=VARIABLES)
    call = only(run)
    assert (call.parameters, call.check_mode, call.diff_mode, call.become) == (DEFAULTS, False, True, False)
    assert call.plan["expected"]["kubelet_arguments"] == "--node-labels=role=web --max-pods=20"
    assert call.plan["registration"] == {"labels": ["role=web"], "taints": []}
    assert {file["name"] for file in call.plan["files"]} == {"bootstrap.ps1", "bootstrap.psd1"}
    assert "win: configure: 1 file written, 1 folder made\n" in run.output
    assert "win: start: ran Start-EKSBootstrap\n" in run.output
    assert "+KubeletExtraArgs" in run.output
    assert (run.code, run.result["changed"], run.result["healthy"], run.result["actions"]) == (0, True, True, FRESH)


def test_an_unchanged_node_stays_as_it_is(lab: Lab) -> None:
    run = lab.play(answers=[said()], variables=VARIABLES)
    only(run)
    assert (run.code, run.result["changed"], run.result["actions"], run.result["restarted"]) == (0, False, [], [])
    assert "win: " not in run.output.partition("PLAY RECAP")[0]


def test_a_change_restarts_what_reads_it(lab: Lab) -> None:
    actions = [f"write {FILE}", "set the arguments of kubelet", "restart kubelet"]
    run = lab.play(answers=[said(actions=actions, restarted=["kubelet"])], variables=VARIABLES)
    only(run)
    assert mentions(run.output, f"win: start: {actions[1]}; ")
    assert run.result["restarted"] == ["kubelet"]


def test_what_is_wrong_is_the_message(lab: Lab) -> None:
    problem = "This node belongs to the cluster other.\nThere is no Start-EKSBootstrap.ps1."
    run = lab.play(answers=[said(problem=problem)], variables=VARIABLES)
    only(run)
    assert (run.code, run.result["failed"], run.result["changed"], run.result["msg"]) == (2, True, False, problem)
    assert problem.splitlines()[0] in run.output


def test_a_failed_change_says_why_and_where(lab: Lab) -> None:
    problem = "Start-EKSBootstrap has not registered the service kubelet. The node is back in the state it was in."
    answer = said(problem=problem, actions=["run Start-EKSBootstrap"], trace="at Invoke-Bootstrap, <No file>: line 9")
    run = lab.play(answers=[answer], variables=VARIABLES)
    assert (run.result["msg"], run.result["trace"], run.result["changed"]) == (problem, answer["result"]["trace"], True)


def test_check_mode_is_the_nodes_own(lab: Lab) -> None:
    """The script is sent, and told that it is check mode; no task waits for a node that was not changed."""
    run = lab.play("--check", "--diff", answers=[said(actions=FRESH, missing=["x"])], variables=VARIABLES)
    call = only(run)
    assert (call.check_mode, call.diff_mode, call.parameters) == (True, True, DEFAULTS)
    assert "win: start: would run Start-EKSBootstrap\n" in run.output
    assert (run.code, run.result["changed"], run.result["healthy"]) == (0, True, None)


# name → arguments, how the role is called, whether through the facade, the steps of the call
TAGS: dict[str, tuple[list[str], str, bool, list[str]]] = {
    "one": (["--tags", "start"], "include_role", False, ["start"]),
    "two": (["--tags", "verify,preflight"], "import_role", False, ["preflight", "verify"]),
    "skipped": (["--skip-tags", "start"], "roles", False, ["preflight", "configure", "validate", "verify"]),
    "one of the facade": (["--tags", "configure"], "roles", True, ["configure"]),
    "skipped of the facade": (["--skip-tags", "verify"], "roles", True, STEPS[:-1]),
}


@pytest.mark.parametrize("row", TAGS)
def test_tags_choose_steps(lab: Lab, row: str) -> None:
    arguments, how, facade, steps = TAGS[row]
    extra = {"role": FACADE} if facade else {}
    run = lab.play(*arguments, answers=[said()], variables=VARIABLES, how=how, **extra)
    assert only(run).parameters["Steps"] == steps


def test_variables_reach_the_call(lab: Lab) -> None:
    ours = {"eks_node_restart": "never", "eks_node_take_over": True, "eks_node_reconcile": True, "eks_node_wait_timeout": 3}
    run = lab.play(answers=[said()], variables=VARIABLES | ours, role=FACADE, how="roles")
    assert only(run).parameters == {"Steps": STEPS, "TakeOver": True, "Reconcile": True, "Restart": "never", "Wait": 3}


def test_the_way_back(lab: Lab) -> None:
    actions = ["stop kubelet", "restore what was there before", "remove C:\\ProgramData\\nodebootstrap"]
    run = lab.play(answers=[said(actions=actions)], variables=VARIABLES | {"eks_node_state": "absent"})
    assert only(run).parameters["Steps"] == ["remove"]
    assert (run.code, run.result["actions"], run.result["healthy"]) == (0, actions, None)


def test_a_node_whose_network_is_rebuilt_comes_back(lab: Lab) -> None:
    variables = VARIABLES | {"eks_node_wait_timeout": 3600}
    run = lab.play(answers=[said(actions=FRESH, missing=["x"]), "gone", said()], variables=variables)
    assert "win: verify: no connection: connection refused (" in run.output
    assert (run.code, len(run.calls), run.result["healthy"]) == (0, 3, True)


def test_a_node_that_is_gone_from_the_start_is_unreachable(lab: Lab) -> None:
    run = lab.play(answers=["gone"], variables=VARIABLES)
    assert "unreachable=1" in run.output
    assert len(run.calls) == 1


def test_the_wait_ends(lab: Lab) -> None:
    run = lab.play(answers=[said(missing=["there is no service kubelet"])], variables=VARIABLES | {"eks_node_wait_timeout": 0})
    assert only(run).parameters["Wait"] == 0
    assert run.code == 2
    assert mentions(run.result["msg"], "0 s", "service kubelet", "EKS Windows")


def test_max_pods_auto_asks_the_node_first(lab: Lab) -> None:
    answer = {"changed": False, "failed": False, "result": {"problem": "", "instance_type": "m5.large"}}
    group = GROUP | {"max_pods": "auto"}
    run = lab.play("--check", answers=[answer, said()], variables=VARIABLES | {"eks_node_group": group})
    asked, applied = run.calls
    assert asked.options == {"script": (apply_windows.FOLDER / windows.ASKS).read_text("utf-8")}
    assert (asked.check_mode, applied.check_mode) == (True, True)
    assert applied.plan["expected"]["kubelet_arguments"] == "--node-labels=role=web --max-pods=9"


HOSTILE = "'; Remove-Item C:\\ -Recurse #$(Stop-Computer)`\"\u2019{{ 1 + 1 }}"


def test_hostile_values_reach_the_plan_only(lab: Lab) -> None:
    """The script is the same whatever the input says, and the input comes back from the one sensitive parameter."""
    group = GROUP | {"kubelet": {"flags": {"root-dir": HOSTILE}}, "commands": {"pre": f"echo {HOSTILE}"}}
    unsafe = json.loads(json.dumps({"eks_node_cluster": COMPLETE, "eks_node_group": group}))
    run = lab.play("-vvv", "--diff", answers=[said()], variables=raw(unsafe))
    call = only(run)
    assert "Remove-Item C:" not in call.options["script"]
    assert call.parameters == DEFAULTS
    (pre,) = [file["content"] for file in call.plan["files"] if file["name"] == "pre.ps1"]
    assert f"\necho {HOSTILE}\n" in pre


def raw(value: Any) -> Any:
    """Text that looks like a template, as inventories mark it: not to be filled in."""
    if isinstance(value, dict):
        return {key: raw(child) for key, child in value.items()}
    if isinstance(value, list):
        return [raw(child) for child in value]
    return {"__ansible_unsafe": value} if isinstance(value, str) and "{{" in value else value


def test_no_log_shows_the_plan_or_the_script(lab: Lab) -> None:
    group = GROUP | {"commands": {"pre": f"echo {CANARY}"}}
    run = lab.play("-vvvv", answers=[said(actions=["run commands.pre"])], variables=VARIABLES | {"eks_node_group": group})
    assert CANARY in json.dumps(only(run).plan)
    assert "SCRIPT-4711" not in run.output + json.dumps(run.result)
    assert only(run).options["sensitive_parameters"][0]["value"] not in run.output + json.dumps(run.result)
    assert CANARY not in run.output + json.dumps(run.result)


def test_a_problem_of_the_input_contacts_no_node(lab: Lab) -> None:
    run = lab.play(answers=[], variables=VARIABLES | {"eks_node_group": GROUP | {"containerd": {"config": "x"}, "max_pods": 0}})
    assert (run.code, run.calls) == (2, [])
    assert "apply_windows: 2 problems" in run.result["msg"]


def test_the_family_may_be_left_out_facts_are_not_needed_and_become_is_passed_on(lab: Lab) -> None:
    host = {"ansible_become": True, "ansible_become_user": "SYSTEM"}
    group = {key: value for key, value in GROUP.items() if key != "family"}
    settings = {"ANSIBLE_INJECT_FACT_VARS": "false"}
    run = lab.play(answers=[said()], variables=VARIABLES | {"eks_node_group": group}, host=host, settings=settings)
    assert (only(run).become, run.code) == (True, 0)
