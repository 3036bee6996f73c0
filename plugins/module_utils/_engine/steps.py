# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides what each step of a plan has to do on the node, and how that is undone."""

from __future__ import annotations

import json
from typing import Any, Mapping

from .._node import snapd
from . import nodeadm, service_commands
from .plan import ImageScriptStep, ServiceStep, SnapStep
from .work import StepContext, Work, WorkBuilder


def decide(context: StepContext, reload: bool) -> Work:
    """Decide about all steps but those that run once. C(reload): systemd has to read its files again."""
    builder = WorkBuilder(context)
    for step in context.plan.steps:
        if isinstance(step, ServiceStep):
            _service(step, context, builder)
        elif isinstance(step, SnapStep):
            _snap(step, context, builder)
        elif isinstance(step, ImageScriptStep):
            # Imported only if needed: Python compiles what is imported at every call.
            from . import image_script

            image_script.decide(step, context, builder)
    return builder.build(reload)


# --- services ------------------------------------------------------------------------------------------------------------------------


def _service(step: ServiceStep, context: StepContext, builder: WorkBuilder) -> None:
    units = context.node.units
    is_due = _has_changed(step, context) or context.is_pending(step)
    if context.hold:
        builder.pending += [step.name] if is_due else []
        return
    builder.enable(step.enable)
    if not is_due and all(units[name].is_up for name in step.active):
        return
    builder.has_started = True
    builder.start(step.units, step.wait)
    if step.runs_nodeadm:
        writes = [path for path in nodeadm.WRITES if path not in context.plan.paths]
        builder.remember(writes, builder.originals_of(writes))
        builder.touch(name for name in context.plan.verify.units if name in units)
        builder.may_fail(step.units)
    else:
        builder.touch(step.units)
    builder.watch = builder.watch or (step.wait and bool(step.active))


def _has_changed(step: ServiceStep, context: StepContext) -> bool:
    """Whether the configuration of a step's units has changed in effect."""
    effects = context.effects(step)
    if not step.runs_nodeadm:
        return bool(effects)
    changes = [item.change for item in context.changes]
    affected = [item.change for item in effects]
    return context.sources_changed or nodeadm.is_affected(context.plan, changes, affected, context.sandbox, context.read)


# --- settings of a snap --------------------------------------------------------------------------------------------------------------


def _snap(step: SnapStep, context: StepContext, builder: WorkBuilder) -> None:
    name, unit = step.snap, context.node.units[step.unit]
    current = snapd.read_settings(name)
    values = _snap_values(step, context, current, builder.snap.get(name, {}))
    is_due = bool(values) or bool(context.effects(step)) or context.is_pending(step)
    if context.hold:
        builder.pending += [step.name] if is_due else []
        return
    if not is_due and unit.is_up and not unit.needs_enable:
        return
    builder.has_started = True
    if values:
        builder.snap[name] = {**{key: current.get(key) for key in values}, **builder.snap.get(name, {})}
        builder.set_snap(name, values, current)
    if unit.needs_enable:
        builder.record_enabled([unit.name])
        builder.actions.append(f"enable {unit.name}")
    if unit.is_running and (is_due or not unit.is_up):
        builder.start([unit.name])
    elif not unit.is_up:
        builder.actions.append(f"start {unit.name}")
    if not unit.is_running or unit.needs_enable:
        builder.commands.append(service_commands.snap_start(name))
        if not unit.is_running:
            builder.undo_snap(service_commands.snap_stop(name, unit.needs_enable))
    if is_due or not unit.is_up:
        builder.touch([unit.name])
        builder.watch = True


def _snap_values(step: SnapStep, context: StepContext, current: Mapping[str, Any], before_us: Mapping[str, Any]) -> dict[str, str | None]:
    """The settings to set, as text for C(snap set), or to unset (None). C(before_us): settings before this collection changed them."""
    facts = None if context.plan.snap_facts is None else context.plan.snap_facts._asdict()
    wanted = {key: context.identity.setting(value, facts) for key, value in step.settings.items()}
    values: dict[str, str | None] = {key: value for key, value in wanted.items() if current.get(key) != snapd.parse_value(value)}
    values.update((key, None) for key in step.unset if key in current)
    # What an earlier plan set and this one does not mention goes back to what it was.
    for key, old in before_us.items():
        if key not in wanted and key not in step.unset and current.get(key) != old:
            values[key] = None if old is None else json.dumps(old)
    return values
