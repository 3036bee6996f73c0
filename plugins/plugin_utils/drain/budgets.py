# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the eviction API answers for a pod, because of its PodDisruptionBudgets.

Source: C(pkg/registry/core/pod/storage/eviction.go) of Kubernetes 1.30 to 1.36. A test compares every verdict with a real API server.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..workloads.model import Budget, Cluster, Pod
from .finding import BLOCKS, Finding, Question, Scope

_MOST_DISRUPTED = 2000
"""Pods in C(disruptedPods) of a budget, above which the API server refuses evictions."""


class Verdict(NamedTuple):
    """Whether the API server would evict a pod now. rule: '' if it would. status: the HTTP status of the refusal, 0 without one.

    budgets: the budgets that apply to the pod.
    """

    rule: str
    status: int
    budgets: tuple[Budget, ...]


_ALLOWED = Verdict("", 0, ())


class Budgets:
    """The budgets of a cluster. Most select pods by the value of a label, so that few have to be compared with a pod."""

    def __init__(self, cluster: Cluster) -> None:
        self._by_label: dict[tuple[str, str, str], list[Budget]] = {}
        self._others: dict[str, list[Budget]] = {}
        for budget in (one for found in cluster.budgets.values() for one in found if one.selector is not None):
            first = budget.selector.requirements[:1] if budget.selector is not None else ()
            if first and first[0].operator == "In" and len(first[0].values) == 1:
                self._by_label.setdefault((budget.namespace, first[0].key, next(iter(first[0].values))), []).append(budget)
            else:
                self._others.setdefault(budget.namespace, []).append(budget)

    def of(self, pod: Pod) -> tuple[Budget, ...]:
        """The budgets that select a pod, by name."""
        found = list(self._others.get(pod.namespace, ()))
        for key, value in pod.labels.items():
            found += self._by_label.get((pod.namespace, key, value), ())
        selecting = [one for one in found if one.selector is not None and one.selector.matches(pod.labels)]
        return tuple(sorted(selecting, key=lambda one: one.name)) if len(selecting) > 1 else tuple(selecting)


def is_guarded(pod: Pod) -> bool:
    """Do budgets apply to the pod? The API server evicts all others without looking at budgets."""
    return not pod.deleted_at and pod.phase not in ("Succeeded", "Failed", "Pending")


def verdict(pod: Pod, budgets: Budgets) -> Verdict:
    """What the API server would answer."""
    if not is_guarded(pod):
        return _ALLOWED
    found = budgets.of(pod)
    if len(found) > 1:
        return Verdict("drain.several_budgets", 500, found)
    if not found:
        return _ALLOWED
    budget = found[0]
    if not pod.is_ready and (budget.always_allows_unhealthy or 0 < budget.desired <= budget.current):
        return Verdict("", 0, found)
    return Verdict(*_refusal(pod, budget), found)


def _refusal(pod: Pod, budget: Budget) -> tuple[str, int]:
    """The rule and the HTTP status, in the order in which the API server checks."""
    if not budget.is_processed:
        return "drain.budget_not_processed", 429
    if budget.allowed < 0 or budget.disrupted > _MOST_DISRUPTED:
        return "drain.budget_invalid", 403
    if budget.allowed > 0:
        return "", 0
    if budget.sync_failure:
        return "drain.budget_invalid", 429
    if budget.expected > 0 and budget.desired >= budget.expected:
        return "drain.budget_never_allows", 429
    return ("drain.budget_exhausted" if pod.is_ready else "drain.unhealthy_pod"), 429


