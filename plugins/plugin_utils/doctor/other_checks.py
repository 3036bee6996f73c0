# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The findings of other checks on a node: its join, image_verify, and lint of the user data and NodeConfigs on its disk."""

from __future__ import annotations

from collections.abc import Iterator

from ..formats import plain
from ..lint.node_text import NOT_CHECKED, lint_node_text
from ..live.join import with_rules
from ..sources.node import Facts, machine_of, texts
from .observations import Observation

_WAITING = "; this may change by itself, because the node may still be joining"


def join(facts: Facts) -> Iterator[Observation]:
    """Why the node has not joined, or is not ready."""
    found = facts.get("join")
    if not isinstance(found, dict) or not found.get("cause"):
        return
    explained = with_rules(found)
    message = plain.text(explained.get("message")) + ("" if found.get("final") else _WAITING)
    yield Observation(f"join.{plain.text(found['cause'])}", message, plain.text(explained.get("fix")))


def image(facts: Facts) -> Iterator[Observation]:
    """The findings of image_verify."""
    for row in plain.mappings(facts.get("findings")):
        path, message, fix = (plain.text(row.get(name)) for name in ("path", "message", "fix"))
        yield Observation(plain.text(row.get("rule")), f"{path}: {message}", fix)


def user_data(facts: Facts) -> Iterator[Observation]:
    """The findings of lint in the user data and the NodeConfigs on the disk of the node."""
    machine = machine_of(facts)
    for text in texts(facts):
        linted = lint_node_text(text, machine)
        for finding in linted.findings:
            where = finding.where
            part = f", part {where.part + 1}" if where.part is not None and len(linted.user_data.parts) > 1 else ""
            yield Observation(finding.rule.id, f"{text.path}{part}, line {where.line}: {finding.message}", finding.fix)
        if not linted.is_complete:
            yield Observation("doctor.not_checked", f"{text.path}: {NOT_CHECKED}")
