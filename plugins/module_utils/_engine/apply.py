# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of C(apply_plan) on a node: observe, decide, validate, carry out, verify. Before the transaction, it only reads."""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Collection, Mapping, NamedTuple, Sequence

from .._node import files, health
from .._node.errors import ApplyRefused
from .._node.files import Change
from .._node.host import Host
from .._node.placeholders import Identity
from .._transaction import recovery
from .._transaction.recovery import Command
from .._transaction.store import Store
from .._transaction.transaction import StepFailed, Transaction
from . import drift_watch, file_changes, manifest, nodeadm, one_time_scripts, preflight, registration, steps, trust_store
from .drift_watch import DriftWatch
from .file_changes import Comparison, FileChange, Originals
from .manifest import Manifest, NodeadmSources
from .observe import NodeState, kubelet_due, observe
from .plan import UNIT_FOLDER, ImageScriptStep, Plan, ServiceStep, SnapStep
from .registration import RegistrationDecision
from .steps import StepContext, Work, WorkBuilder
from .validation import ValidationSandbox

PHASES = ("preflight", "configure", "validate", "start", "verify")

MIN_JOIN_WAIT = 0.01
"""Seconds: the shortest wait for a join in which a single check does not decide."""


class Options(NamedTuple):
    """What the caller wants. C(wait_timeout): seconds for C(wait_for), which is healthy, registered or ready.

    C(label): the SELinux context of a new file at a path, or None. C(drift): repair, report or ignore. C(lock_timeout): seconds.
    """

    plan: Plan
    phases: Collection[str]
    state: str = "present"
    restart: str = "when_changed"
    take_over: bool = False
    reconcile: bool = False
    wait_timeout: float = 5.0
    wait_for: str = "healthy"
    check_mode: bool = False
    diff: bool = False
    label: Callable[[str], str | None] = lambda path: None
    drift: str = "repair"
    lock_timeout: float = 0.0


class RunResult:
    """What the module returns; filled in while the run goes on. The documentation of the module describes the fields."""

    def __init__(self) -> None:
        self.changed = False
        self.actions: list[str] = []
        self.restarted: list[str] = []
        self.diff: list[Mapping[str, str]] = []
        self.warnings: list[str] = []
        self.healthy: bool | None = None
        self.missing: list[str] = []
        self.waited = 0.0
        self.join: dict[str, Any] | None = None
        self.recovered: str | None = None
        self.registration: dict[str, Any] | None = None
        self.facts = {"hostname": os.uname()[1]}
        self.evidence: list[str] = []
        self.foreign: dict[str, str] = {}
        self.drift: list[dict[str, Any]] = []

    def plain(self) -> dict[str, Any]:
        """The result as the module returns it. Warnings are returned in another way."""
        return {name: value for name, value in vars(self).items() if name != "warnings"}


class ApplyRun(NamedTuple):
    """What every part of a run needs: what to do, where the state of the node is stored, how to ask the node, and the result."""

    options: Options
    store: Store
    sandbox: ValidationSandbox
    identity: Identity
    result: RunResult

    @property
    def plan(self) -> Plan:
        return self.options.plan

    def has_phase(self, *phases: str) -> bool:
        """Whether one of these phases was requested."""
        return bool(set(phases) & set(self.options.phases))


def apply(options: Options, store: Store | None = None) -> RunResult:
    """Set the node up as planned, or remove everything from it. Raises ApplyRefused, RecoveryFailed, StepFailed or OSError."""
    preflight.check_python()
    preflight.check_system()
    store = store or Store()
    with store.lock(not options.check_mode, options.lock_timeout), ValidationSandbox(is_secret=options.plan.is_sensitive) as sandbox:
        run = ApplyRun(options, store, sandbox, Identity(), RunResult())
        current = _recover(run)
        if options.state == "absent":
            _remove(run, current)
        else:
            _set_up(run, current)
    return run.result


