# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run changes on the node: files, commands for services and programs of the image, and the manifest afterwards."""

from __future__ import annotations

import os
from typing import Mapping, NamedTuple, Sequence

from .._node import files
from .._node.diff import Diff
from .._node.files import Change
from .._transaction import recovery
from . import drift_watch, file_changes, nodeadm, one_time_scripts, steps
from .apply_run import ApplyRun
from .drift_watch import DriftWatch
from .file_changes import Comparison, Originals
from .manifest import Manifest, NodeadmSources
from .observe import NodeState
from .plan import ImageScriptStep, Plan, ServiceStep, SnapStep
from .registration import RegistrationDecision
from .steps import StepContext, Work, WorkBuilder


class Decision(NamedTuple):
    """What a run changes on the node.

    C(changes), C(folders), C(snapshots): as in C(Transaction). C(manifest): the manifest afterwards. C(is_empty): there is nothing to do.
    C(foreign): documents that nodeadm reads besides ours, by their source.
    """

    work: Work
    changes: list[Change]
    folders: list[tuple[str, int]]
    snapshots: list[str]
    manifest: Manifest
    is_empty: bool
    actions: list[str]
    diffs: list[Diff]
    foreign: Mapping[str, str]


def decide(
    run: ApplyRun,
    node: NodeState,
    comparison: Comparison,
    originals: Originals,
    registered: RegistrationDecision,
    watch: DriftWatch,
) -> Decision:
    """Decide about all changes. Reads the node."""
    plan, writes_files = run.plan, run.has_phase("configure")
    changes = comparison.changes if writes_files else []
    folders = file_changes.missing_folders(plan) if writes_files else []
    hold = not run.has_phase("start") or run.options.restart == "never"
    foreign = nodeadm.foreign_sources(plan, node.manifest, files.read) if plan.runs_nodeadm else None
    sources = None if foreign is None else foreign.digests
    sources_changed = sources is not None and nodeadm.is_changed(node.manifest.sources, sources)
    context = StepContext(plan, node, changes, originals, hold, sources_changed, run.sandbox, run.identity, files.read)
    context = context._replace(drift=watch.repairs, snaps=watch.snaps)
    reload = file_changes.changes_units(changes)
    work = decide_steps(context, reload)
    after = _manifest_after(run, node, comparison, work, sources, hold, registered)
    stored = originals.changes(after)
    all_changes = [item.change for item in [*changes, *work.changes]]
    # What a unit writes before it fails is undone, too.
    owned = [path for path in plan.owned if work.runs_programs and path not in work.snapshots]
    return Decision(
        work=work,
        changes=all_changes + stored,
        folders=folders + ([(originals.folder, 0o700)] if any(change.content is not None for change in stored) else []),
        snapshots=[*work.snapshots, *owned],
        manifest=after,
        is_empty=not (all_changes or folders or work.forward) and after == node.manifest,
        actions=[
            *(item.action for item in changes),
            *(f"make {path}" for path, _mode in folders),
            *(["reload systemd"] if reload else []),
            *work.actions,
        ],
        diffs=[
            *(file_changes.diff_of(item) for item in changes),
            *work.diffs,
            *watch.diffs(work.repairs),
            *(_summary(run, node, work, after) if run.options.diff else ()),
        ],
        foreign={} if foreign is None else foreign.all_texts,
    )


def _summary(run: ApplyRun, node: NodeState, work: Work, after: Manifest) -> list[Diff]:
    """What changes and has no diff of its own."""
    from . import diff_summary

    program = "nodeadm" if run.plan.runs_nodeadm else "the script of the image"
    written = [path for path in work.snapshots if path not in run.plan.paths]
    state = diff_summary.of_state(run.store.folder, recovery.UNIT_NAME, not node.manifest.is_empty, not after.is_empty)
    return [*diff_summary.of_programs(program, written, files.read), *diff_summary.of_units(work.enables), *state]


def decide_steps(context: StepContext, reload: bool) -> Work:
    """Decide about all steps except one-time scripts. C(reload): systemd has to read its files again."""
    builder = WorkBuilder(context)
    for step in context.plan.steps:
        if isinstance(step, ServiceStep):
            steps.decide_service(step, context, builder)
        elif isinstance(step, SnapStep):
            steps.decide_snap(step, context, builder)
        elif isinstance(step, ImageScriptStep):
            # Imported only if needed, because Python compiles every imported module at each call.
            from . import image_script

            image_script.decide(step, context, builder)
    builder.start_required()
    return builder.build(reload)


def _manifest_after(
    run: ApplyRun,
    node: NodeState,
    comparison: Comparison,
    work: Work,
    sources: NodeadmSources | None,
    hold: bool,
    registered: RegistrationDecision,
) -> Manifest:
    plan, before = run.plan, node.manifest
    if before.is_empty and not run.has_phase("configure") and not work.forward:
        # Nothing on the node is ours, and nothing becomes ours.
        return before
    after = before._replace(
        family=plan.family,
        strategy=plan.strategy,
        cluster=plan.cluster,
        kubelet=plan.kubelet_unit,
        units=tuple(sorted(node.units)),
        image=work.image,
        scripts=work.scripts,
        pending=tuple(work.pending),
        enabled=tuple(sorted(work.enabled)),
        snap=work.snap,
        sources=None,
        registered=plan.registration if not hold else None if registered.moves else before.registered,
        patched=registered.patched,
        joined=registered.joined,
    )
    if run.has_phase("configure"):
        after = after._replace(
            files=comparison.files,
            owned=tuple(sorted(plan.owned)),
            once=one_time_scripts.recorded(plan, before),
            folders=_our_folders(plan, before, [*comparison.files, *work.image]),
        )
    after = drift_watch.manifest_after(plan, after, work)
    if sources is not None:
        # User data that could not be read this time counts as unchanged.
        last = before.sources.user_data if before.sources is not None else None
        after = after._replace(sources=sources._replace(user_data=sources.user_data or last))
    return after


def _our_folders(plan: Plan, before: Manifest, paths: Sequence[str]) -> tuple[str, ...]:
    """The folders that this collection created: in earlier runs and in this run."""
    wanted = {os.path.dirname(path) for path in paths} | {folder.path for folder in plan.directories}
    missing = {folder for path in wanted for folder in files.missing_folders(path)}
    return tuple(sorted(missing | set(before.folders)))
