# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of C(apply_plan) on a node: observe, decide, validate, carry out, verify. Before the transaction, it only reads."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple, Sequence

from .._node import files, health, nodeadm_files
from .._node.errors import ApplyRefused
from .._node.host import Host
from .._node.placeholders import Identity
from .._transaction import recovery
from .._transaction.store import Store
from . import file_changes, manifest, nodeadm, one_time_scripts, preflight, registration, trust_store
from .apply_run import ApplyRun, Options, RunResult
from .decision import Decision, decide
from .drift_watch import DriftWatch
from .file_changes import Comparison, FileChange, Originals
from .manifest import Manifest
from .observe import NodeState, kubelet_due, observe
from .plan import UNIT_FOLDER
from .registration import RegistrationDecision
from .validation import ValidationSandbox

if TYPE_CHECKING:
    from .._join.model import JoinResult
    from .plan import OnceStep

MIN_JOIN_WAIT = 0.01
"""Seconds: the shortest wait for a join in which a single check does not decide."""


def apply(options: Options, store: Store | None = None) -> RunResult:
    """Set the node up as planned, or remove everything from it. Raises ApplyRefused, RecoveryFailed, StepFailed or OSError."""
    preflight.check_python()
    preflight.check_system()
    store = store or Store()
    with store.lock(not options.check_mode, options.lock_timeout), ValidationSandbox(is_secret=options.plan.is_sensitive) as sandbox:
        run = ApplyRun(options, store, sandbox, Identity())
        result = _recover(run)
        current = _read_manifest(run)
        return _remove(run, current, result) if options.state == "absent" else _set_up(run, current, result)


def _recover(run: ApplyRun) -> RunResult:
    """Finish or undo what an interrupted run has left. Returns the result so far."""
    if not run.options.check_mode:
        return RunResult(recovered=run.store.recover())
    if os.path.isdir(run.store.work):
        return RunResult(warnings=("an interrupted run is finished or undone first, so more may happen than this result says",))
    return RunResult()


def _read_manifest(run: ApplyRun) -> Manifest:
    return manifest.parse(run.store.manifest(), os.path.join(run.store.folder, "manifest.json"))


# --- state: present ------------------------------------------------------------------------------------------------------------------


class Configured(NamedTuple):
    """C(node): as it was last observed. C(has_started): whether something was started since then."""

    result: RunResult
    node: NodeState
    has_started: bool = False


def _set_up(run: ApplyRun, current: Manifest, result: RunResult) -> RunResult:
    options, plan = run.options, run.plan
    node = observe(current, plan.units(), plan.kubelet_unit)
    preflight.check_machine(plan, node.os_release)
    result = result.warn(trust_store.expiry_warnings(plan, time.time()))
    decision = registration.decide(plan, node, options.take_over, options.reconcile, _checks_join(run))
    if decision.patched is not None and options.reconcile:
        result = result._replace(registration=registration.node_patch(decision.patched, registration.node_name(node), run.identity))
    watch = DriftWatch(plan, options.drift, current)
    configured = Configured(result, node)
    if run.has_phase("configure", "validate", "start"):
        configured = _configure(run, configured, decision, watch)
    result = configured.result
    if run.has_phase("verify") and not options.check_mode:
        result = _verify(run, configured, decision, watch)
    return result._replace(changed=bool(result.actions or result.recovered))


def _checks_join(run: ApplyRun) -> bool:
    """Whether this run checks at its end that the node is in its cluster."""
    return run.has_phase("verify") and run.options.wait_for != "healthy"


