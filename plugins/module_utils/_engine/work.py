# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The work that the steps of a plan have to do: what it is decided from, and how it is collected."""

from __future__ import annotations

import json
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Sequence

from .._node import snapd
from .._node.files import Current, Reader
from .._node.placeholders import Identity
from .._transaction.operation_log import Command
from . import service_commands
from .file_changes import FileChange, Originals, written_by_programs
from .manifest import Original
from .observe import NodeState
from .plan import Plan, Step
from .validation import ValidationSandbox


class StepContext(NamedTuple):
    """What the decisions are made from.

    C(changes): the files that change. C(hold): nothing may be started or restarted. C(sources_changed): sources of nodeadm other than
    ours have changed since it ran.
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

    def is_pending(self, step: Step) -> bool:
        """Whether an earlier run has left this step to do."""
        return step.name in self.node.manifest.pending

    def effects(self, step: Step) -> list[FileChange]:
        """The files whose change this step has to follow."""
        return [item for item in self.changes if item.has_effect and step.name in item.read_by]


class Work(NamedTuple):
    """What the steps of a plan have to do.

    C(changes): files that are restored before a program of the image edits them. C(snapshots): paths that programs write. C(forward)
    and C(back): the commands of the transaction. C(runs_programs): whether C(forward) does more than reload systemd or enable units.
    C(has_started): whether a step has started or restarted something. The other fields go into the result or the manifest.
    """

    actions: Sequence[str]
    restarted: Sequence[str]
    diffs: Sequence[Mapping[str, str]]
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
        self._restarted: list[str] = []
        self._diffs: list[Mapping[str, str]] = []
        self._enable: list[str] = []
        self._touched: list[str] = []
        self._may_fail: list[str] = []
        self._undo_snap: list[Command] = []

    def enable(self, units: Iterable[str]) -> None:
        """Enable those of the units that are not enabled."""
        wanted = [name for name in units if self._units[name].needs_enable and name not in self._enable]
        if wanted:
            self._enable += wanted
            self.record_enabled(wanted)
            self.actions.append(f"enable {' '.join(wanted)}")

    def record_enabled(self, units: Iterable[str]) -> None:
        """Record units that are enabled because of us."""
        self.enabled += [name for name in units if name not in self.enabled]

    def start(self, units: Sequence[str], wait: bool = True) -> None:
        """Restart units that run, start the others."""
        verb = "restart" if any(self._units[name].is_running for name in units) else "start"
        self.actions.append(f"{verb} {' '.join(units)}")
        self.commands.append(service_commands.restart(units, wait))

    def touch(self, units: Iterable[str]) -> None:
        """Record units that this work restarts: undoing it restarts them, or stops them if they did not run."""
        for name in units:
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
        )

    def _forward(self, reload: bool) -> list[Command]:
        commands = []
        if self._enable:
            commands.append(service_commands.enable(self._enable))  # this reloads systemd, too
        elif reload:
            commands.append(service_commands.reload())
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
        commands += self._undo_snap
        commands += [service_commands.restart(running)] if running else []
        failed = [name for name in dict.fromkeys(stopped + self._may_fail) if self._units[name].active != "failed"]
        return commands + ([service_commands.reset_failed(failed)] if failed else [])
