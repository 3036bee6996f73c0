# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The validation of clusters against the record of EKS Anywhere's own validation, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.validate import validate
from ansible_collections.nodebootstrap.eks.tests.oracle.eks_anywhere_rows import CASES, STRICTER, rule_of, stricter_rule

REFERENCES = {"anywhere.missing_document"}
"""The rows have a Cluster and a DockerDatacenterConfig only, so what other references need is missing in the whole file."""

OTHER_DOCUMENTS = {"anywhere.several_clusters", "anywhere.unknown_kind"}
"""EKS Anywhere does not look at documents behind the first Cluster."""


def test_the_record_is_whole() -> None:
    assert len(CASES) == 330
    assert sum(case["valid"] for case in CASES) == 176


@pytest.mark.parametrize("case", [case for case in CASES if not case["valid"]], ids=lambda case: case["id"])
def test_what_eks_anywhere_refuses_is_refused_for_the_same_reason(case: dict[str, Any]) -> None:
    rules = {problem.rule for problem in validate(case["text"], "cluster").errors}
    expected = rule_of(case["said"])
    if case["id"].startswith("docker: datacenter"):
        # Without its kind, EKS Anywhere takes the cluster for one of another provider, and asks for an endpoint.
        expected = "anywhere.unknown_provider"
    assert any(rule.startswith(expected) for rule in rules), (case["said"], rules)
    assert validate(case["text"]).errors


@pytest.mark.parametrize("case", [case for case in CASES if case["valid"]], ids=lambda case: case["id"])
def test_what_eks_anywhere_accepts_is_accepted_or_the_reason_is_listed(case: dict[str, Any]) -> None:
    rules = {problem.rule for problem in validate(case["text"], "cluster").errors}
    stricter = stricter_rule(case["id"])
    assert rules == ({stricter} if stricter else set())
    added = {problem.rule for problem in validate(case["text"]).errors} - rules
    assert added <= REFERENCES | (OTHER_DOCUMENTS if case["id"].startswith("file:") else set())


def test_every_listed_row_is_accepted_by_eks_anywhere_and_listed_once() -> None:
    accepted = {case["id"] for case in CASES if case["valid"]}
    listed = [row for _reason, rows in STRICTER.values() for row in rows]
    assert set(listed) <= accepted
    assert len(listed) == len(set(listed)) == 51


def test_every_problem_has_a_line() -> None:
    for case in CASES:
        for row in validate(case["text"]).rows():
            assert row["line"] or row["path"] == "file", (case["id"], row)
