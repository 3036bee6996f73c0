# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies a node group to one Linux node: renders, calls the module, and waits until the node has joined.

Side effects happen only in the given C(Node): it runs modules, prints lines, reads the clock and waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..artifacts import live_plan
from ..artifacts.node_plan import Plan, Service
from ..families import al2, al2023, ubuntu
from ..formats import toml, yaml
from ..outputs.node_plan import needs_instance, node_plan, removal_plan
from . import options as common
from . import overrides, patches, report

LOADED = (al2, al2023, ubuntu, live_plan, toml, yaml)
"""Modules that plans need. Ansible loads an action once, before it forks a worker for each node, so the workers do not load them again."""

MODULE = "nodebootstrap.eks.apply_plan"
IMDS = "nodebootstrap.eks.imds_info"

OPTIONS: dict[str, Any] = {
    **common.OPTIONS,
    "wait_for": {**common.OPTIONS["wait_for"], "default": "ready"},
    "drift": {**common.LINUX_ONLY["drift"], "default": "repair"},
    "lock_timeout": {**common.LINUX_ONLY["lock_timeout"], "default": 30},
}
"""The argument spec of the action."""

_STAND_IN = {"instance_type": "m5.large"}
"""Any known type. It is used to find problems that do not depend on the type before the node is contacted."""

_NOT_FOR_USERS = ("foreign", "invocation", "registration", "waited")
"""Fields of the module that the task does not return, because user data may contain secrets."""

FIRST_WAIT = 5
"""Seconds that the first call of the module waits. This call runs all phases."""

_WAIT_FOR_HEALTH, _WAIT_FOR_JOIN = 10, 5
"""Seconds that each further call waits. Short calls let the user see when the reason changes."""

_RECONNECT_SECONDS = 5
"""Seconds between two attempts to reach a node whose connection was lost."""

_SILENT_SECONDS = 10
"""The longest time in seconds without a progress line."""


