# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The next step of create and delete, from what is observed, and the way to those of upgrade and recover.

The same observation gives the same step.

Nothing depends on how a state was reached, so a run that was killed anywhere is continued by the same command. What cannot be read is never
taken for absent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from . import move
from .decide_recover import decide_recover
from .decide_upgrade import decide_upgrade
from .decisions import REACH, REPAIR, RESTORE, machines_in_words, move_action, stop
from .move import NOTHING, Side
from .observed import Action, Container, Observed, Providers, Step


def decide(command: str, seen: Observed) -> Action:
    """The next step of a command: C(create), C(upgrade), C(delete) or C(recover)."""
    return _COMMANDS[command](seen)


# --- create ----------------------------------------------------------------------------------------------------------------------------


def _create(seen: Observed) -> Action:
    """The next step towards a cluster that manages itself."""
    target = seen.target_side
    if target is not None and target.is_running and (seen.bootstrap_side is None or seen.bootstrap_side.is_empty):
        # A container without an answer has nothing of value then: a move leaves the cluster paused until its source is empty.
        return _after_move(seen)
    if seen.bootstrap is not Container.RUNNING or seen.bootstrap_side is None:
        return _bootstrap_for_create(seen)
    if seen.bootstrap_providers is not Providers.READY:
        return Action(Step.INSTALL_ON_BOOTSTRAP)
    if seen.bootstrap_side.is_empty:
        return _without_objects(seen)
    if target is None:
        return _without_target(seen, seen.bootstrap_side)
    if not target.is_empty or seen.bootstrap_side.paused:
        # Only a move pauses the bootstrap side, or makes objects on the other one.
        return move_action(seen, move.decide(seen.bootstrap_side, target), seen.bootstrap_side, target)
    return _first_steps(seen) or _later_steps(seen, seen.bootstrap_side, target)


def _bootstrap_for_create(seen: Observed) -> Action:
    """The step that leads to a running bootstrap cluster, or a stop if the objects of existing machines would be lost."""
    target = seen.target_side
    if seen.bootstrap is Container.ABSENT:
        if target is not None and not target.is_empty:
            # The whole cluster, only paused, is the last moment of a move. A part of it is what is left of two halves.
            return move_action(seen, move.decide(NOTHING, target), NOTHING, target)
        if seen.has_machines:
            return stop(f"the bootstrap cluster is gone, and {machines_in_words(seen)}", f"{RESTORE}; or delete the machines by hand")
        return Action(Step.CREATE_BOOTSTRAP)
    if not seen.was_applied and not seen.has_machines and (target is None or target.is_empty):
        return Action(Step.REPLACE_BOOTSTRAP)
    if not seen.tried_start:
        return Action(Step.START_BOOTSTRAP)
    return stop("the bootstrap cluster does not answer, and it may have the objects of the cluster", REPAIR)


def _without_objects(seen: Observed) -> Action:
    """The bootstrap cluster runs, and has no objects of the cluster."""
    target = seen.target_side
    if target is not None and not target.is_empty:
        return move_action(seen, move.decide(NOTHING, target), NOTHING, target)
    if seen.has_machines:
        where = "no cluster has their objects" if target is not None else "the cluster, which may have their objects, cannot be reached"
        return stop(f"{machines_in_words(seen)}, and {where}", REACH if target is None else f"{RESTORE}; or delete the machines by hand")
    return Action(Step.APPLY_CLUSTER)


def _without_target(seen: Observed, source: Side) -> Action:
    """The cluster cannot be reached, because it is new, or because something is wrong."""
    if source.is_running:
        return _first_steps(seen) or stop("the cluster cannot be reached", REACH)
    if not seen.has_kubeconfig and source.paused is None and not seen.has_machines:
        # The objects were applied in part, without the Cluster.
        return Action(Step.APPLY_CLUSTER)
    if not seen.has_kubeconfig and seen.is_initialized:
        return Action(Step.SAVE_KUBECONFIG)
    return stop("a move was interrupted, and the cluster cannot be reached: what it has is not known", REACH)


def _first_steps(seen: Observed) -> Action | None:
    """The steps that need no access to the cluster, or None if they are done."""
    if not seen.is_applied:
        return Action(Step.APPLY_CLUSTER)
    if not seen.is_initialized:
        return Action(Step.WAIT_CONTROL_PLANE)
    # As early as possible: whatever fails later, the user can reach the cluster.
    return None if seen.has_kubeconfig else Action(Step.SAVE_KUBECONFIG)


