# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The next step of a recovery: from whatever an interrupted command left to one side that has all objects and is running.

It does not go on with the command. It stops where it cannot know.
"""

from __future__ import annotations

from . import move
from .decisions import REACH, REPAIR, RESTORE, has_all_machines, machines_in_words, move_action, stop
from .move import NOTHING, MoveStep, Side
from .observed import Action, Container, Observed, Providers, Step


def decide_recover(seen: Observed) -> Action:
    """The next step."""
    if seen.paused_siblings and seen.target_side is not None:
        # Whatever else is wrong, the other clusters must not stay paused.
        return Action(Step.RESUME_SIBLINGS)
    if seen.bootstrap_side is None:
        return _without_answer(seen)
    if seen.target_side is None:
        return _without_target(seen, seen.bootstrap_side)
    if seen.bootstrap_side.is_empty and seen.target_side.is_empty:
        return _without_objects(seen)
    return _both_sides(seen, seen.bootstrap_side, seen.target_side)


def _without_answer(seen: Observed) -> Action:
    """The container of the bootstrap cluster is there, and its API server does not answer."""
    target = seen.target_side
    if target is not None and target.is_running:
        # A move leaves the cluster paused until it has all its objects, so the container has nothing of value.
        return _kubeconfig(seen)
    if not seen.was_applied and not seen.has_machines and (target is None or target.is_empty):
        return Action(Step.DONE)
    if not seen.tried_start:
        return Action(Step.START_BOOTSTRAP)
    return stop("the bootstrap cluster does not answer, and it may have the objects of the cluster", REPAIR)


def _without_target(seen: Observed, source: Side) -> Action:
    """The cluster cannot be reached, because it is new or gone, or because something is wrong."""
    if source.is_empty:
        return _without_objects(seen)
    if not source.paused:
        return _kubeconfig(seen)
    if not seen.has_kubeconfig and seen.is_initialized:
        return Action(Step.SAVE_KUBECONFIG)
    return stop("a move was interrupted, and the cluster cannot be reached: what it has is not known", REACH)


def _kubeconfig(seen: Observed) -> Action:
    """A side is running. The kubeconfig is saved if it is missing."""
    return Action(Step.SAVE_KUBECONFIG) if seen.is_initialized and not seen.has_kubeconfig else Action(Step.DONE)


def _without_objects(seen: Observed) -> Action:
    """No side that answers has objects."""
    if not seen.has_machines:
        return Action(Step.DONE)
    if seen.target_side is None and seen.has_kubeconfig:
        return stop(f"{machines_in_words(seen)}, and the cluster, which may have their objects, cannot be reached", REACH)
    if not seen.backup:
        message = f"{machines_in_words(seen)}, and no cluster has their objects, and no backup has exactly these machines"
        return stop(message, "restore another backup (clusterctl move --from-directory), or delete the machines by hand")
    if seen.target_side is not None:
        is_ready = seen.target_providers is Providers.READY
        return Action(Step.RESTORE_BACKUP, of="target") if is_ready else Action(Step.INSTALL_ON_CLUSTER)
    if seen.bootstrap is Container.ABSENT:
        return Action(Step.CREATE_BOOTSTRAP)
    is_ready = seen.bootstrap_providers is Providers.READY
    return Action(Step.RESTORE_BACKUP, of="bootstrap") if is_ready else Action(Step.INSTALL_ON_BOOTSTRAP)


def _both_sides(seen: Observed, bootstrap: Side, target: Side) -> Action:
    """At least one side has objects. A move is undone while its source is complete, and finished afterwards."""
    if target.is_running and bootstrap.is_empty:
        return _kubeconfig(seen)
    if bootstrap.is_empty and seen.interrupted not in ("create", "delete"):
        return stop("the cluster is paused, and no move was interrupted", "set spec.paused of its Cluster to false")
    if seen.bootstrap is Container.ABSENT and not has_all_machines(seen, target):
        # Without the bootstrap cluster, nothing else says whether the copy was complete.
        return stop("the cluster is paused and has only a part of its objects, and the bootstrap cluster is gone", RESTORE)
    of = "delete" if seen.interrupted == "delete" else "create"
    source, destination = (target, bootstrap) if of == "delete" else (bootstrap, target)
    if not source.is_empty and destination.objects <= source.objects:
        decision = move.decide_roll_back(source, destination)
    else:
        decision = move.decide(source if not source.is_empty else NOTHING, destination)
    return _kubeconfig(seen) if decision.step is MoveStep.DONE else move_action(seen, decision, source, destination, of)
