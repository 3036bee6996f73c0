# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on a drain: all findings on the given nodes, worst first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from . import budgets, nodes, placement, pods, webhooks
from .finding import NOTICE, SEVERITIES, Finding, Scope

_RULES: tuple[Callable[[Scope], Iterator[Finding]], ...] = (
    budgets.findings, pods.findings, placement.findings, nodes.findings, webhooks.findings,
)  # fmt: skip
"""Every group of rules."""


class Report(NamedTuple):
    """nodes: the names, in the order in which they were given. pods: the number of pods on each of them, which the drain evicts."""

    nodes: tuple[str, ...]
    pods: tuple[int, ...]
    findings: tuple[Finding, ...]

    @property
    def is_blocked(self) -> bool:
        """Does a finding stop the drain?"""
        return any(finding.severity == SEVERITIES[0] for finding in self.findings)

    def of_node(self, name: str) -> tuple[Finding, ...]:
        """The findings on one node, without those on the whole cluster."""
        return tuple(finding for finding in self.findings if finding.node == name)


def report(scope: Scope) -> Report:
    """All findings: worst first, then by node in the order of the drain, pod and rule."""
    order = {name: index for index, name in enumerate(scope.nodes)}
    unchecked = (
        Finding("drain.not_checked", NOTICE, "", "", reason, "correct this if it matters for these nodes")
        for reason in scope.cluster.unchecked
    )
    found = [*unchecked, *(finding for rule in _RULES for finding in rule(scope))]
    found.sort(key=lambda one: (one.rank, order.get(one.node, -1), one.pod, one.id))
    evicted = tuple(
        sum(1 for pod in scope.cluster.pods.get(name, ()) if not pod.is_mirror and not pod.is_of_daemon_set) for name in scope.nodes
    )
    return Report(scope.nodes, evicted, tuple(found))


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """The number of findings by severity."""
    found = [finding.severity for finding in findings]
    return {severity: found.count(severity) for severity in SEVERITIES}
