# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every rule of the catalogue has a cure that works: an input that it rejects is accepted after it is changed as the message says.

The rows are in C(cures), the messages in C(tests/golden/errors). A rule without a row fails, unless C(cures/elsewhere.py) gives a reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import rules
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils._image import defects
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures import (
    access,
    advice,
    elsewhere,
    fields,
    formats,
    images,
    joins,
    kubelet,
    locks,
    outputs,
    registries,
)
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.row import Cure, edited, rendered, split
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint import rows as linted
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.test_error_table import EVERY

NEXT_STEP = {
    "capacity.missing_instance",
    "cluster.missing_field",
    "family.not_in_version",
    "reserved.unknown_capacity",
    "strategy.missing_max_pods",
}
"""Rules that ask for more after advice such as C(use strategy: static) was followed, or that limit the allowed words."""

ROWS: tuple[Cure, ...] = tuple(
    row
    for module in (access, fields, kubelet, formats, images, locks, outputs, registries)
    for entry in module.ROWS
    for row in (entry if isinstance(entry, tuple) else (entry,))
)


REJECTED = [Cure(row.id, rendered, row.given, None) for _topic, row in EVERY if row.given]
"""The node groups of the table of messages."""


def _ids(rows: Iterable[Cure]) -> list[str]:
    return [f"{row.rule} {', '.join(row.edits)}" for row in rows]


def _of(row: Cure, problems: Iterable[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.rule == row.rule]


def test_every_rule_has_a_cure() -> None:
    # What image_verify finds is not input: each of its rules has a planted defect instead. For user data, lint/rows.py has near misses.
    shown = {row.rule for row in (*ROWS, *elsewhere.INPUTS, *joins.JOINS, *defects.DEFECTS, *linted.ROWS)}
    catalogue = set(rules.catalogue())
    assert sorted(catalogue - shown - set(elsewhere.REASONS)) == [], "add a row to tests/unit/plugins/plugin_utils/cures"
    assert sorted(shown & set(elsewhere.REASONS)) == []
    assert sorted((shown | set(elsewhere.REASONS)) - catalogue) == []


@pytest.mark.parametrize("row", elsewhere.INPUTS, ids=_ids(elsewhere.INPUTS))
def test_the_input_that_cures_a_failed_join_is_accepted(row: Cure) -> None:
    assert row.before != row.after
    row.accepts(row.after)


@pytest.mark.parametrize("row", joins.JOINS, ids=_ids(joins.JOINS))
def test_a_node_joins_after_the_fix(row: Cure) -> None:
    found = _of(row, row.problems(row.before))
    assert found, "the evidence does not show this cause"
    assert row.accepts(row.after) == ()
    for word in row.edits:
        assert word in str(found[0]), "the message does not say what to change"


@pytest.mark.parametrize("row", ROWS, ids=_ids(ROWS))
def test_cure(row: Cure) -> None:
    found = _of(row, row.problems(row.before))
    assert found, "the input is not rejected with this rule"
    assert _of(row, row.accepts(row.after)) == [], "the warning is still there"
    text = " ".join(map(str, found))
    for path in row.edits:
        names = [str(key) for key in split(path) if key != "node_group"]
        assert any(name in text for name in names), f"the message does not mention {path}"


@pytest.mark.parametrize("row", [row for row in ROWS if row.edits], ids=_ids(row for row in ROWS if row.edits))
def test_the_message_can_be_followed_literally(row: Cure) -> None:
    assert list(wrong_advice(row)) == []


@pytest.mark.parametrize("row", REJECTED, ids=_ids(REJECTED))
def test_other_messages_can_be_followed_literally(row: Cure) -> None:
    assert list(wrong_advice(row)) == []


def wrong_advice(row: Cure) -> Iterator[str]:
    """Advice that leaves the problem as it is, or leads to a new one."""
    problems = row.problems(row.before)
    known = {problem.rule for problem in problems} | NEXT_STEP
    for problem in problems:
        for edits in advice.alternatives(problem, row.before):
            rest = row.problems(edited(row.before, edits))
            if (problem.rule, problem.path) in {(one.rule, one.path) for one in rest}:
                yield f"not solved by {edits}: {problem}"
            # Groups with every field have fields that only the present family knows.
            for one in rest if not row.rule.startswith("every field") else ():
                if one.rule not in known and rules.catalogue()[one.rule].severity == "error":
                    yield f"after {edits} for {problem}: {one}"