def _recover(run: ApplyRun) -> Manifest:
    """Finish or undo what an interrupted run has left. Returns the manifest of the node."""
    if not run.options.check_mode:
        run.result.recovered = run.store.recover()
    elif os.path.isdir(run.store.work):
        run.result.warnings.append("an interrupted run is finished or undone first, so more may happen than this result says")
    return manifest.parse(run.store.manifest(), os.path.join(run.store.folder, "manifest.json"))


# --- state: present ------------------------------------------------------------------------------------------------------------------


def _set_up(run: ApplyRun, current: Manifest) -> None:
    options, plan = run.options, run.plan
    node = observe(current, plan.units(), plan.kubelet_unit)
    preflight.check_machine(plan, node.os_release)
    run.result.warnings += trust_store.expiry_warnings(plan, time.time())
    decision = registration.decide(plan, node, options.take_over, options.reconcile, _checks_join(run))
    if decision.patched is not None and options.reconcile:
        run.result.registration = registration.node_patch(decision.patched, node.kubelet_argv, run.identity)
    has_started = False
    watch = DriftWatch(plan, options.drift, current)
    if run.has_phase("configure", "validate", "start"):
        node, has_started = _configure(run, node, decision, watch)
    if run.has_phase("verify") and not options.check_mode:
        _verify(run, node, decision, watch, has_started)
    run.result.changed = bool(run.result.actions or run.result.recovered)


def _checks_join(run: ApplyRun) -> bool:
    """Whether this run checks at its end that the node is in its cluster."""
    return run.has_phase("verify") and run.options.wait_for != "healthy"


def _configure(run: ApplyRun, node: NodeState, registered: RegistrationDecision, watch: DriftWatch) -> tuple[NodeState, bool]:
    """Change files and services. Returns the node as it was last observed, and whether something was started since then."""
    originals, comparison = _compare(run, node)
    preflight.check_units(run.plan, node.units)
    if run.has_phase("validate"):
        _validate(run, node, comparison.changes)
    if not run.has_phase("configure", "start"):
        return node, False
    if run.has_phase("configure") and not _was_set_up_by_user_data(node, comparison):
        current = _run_one_time_scripts(run, node.manifest)
        if current != node.manifest:
            # The scripts may have changed anything.
            node = observe(current, run.plan.units(), run.plan.kubelet_unit)
            originals, comparison = _compare(run, node)
    if not run.has_phase("configure"):
        _check_files_are_in_place(run, comparison.changes)
    watch.look(node, run.has_phase("start") and run.options.restart != "never")
    run.result.drift += watch.plain()
    run.result.warnings += watch.warnings()
    decision = _decide(run, node, comparison, originals, registered, watch)
    run.result.actions += decision.actions
    run.result.restarted += decision.work.restarted
    run.result.diff += decision.diffs if run.options.diff else []
    preflight.check_file_systems(decision.changes, decision.snapshots, run.store.folder, not decision.is_empty)
    if not run.options.check_mode and not decision.is_empty:
        _carry_out(run, decision)
    return node, decision.work.has_started


def _compare(run: ApplyRun, node: NodeState) -> tuple[Originals, Comparison]:
    originals = Originals(run.store, node.manifest)
    # A containerd that does not run is started anyway, whatever the change means to it.
    is_running = any(unit.is_up for name, unit in node.units.items() if name.startswith("containerd"))
    dump = run.sandbox.containerd_dump if is_running else None
    return originals, file_changes.compare(run.plan, node.manifest, originals, dump, run.options.label)


