# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action capi_move without Ansible: completes a move, or rolls it back, by the decision table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import move
from .acts import move_values
from .move import MoveStep, Side

OPTIONS: dict[str, Any] = {
    "from_kubeconfig": {"type": "str", "required": True},
    "to_kubeconfig": {"type": "str", "required": True},
    "name": {"type": "str", "required": True},
    "namespace": {"type": "str", "default": "eksa-system"},
    "backup_dir": {"type": "str", "required": True},
    "roll_back": {"type": "bool", "default": False},
    "timeout": {"type": "float", "default": 1800.0},
    "work_dir": {"type": "str"},
}
"""Paths are text: they are expanded on the admin machine."""

STEP = "nodebootstrap.eks.anywhere_step"
_MOST = 8
"""A move that was interrupted while it deleted objects, and again while they were deleted, needs three steps."""


def move_task(
    options: Mapping[str, Any], call: Callable[[str, Mapping[str, Any]], Mapping[str, Any]], say: Callable[[str], None], *, check_mode: bool
) -> dict[str, Any]:
    """Take steps until the objects are on one side. In check mode, return the next step."""
    steps: list[str] = []
    while True:
        found = _call(options, call, "sides", name=options["name"], namespace=options["namespace"],
                      source=options["from_kubeconfig"], destination=options["to_kubeconfig"])  # fmt: skip
        if found.get("failed"):
            return _result(options, steps, found) | {"failed": True, "msg": found["msg"]}
        source, destination = (Side(frozenset(found[side]["objects"]), found[side]["paused"]) for side in ("source", "destination"))
        decision = (move.decide_roll_back if options["roll_back"] else move.decide)(source, destination)
        if decision.step is MoveStep.DONE:
            return _result(options, steps, found)
        if decision.step is MoveStep.STOP or len(steps) >= _MOST:
            reason = decision.reason if decision.step is MoveStep.STOP else f"{_MOST} steps had no effect"
            return _result(options, steps, found) | {"failed": True, "msg": f"capi_move: {reason}; fix: {decision.way_out or 'run again'}"}
        steps.append(decision.step.value)
        say(f"{options['name']}: {decision.step.value} ({decision.reason})")
        if check_mode:
            return _result(options, steps, found)
        cleared = found["destination" if decision.step is MoveStep.REMOVE_COPIES else "source"]
        values = move_values(
            decision.step, options["name"], options["namespace"], options["from_kubeconfig"], options["to_kubeconfig"], cleared
        )
        answer = _call(options, call, "move", **values, backup_dir=options["backup_dir"], timeout=options["timeout"])
        if answer.get("failed"):
            return _result(options, steps, found) | {"failed": True, "msg": answer["msg"]}


def _call(options: Mapping[str, Any], call: Callable[..., Mapping[str, Any]], operation: str, **values: Any) -> Mapping[str, Any]:
    return call(STEP, {"work_dir": options["work_dir"], "operation": operation, "values": values})


def _result(options: Mapping[str, Any], steps: list[str], found: Mapping[str, Any]) -> dict[str, Any]:
    counts = {side: len((found.get(side) or {}).get("objects", ())) for side in ("source", "destination")}
    return {"changed": bool(steps), "steps": list(steps), "objects": counts}
