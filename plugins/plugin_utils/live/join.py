# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the join of a node: waits with progress lines, and explains settings that kubelet rejects by the rules of kubelet.

Side effects happen only in the given C(Node): it runs the module, prints lines, reads the clock and waits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..data import kubelet_gates
from ..errors import Problem, Problems
from ..kubelet import deep_merge
from ..kubelet_effective import Effective, Origin, effective_config, flag_fields
from ..kubelet_fields import kubelet_config_problems
from ..kubelet_flags import kubelet_flag_problems
from ..kubelet_rules import check

MODULE = "nodebootstrap.eks.join_check"
SETTINGS = "kubelet_settings"
IDENTITY = "identity"

OPTIONS: dict[str, Any] = {
    "wait_for": {"type": "str", "choices": ["ready", "registered"], "default": "ready"},
    "wait_timeout": {"type": "float", "default": 0.0},
}
"""The argument spec of the action."""

_CALL_SECONDS = 5
"""Seconds that each call of the module waits. Short calls let the user see when the reason changes."""

_RECONNECT_SECONDS = 5
_SILENT_SECONDS = 10
"""The longest time in seconds without a progress line."""

_MAX_WAIT_SECONDS = 3600
_FLAGS = "flags"
_STATES = {"ready": "Ready", "registered": "registered"}


@dataclass(frozen=True)
class Node:
    """The connection to the node.

    run: calls a module on the node, by name and options, and returns its result. If the node is unreachable, it returns C(unreachable)
    if the third argument allows it, and otherwise ends the task. say: prints a line for the user. clock: monotonic seconds. pause: waits.
    explain: the message for a node that did not join, from the module's result. look_up: what the cluster says about the identity of a node
    that it does not accept, as parts of the result.
    """

    name: str
    run: Callable[..., Mapping[str, Any]]
    say: Callable[[str], None]
    clock: Callable[[], float]
    pause: Callable[[float], None]
    explain: Callable[[Mapping[str, Any]], str]
    look_up: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None


def wait(node: Node, wait_for: str, timeout: float) -> dict[str, Any]:
    """The result of the task: the last answer of the module, with the whole duration of the wait."""
    if not 0 <= timeout <= _MAX_WAIT_SECONDS:
        # The module rejects it.
        return dict(node.run(MODULE, {"wait_for": wait_for, "wait_timeout": timeout}))
    began, text, last_line = node.clock(), "", 0.0
    may_be_gone = False
    while True:
        passed = node.clock() - began
        seconds = max(0.0, min(_CALL_SECONDS, timeout - passed))
        answer = node.run(MODULE, {"wait_for": wait_for, "wait_timeout": seconds}, may_be_gone)
        passed = node.clock() - began
        if not answer.get("unreachable") and "cause" not in answer:
            return dict(answer)
        if _is_over(answer) or passed >= timeout:
            return _result(node, answer, passed)
        may_be_gone = True
        now, reason = node.clock(), _reason(answer)
        if reason != text or now - last_line >= _SILENT_SECONDS:
            node.say(f"{node.name}: not {_STATES[wait_for]} yet: {reason} ({passed:.0f} s of {timeout:.0f} s)")
            text, last_line = reason, now
        if answer.get("unreachable"):
            node.pause(_RECONNECT_SECONDS)


def _is_over(answer: Mapping[str, Any]) -> bool:
    return not answer.get("unreachable") and (answer["cause"] is None or bool(answer.get("final")))


def _reason(answer: Mapping[str, Any]) -> str:
    if answer.get("unreachable"):
        return f"no connection: {answer.get('msg') or 'no reason given'}"
    return str(answer["message"])


def _result(node: Node, answer: Mapping[str, Any], passed: float) -> dict[str, Any]:
    if answer.get("unreachable"):
        return dict(answer)
    result = {**with_rules(answer), "waited": round(max(passed, float(answer.get("waited") or 0)), 3)}
    identity = answer.get(IDENTITY)
    if node.look_up is not None and isinstance(identity, Mapping) and identity.get("cluster"):
        found = node.look_up(identity)
        result = {**result, **found, "evidence": [*result["evidence"], *found.get("evidence", ())]}
    return result if result["cause"] is None else {**result, "msg": node.explain(result)}


