# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks user data on the disk of a node, from which values that may be secrets were removed before it left the node."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ..readers.model import UserData
from ..sources.node import HIDDEN, Machine, NodeText
from .finding import Finding
from .lint import Linted, lint

NOT_CHECKED = "values that may be secrets were removed on the node, so the lines after them were not checked"

_STAND_IN = "hidden-by-doctor-info"
"""Asterisks are an alias in YAML, and stand for files in a shell: a word is a value everywhere."""

_OF_ALL_TEXTS = frozenset({"nodeconfig.no_cluster", "cluster.missing_field"})
"""Rules that one of several NodeConfigs does not break alone, because nodeadm merges them."""


@dataclass(frozen=True)
class LintedNodeText:
    """A text of a node with its findings, as far as they do not depend on a removed value.

    text: what was checked. is_complete: whether no value was removed, so that all lines were checked.
    """

    text: str
    user_data: UserData
    findings: tuple[Finding, ...]
    is_complete: bool


@lru_cache(maxsize=16)
def lint_node_text(found: NodeText, machine: Machine) -> LintedNodeText:
    """The findings in a text. The nodes of a group have the same user data, so results are kept."""
    text = found.text.replace(HIDDEN, _STAND_IN) if found.is_redacted else found.text
    linted = lint(text, machine.family, machine.version, machine.instance)
    first_hidden = _first_hidden_lines(linted, text) if found.is_redacted else {}
    skipped = () if found.is_alone else _OF_ALL_TEXTS
    known = (one for one in linted.findings if one.where.line < first_hidden.get(one.where.part, one.where.line + 1))
    findings = tuple(one for one in known if one.rule.id not in skipped)
    return LintedNodeText(text, linted.user_data, findings, not first_hidden)


def _first_hidden_lines(linted: Linted, text: str) -> dict[int | None, int]:
    """Part → the first line that contains a removed value. What lint says about the lines before it is true of the original, too.

    An encoded part is unreadable if any of its text is removed, and so is the structure of the document.
    """
    found: dict[int | None, int] = {None: 1} if _STAND_IN in text else {}
    for part in linted.user_data.parts:
        lines = (number for number, line in enumerate(part.text.split("\n"), 1) if _STAND_IN in line)
        hidden = 1 if part.encoding and _STAND_IN in text else next(lines, None)
        if hidden is not None:
            found[part.index] = hidden
    return found
