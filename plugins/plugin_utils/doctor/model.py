# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The findings on one node, and on a fleet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..rules import SEVERITIES, Rule, catalogue

READY, NOT_READY, NOT_JOINED, UNREACHABLE, FAILED = "ready", "not ready", "not joined", "unreachable", "failed"
"""The states of a node. C(FAILED): the module did not run."""


@dataclass(frozen=True)
class Finding:
    """One finding on one node. message, fix: single lines. general: the message without the values of this node."""

    rule: Rule
    message: str
    fix: str
    general: str

    @property
    def rank(self) -> int:
        """The place of its severity, worst first."""
        return SEVERITIES.index(self.rule.severity)


@dataclass(frozen=True)
class Values:
    """What the report shows of every node. None for a value that is unknown.

    support_days, certificate_days: until the support of the node's version and its first certificate end. disk_percent: free on the fullest
    file system. clock_skew: seconds.
    """

    kubelet: str | None = None
    containerd: str | None = None
    system: str | None = None
    image: str | None = None
    instance: str | None = None
    instance_type: str | None = None
    support_days: int | None = None
    certificate_days: int | None = None
    disk_percent: int | None = None
    clock_skew: float | None = None


@dataclass(frozen=True)
class NodeReport:
    """What is known of one node. findings: worst first."""

    name: str
    state: str
    findings: tuple[Finding, ...]
    values: Values = Values()


@dataclass(frozen=True)
class Cause:
    """Findings of one rule that say the same about several nodes. message: of all of them, or without the values that differ.

    fix: of the first node. nodes: the names, in the order of the report.
    """

    rule: Rule
    message: str
    fix: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A node in the report of a fleet. findings: the index of the cause and the message, worst first."""

    name: str
    state: str
    findings: tuple[tuple[int, str], ...]
    values: Values


@dataclass(frozen=True)
class Fleet:
    """A fleet: its nodes, worst first, and the causes, worst and most frequent first."""

    rows: tuple[Row, ...]
    causes: tuple[Cause, ...]

    def counts(self, row: Row) -> dict[str, int]:
        """The number of findings of a node by severity."""
        return count(self.causes[index].rule for index, _message in row.findings)


def count(rules: Iterable[Rule]) -> dict[str, int]:
    """The number of rules by severity."""
    found = [rule.severity for rule in rules]
    return {severity: found.count(severity) for severity in SEVERITIES}


def rule_of(rule_id: Any, default: str) -> Rule:
    """A rule of the catalogue. default: its id if the node has a newer version of this collection, with a rule that is not known here."""
    return catalogue().get(str(rule_id)) or catalogue()[default]
