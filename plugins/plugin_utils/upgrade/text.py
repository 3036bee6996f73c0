# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines that a running upgrade prints."""

from __future__ import annotations

from . import availability, steps
from .model import (
    Action,
    Finish,
    Observed,
    Protect,
    Release,
    Reserve,
    ResumeProcesses,
    SetGroup,
    SetMark,
    Suspend,
    Terminate,
    Wait,
    WriteCapacity,
    WriteRun,
)  # fmt: skip


def describe(action: Action, observed: Observed) -> str:
    """One line for a step, '' for steps that are not of interest."""
    if isinstance(action, Reserve):
        number, desired = availability.unavailable(observed), availability.desired(observed)
        return f"{action.node}: cordoned, its pods are evicted ({max(0, number)} of {desired} nodes were unavailable)"
    if isinstance(action, SetMark):
        return f"{action.node}: drained, taken out of external load balancers" if action.mark.step == "settle" else ""
    if isinstance(action, Release):
        return f"{action.node}: {'uncordoned' if action.uncordon else 'released'}"
    if isinstance(action, Wait):
        return _wait(action, observed)
    return _group(action)


def _group(action: Action) -> str:
    if isinstance(action, WriteRun):
        return (
            f"the upgrade stops, and the group is put back: {action.message}" if action.run.stopped else f"upgrade {action.run.id} begins"
        )
    if isinstance(action, SetGroup):
        changes = {"DesiredCapacity": action.desired, "MaxSize": action.max_size, "launch template version": action.version or None}
        return "Auto Scaling group: " + ", ".join(f"{name} {value}" for name, value in changes.items() if value is not None)
    if isinstance(action, (Suspend, ResumeProcesses)):
        verb = "suspended" if isinstance(action, Suspend) else "resumed"
        return f"Auto Scaling group: {', '.join(action.processes)} {verb}"
    if isinstance(action, Terminate):
        return f"{action.instance}: terminated" + (" (the desired capacity is one less)" if action.decrement else "")
    if isinstance(action, (WriteCapacity, Protect, Finish)):
        return ""
    return ""


def _wait(action: Wait, observed: Observed) -> str:
    left = [
        f"{name}: {drain.refused or steps.pods(drain.left)}"
        for name, drain in observed.drains.items()
        if name in action.drain and not steps.is_drained(drain)
    ]
    return "; ".join(left) or f"waiting for {action.reason}"
