# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides what each step of a plan has to do on the node, and how that is undone. C(image_script) does so for its own kind of step."""

from __future__ import annotations

import json
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Sequence

from .._node import nodeadm_files, snapd
from .._node.diff import Diff
from .._node.files import Current, Reader
from .._node.placeholders import Identity
from .._transaction.recovery import Command
from . import drift, nodeadm, service_commands, trust_store
from .drift import Drift, Snaps
from .file_changes import FileChange, Originals, written_by_programs
from .manifest import Original
from .observe import NodeState
from .plan import Plan, ServiceStep, SnapStep, Step
from .validation import ValidationSandbox


class StepContext(NamedTuple):
    """What the decisions are made from.

    C(changes): the files that change. C(hold): nothing may be started or restarted. C(sources_changed): sources of nodeadm other than
    ours have changed since it ran. C(drift): the differences to repair.
    """

    plan: Plan
    node: NodeState
    changes: Sequence[FileChange]
    originals: Originals
    hold: bool
    sources_changed: bool
    sandbox: ValidationSandbox
    identity: Identity
    read: Reader
    drift: Sequence[Drift] = ()
    snaps: Snaps | None = None

    def settings(self, snap: str) -> Mapping[str, Any]:
        """All settings of a snap."""
        return (self.snaps or Snaps()).settings(snap)

    def is_pending(self, step: Step) -> bool:
        """Whether an earlier run has left this step to do."""
        return step.name in self.node.manifest.pending

    def drift_of(self, step: Step) -> list[Drift]:
        """The differences that running this step repairs."""
        return drift.of_step(self.plan, step, self.drift)

    def must_restart(self, unit: str) -> bool:
        """Whether a unit is the kubelet that still runs with an older configuration."""
        kubelet = self.node.kubelet
        return kubelet is not None and kubelet.name == unit and self.node.is_kubelet_outdated

    def effects(self, step: Step) -> list[FileChange]:
        """The files whose change this step has to follow."""
        return [item for item in self.changes if item.has_effect and step.name in item.read_by]


class Work(NamedTuple):
    """What the steps of a plan have to do.

    C(changes): files that are restored before a program of the image edits them. C(snapshots): paths that programs write. C(forward)
    and C(back): the commands of the transaction. C(runs_programs): whether C(forward) does more than reload systemd or enable units.
    C(has_started): whether a step has started or restarted something. C(repairs): the differences that it repairs. C(runs_image): whether
    a program of the image runs for another reason than these. C(restarts_kubelet): whether kubelet starts or restarts. C(enables): the
    units that this work enables. The other fields go into the result or the manifest.
    """

    actions: Sequence[str]
    restarted: Sequence[str]
    diffs: Sequence[Diff]
    changes: Sequence[FileChange]
    snapshots: Sequence[str]
    forward: Sequence[Command]
    back: Sequence[Command]
    runs_programs: bool
    has_started: bool
    pending: Sequence[str]
    image: Mapping[str, Original | None]
    scripts: Mapping[str, str]
    snap: Mapping[str, Mapping[str, Any]]
    enabled: Sequence[str]
    repairs: Sequence[Drift]
    runs_image: bool
    restarts_kubelet: bool
    enables: Sequence[str]