# --- the rules of kubelet ----------------------------------------------------------------------------------------------------------


def with_rules(join: Mapping[str, Any]) -> dict[str, Any]:
    """A result of the module with the problems that the rules of kubelet find in the settings of a kubelet that exits.

    The fix then says what is wrong with each of them, and where to correct it.
    """
    settings = join.get(SETTINGS)
    problems = find_problems(settings) if isinstance(settings, Mapping) else ()
    result = {key: value for key, value in join.items() if key not in (SETTINGS, IDENTITY)}
    result["problems"] = [problem.plain() for problem in problems]
    if problems and isinstance(settings, Mapping):
        result["fix"] = _fix(problems, settings["places"])
    return result


def find_problems(settings: Mapping[str, Any]) -> tuple[Problem, ...]:
    """What a kubelet rejects in its settings. Paths begin with the field, or with the flag and its dashes.

    settings: C(version), C(configs) (the contents of the configuration files, the main file first), C(flags), C(cpus) of the machine.
    """
    minor, table = _minor(settings.get("version")), kubelet_gates()
    if minor is None or not table["first"] <= minor <= table["last"]:
        return ()
    configs = [config for config in settings.get("configs") or () if isinstance(config, Mapping)]
    flags = {str(name): value if isinstance(value, list) else [value] for name, value in (settings.get(_FLAGS) or {}).items()}
    of_flags, of_fields = Problems(), Problems()
    kubelet_flag_problems(settings.get(_FLAGS) or {}, (1, minor), _FLAGS, of_flags, has_config=False)
    for config in configs:
        kubelet_config_problems(
            {name: value for name, value in config.items() if name not in ("apiVersion", "kind")}, (1, minor), "", of_fields
        )
    # The main file is usually that of the image, which kubelet takes: what is set beside it causes the problem.
    for own in (configs[1:], configs) if len(configs) > 1 else (configs,):
        if not of_fields:
            check(_effective(minor, configs, own, flags, settings.get("cpus")), of_fields)
    return (*(_of_flag(problem) for problem in of_flags), *of_fields)


def _minor(version: Any) -> int | None:
    match = re.match(r"v?1\.(\d{1,3})\.", str(version))
    return int(match[1]) if match else None


def _effective(
    minor: int, configs: list[Mapping[str, Any]], own: list[Mapping[str, Any]], flags: Mapping[str, Iterable[str]], cpus: Any
) -> Effective:
    """What kubelet runs with. own: the files that the user may have set. cpus: of the machine."""
    base, *drop_ins = configs or [{}]
    merged: dict[str, Any] = {}
    for drop_in in drop_ins:
        merged = deep_merge(merged, drop_in)
    of_flags = flag_fields(flags)
    origins = {name: Origin(name) for config in own for name in config}
    origins |= {path.partition(".")[0]: Origin(f"--{name}", is_flag=True) for name, (path, _value) in of_flags.items()}
    return Effective(minor, effective_config(minor, base, merged or None, dict(of_flags.values())), origins, vcpus=cpus)


def _of_flag(problem: Problem) -> Problem:
    return replace(problem, path="--" + problem.path.removeprefix(f"{_FLAGS}."))


def _fix(problems: Iterable[Problem], places: Mapping[str, Any]) -> str:
    """What to correct, and where."""
    parts, then = [], []
    for problem in problems:
        where, after = places.get(_name(problem), ("the kubelet configuration", "restart kubelet"))
        parts.append(f"{' '.join(str(problem).split())} (in {where})")
        then.append(after)
    return f"{'. '.join(parts)}. Then: {'; '.join(dict.fromkeys(then))}"


def _name(problem: Problem) -> str:
    match = re.match(r"--[\w-]+|\w+", problem.path)
    return match[0] if match else ""