def _later_steps(seen: Observed, source: Side, target: Side) -> Action:
    if not seen.has_network:
        return Action(Step.APPLY_NETWORK)
    if not seen.is_available:
        return Action(Step.WAIT_MACHINES)
    if seen.target_providers is not Providers.READY:
        return Action(Step.INSTALL_ON_CLUSTER)
    return move_action(seen, move.decide(source, target), source, target)


def _after_move(seen: Observed) -> Action:
    if not seen.has_kubeconfig:
        return Action(Step.SAVE_KUBECONFIG)
    if not seen.is_available:
        return Action(Step.WAIT_MACHINES)
    if not seen.config_written and not seen.is_changed:
        return Action(Step.WRITE_CONFIG)
    if seen.bootstrap is not Container.ABSENT:
        return Action(Step.DELETE_BOOTSTRAP)
    if seen.is_changed:
        return stop("the cluster exists, and differs from the file", "run eks_anywhere_upgrade; --check shows what it changes")
    if seen.packages_wanted and not seen.packages_installed:
        return Action(Step.INSTALL_PACKAGES)
    return Action(Step.DONE)


# --- delete ----------------------------------------------------------------------------------------------------------------------------


def _delete(seen: Observed) -> Action:
    """The next step towards no machines, no bootstrap cluster and no files."""
    source, target = seen.bootstrap_side, seen.target_side
    if seen.bootstrap is Container.DEBRIS or source is None:
        return _debris_for_delete(seen)
    if source.is_empty and (target is None or target.is_empty):
        return _after_delete(seen)
    if seen.bootstrap is Container.ABSENT:
        if target is None or not target.is_running:
            return stop("the cluster is paused or has only a part of its objects, and the bootstrap cluster is gone", RESTORE)
        return _siblings_of(seen) or Action(Step.CREATE_BOOTSTRAP)
    if seen.bootstrap_providers is not Providers.READY:
        return Action(Step.INSTALL_ON_BOOTSTRAP)
    if seen.is_deleting:
        return Action(Step.WAIT_DELETED)
    if target is None or target.is_empty:
        return _delete_from_bootstrap(seen, source)
    if source.is_empty and target.is_running and not seen.is_available:
        return Action(Step.WAIT_MACHINES)
    return (_siblings_of(seen) if source.is_empty and target.is_running else None) or move_action(
        seen, move.decide(target, source), target, source
    )


def _siblings_of(seen: Observed) -> Action | None:
    """The stop for a cluster that manages others: nothing would manage their machines any more."""
    if not seen.siblings:
        return None
    shown = ", ".join(sorted(seen.siblings))
    return stop(f"the cluster manages other clusters: {shown}", "delete them, or move them to another cluster (clusterctl move), first")


def _debris_for_delete(seen: Observed) -> Action:
    """The bootstrap cluster does not answer."""
    target = seen.target_side
    is_whole = target is not None and target.is_running
    if is_whole or (not seen.was_applied and not seen.has_machines and (target is None or target.is_empty)):
        # A move leaves the cluster paused until it has all its objects, so the container has nothing of value.
        return Action(Step.REPLACE_BOOTSTRAP) if is_whole else Action(Step.DELETE_BOOTSTRAP)
    if not seen.tried_start:
        return Action(Step.START_BOOTSTRAP)
    return stop("the bootstrap cluster does not answer, and it may have the objects of the cluster", REPAIR)


def _delete_from_bootstrap(seen: Observed, source: Side) -> Action:
    """The objects are in the bootstrap cluster, and the cluster has none or cannot be reached."""
    if source.is_running:
        return Action(Step.DELETE_CLUSTER)
    if source.paused is None and not seen.has_machines:
        # The objects were applied in part, without the Cluster.
        return Action(Step.DELETE_CLUSTER)
    if seen.target_side is None:
        return stop("a move was interrupted, and the cluster cannot be reached: what it has is not known", REACH)
    return move_action(seen, move.decide(seen.target_side, source), seen.target_side, source)


def _after_delete(seen: Observed) -> Action:
    """Neither side has objects, or the cluster cannot be reached. No object describes the machines that exist then."""
    if seen.has_machines:
        if seen.target_side is None:
            return stop(f"the cluster cannot be reached, and {machines_in_words(seen)}", f"{REACH}; or delete the machines by hand")
        return stop(f"{machines_in_words(seen)}, and no cluster has their objects", f"{RESTORE}; or delete the machines by hand")
    if seen.bootstrap is not Container.ABSENT:
        return Action(Step.DELETE_BOOTSTRAP)
    if seen.has_kubeconfig or seen.config_written:
        return Action(Step.REMOVE_FILES)
    return Action(Step.DONE)


_COMMANDS: Mapping[str, Callable[[Observed], Action]] = {
    "create": _create,
    "upgrade": decide_upgrade,
    "delete": _delete,
    "recover": decide_recover,
}