class WorkBuilder:
    """Collects C(Work) step by step."""

    def __init__(self, context: StepContext) -> None:
        plan, manifest = context.plan, context.node.manifest
        self._context = context
        self._units = context.node.units
        # If files may hold secrets, settings and arguments of kubelet may, too.
        self._is_secret = plan.is_sensitive or manifest.is_sensitive
        self.actions: list[str] = []
        self.pending: list[str] = []
        self.changes: list[FileChange] = []
        self.snapshots: list[str] = []
        self.commands: list[Command] = []
        # Another strategy runs other programs: what the previous ones wrote is restored, and their scripts count as not run.
        writes = written_by_programs(plan)
        self.image = {path: original for path, original in manifest.image.items() if path in writes}
        names = [step.name for step in plan.steps]
        self.scripts = {name: digest for name, digest in manifest.scripts.items() if name in names}
        self.snap = dict(manifest.snap)
        self.enabled = list(manifest.enabled)
        self.enabled_by_script: list[str] = []
        self.watch = False
        self.has_started = False
        self.repairs: list[Drift] = []
        self.runs_image = False
        self._restarted: list[str] = []
        self._diffs: list[Diff] = []
        self._enable: list[str] = []
        self._enables: list[str] = []
        self._starts: list[str] = []
        self._touched: list[str] = []
        self._may_fail: list[str] = []
        self._undo_snap: list[Command] = []
        self._update_trust = trust_store.update_commands(item.change.path for item in context.changes)
        self.actions += [trust_store.action(command) for command in self._update_trust]

    def act(self, action: str) -> None:
        """Record what the result says about this work."""
        self.actions.append(action)

    def run(self, command: Command) -> None:
        """Add a command."""
        self.commands.append(command)

    def change(self, changes: Iterable[FileChange]) -> None:
        """Add files that are restored before a program of the image edits them."""
        self.changes += changes

    def postpone(self, step: Step) -> None:
        """Leave a step to a later run."""
        self.pending.append(step.name)

    def record_start(self) -> None:
        """Record that a step starts or restarts something."""
        self.has_started = True

    def watch_kubelet(self) -> None:
        """Wait for kubelet after the commands, and undo everything if it does not start."""
        self.watch = True

    def record_script(self, name: str, digest: str) -> None:
        """Record the digest of a script that has run."""
        self.scripts = {**self.scripts, name: digest}

    def record_snap(self, name: str, before: Mapping[str, Any]) -> None:
        """Record the settings of a snap before us."""
        self.snap = {**self.snap, name: before}

    def record_enabled_by_script(self, units: Iterable[str]) -> None:
        """Record units that the image's script enables."""
        self.enabled_by_script += units

    def enable(self, units: Iterable[str]) -> None:
        """Enable those of the units that are not enabled."""
        wanted = [name for name in units if self._units[name].needs_enable and name not in self._enable]
        if wanted:
            self._enable += wanted
            self.record_enabled(wanted)
            self.actions.append(f"enable {' '.join(wanted)}")

    def record_enabled(self, units: Iterable[str]) -> None:
        """Record units that are enabled because of us."""
        units = list(dict.fromkeys(units))
        self._enables += [name for name in units if name not in self._enables]
        self.enabled += [name for name in units if name not in self.enabled]

    def enable_again(self) -> None:
        """Enable the units that started at boot after the last verified success. snapd enables those of snaps itself."""
        self.enable(name for name in drift.units_to_enable(self._context.node.manifest) if name in self._units and not _is_of_snap(name))

    def repair(self, found: Sequence[Drift], runs_anyway: bool) -> None:
        """Record that a program of the image runs, and the differences that it repairs. C(runs_anyway): it would run without them, too."""
        self.actions += drift.actions(found)
        self.repairs += found
        self.runs_image = self.runs_image or runs_anyway

    def start(self, units: Sequence[str], wait: bool = True) -> None:
        """Restart units that run, start the others."""
        verb = "restart" if any(self._units[name].is_running for name in units) else "start"
        self.actions.append(f"{verb} {' '.join(units)}")
        self.commands.append(service_commands.restart(units, wait))
        self.will_start(units)

    def start_required(self) -> None:
        """Start the units that must run and that no step starts, before the commands of the steps: kubelet needs containerd."""
        required = [name for name in self._context.plan.verify.units if name in self._units and name not in self._starts]
        stopped = [name for name in required if not self._units[name].is_up]
        if self._context.hold or not stopped:
            return
        of_steps, self.commands = self.commands, []
        self.record_start()
        self.start(stopped)
        self.touch(stopped)
        self.watch_kubelet()
        self.commands += of_steps

    def will_start(self, units: Iterable[str]) -> None:
        """Record units that this work starts or restarts, by itself or by a program of the image."""
        self._starts += [name for name in dict.fromkeys(units) if name not in self._starts]

    def touch(self, units: Iterable[str]) -> None:
        """Record units that this work restarts: undoing it restarts them, or stops them if they did not run."""
        for name in units:
            self.will_start([name])
            if name not in self._touched:
                self._touched.append(name)
                self._restarted += [name] if self._units[name].is_running else []

    def may_fail(self, units: Iterable[str]) -> None:
        """Record units that this work may leave in the state failed."""
        self._may_fail += [name for name in units if not self._units[name].is_running]

    def originals_of(
        self, paths: Iterable[str], as_in_image: Callable[[str, Current | None], Current | None] = lambda path, current: current
    ) -> dict[str, Original | None]:
        """What files of the image were before programs of the image wrote them for the first time.

        C(as_in_image): maps a file as it is now to what the image brought, in case user data has run those programs before us.
        """
        originals, read = self._context.originals, self._context.read
        found = {}
        for path in paths:
            if path in self.image:
                found[path] = self.image[path]
            elif originals.is_known(path):
                found[path] = originals.known(path)
            else:
                found[path] = originals.keep(path, as_in_image(path, read(path)))
        return found

    def remember(self, paths: Sequence[str], originals: Mapping[str, Original | None]) -> None:
        """Record originals of files that programs of the image write."""
        self.image.update(originals)
        self.snapshots += paths

    def set_snap(self, name: str, values: Mapping[str, str | None], current: Mapping[str, Any]) -> None:
        """Set and unset settings of a snap. Undoing it sets the current ones again."""
        self.actions.append(f"set {name}: {', '.join(sorted(values))}")
        self.commands.append(service_commands.snap_set(name, values))
        self.undo_snap(service_commands.snap_set(name, {key: json.dumps(current[key]) if key in current else None for key in values}))
        before = {key: current[key] for key in values if key in current}
        after = {key: snapd.parse_value(value) for key, value in values.items() if value is not None}
        self._diffs.append(snapd.settings_diff(name, before, after, self._is_secret))

    def undo_snap(self, command: Command) -> None:
        """Add a command that undoes a change of a snap. It runs before units are started again."""
        self._undo_snap.append(command)

    def build(self, reload: bool) -> Work:
        """The finished work. C(reload): systemd has to read its files again."""
        return Work(
            actions=self.actions,
            restarted=self._restarted,
            diffs=self._diffs,
            changes=self.changes,
            snapshots=self.snapshots,
            forward=self._forward(reload),
            back=self._back(reload),
            runs_programs=bool(self.commands),
            has_started=self.has_started,
            pending=self.pending,
            image=self.image,
            scripts=self.scripts,
            snap=self.snap,
            enabled=self.enabled,
            repairs=self.repairs,
            runs_image=self.runs_image,
            enables=self._enables,
            restarts_kubelet=self._context.plan.kubelet_unit in self._touched,
        )

    def _forward(self, reload: bool) -> list[Command]:
        commands = [*self._update_trust]
        if self._enable:
            commands.append(service_commands.enable(self._enable))  # this reloads systemd, too
        elif reload:
            commands.append(service_commands.reload())
        # Programs of the image start units by themselves, so the reset cannot be a part of the commands that start units.
        commands += [service_commands.reset_failed(self._starts)] if self._starts else []
        commands += self.commands
        if self.watch:
            commands.append(service_commands.watch(self._context.plan.verify.units, self._context.plan.verify.healthz))
        return commands

    def _back(self, reload: bool) -> list[Command]:
        enabled = self._enable + self.enabled_by_script
        commands = [service_commands.disable(enabled)] if enabled else []
        stopped = [name for name in self._touched if not self._units[name].is_running]
        running = [name for name in self._touched if self._units[name].is_running]
        commands += [service_commands.stop(list(reversed(stopped)))] if stopped else []
        # Only after the units have stopped: systemd does not forget a unit without a file as long as it runs.
        commands += [service_commands.reload()] if reload or self._enable or self.snapshots else []
        commands += self._update_trust
        # The new configuration may have made a unit fail more often than systemd allows.
        again = [name for name in self._starts if self._units[name].is_running]
        commands += [service_commands.reset_failed(again)] if again else []
        commands += self._undo_snap
        commands += [service_commands.restart(running)] if running else []
        if self.snapshots:
            # Programs of the image may have changed the state of other units.
            commands.append(service_commands.restore_states(self._units.values()))
        failed = [name for name in dict.fromkeys(stopped + self._may_fail) if self._units[name].active != "failed"]
        return commands + ([service_commands.reset_failed(failed)] if failed else [])


