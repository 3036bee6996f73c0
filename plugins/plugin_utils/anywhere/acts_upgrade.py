# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the steps of an upgrade and of a recovery do on the admin machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .acts import Plan, Work, apply_objects, wait_for
from .observed import Step
from .upgrade_plan import control_plane_part


def _cluster(plan: Plan) -> dict[str, Any]:
    return {"kubeconfig": plan.kubeconfig, "namespace": plan.namespace, "name": plan.name}


def _save_backup(work: Work) -> None:
    plan = work.plan
    work.step("back_up", **_cluster(plan), backup=plan.backup, digest=plan.digest)


def _upgrade_providers(work: Work) -> None:
    plan = work.plan
    work.module("clusterctl_upgrade", kubeconfig=plan.kubeconfig, providers=list(plan.providers), config=plan.clusterctl_config,
                cert_manager_version=plan.cert_manager or None, environment=dict(plan.environment),
                timeout=plan.timeouts.providers)  # fmt: skip


def _remove(work: Work, names: list[str]) -> None:
    work.step("remove_objects", **_cluster(work.plan), names=names)


def _restore(work: Work) -> None:
    plan = work.plan
    kubeconfig = plan.bootstrap_kubeconfig if work.action.of == "bootstrap" else plan.kubeconfig
    work.step("restore", **_cluster(plan) | {"kubeconfig": kubeconfig}, backup=work.seen["backup"], timeout=plan.timeouts.move)


def _pause(work: Work) -> None:
    work.step("pause", **_cluster(work.plan))


def _remove_backup(work: Work) -> None:
    work.step("remove_backup", backup=work.plan.backup, digest=work.plan.digest)


def resume_siblings(plan: Plan, step: Callable[..., Mapping[str, Any]]) -> None:
    """Resume the other clusters that a run paused."""
    step("resume", **_cluster(plan))


UPGRADE_ACTS: Mapping[Step, Callable[[Work], None]] = {
    Step.SAVE_BACKUP: _save_backup,
    Step.PAUSE_SIBLINGS: _pause,
    Step.RESUME_SIBLINGS: lambda work: resume_siblings(work.plan, work.step),
    Step.UPGRADE_PROVIDERS: _upgrade_providers,
    Step.APPLY_CONTROL_PLANE: lambda work: apply_objects(work, work.plan.kubeconfig, control_plane_part(work.plan.objects)),
    Step.WAIT_CONTROL_PLANE_READY: lambda work: wait_for(work, "control_plane_ready", work.plan.kubeconfig, work.plan.timeouts.machines),
    Step.APPLY_WORKERS: lambda work: apply_objects(work, work.plan.kubeconfig, work.plan.objects),
    Step.REMOVE_GROUPS: lambda work: _remove(work, work.seen["upgrade"]["removed_groups"]),
    Step.REMOVE_LEFTOVERS: lambda work: _remove(work, work.seen["upgrade"]["leftovers"]),
    Step.REMOVE_BACKUP: _remove_backup,
    Step.RESTORE_BACKUP: _restore,
}
