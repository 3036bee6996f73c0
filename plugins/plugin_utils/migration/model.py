# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a migration: the new user data, and what became of everything in the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..lint.finding import Finding
from ..readers.model import Place, UserData

Outcome = Literal["moved", "dropped", "needs_decision"]


@dataclass(frozen=True)
class Argument:
    """An option of C(/etc/eks/bootstrap.sh), one of its variables, or a flag of kubelet.

    value: as plain data, without secrets; None if the node computes it. to: the setting in the new user data.
    reason: why it is not moved, or what changes.
    """

    name: str
    value: Any
    where: Place
    outcome: Outcome
    to: str | None
    reason: str | None

    def plain(self) -> dict[str, Any]:
        """The argument as the filter returns it."""
        return {
            "name": self.name,
            "value": self.value,
            "where": self.where.plain(),
            "outcome": self.outcome,
            "to": self.to,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Decision:
    """A question that the user has to answer before there is new user data.

    path: of the field, or of the part of the original. choices: what to do. where: None for a fact that the original does not contain.
    """

    path: str
    question: str
    choices: tuple[str, ...]
    where: Place | None

    def plain(self) -> dict[str, Any]:
        """The decision as the filter returns it."""
        where = None if self.where is None else self.where.plain()
        return {"path": self.path, "question": self.question, "choices": list(self.choices), "where": where}


@dataclass(frozen=True)
class Kept:
    """Text of the original that the new user data contains. to: the field that it became."""

    where: Place
    to: str
    text: str

    def plain(self) -> dict[str, Any]:
        """The text as the filter returns it."""
        return {"where": self.where.plain(), "to": self.to, "text": self.text}


@dataclass(frozen=True)
class Caution:
    """Text that probably does something else on the new family. source: where the fact comes from."""

    where: Place | None
    message: str
    fix: str | None
    source: str | None

    def plain(self) -> dict[str, Any]:
        """The warning as the filter returns it."""
        where = None if self.where is None else self.where.plain()
        return {"where": where, "message": self.message, "fix": self.fix, "source": self.source}


@dataclass(frozen=True)
class Report:
    """What became of the original. findings: of the new user data."""

    family_before: str | None
    family_after: str
    arguments: tuple[Argument, ...]
    decisions: tuple[Decision, ...]
    kept: tuple[Kept, ...]
    warnings: tuple[Caution, ...]
    findings: tuple[Finding, ...]

    def plain(self) -> dict[str, Any]:
        """The report as the filter returns it."""
        return {
            "family_before": self.family_before,
            "family_after": self.family_after,
            "arguments": [one.plain() for one in self.arguments],
            "needs_decision": [one.plain() for one in self.decisions],
            "kept": [one.plain() for one in self.kept],
            "warnings": [one.plain() for one in self.warnings],
            "findings": [one.plain() for one in self.findings],
        }


@dataclass(frozen=True)
class Migration:
    """original: what was read. user_data: None if something needs a decision. cluster, node_group: the input that renders it."""

    original: UserData
    user_data: str | None
    cluster: Mapping[str, Any]
    node_group: Mapping[str, Any]
    report: Report
