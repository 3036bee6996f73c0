# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The decisions of a drain, without clock and network: which pods to evict now, which to wait for, and when it has failed.

A driver, such as C(run), calls in this order:

1. C(drain = begin(node, pods, settings, now)) after the node was cordoned. pods: of the node, as C(workloads.pods.read_pod) reads them.
2. C(turn = step(drain, pods, daemon_sets, now)) with the pods that are on the node now. Then C(drain = turn.drain).
3. For each of C(turn.requests): send it (C(EVICT): POST of an Eviction with the UID as precondition; C(DELETE): DELETE with the UID as
   precondition), and C(drain = record(drain, request, answer, now)).
4. If C(turn.outcome) is set, the drain has ended: C(DRAINED), or C(FAILED) with the pods and reasons of C(turn.left). Otherwise wait
   C(turn.wait) seconds, read the pods of the node again, and go on with 2. C(turn.left) names the pods that are still there, for progress.

C(refused(pods, settings, daemon_sets)) says before anything is changed which pods the settings do not allow to remove.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..workloads.model import Pod
from .budgets import workload
from .finding import Settings, seconds
from .pods import tolerates_cordon

EVICT, DELETE = "evict", "delete"
DRAINED, FAILED = "drained", "failed"

POLL_SECONDS = 2.0
"""The longest wait between two looks at the pods."""

RETRY_SECONDS = 5.0
"""The wait after a refusal that does not name one."""

DELETE_SECONDS = 60.0
"""How much longer than their grace period deleted pods may take."""

_SEVERAL_BUDGETS = "more than one PodDisruptionBudget"
_FINAL = (400, 403, 405, 422)
"""Statuses after which the same request would fail again."""

DaemonSets = frozenset[tuple[str, str]] | None


class Request(NamedTuple):
    """What to send now. kind: C(EVICT) or C(DELETE)."""

    kind: str
    pod: Pod


class Answer(NamedTuple):
    """What the API server answered. status: 0 without an answer. message: why it refused."""

    status: int
    message: str = ""
    retry_after: float | None = None


class Left(NamedTuple):
    """A pod that is still on the node, and why. is_final: waiting does not help."""

    pod: Pod
    reason: str
    is_final: bool = False


class Track(NamedTuple):
    """What is known of a pod. next_at: when to ask again. reason: of the last refusal."""

    reason: str
    next_at: float
    is_final: bool = False


class Drain(NamedTuple):
    """A drain in progress. controllers: UIDs of the controllers of the pods at its start. deleted_at: when pods were deleted, 0 if not."""

    node: str
    settings: Settings
    started: float
    initial: frozenset[str]
    controllers: frozenset[str]
    tracks: Mapping[str, Track]
    deleted_at: float = 0.0


class Turn(NamedTuple):
    """The result of one step. outcome: '' while the drain goes on."""

    drain: Drain
    requests: tuple[Request, ...]
    left: tuple[Left, ...]
    wait: float
    outcome: str


def begin(node: str, pods: Iterable[Pod], settings: Settings, now: float) -> Drain:
    """A drain that starts now."""
    found = list(pods)
    owners = frozenset(pod.owner.uid for pod in found if pod.owner is not None)
    return Drain(node, settings, now, frozenset(pod.uid for pod in found), owners, {})


def stays(pod: Pod, daemon_sets: DaemonSets) -> bool:
    """Is the pod left on the node? Static pods and pods of existing DaemonSets would come back at once."""
    if pod.is_mirror:
        return True
    if not pod.is_of_daemon_set or pod.owner is None:
        return False
    return daemon_sets is None or (pod.namespace, pod.owner.name) in daemon_sets


def refused(pods: Iterable[Pod], settings: Settings, daemon_sets: DaemonSets) -> tuple[Left, ...]:
    """The pods that the settings do not allow to remove."""
    found = ((pod, _not_allowed(pod, settings)) for pod in pods if not stays(pod, daemon_sets))
    return tuple(Left(pod, reason, True) for pod, reason in found if reason)


def _not_allowed(pod: Pod, settings: Settings) -> str:
    if pod.is_completed or pod.deleted_at:
        return ""
    reasons = []
    if (pod.owner is None or pod.is_of_daemon_set) and not settings.delete_unmanaged_pods:
        reasons.append("nothing creates it again, and delete_unmanaged_pods is false")
    if pod.empty_dirs and not settings.delete_emptydir_data:
        reasons.append(f"it has data in emptyDir volumes ({', '.join(pod.empty_dirs)}), and delete_emptydir_data is false")
    return "; ".join(reasons)