def _validate(run: ApplyRun, node: NodeState, changes: Sequence[FileChange]) -> None:
    """Let programs of the node read the files that are about to be written."""
    contents = {item.change.path: item.change.content for item in changes if item.change.content is not None}
    configurations = {file.path for file in run.plan.files if file.form == "containerd"}
    for path, content in sorted(contents.items()):
        if path in configurations:
            run.sandbox.check_containerd(path, content)
    units = {file.path: file.content for file in run.plan.files if file.form == "unit" and file.path.startswith(UNIT_FOLDER)}
    if any(path in units for path in contents):
        run.result.warnings += run.sandbox.check_units(units, files.read, list(node.units))
    if any(item.change.path.startswith(nodeadm.FOLDER + "/") for item in changes):
        before = nodeadm.documents(files.read)
        run.sandbox.check_nodeadm(nodeadm.documents_after(run.plan, [item.change for item in changes], before))


def _was_set_up_by_user_data(node: NodeState, comparison: Comparison) -> bool:
    """Whether the node is as planned before its first run. Then user data has run the one-time scripts."""
    return node.manifest.is_empty and not comparison.changes and node.kubelet is not None and node.kubelet.is_up


def _run_one_time_scripts(run: ApplyRun, current: Manifest) -> Manifest:
    """Run the scripts that have not run yet. Returns the manifest that records them."""
    for step in one_time_scripts.due(run.plan, current):
        run.result.actions.append(f"run {step.name}")
        if not run.options.check_mode:
            current = one_time_scripts.run(step, run.store, current)
    return current


def _check_files_are_in_place(run: ApplyRun, changes: Sequence[FileChange]) -> None:
    missing = [item.change.path for item in changes if item.current is None]
    if missing:
        raise ApplyRefused(f"{', '.join(missing[:3])} is not in place yet, so nothing can be started", "run the phase configure, too")
    if changes:
        run.result.warnings.append(
            f"{len(changes)} files differ from the plan ({changes[0].change.path}…): run the phase configure to change them"
        )


# --- decide ----------------------------------------------------------------------------------------------------------------------


class Decision(NamedTuple):
    """What a run changes on the node.

    C(changes), C(folders), C(snapshots): as in C(Transaction). C(manifest): the manifest afterwards. C(is_empty): there is nothing to do.
    """

    work: Work
    changes: list[Change]
    folders: list[tuple[str, int]]
    snapshots: list[str]
    manifest: Manifest
    is_empty: bool
    actions: list[str]
    diffs: list[Mapping[str, str]]


def _decide(
    run: ApplyRun,
    node: NodeState,
    comparison: Comparison,
    originals: Originals,
    registered: RegistrationDecision,
    watch: DriftWatch,
) -> Decision:
    plan, writes_files = run.plan, run.has_phase("configure")
    changes = comparison.changes if writes_files else []
    folders = file_changes.missing_folders(plan) if writes_files else []
    hold = not run.has_phase("start") or run.options.restart == "never"
    sources = _nodeadm_sources(run, node)
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
    )


def _summary(run: ApplyRun, node: NodeState, work: Work, after: Manifest) -> list[Mapping[str, str]]:
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
    return builder.build(reload)


def _nodeadm_sources(run: ApplyRun, node: NodeState) -> NodeadmSources | None:
    """Digests of the other sources of nodeadm; their texts go into the result. None if the plan does not run nodeadm."""
    if not run.plan.runs_nodeadm:
        return None
    sources = nodeadm.foreign_sources(run.plan, node.manifest, files.read)
    run.result.foreign.update(sources.texts)
    if sources.user_data:
        run.result.foreign["user_data"] = sources.user_data
    return sources.digests


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


# --- carry out -------------------------------------------------------------------------------------------------------------------


def _carry_out(run: ApplyRun, decision: Decision) -> None:
    work = decision.work
    run.store.prepare()
    transaction = Transaction(
        run.store, decision.changes, decision.folders, work.forward, work.back, decision.snapshots, decision.manifest.plain()
    )
    run_transaction(transaction, work.back, run.plan.kubelet_unit)