def _is_of_snap(unit: str) -> bool:
    return unit.startswith("snap.")


# --- services ------------------------------------------------------------------------------------------------------------------------


def decide_service(step: ServiceStep, context: StepContext, builder: WorkBuilder) -> None:
    units = context.node.units
    found = context.drift_of(step)
    has_changed = _has_changed(step, context) or context.is_pending(step)
    is_outdated = any(context.must_restart(name) for name in (step.units if not step.runs_nodeadm else step.active))
    is_due = has_changed or bool(found) or is_outdated
    if context.hold:
        if is_due:
            builder.postpone(step)
        return
    builder.enable(step.enable)
    if step.runs_nodeadm:
        builder.enable_again()
    if not is_due and all(units[name].is_up for name in step.active):
        return
    builder.record_start()
    if step.runs_nodeadm:
        builder.repair(found, has_changed or not found)
    builder.start(step.units, step.wait)
    if step.runs_nodeadm:
        writes = [path for path in nodeadm_files.WRITES if path not in context.plan.paths]
        builder.remember(writes, builder.originals_of(writes))
        builder.touch(name for name in context.plan.verify.units if name in units)
        builder.may_fail(step.units)
    else:
        builder.touch(step.units)
    if step.wait and step.active:
        builder.watch_kubelet()


