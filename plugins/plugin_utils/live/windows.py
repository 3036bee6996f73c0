# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies a node group to one Windows node: renders, calls win_powershell once, and waits until kubelet is healthy.

Side effects happen only in the given C(Node): it runs modules, prints lines, reads the clock and waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..artifacts import windows_live
from ..errors import Problem, SpecError
from ..families import windows
from ..families.registry import resolve
from ..outputs.node_plan import needs_instance
from . import options as common
from . import patches, report

OPTIONS: dict[str, Any] = {**common.OPTIONS, **common.LINUX_ONLY}
"""The argument spec of the action."""

MODULE = "ansible.windows.win_powershell"

SCRIPT = ("begin.ps1", "node_facts.ps1", "old_state.ps1", "checks.ps1", "configure.ps1", "start.ps1", "end.ps1")
"""The files of the script for the node, in order."""

ASKS = "instance_type.ps1"
"""The script that reads the instance type on the node."""

_STAND_IN = "m5.large"
"""Any known type. It is used to find problems that do not depend on the type before the node is contacted."""

_FIRST_WAIT = 5
_WAIT = 10
"""Seconds that one call waits for a healthy node: the first call, and each further call."""

_RECONNECT = 5
"""Seconds between two attempts to connect while the network of the node is rebuilt."""

_LOGS = "Get-WinEvent -LogName 'EKS Windows' -MaxEvents 50"


@dataclass(frozen=True)
class Node:
    """The connection to the node.

    run: calls a module on the node, by name and options, and returns its result. If the node is unreachable, it returns C(unreachable)
    if the second argument allows it, and otherwise ends the task. read: the text of a PowerShell file of this collection. say: prints
    a line for the user. clock: monotonic seconds. pause: waits.
    """

    name: str
    run: Callable[[Mapping[str, Any], bool], Mapping[str, Any]]
    read: Callable[[str], str]
    say: Callable[[str], None]
    clock: Callable[[], float]
    pause: Callable[[float], None]
    check_mode: bool = False
    diff: bool = False


@dataclass(frozen=True)
class _Rendered:
    text: str
    labels: Sequence[str]
    taints: Sequence[str]
    warnings: Sequence[Problem]
    unchecked: Sequence[Problem]


def apply(node: Node, options: Mapping[str, Any], phases: Sequence[str]) -> dict[str, Any]:
    """The result of the task. options: the checked options of the action. Raises C(SpecError) before the node is contacted."""
    common.check_options(options, "Windows", ("healthy",))
    cluster, group = options["cluster"], options["node_group"]
    asks = needs_instance(group)
    rendered = _render(cluster, group, _STAND_IN if asks else None)
    if not phases:
        return {"changed": False, "skipped": True, "skipped_reason": "the tags of this run leave no phase"}
    if asks and options["state"] == "present":
        answer = node.run({"script": node.read(ASKS)}, False)
        refusal = _refusal(answer)
        if refusal:
            return refusal
        rendered = _render(cluster, group, answer["result"]["instance_type"])
    return _applied(node, rendered, options, phases)


def _render(cluster: Any, group: Any, instance_type: str | None) -> _Rendered:
    spec, _unused = resolve(cluster, group, instance_type)
    if spec.family != "windows":
        fix = f"use the role nodebootstrap.eks.eks_node_{spec.family}"
        raise SpecError(
            [
                Problem(
                    "live.wrong_family", "node_group.family", "is not a Windows node group", value=spec.family, allowed="windows", fix=fix
                )
            ]
        )
    plan = windows.live_plan(spec)
    registration = plan["registration"]
    return _Rendered(windows_live.encoded(plan), registration["labels"], registration["taints"], spec.warnings, spec.unchecked)


def _applied(node: Node, rendered: _Rendered, options: Mapping[str, Any], phases: Sequence[str]) -> dict[str, Any]:
    timeout = options["wait_timeout"]
    steps = list(phases)
    if options["state"] == "absent":
        if not {"configure", "start"} & set(phases):
            return {"changed": False, "skipped": True, "skipped_reason": "the removal is part of configure and start"}
        steps = ["remove"]
    answer = node.run(_call(node, rendered, options, steps, min(_FIRST_WAIT, timeout)), False)
    ended = node.clock()
    warnings = report.warnings(rendered.warnings, rendered.unchecked)
    refusal = _refusal(answer)
    if refusal:
        return refusal | {"warnings": warnings}
    said = answer["result"]
    registration = _difference(said.get("registration"), rendered)
    result = {
        "changed": bool(answer.get("changed")),
        "actions": list(said["actions"]),
        "restarted": list(said["restarted"]),
        "recovered": said["recovered"],
        "phases": list(phases),
        "warnings": [*warnings, *said["warnings"]],
        "unchecked": [problem.plain() for problem in rendered.unchecked],
        "node_patches": patches.label_patches(registration),
        "node_taints": patches.taint_changes(registration),
        "healthy": None,
        "missing": [],
        **({"diff": answer["diff"]} if node.diff and answer.get("diff") else {}),
    }
    for line in report.actions_lines(result, node.check_mode):
        node.say(f"{node.name}: {line}")
    looked = "verify" in steps and not (node.check_mode and result["changed"])
    return result | _verified(node, rendered, options, answer, ended, timeout) if looked else result