@dataclass(frozen=True)
class Node:
    """The connection to the node.

    run: calls a module on the node, by name and options, and returns its result. If the node is unreachable, it returns C(unreachable)
    if the third argument allows it, and otherwise ends the task. say: prints a line for the user. clock: monotonic seconds. pause: waits.
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
    """The result of the task. options: the checked C(OPTIONS). Raises C(SpecError) before the node is contacted."""
    common.check_options(options, "Linux")
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
        "wait_timeout": min(FIRST_WAIT, options["wait_timeout"]),
        "wait_for": options["wait_for"] if _starts(options, phases) else "healthy",
        **{name: options[name] for name in ("state", "restart", "take_over", "reconcile", "drift", "lock_timeout")},
    }
    answer = _with_rules(node.run(MODULE, asked))
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
        return _refused(node, later) if later.get("failed") else _with_rules(later)

    end = Wait(node, options["wait_timeout"], _units(plan), ask).end(answer, worth_a_line=bool(answer.get("changed")))
    join = end.get("join") or {}
    # For a node that has joined, the evidence contains warnings.
    return result | end | {"warnings": [*warnings, *(join.get("evidence", []) if join.get("cause") is None else [])]}


def _with_rules(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """An answer of the module, with what the rules of kubelet say about settings that kubelet rejects."""
    found = answer.get("join")
    if not found:
        return answer
    # Few runs need it.
    from . import join

    return {**answer, "join": join.with_rules(found)}


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
    """A failed answer, with a clearer message if Python on the node was the reason."""
    message = report.explained(answer, node.core)
    return _for_users(answer) | ({"msg": message} if message else {})


def _warnings(plan: Plan, answer: Mapping[str, Any]) -> list[str]:
    """Warnings about the specification, from the module, and about other NodeConfigs on the node."""
    found = [*report.warnings(plan.warnings, plan.unchecked), *(answer.get("warnings") or [])]
    ours = next((one.file for one in plan.files if one.file.path.startswith(overrides.FOLDER)), None)
    if ours is not None:
        found += overrides.disagreements(ours.content, ours.path, answer.get("foreign") or {}, plan.owned)
    return found


class Wait:
    """One wait, with one deadline for the health of the node and for its join.

    timeout: seconds for the whole wait. units: the units whose logs show more. ask: checks again for at most the given seconds, and
    returns the answer of the module.
    """

    def __init__(self, node: Node, timeout: int, units: Sequence[str], ask: Callable[[int], Mapping[str, Any]]) -> None:
        self.node = node
        self.timeout = timeout
        self.units = units
        self.ask = ask
        self.began = 0.0
        self.healthy_since: float | None = None
        self.text = ""
        self.last_line = 0.0

    def end(self, answer: Mapping[str, Any], worth_a_line: bool) -> dict[str, Any]:
        """Wait after the first answer. Returns the part of the result that describes the wait, or a failed answer unchanged.

        worth_a_line: whether to print a line for a node that needs no wait.
        """
        self.began = self.node.clock() - float(answer.get("waited") or 0) - _waited(answer)
        timeout = self.timeout
        while True:
            if answer.get("failed"):
                return dict(answer)
            if answer.get("healthy") and self.healthy_since is None:
                self.healthy_since = self.node.clock() - _waited(answer)
            known = {name: answer.get(name) for name in ("healthy", "missing", "join", "evidence")} | {"missing": _missing(answer)}
            known["healthy"] = bool(known["healthy"])
            if _is_final(answer):
                return {**known, "failed": True, "msg": self.node.explain(answer["join"])}
            if _is_done(answer):
                if worth_a_line or self.text:
                    self._say(self._success(answer))
                return known
            passed = self.node.clock() - self.began
            if passed >= timeout:
                return {**known, **self._failure(answer)}
            self._show_progress(_why(answer), passed)
            if answer.get("unreachable"):
                self.node.pause(_RECONNECT_SECONDS)
            usual = _WAIT_FOR_HEALTH if self.healthy_since is None else _WAIT_FOR_JOIN
            answer = self.ask(max(1, min(usual, round(timeout - passed))))

    def _show_progress(self, text: str, passed: float) -> None:
        now = self.node.clock()
        if text != self.text or now - self.last_line >= _SILENT_SECONDS:
            self._say(report.progress(text, passed, self.timeout))
            self.text, self.last_line = text, now

    def _say(self, line: str) -> None:
        self.node.say(f"{self.node.name}: {line}")

    def _success(self, answer: Mapping[str, Any]) -> str:
        healthy = (self.healthy_since or self.began) - self.began
        join = answer.get("join")
        return report.healthy(healthy) if not join else report.joined(healthy, self.node.clock() - self.began, join)

    def _failure(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """The failure message at the deadline."""
        if answer.get("unreachable"):
            return {"unreachable": True, "msg": f"the node was set up, but the connection to it was lost: {answer.get('msg')}"}
        join = answer.get("join") or {}
        reason = self.node.explain(join) if join.get("cause") else ""
        if answer.get("healthy"):
            return {"failed": True, "msg": report.not_joined(reason, self.timeout)}
        return {"failed": True, "msg": report.not_healthy(_missing(answer), self.timeout, self.units, reason or report.evidence(answer))}


def _waited(answer: Mapping[str, Any]) -> float:
    return float((answer.get("join") or {}).get("waited") or 0)


def _is_final(answer: Mapping[str, Any]) -> bool:
    return bool((answer.get("join") or {}).get("final"))


def _is_done(answer: Mapping[str, Any]) -> bool:
    """Whether the node is healthy and, if the module checked it, has joined."""
    return bool(answer.get("healthy")) and (answer.get("join") or {}).get("cause") is None


def _missing(answer: Mapping[str, Any]) -> list[str]:
    return [str(what) for what in answer.get("missing") or []]


def _why(answer: Mapping[str, Any]) -> str:
    """The reasons why the wait continues, for a progress line."""
    if answer.get("unreachable"):
        return f"no connection: {answer.get('msg') or 'no reason given'}"
    if answer.get("healthy"):
        return str(answer["join"]["message"])
    return "; ".join(_missing(answer)) or "not healthy yet"