def step(drain: Drain, pods: Iterable[Pod], daemon_sets: DaemonSets, now: float) -> Turn:
    """What to do with the pods that are on the node now."""
    settings = drain.settings
    present = [pod for pod in pods if not stays(pod, daemon_sets)]
    is_late = now - drain.started >= settings.timeout
    deletes = is_late and settings.delete_after_timeout and not drain.deleted_at
    left = [_left(drain, pod, now) for pod in present]
    if deletes:
        drain = drain._replace(deleted_at=now)
        requests = [Request(DELETE, one.pod) for one in left if _may_delete(one.pod, settings, drain)]
    elif is_late:
        requests = []
    else:
        requests = [Request(EVICT, one.pod) for one in left if _is_due(drain, one, now)]
    waits_for = [one for one in left if not one.is_final or (settings.delete_after_timeout and not is_late)]
    ignored = settings.delete_after_timeout and is_late
    outcome = _outcome([one for one in left if not (ignored and _comes_back(drain, one.pod))], waits_for, drain, now)
    return Turn(drain, tuple(requests), tuple(left), _wait(drain, present, now), "" if requests else outcome)


def _outcome(left: list[Left], waits_for: list[Left], drain: Drain, now: float) -> str:
    if not left:
        return DRAINED
    return FAILED if not waits_for or now >= _deadline(drain, left) else ""


def _deadline(drain: Drain, left: list[Left]) -> float:
    """When the drain fails. Deleted pods have their grace period, and some time for kubelet to confirm the end."""
    if drain.deleted_at:
        return drain.deleted_at + max((one.pod.grace for one in left), default=0) + DELETE_SECONDS
    # With delete_after_timeout, the next step deletes.
    return drain.started + drain.settings.timeout + (1.0 if drain.settings.delete_after_timeout else 0.0)


def _left(drain: Drain, pod: Pod, now: float) -> Left:
    if pod.deleted_at:
        if pod.finalizers:
            return Left(pod, f"it is ending, and waits for its finalizers ({', '.join(pod.finalizers)})")
        return Left(pod, f"it is ending, and has {seconds(pod.grace)} for that")
    not_allowed = _not_allowed(pod, drain.settings)
    if not_allowed:
        return Left(pod, not_allowed, True)
    if _comes_back(drain, pod):
        return Left(pod, f"{workload(pod)} tolerates the taint of cordoned nodes, so its pods come back", True)
    track = drain.tracks.get(pod.uid)
    return Left(pod, track.reason, track.is_final) if track is not None else Left(pod, "it is evicted now")


def _comes_back(drain: Drain, pod: Pod) -> bool:
    """Was the pod created on the node during the drain, in place of an evicted one?"""
    is_new = pod.uid not in drain.initial and not pod.deleted_at
    return is_new and pod.owner is not None and pod.owner.uid in drain.controllers and tolerates_cordon(pod)


def _is_due(drain: Drain, one: Left, now: float) -> bool:
    """Is an eviction to be sent? A pod that is ending needs none."""
    if one.is_final or one.pod.deleted_at:
        return False
    track = drain.tracks.get(one.pod.uid)
    return track is None or now >= track.next_at


def _may_delete(pod: Pod, settings: Settings, drain: Drain) -> bool:
    return not pod.deleted_at and not _not_allowed(pod, settings) and not _comes_back(drain, pod)


def _wait(drain: Drain, present: list[Pod], now: float) -> float:
    """Until the next request is due, at most until the next look."""
    return min([POLL_SECONDS, *_due_in(drain, present, now)])


def _due_in(drain: Drain, present: list[Pod], now: float) -> Iterator[float]:
    for pod in present:
        track = drain.tracks.get(pod.uid)
        if track is not None and not track.is_final and track.next_at > now:
            yield max(0.1, track.next_at - now)
    yield max(0.1, drain.started + drain.settings.timeout - now) if now < drain.started + drain.settings.timeout else POLL_SECONDS


def record(drain: Drain, request: Request, answer: Answer, now: float) -> Drain:
    """The drain after an answer. 404 and 409 mean that this pod is gone: its UID is the precondition."""
    later = now + (answer.retry_after or RETRY_SECONDS)
    if 200 <= answer.status < 300 or answer.status in (404, 409):
        track = Track("it is ending", later)
    elif answer.status == 500 and _SEVERAL_BUDGETS in answer.message:
        track = Track("several PodDisruptionBudgets select it, and the eviction API does not support that", later, True)
    elif answer.status in _FINAL:
        track = Track(answer.message, later, True)
    else:
        track = Track(answer.message or "the API server does not answer", later)
    return drain._replace(tracks={**drain.tracks, request.pod.uid: track})