def findings(scope: Scope) -> Iterator[Finding]:
    """The pods that the API server would not evict now."""
    budgets = Budgets(scope.cluster)
    for pod in scope.pods():
        # Static pods and those of DaemonSets are left on the node.
        if pod.is_mirror or pod.is_of_daemon_set:
            continue
        found = verdict(pod, budgets)
        answer = scope.answers.get(_question(pod, found.budgets)) if found.budgets else None
        # The API server has the last word: a budget may allow a disruption again since it was read.
        if found.rule and answer != "":
            yield Finding(found.rule, BLOCKS, pod.full_name, pod.node, *_texts(pod, found))
        elif answer:
            fix = "correct what the API server reports, for example an admission webhook that denies evictions"
            reason = f"the API server refuses a dry run of the eviction: {answer}"
            yield Finding("drain.eviction_refused", BLOCKS, pod.full_name, pod.node, reason, fix)


def questions(scope: Scope) -> dict[Question, Pod]:
    """What to ask the API server with dry runs of evictions, with a pod for each: never a request for each pod.

    It is asked about pods with a budget that refuses them, or if a webhook decides about evictions. In other cases, the answer is known.
    """
    has_webhook = any("pods/eviction" in hook.resources for hook in scope.cluster.webhooks)
    budgets, found = Budgets(scope.cluster), dict[Question, Pod]()
    for pod in scope.pods():
        if pod.is_mirror or pod.is_of_daemon_set or not is_guarded(pod):
            continue
        one = verdict(pod, budgets)
        if one.budgets and (one.rule or has_webhook):
            found.setdefault(_question(pod, one.budgets), pod)
    return found


def _question(pod: Pod, budgets: tuple[Budget, ...]) -> Question:
    return Question(pod.namespace, tuple(budget.name for budget in budgets), pod.is_ready)


def _texts(pod: Pod, found: Verdict) -> tuple[str, str]:
    names = ", ".join(budget.full_name for budget in found.budgets)
    budget = found.budgets[0]
    counts = f"it needs {budget.desired} of {budget.expected} pods healthy and has {budget.current}"
    if found.rule == "drain.several_budgets":
        return (
            f"{len(found.budgets)} PodDisruptionBudgets select the pod ({names}), and the eviction API then always answers 500",
            "change the selectors or delete budgets, so that one budget selects the pod",
        )
    if found.rule == "drain.budget_not_processed":
        return (
            f"the controller-manager has not processed the PodDisruptionBudget {names} since it changed",
            "wait a moment and try again; if it stays so, check the disruption controller",
        )
    if found.rule == "drain.budget_invalid":
        return (
            f"the status of the PodDisruptionBudget {names} does not allow evictions ({budget.sync_failure or 'it is invalid'})",
            "correct the budget, or delete it and create it again",
        )
    if found.rule == "drain.budget_never_allows":
        return (
            f"the PodDisruptionBudget {names} never allows a disruption: {_specified(budget)}, and {counts}",
            f"raise the replicas of {workload(pod)}, or set maxUnavailable: 1 in {names}",
        )
    if found.rule == "drain.unhealthy_pod":
        return (
            f"the pod is not ready, and the PodDisruptionBudget {names} allows no disruption: {counts}",
            f"repair the pods of {workload(pod)}, or set unhealthyPodEvictionPolicy: AlwaysAllow in {names}",
        )
    return (
        f"the PodDisruptionBudget {names} allows no disruption now: {counts}",
        f"wait until more pods of {workload(pod)} are ready, raise its replicas, or relax {names}",
    )


def _specified(budget: Budget) -> str:
    return f"maxUnavailable is {budget.max_unavailable}" if budget.max_unavailable else f"minAvailable is {budget.min_available}"


def workload(pod: Pod) -> str:
    """The controller of a pod for messages: that of a Deployment has the hash of its template after the name."""
    if pod.owner is None:
        return f"Pod {pod.full_name}"
    suffix = f"-{pod.labels.get('pod-template-hash')}"
    if pod.owner.kind == "ReplicaSet" and pod.owner.name.endswith(suffix):
        return f"Deployment {pod.namespace}/{pod.owner.name.removesuffix(suffix)}"
    return f"{pod.owner.kind} {pod.namespace}/{pod.owner.name}"
