# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods that are left, that are lost, that take too long, or that come back."""

from __future__ import annotations

from collections.abc import Iterator

from ..workloads.model import Pod, Taint
from .budgets import workload
from .finding import BLOCKS, LOSES_DATA, NOTICE, Finding, Scope, plural, seconds, seconds_since_epoch

_CORDONED = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
_STUCK_AFTER = 60.0
"""Seconds after its grace period, when a pod that is being deleted counts as stuck."""

_NOTHING_TO_DO = "you do not have to do anything"
_HARMLESS_FINALIZERS = ("batch.kubernetes.io/job-tracking",)


def tolerates_cordon(pod: Pod) -> bool:
    """Does the scheduler place the pod on a cordoned node?"""
    return any(one.tolerates(_CORDONED) for one in pod.tolerations)


def is_orphan(pod: Pod, scope: Scope) -> bool:
    """Does the pod belong to a DaemonSet that does not exist any more?"""
    known = scope.cluster.daemon_sets
    return pod.is_of_daemon_set and known is not None and pod.owner is not None and (pod.namespace, pod.owner.name) not in known


def findings(scope: Scope) -> Iterator[Finding]:
    """All rules about single pods."""
    for pod in scope.pods():
        if pod.is_mirror:
            yield _found(pod, "drain.static_pod", NOTICE, "it is a static pod of kubelet and is left on the node", _NOTHING_TO_DO)
        elif pod.deleted_at:
            yield from _terminating(pod, scope)
        elif pod.is_completed:
            yield _found(pod, "drain.completed_pod", NOTICE, "it has completed; the drain deletes it with its logs", _NOTHING_TO_DO)
        elif pod.is_of_daemon_set and not is_orphan(pod, scope):
            reason = f"it belongs to {workload(pod)} and is left on the node"
            yield _found(pod, "drain.daemon_set_pod", NOTICE, reason, _NOTHING_TO_DO)
        else:
            yield from _running(pod, scope)


def _found(pod: Pod, rule: str, severity: str, reason: str, fix: str) -> Finding:
    return Finding(rule, severity, pod.full_name, pod.node, reason, fix)


def _running(pod: Pod, scope: Scope) -> Iterator[Finding]:
    settings = scope.settings
    if pod.owner is None or pod.is_of_daemon_set:
        severity = LOSES_DATA if settings.delete_unmanaged_pods else BLOCKS
        missing = "it has no controller" if pod.owner is None else f"its controller {workload(pod)} does not exist"
        fix = "create it by a controller such as a Deployment, delete it, or set delete_unmanaged_pods: true"
        yield _found(pod, "drain.unmanaged_pod", severity, f"{missing}, so nothing creates it again", fix)
    elif tolerates_cordon(pod):
        reason = f"{workload(pod)} tolerates the taint of cordoned nodes, so its pods come back to the node"
        fix = f"limit the tolerations of {workload(pod)}, or make it a DaemonSet"
        yield _found(pod, "drain.tolerates_every_taint", BLOCKS, reason, fix)
    if pod.empty_dirs:
        severity = LOSES_DATA if settings.delete_emptydir_data else BLOCKS
        reason = f"the data in emptyDir volumes is lost ({', '.join(pod.empty_dirs)})"
        yield _found(pod, "drain.empty_dir", severity, reason, "set delete_emptydir_data: true if the data is not needed")
    if pod.host_paths:
        reason = f"its files on the node do not move with it ({', '.join(pod.host_paths)})"
        yield _found(pod, "drain.host_path", LOSES_DATA, reason, "check that the pod does not need the files on another node")
    if pod.is_not_safe_to_evict:
        reason = "the annotation cluster-autoscaler.kubernetes.io/safe-to-evict is false"
        yield _found(pod, "drain.not_safe_to_evict", LOSES_DATA, reason, "drain the node when the pod has finished its work")
    if pod.is_not_to_disrupt:
        reason = "the annotation karpenter.sh/do-not-disrupt is true"
        yield _found(pod, "drain.do_not_disrupt", LOSES_DATA, reason, "drain the node when the pod has finished its work")
    if pod.owner is not None and pod.owner.kind == "Job":
        reason = f"{workload(pod)} starts again on another node, and the work so far is lost"
        yield _found(pod, "drain.job_pod", LOSES_DATA, reason, "drain the node when the job has finished")
    if pod.grace > settings.timeout:
        reason = f"it may take {seconds(pod.grace)} to end, longer than the timeout of {seconds(settings.timeout)}"
        yield _found(pod, "drain.long_grace_period", BLOCKS, reason, f"set timeout to more than {seconds(pod.grace)}")
    finalizers = [name for name in pod.finalizers if name not in _HARMLESS_FINALIZERS]
    if finalizers:
        reason = f"it stays until a controller removes its {plural(len(finalizers), 'finalizer')} ({', '.join(finalizers)})"
        yield _found(pod, "drain.finalizer", NOTICE, reason, "check that the controller runs")


def _terminating(pod: Pod, scope: Scope) -> Iterator[Finding]:
    """C(deletionTimestamp) already contains the grace period."""
    due = seconds_since_epoch(pod.deleted_at)
    if due is None or scope.settings.now <= due + _STUCK_AFTER:
        return
    node = scope.cluster.nodes.get(pod.node)
    if pod.finalizers:
        reason, fix = f"finalizers keep it ({', '.join(pod.finalizers)})", "repair the controller that removes the finalizers"
    elif node is not None and not node.is_ready:
        reason, fix = "kubelet of its node does not confirm the end", "repair the node, or delete the Node if the instance is gone"
    else:
        reason, fix = "its containers do not end", "look into the log of kubelet on the node"
    age = seconds(scope.settings.now - due)
    yield _found(pod, "drain.stuck_terminating", BLOCKS, f"it should have ended {age} ago: {reason}", fix)