def _configure(run: ApplyRun, before: Configured, registered: RegistrationDecision, watch: DriftWatch) -> Configured:
    """Change files and services."""
    result, node = before.result, before.node
    originals, comparison = _compare(run, node)
    preflight.check_units(run.plan, node.units)
    if run.has_phase("validate"):
        result = result.warn(_validate(run, node, comparison.changes))
    if not run.has_phase("configure", "start"):
        return Configured(result, node)
    if run.has_phase("configure") and not _was_set_up_by_user_data(node, comparison):
        due = one_time_scripts.due(run.plan, node.manifest)
        result = result.act(f"run {step.name}" for step in due)
        current = _run_one_time_scripts(run, due, node.manifest)
        if current != node.manifest:
            # The scripts may have changed anything.
            node = observe(current, run.plan.units(), run.plan.kubelet_unit)
            originals, comparison = _compare(run, node)
    if not run.has_phase("configure"):
        result = result.warn(_check_files_are_in_place(comparison.changes))
    watch.look(node, run.has_phase("start") and run.options.restart != "never")
    decision = decide(run, node, comparison, originals, registered, watch)
    result = result.warn(watch.warnings()).act(decision.actions)
    result = result._replace(
        drift=tuple(watch.found()),
        restarted=tuple(decision.work.restarted),
        diff=tuple(decision.diffs) if run.options.diff else (),
        foreign=decision.foreign,
    )
    preflight.check_file_systems(decision.changes, decision.snapshots, run.store.folder, not decision.is_empty)
    if not run.options.check_mode and not decision.is_empty:
        _carry_out(run, decision)
    return Configured(result, node, decision.work.has_started)


def _compare(run: ApplyRun, node: NodeState) -> tuple[Originals, Comparison]:
    originals = Originals(run.store, node.manifest)
    # A containerd that does not run is started anyway, whatever the change means to it.
    is_running = any(unit.is_up for name, unit in node.units.items() if name.startswith("containerd"))
    dump = run.sandbox.containerd_dump if is_running else None
    return originals, file_changes.compare(run.plan, node.manifest, originals, dump, run.options.label)


def _validate(run: ApplyRun, node: NodeState, changes: Sequence[FileChange]) -> Sequence[str]:
    """Let programs of the node read the files that are about to be written. Returns warnings."""
    warnings: Sequence[str] = ()
    contents = {item.change.path: item.change.content for item in changes if item.change.content is not None}
    configurations = {file.path for file in run.plan.files if file.form == "containerd"}
    for path, content in sorted(contents.items()):
        if path in configurations:
            run.sandbox.check_containerd(path, content)
    units = {file.path: file.content for file in run.plan.files if file.form == "unit" and file.path.startswith(UNIT_FOLDER)}
    if any(path in units for path in contents):
        warnings = run.sandbox.check_units(units, files.read, list(node.units))
    if any(item.change.path.startswith(nodeadm_files.DIRECTORY + "/") for item in changes):
        before = nodeadm.documents(files.read)
        run.sandbox.check_nodeadm(nodeadm.documents_after(run.plan, [item.change for item in changes], before))
    return warnings


def _was_set_up_by_user_data(node: NodeState, comparison: Comparison) -> bool:
    """Whether the node is as planned before its first run. Then user data has run the one-time scripts."""
    return node.manifest.is_empty and not comparison.changes and node.kubelet is not None and node.kubelet.is_up


def _run_one_time_scripts(run: ApplyRun, due: Sequence[OnceStep], current: Manifest) -> Manifest:
    """Run the scripts that have not run yet. Returns the manifest that records them."""
    for step in due if not run.options.check_mode else ():
        current = one_time_scripts.run(step, run.store, current)
    return current


def _check_files_are_in_place(changes: Sequence[FileChange]) -> Sequence[str]:
    """Raise ApplyRefused if a file is missing. Returns warnings about other files."""
    missing = [item.change.path for item in changes if item.current is None]
    if missing:
        raise ApplyRefused(f"{', '.join(missing[:3])} is not in place yet, so nothing can be started", "run the phase configure, too")
    if not changes:
        return ()
    return (f"{len(changes)} files differ from the plan ({changes[0].change.path}…): run the phase configure to change them",)


# --- carry out -------------------------------------------------------------------------------------------------------------------


