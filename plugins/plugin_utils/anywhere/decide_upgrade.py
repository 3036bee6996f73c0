# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The next step of an upgrade of a cluster that manages itself. It needs no bootstrap cluster (EKS Anywhere since v0.18)."""

from __future__ import annotations

from .decisions import REACH, stop
from .observed import Action, Observed, Providers, Step


def decide_upgrade(seen: Observed) -> Action:
    """The next step."""
    problem = _problem(seen)
    if problem is not None:
        # Whatever stops the run, the other clusters must not stay paused.
        return Action(Step.RESUME_SIBLINGS) if seen.paused_siblings and seen.target_side is not None else problem
    return _before(seen) or _control_plane(seen) or _workers(seen) or _after(seen)


def _problem(seen: Observed) -> Action | None:
    target = seen.target_side
    if target is None:
        if not seen.has_kubeconfig and not seen.has_machines:
            return stop("the cluster does not exist", "run eks_anywhere_create")
        return stop("the cluster cannot be reached", REACH)
    if seen.bootstrap_side is None or not seen.bootstrap_side.is_empty:
        message = "a bootstrap cluster may have objects of the cluster: a create or delete was not finished"
        return stop(message, "run that command again first, or eks_anywhere_recover; never delete the bootstrap cluster")
    if target.is_empty:
        return stop("the cluster does not manage itself", "run eks_anywhere_create again first")
    if not target.is_running:
        return stop("the cluster is paused", "run eks_anywhere_recover, or set spec.paused of its Cluster to false, and run again")
    return None


def _changes(seen: Observed) -> bool:
    """Is there something that changes objects or machines? To wait for machines alone needs no backup."""
    is_old = seen.target_providers is not Providers.READY
    return is_old or not seen.is_plane_applied or not seen.is_applied or seen.removed_groups


def _before(seen: Observed) -> Action | None:
    if _changes(seen) and not seen.has_backup:
        return Action(Step.SAVE_BACKUP)
    if _changes(seen) and seen.running_siblings:
        return Action(Step.PAUSE_SIBLINGS)
    return Action(Step.UPGRADE_PROVIDERS) if seen.target_providers is not Providers.READY else None


def _control_plane(seen: Observed) -> Action | None:
    """kubelet must not be newer than the API server, so no worker changes before the whole control plane has changed."""
    if not seen.is_plane_applied:
        return Action(Step.APPLY_CONTROL_PLANE)
    if not seen.is_plane_ready:
        return Action(Step.WAIT_CONTROL_PLANE_READY)
    return None if seen.has_network else Action(Step.APPLY_NETWORK)


def _workers(seen: Observed) -> Action | None:
    if not seen.is_applied:
        return Action(Step.APPLY_WORKERS)
    if seen.removed_groups:
        return Action(Step.REMOVE_GROUPS)
    if not seen.is_available:
        return Action(Step.WAIT_MACHINES)
    # Machines refer to the old templates until they are replaced.
    return Action(Step.REMOVE_LEFTOVERS) if seen.has_leftovers else None


def _after(seen: Observed) -> Action:
    if seen.paused_siblings:
        return Action(Step.RESUME_SIBLINGS)
    if not seen.config_written:
        return Action(Step.WRITE_CONFIG)
    if seen.packages_wanted and not seen.packages_installed:
        return Action(Step.INSTALL_PACKAGES)
    # It has private keys, and the next upgrade must not take it for its own.
    return Action(Step.REMOVE_BACKUP) if seen.has_backup else Action(Step.DONE)
