# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action node_drain without Ansible: its options, and what one task does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .api import ClusterApi
from .decide import Left, refused, stays
from .finding import Settings, seconds
from .json_report import plain_report
from .options import OPTIONS as SHARED_OPTIONS
from .report_task import make_report
from .run import UncordonFailed, World, describe, drain_node, uncordon
from .text import text

STATES = ("drained", "cordoned", "uncordoned")
OPTIONS: dict[str, Any] = {
    **SHARED_OPTIONS,
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "default": STATES[0], "choices": list(STATES)},
}
FAILURE = "PodEvictionFailure"
"""The code of the failure, as EKS names it."""


def node_task(options: Mapping[str, Any], settings: Settings, api: ClusterApi, world: World, *, check_mode: bool) -> dict[str, Any]:
    """Bring a node to a state. Raises C(SpecError), or the error of the client."""
    name, state = options["name"], options["state"]
    try:
        if state != STATES[0]:
            return _cordon(api, name, state == STATES[1], world, check_mode=check_mode)
        return _plan(api, name, settings, world.say) if check_mode else _drain(api, name, settings, world)
    except UncordonFailed as failed:
        return {"failed": True, "msg": str(failed), "reason": getattr(failed.cause, "reason", "")}


def _drain(api: ClusterApi, name: str, settings: Settings, world: World) -> dict[str, Any]:
    result = drain_node(api, name, settings, world)
    found: dict[str, Any] = {
        "changed": result.changed,
        "evicted": list(result.evicted),
        "left": _plain(result.left),
        "cordoned": result.is_cordoned,
        "diff": _diff(name, result.was_cordoned, result.is_cordoned),
    }
    return found if result.is_drained else found | _failed(name, result.left, settings, result.problem)


def _cordon(api: ClusterApi, name: str, wanted: bool, world: World, *, check_mode: bool) -> dict[str, Any]:
    before = api.node(name).is_cordoned
    if before != wanted and not check_mode:
        if wanted:
            api.cordon(name, True)
        else:
            uncordon(api, name, world)
    return {"changed": before != wanted, "cordoned": wanted, "diff": _diff(name, before, wanted)}


def _plan(api: ClusterApi, name: str, settings: Settings, say: Callable[[str], None]) -> dict[str, Any]:
    """What a drain would do, with the report on everything that blocks it."""
    node = api.node(name)
    found = make_report(api, settings, [name])
    daemon_sets = api.daemon_sets()
    pods = [pod for pod in api.pods_on(name) if not stays(pod, daemon_sets)]
    not_allowed = refused(pods, settings, daemon_sets)
    say(text(found).rstrip("\n"))
    is_refused = bool(not_allowed)
    result = {
        "changed": not is_refused and (bool(pods) or not node.is_cordoned),
        "evicted": [] if is_refused else sorted(pod.full_name for pod in pods),
        "left": _plain(not_allowed),
        "cordoned": node.is_cordoned or not is_refused,
        "diff": _diff(name, node.is_cordoned, node.is_cordoned or not is_refused),
        "report": plain_report(found),
    }
    return result | (_failed(name, not_allowed, settings) if is_refused else {})


def _failed(name: str, left: Sequence[Left], settings: Settings, problem: str = "") -> dict[str, Any]:
    more = f"{problem}; " if problem else ""
    return {
        "failed": True,
        "error": FAILURE,
        "msg": f"{FAILURE}: {name} was not drained in {seconds(settings.timeout)}: {describe(tuple(left))}; {more}"
        "fix: correct the reasons and run this again; drain_report shows all reasons before a drain",
    }


def _plain(left: Sequence[Left]) -> list[dict[str, str]]:
    return [{"pod": one.pod.full_name, "reason": one.reason} for one in left]


def _diff(name: str, before: bool, after: bool) -> dict[str, str]:
    return {
        "before_header": f"Node {name}",
        "after_header": f"Node {name}",
        "before": f"unschedulable: {str(before).lower()}\n",
        "after": f"unschedulable: {str(after).lower()}\n",
    }