def _call(node: Node, rendered: _Rendered, options: Mapping[str, Any], steps: Sequence[str], wait: int) -> dict[str, Any]:
    """The options of the module. The script contains no input, and no log contains the plan."""
    return {
        "script": "\n".join(node.read(name) for name in SCRIPT),
        "parameters": {
            "Steps": list(steps),
            "TakeOver": options["take_over"],
            "Reconcile": options["reconcile"],
            "Restart": options["restart"],
            "Wait": wait,
        },
        "sensitive_parameters": [{"name": "Plan", "value": rendered.text}],
    }


def _verified(
    node: Node, rendered: _Rendered, options: Mapping[str, Any], answer: Mapping[str, Any], ended: float, timeout: int
) -> dict[str, Any]:
    """Poll until the node is healthy or the wait ends. A new node rebuilds its network, so it can be unreachable for some time."""
    worth_a_line = bool(answer.get("changed"))
    missing = list(answer["result"]["missing"])
    passed = 0.0
    while missing:
        if passed >= timeout:
            return {"failed": True, "healthy": False, "missing": missing, "msg": report.unhealthy(missing, timeout, _LOGS)}
        node.say(f"{node.name}: {report.progress('; '.join(missing), passed, timeout)}")
        worth_a_line = True
        wait = max(1, min(_WAIT, round(timeout - passed)))
        answer = node.run(_call(node, rendered, options, ["verify"], wait), True)
        if answer.get("unreachable"):
            missing = [f"no connection: {answer.get('msg') or 'no reason given'}"]
            node.pause(_RECONNECT)
        else:
            refusal = _refusal(answer)
            if refusal:
                return refusal
            missing = list(answer["result"]["missing"])
        passed = node.clock() - ended
    if worth_a_line:
        node.say(f"{node.name}: {report.healthy(passed)}")
    return {"healthy": True, "missing": []}


def _refusal(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The failure if an answer is invalid or has a problem, otherwise empty. The message shows no other part of the answer."""
    said = answer.get("result")
    if answer.get("unreachable"):
        return {"unreachable": True, "msg": str(answer.get("msg") or "the node cannot be reached")}
    if isinstance(said, Mapping) and "problem" in said and not answer.get("failed"):
        if not said["problem"]:
            return {}
        trace = {"trace": said["trace"]} if said.get("trace") else {}
        return {
            "failed": True,
            "changed": bool(answer.get("changed")),
            "msg": str(said["problem"]),
            "actions": said.get("actions", []),
        } | trace
    errors = answer.get("error") or []
    first = errors[0].get("exception") if errors and isinstance(errors[0], Mapping) else None
    reason = answer.get("msg") or (first or {}).get("message") or "no reason given"
    return {"failed": True, "msg": f"PowerShell on the node did not run the script: {reason}"}


def _difference(before: Mapping[str, Any] | None, rendered: _Rendered) -> dict[str, Any] | None:
    """The changes of the Node object, as input for C(patches). None if there are no changes."""
    if not before:
        return None
    old, new = _pairs(before["labels"]), _pairs(rendered.labels)
    labels: dict[str, str | None] = {key: value for key, value in new.items() if old.get(key) != value}
    labels |= {key: None for key in old if key not in new}
    before_run, wanted = [_taint(text) for text in before["taints"]], [_taint(text) for text in rendered.taints]
    taints = {"set": [text for text in wanted if text not in before_run], "remove": [text for text in before_run if text not in wanted]}
    if not labels and not any(taints.values()):
        return None
    return {"node": str(before["node"]).lower(), "labels": labels, "taints": taints}


def _pairs(items: Iterable[str]) -> dict[str, str]:
    split = (item.partition("=") for item in items)
    return {key: value for key, _unused, value in split}


def _taint(text: str) -> str:
    return text.replace("=:", ":")