def run_transaction(transaction: Transaction, back: Sequence[Command], kubelet: str | None = None) -> None:
    """Run a transaction. A failure is raised as ApplyRefused with its cause. C(kubelet): the unit whose journal may contain the cause."""
    # One second earlier, since times in the journal are rounded.
    began = time.time() - 1
    undo_began: list[float] = []

    def progress(command: Command) -> None:
        if not undo_began and any(command is one for one in back):
            undo_began.append(time.time())

    try:
        transaction.run(progress)
    except StepFailed as failure:
        from . import failures

        raise failures.explain(failure, began, undo_began[0] if undo_began else None, kubelet) from None


# --- verify ----------------------------------------------------------------------------------------------------------------------


def _verify(run: ApplyRun, node: NodeState, registered: RegistrationDecision, watch: DriftWatch, has_started: bool) -> None:
    """Wait until the node is healthy and, if requested, in its cluster."""
    plan, result = run.plan, run.result
    if run.options.restart == "never" and not all(node.units[name].is_up for name in plan.verify.units):
        # With restart: never, stopped units are not reported as unhealthy.
        return
    current = manifest.parse(run.store.manifest(), os.path.join(run.store.folder, "manifest.json"))
    since = 0.0 if run.options.restart == "never" else kubelet_due(Host(), current.restarted)
    expected = health.Expected(plan.verify.units, plan.verify.healthz, plan.awaited_units, plan.kubelet_unit, since)
    known = None if has_started else {name: node.units[name] for name in expected.names}
    began = time.monotonic()
    result.missing = health.wait_until_healthy(expected, run.options.wait_timeout, known)
    result.waited = round(time.monotonic() - began, 3)
    result.healthy = not result.missing
    if result.missing:
        from . import crash_loop

        result.evidence = crash_loop.evidence(plan.verify.units)
    if run.options.wait_for != "healthy":
        remaining = run.options.wait_timeout - (time.monotonic() - began)
        result.join = _wait_for_join(run, remaining)
    is_verified = result.healthy and (result.join is None or result.join["cause"] is None)
    after = current
    if registered.joined is False and current.joined is False and result.join is not None and result.join["registered"]:
        after = after._replace(joined=True)
    if is_verified:
        result.warnings += watch.accepted()
        after = watch.verified(after)
    if after != current:
        run.store.prepare()
        Transaction(run.store, manifest=after.plain()).run()
    if is_verified:
        watch.check_repairs_last()


def _wait_for_join(run: ApplyRun, seconds: float) -> dict[str, Any]:
    from .._join import wait

    # If kubelet is not healthy, check the join once anyway: the result may show the cause.
    timeout = max(seconds, MIN_JOIN_WAIT) if run.result.healthy else MIN_JOIN_WAIT
    return dict(wait.wait(wait.Options(run.options.wait_for, timeout)))


# --- state: absent ---------------------------------------------------------------------------------------------------------------


def _remove(run: ApplyRun, current: Manifest) -> None:
    """Remove everything that the manifest lists."""
    if current.is_empty:
        return
    from . import removal

    node = observe(current, removal.units_of(current), current.kubelet)
    if current.cluster is not None:
        preflight.check_cluster(run.plan.cluster, node.membership, lambda: run.options.take_over or registration.has_never_joined(node))
    if not run.has_phase("configure", "start"):
        return
    originals = Originals(run.store, current)
    decision = removal.decide(current, originals, node.units)
    run.result.changed = True
    run.result.actions += decision.actions
    if run.options.diff:
        from . import diff_summary

        state = diff_summary.of_state(run.store.folder, recovery.UNIT_NAME, True, False)
        run.result.diff += [*(file_changes.diff_of(item) for item in decision.changes), *decision.diffs, *state]
    preflight.check_file_systems([item.change for item in decision.changes], (), run.store.folder, True)
    if not run.options.check_mode:
        run.store.prepare()
        changes = [item.change for item in decision.changes] + originals.changes(Manifest())
        run_transaction(Transaction(run.store, changes, (), decision.forward, decision.back, (), {}), decision.back)
        removal.remove_empty_folders(current.folders)