def _has_changed(step: ServiceStep, context: StepContext) -> bool:
    """Whether the configuration of a step's units has changed in effect."""
    effects = context.effects(step)
    if not step.runs_nodeadm:
        return bool(effects)
    changes = [item.change for item in context.changes]
    affected = [item.change for item in effects]
    return context.sources_changed or nodeadm.is_affected(context.plan, changes, affected, context.sandbox, context.read)


# --- settings of a snap --------------------------------------------------------------------------------------------------------------


def decide_snap(step: SnapStep, context: StepContext, builder: WorkBuilder) -> None:
    name, unit = step.snap, context.node.units[step.unit]
    current = context.settings(name)
    values = _snap_values(step, context, current, builder.snap.get(name, {}))
    others = [item for item in context.drift_of(step) if item.name not in values and item.name not in (*step.settings, *step.unset)]
    has_changed = bool(values) or bool(context.effects(step)) or context.is_pending(step)
    values.update((item.name, None if item.recorded is None else json.dumps(item.recorded)) for item in others)
    is_due = has_changed or bool(others) or context.must_restart(step.unit)
    if context.hold:
        if is_due:
            builder.postpone(step)
        return
    if not is_due and unit.is_up and not unit.needs_enable:
        return
    builder.record_start()
    builder.repair(context.drift_of(step), has_changed or not others)
    if values:
        ours = [key for key in values if key not in {item.name for item in others}]
        builder.record_snap(name, {**{key: current.get(key) for key in ours}, **builder.snap.get(name, {})})
        builder.set_snap(name, values, current)
    if unit.needs_enable:
        builder.record_enabled([unit.name])
        builder.act(f"enable {unit.name}")
    if unit.is_running and (is_due or not unit.is_up):
        builder.start([unit.name])
    elif not unit.is_up:
        builder.act(f"start {unit.name}")
    if not unit.is_running or unit.needs_enable:
        builder.run(service_commands.snap_start(name))
        if not unit.is_running:
            builder.undo_snap(service_commands.snap_stop(name, unit.needs_enable))
    if is_due or not unit.is_up:
        builder.touch([unit.name])
        builder.watch_kubelet()


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
