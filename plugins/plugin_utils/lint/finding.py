# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A finding: a problem with its place in the text. The rule, and with it the severity, comes from the catalogue that render uses, too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .. import rules
from ..errors import Problem
from ..formats.secrets import without_secret
from ..readers.model import Place


@dataclass(frozen=True)
class Finding:
    """One finding. message: what is wrong, in one line. fix: what to do, or None if the message says it. It never contains a value."""

    rule: rules.Rule
    where: Place
    message: str
    fix: str | None

    def plain(self) -> dict[str, Any]:
        """The finding as the filter returns it."""
        where, rule = self.where.plain(), self.rule
        return {"rule": rule.id, "severity": rule.severity, "where": where, "message": self.message, "fix": self.fix}


def of_problem(problem: Problem, place: Place, inside: str = "") -> Finding:
    """A problem at its place. inside: its path in the part, for example C(spec.kubelet.config.maxPods)."""
    # Each text alone: "password: is not a list" would look like a password. Names can be words of a command, and messages can quote.
    texts = {name: without_secret(text) for name, text in problem.plain().items()}
    message = f"{without_secret(inside)}: {texts['message']}" if inside else texts["message"]
    if "allowed" in texts:
        message += f"; allowed: {texts['allowed']}"
    if "nearest" in texts and texts["nearest"] not in texts.get("fix", ""):
        message += f"; did you mean {texts['nearest']}?"
    return Finding(rules.catalogue()[problem.rule], place, message, texts.get("fix"))


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings by place, each once."""
    return tuple(sorted(dict.fromkeys(findings), key=_position))


def _position(finding: Finding) -> tuple[int, int, int, str, str]:
    where = finding.where
    return (-1 if where.part is None else where.part, where.line, where.column, finding.rule.id, finding.message)
