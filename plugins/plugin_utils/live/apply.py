# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One node, from the input to one that has joined: render, one module call, and a bounded wait when it takes longer.

Pure but for what it is given: a C(Node) runs modules, prints lines, knows the time and waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..artifacts import script_plan, static_plan
from ..artifacts.node_plan import Plan, Service
from ..families import al2, al2023, ubuntu
from ..formats import toml, yaml
from ..outputs.node_plan import needs_instance, node_plan, removal_plan
from . import options as common
from . import overrides, patches, report, waiting

LOADED = (al2, al2023, ubuntu, script_plan, static_plan, toml, yaml)
"""What plans need. Ansible loads an action once, before it forks a worker for each node: what a worker loads, each one pays for."""

MODULE = "nodebootstrap.eks.apply_plan"
IMDS = "nodebootstrap.eks.imds_info"

OPTIONS: dict[str, Any] = {
    **common.OPTIONS,
    "wait_for": {**common.OPTIONS["wait_for"], "default": "ready"},
}
"""The options of the action, as Ansible checks them."""

_STAND_IN = {"instance_type": "m5.large"}
"""Any type that is known: with it every problem is found that does not depend on the type, before a node is asked."""

_NOT_FOR_USERS = ("foreign", "invocation", "registration", "waited")
"""What the module says to this function only. User data may hold secrets."""


@dataclass(frozen=True)
class Node:
    """The node as the action sees it.

    run: calls a module there, by name and options, and returns its result; a node that cannot be reached gives C(unreachable) when
    a third option says so, and else ends the task. say: prints a line for people. clock: seconds that never go back. pause: waits.
    explain: the message for a node that did not join, from the module's result. core: the version of ansible-core.
    """

    name: str
    run: Callable[..., Mapping[str, Any]]
    say: Callable[[str], None]
    clock: Callable[[], float]
    pause: Callable[[float], None]
    explain: Callable[[Mapping[str, Any]], str]
    core: str
    check_mode: bool = False


def apply(node: Node, options: Mapping[str, Any], phases: Sequence[str]) -> dict[str, Any]:
    """The result of the task. options: those of C(OPTIONS), checked. Raises C(SpecError), and then nothing was contacted."""
    common.check_wait(options, "Linux")
    cluster, group = options["cluster"], options["node_group"]
    leaves = options["state"] == "absent"
    asks = not leaves and needs_instance(group)
    plan = removal_plan(cluster, group) if leaves else node_plan(cluster, group, _STAND_IN if asks else None)
    if not phases:
        return {"changed": False, "skipped": True, "skipped_reason": "the tags of this run leave no phase"}
    if asks:
        answer = node.run(IMDS, {})
        if answer.get("failed") or answer.get("unreachable"):
            return _refused(node, answer)
        plan = node_plan(cluster, group, answer["imds"])
    return _applied(node, plan, options, phases)


def _applied(node: Node, plan: Plan, options: Mapping[str, Any], phases: Sequence[str]) -> dict[str, Any]:
    asked = {
        "plan": plan.encoded(),
        "phases": list(phases),
        "wait_timeout": min(waiting.FIRST_WAIT, options["wait_timeout"]),
        "wait_for": options["wait_for"] if _starts(options, phases) else "healthy",
        **{name: options[name] for name in ("state", "restart", "take_over", "reconcile")},
    }
    answer = node.run(MODULE, asked)
    warnings = _warnings(plan, answer) if options["state"] == "present" else list(answer.get("warnings") or [])
    if answer.get("failed") or answer.get("unreachable"):
        return _refused(node, answer) | {"warnings": warnings}
    result = _for_users(answer) | {
        "warnings": warnings,
        "unchecked": [problem.plain() for problem in plan.unchecked],
        "phases": list(phases),
        "node_patches": patches.label_patches(answer.get("registration")),
        "node_taints": patches.taint_changes(answer.get("registration")),
    }
    for line in report.actions_lines(answer, node.check_mode):
        node.say(f"{node.name}: {line}")
    if "verify" not in phases or answer.get("healthy") is None:
        return result

    def ask(seconds: int) -> Mapping[str, Any]:
        later = node.run(MODULE, {**asked, "phases": ["verify"], "wait_timeout": seconds}, True)
        return _refused(node, later) if later.get("failed") else later

    terms = waiting.Terms(options["wait_timeout"], _units(plan))
    end = waiting.Wait(node, terms, ask).end(answer, worth_a_line=bool(answer.get("changed")))
    join = end.get("join") or {}
    # Of a node that has joined, evidence tells what is wrong nevertheless.
    return result | end | {"warnings": [*warnings, *(join.get("evidence", []) if join.get("cause") is None else [])]}


def _starts(options: Mapping[str, Any], phases: Sequence[str]) -> bool:
    """Does kubelet run with the result of this run? With C(restart: never) there is nothing to wait for."""
    return options["restart"] != "never" and ("start" in phases or "configure" not in phases)


def _units(plan: Plan) -> list[str]:
    """The units whose logs show why a node is not healthy: the units to wait for, and the units that start them."""
    named = [unit for step in plan.steps if isinstance(step, Service) and step.active != () for unit in step.units]
    return list(dict.fromkeys((*named, *plan.verify.units)))


def _for_users(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key not in _NOT_FOR_USERS}


def _refused(node: Node, answer: Mapping[str, Any]) -> dict[str, Any]:
    """A failed answer, in better words where Python on the node was the reason."""
    message = report.explained(answer, node.core)
    return _for_users(answer) | ({"msg": message} if message else {})


def _warnings(plan: Plan, answer: Mapping[str, Any]) -> list[str]:
    """What the specification, the module and other NodeConfigs on the node give reason to look at."""
    found = [*map(str, plan.warnings), *(answer.get("warnings") or [])]
    ours = next((one.file for one in plan.files if one.file.path.startswith(overrides.FOLDER)), None)
    if ours is not None:
        found += overrides.disagreements(ours.content, ours.path, answer.get("foreign") or {}, plan.owned)
    return found