def _carry_out(run: ApplyRun, decision: Decision) -> None:
    work = decision.work
    run.store.prepare()
    from . import transactions

    transaction = transactions.Transaction(
        run.store, decision.changes, decision.folders, work.forward, work.back, decision.snapshots, decision.manifest.plain()
    )
    transactions.run(transaction, work.back, run.plan.kubelet_unit)


# --- verify ----------------------------------------------------------------------------------------------------------------------


def _verify(run: ApplyRun, configured: Configured, registered: RegistrationDecision, watch: DriftWatch) -> RunResult:
    """Wait until the node is healthy and, if requested, in its cluster."""
    plan, result, node = run.plan, configured.result, configured.node
    if run.options.restart == "never" and not all(node.units[name].is_up for name in plan.verify.units):
        # With restart: never, stopped units are not reported as unhealthy.
        return result
    current = _read_manifest(run)
    since = 0.0 if run.options.restart == "never" else kubelet_due(Host(), current.restarted)
    expected = health.Expected(plan.verify.units, plan.verify.healthz, plan.awaited_units, plan.kubelet_unit, since)
    known = None if configured.has_started else {name: node.units[name] for name in expected.names}
    began = time.monotonic()
    missing = tuple(health.wait_until_healthy(expected, run.options.wait_timeout, known))
    result = result._replace(missing=missing, waited=round(time.monotonic() - began, 3), healthy=not missing)
    if missing:
        from . import crash_loop

        result = result._replace(evidence=tuple(crash_loop.evidence(plan.verify.units)))
    join = None
    if run.options.wait_for != "healthy":
        remaining = run.options.wait_timeout - (time.monotonic() - began)
        join = _wait_for_join(run, remaining, not missing)
        result = result._replace(join=join)
    is_verified = not missing and (join is None or join.finding is None)
    after = current
    if registered.joined is False and current.joined is False and join is not None and join.is_registered:
        after = after._replace(joined=True)
    if is_verified:
        result = result.warn(watch.accepted())
        after = watch.verified(after)
    if after != current:
        from . import transactions

        transactions.write_manifest(run.store, after)
    if is_verified:
        watch.check_repairs_last()
    return result


def _wait_for_join(run: ApplyRun, seconds: float, is_healthy: bool) -> JoinResult:
    from .._join import wait

    # If kubelet is not healthy, check the join once anyway: the result may show the cause.
    timeout = max(seconds, MIN_JOIN_WAIT) if is_healthy else MIN_JOIN_WAIT
    return wait.wait(wait.Options(run.options.wait_for, timeout))


# --- state: absent ---------------------------------------------------------------------------------------------------------------


def _remove(run: ApplyRun, current: Manifest, result: RunResult) -> RunResult:
    """Remove everything that the manifest lists."""
    if current.is_empty:
        return result
    from . import removal, transactions

    node = observe(current, removal.units_of(current), current.kubelet)
    if current.cluster is not None:
        preflight.check_cluster(run.plan.cluster, node.membership, lambda: run.options.take_over or registration.has_never_joined(node))
    if not run.has_phase("configure", "start"):
        return result
    originals = Originals(run.store, current)
    decision = removal.decide(current, originals, node.units)
    result = result._replace(changed=True).act(decision.actions)
    if run.options.diff:
        from . import diff_summary

        state = diff_summary.of_state(run.store.folder, recovery.UNIT_NAME, True, False)
        result = result._replace(diff=(*(file_changes.diff_of(item) for item in decision.changes), *decision.diffs, *state))
    preflight.check_file_systems([item.change for item in decision.changes], (), run.store.folder, True)
    if not run.options.check_mode:
        run.store.prepare()
        changes = [item.change for item in decision.changes] + originals.changes(Manifest())
        transaction = transactions.Transaction(run.store, changes, (), decision.forward, decision.back, (), {})
        transactions.run(transaction, decision.back)
        removal.remove_empty_folders(current.folders)
    return result
