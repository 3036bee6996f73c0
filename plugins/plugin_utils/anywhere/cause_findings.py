# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects of Cluster API have a problem, by their conditions, and in which order they depend on each other.

Reads the API versions v1beta1 and v1beta2. An object that is only waiting for another one comes after all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Object = Mapping[str, Any]
"""An object of Kubernetes as C(kubectl get -o json) prints it."""

_NEGATIVE = {"Paused", "Deleting", "RollingOut", "ScalingUp", "ScalingDown", "Remediating", "Updating", "MachinesSpecUpToDate"}
"""Conditions that are not a problem if they are false."""

_SUMMARIES = ("Available", "Ready")
"""Conditions that only sum up the others of an object."""

_CONTROL_PLANE = "cluster.x-k8s.io/control-plane"
"""The label of machines of a control plane and of their parts."""

_POD, _DEPLOYMENT = "Pod", "Deployment"
_ORDER = ("KubeadmControlPlane", "MachineSet", "MachineDeployment", "Cluster")
_PAUSED_RANK, _INFRASTRUCTURE_CLUSTER, _INFRASTRUCTURE_MACHINE, _BOOTSTRAP, _MACHINE, _FIRST_OWNER = 1, 2, 3, 4, 5, 6
_MANAGERS = ("capi-", "capd-", "capv-", "capt-", "capx-", "capas-", "cert-manager", "eksa-system", "etcdadm-", "kube-system")
_WAITS = ("waiting", "notready", "notavailable", "notinitialized", "notyet", "inprogress", "unknown", "connectiondown")


@dataclass(frozen=True)
class Finding:
    """A problem of an object. rank: 0 for what all others depend on. is_waiting: whether it is probably the effect of another one."""

    rank: int
    is_waiting: bool
    kind: str
    namespace: str
    name: str
    condition: str
    reason: str
    message: str
    since: str
    is_worker: bool = False

    @property
    def order(self) -> tuple[Any, ...]:
        """By which findings are sorted: the cause before its effects, and control planes before workers by the time of their creation."""
        return (self.is_waiting, self.rank, self.is_worker, self.since, self.kind, self.namespace, self.name)

    @property
    def text(self) -> str:
        """Everything that the object says."""
        return f"{self.condition} {self.reason}: {self.message}"


def findings(objects: Sequence[Object]) -> list[Finding]:
    """All problems, the most probable cause first."""
    return sorted((finding for one in objects for finding in _of(one)), key=lambda finding: finding.order)


def _of(one: Object) -> Iterator[Finding]:
    kind = str(one.get("kind") or "")
    if kind in (_POD, _DEPLOYMENT):
        if str(_meta(one).get("namespace") or "").startswith(_MANAGERS):
            yield from _pod(one) if kind == _POD else _conditions(one, 1)
        return
    rank = _rank(one, kind)
    if rank is None:
        return
    spec = one.get("spec") or {}
    if kind == "Cluster" and spec.get("paused"):
        yield _finding(one, _PAUSED_RANK, "Paused", "Paused", "Paused: spec.paused is true, so that no controller changes the cluster")
    if _meta(one).get("deletionTimestamp"):
        waits = ", ".join(_meta(one).get("finalizers") or ()) or "nothing"
        yield _finding(one, rank, "Deleting", "Deleting", f"is being deleted, and waits for the finalizers {waits}")
    status = one.get("status") or {}
    for source in (status, (status.get("deprecated") or {}).get("v1beta1") or {}):
        if source.get("failureMessage"):
            reason = str(source.get("failureReason") or "Failed")
            yield _finding(one, rank, "Failed", reason, str(source["failureMessage"]))
    yield from _conditions(one, rank)


def _rank(one: Object, kind: str) -> int | None:
    """The place of a kind in the order of dependence, None for kinds without a part in it."""
    group = str(one.get("apiVersion") or "").partition("/")[0]
    if not group.endswith("cluster.x-k8s.io"):
        return None
    if kind in _ORDER:
        return _FIRST_OWNER + _ORDER.index(kind)
    if group.startswith("infrastructure."):
        return _INFRASTRUCTURE_CLUSTER if kind.endswith("Cluster") else _INFRASTRUCTURE_MACHINE if kind.endswith("Machine") else None
    return {"KubeadmConfig": _BOOTSTRAP, "Machine": _MACHINE}.get(kind)


def _conditions(one: Object, rank: int) -> Iterator[Finding]:
    """The worst condition of an object that is not true."""
    status = one.get("status") or {}
    rows = [*((status.get("v1beta2") or {}).get("conditions") or ()), *(status.get("conditions") or ())]
    wrong = [row for row in rows if row.get("status") in ("False", "Unknown") and row.get("type") not in _NEGATIVE]
    if wrong:
        worst = min(wrong, key=lambda row: (row["type"] in _SUMMARIES, _is_waiting(row), row["status"] != "False"))
        message = str(worst.get("message") or "")
        yield _finding(one, rank, str(worst["type"]), str(worst.get("reason") or ""), message, is_waiting=_is_waiting(worst))


def _is_waiting(row: Mapping[str, Any]) -> bool:
    reason = str(row.get("reason") or "").lower()
    return row.get("severity") == "Info" or row.get("status") == "Unknown" or any(word in reason for word in _WAITS)


def _pod(one: Object) -> Iterator[Finding]:
    """Why a container of a pod does not run, or why the pod has no node."""
    status = one.get("status") or {}
    for row in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        waiting = (row.get("state") or {}).get("waiting") or {}
        last = (row.get("lastState") or {}).get("terminated") or {}
        reason = str(waiting.get("reason") or "")
        if reason and reason not in ("ContainerCreating", "PodInitializing"):
            message = f"{row.get('image', '')}: {waiting.get('message') or ''} {last.get('reason') or ''}".strip()
            yield _finding(one, 0, "ContainersReady", reason, f"failed to pull image {message}" if "Image" in reason else message)
            return
    for row in status.get("conditions") or ():
        if row.get("type") == "PodScheduled" and row.get("status") == "False":
            yield _finding(one, 0, "PodScheduled", str(row.get("reason") or ""), str(row.get("message") or ""))


def _finding(one: Object, rank: int, condition: str, reason: str, message: str, *, is_waiting: bool = False) -> Finding:
    meta = _meta(one)
    place = (str(one.get("kind")), str(meta.get("namespace") or ""), str(meta.get("name") or ""))
    is_worker = _CONTROL_PLANE not in (meta.get("labels") or {})
    return Finding(rank, is_waiting, *place, condition, reason, message, str(meta.get("creationTimestamp") or ""), is_worker)


def _meta(one: Object) -> Mapping[str, Any]:
    return one.get("metadata") or {}
