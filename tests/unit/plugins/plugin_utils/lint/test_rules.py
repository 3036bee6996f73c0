# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every rule that user data can break fires on its example, and not on the near miss."""

from __future__ import annotations

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import rules
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.capacity import InstanceShape, instance_shape
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.finding import Finding
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.lint import lint
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint.rows import ROWS
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint.texts import Row, mime, part

OTHER_FAMILY_OR_VERSION = ("cluster.version_not_known", "cluster.version_too_old", "family.not_in_version")
"""Rules whose near miss is the same text for another version."""


def found(row: Row, data: str | bytes) -> tuple[Finding, ...]:
    version = None if row.rule in OTHER_FAMILY_OR_VERSION and data is not row.wrong else row.version
    return lint(data, row.family, version, shape(row)).findings


def shape(row: Row) -> InstanceShape | None:
    return instance_shape(row.instance_type) if row.instance_type else None


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.rule} {index}" for index, row in enumerate(ROWS)])
def test_the_rule_fires(row: Row) -> None:
    findings = [finding for finding in found(row, row.wrong) if finding.rule.id == row.rule]
    assert findings, [finding.plain() for finding in found(row, row.wrong)]
    assert {finding.rule.severity for finding in findings} == {row.severity}


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.rule} {index}" for index, row in enumerate(ROWS)])
def test_the_near_miss_is_accepted(row: Row) -> None:
    version = None if row.rule in OTHER_FAMILY_OR_VERSION else row.version
    findings = lint(row.right, row.family, version, shape(row)).findings
    wrong = [finding.plain() for finding in findings if finding.rule.id == row.rule or finding.rule.severity == "error"]
    assert not wrong


def test_messages(golden_message: GoldenMessages) -> None:
    lines = []
    for row in ROWS:
        for finding in found(row, row.wrong):
            if finding.rule.id == row.rule:
                place, fix = finding.where, f"; fix: {finding.fix}" if finding.fix else ""
                part = "" if place.part is None else f"part {place.part}, "
                lines.append(f"{part}{place.line}:{place.column}+{place.length} {finding.message}{fix} [{row.rule}]")
    golden_message("\n".join(lines))


def test_there_are_many_rules() -> None:
    assert len({row.rule for row in ROWS}) >= 80
    assert {row.rule for row in ROWS} <= set(rules.catalogue())


def test_a_large_instance_has_addresses_for_the_pods_of_kubelet() -> None:
    text = "#!/bin/bash\n/etc/eks/bootstrap.sh shop --use-max-pods false\n"
    found = lint(text, "al2", None, instance_shape("m5.8xlarge")).findings
    assert "bootstrap.max_pods_not_set" not in {finding.rule.id for finding in found}


INNER = "--I\nContent-Type: text/x-shellscript\n\n#!/bin/sh\ntrue\n--I--"


@pytest.mark.parametrize(
    ("second", "rule", "line"),
    [
        (part(INNER, 'multipart/mixed; boundary="I"'), "mime.nested_document", 10),
        (part(INNER, "message/rfc822"), "mime.nested_document", 10),
        (part(INNER, 'multipart/mixed; boundary="I"', "Content-Type: text/plain"), "mime.repeated_header", 10),
        (part("true", "text/x-shellscript", "not a header"), "mime.invalid_header", 11),
    ],
)
def test_a_problem_of_a_part_is_at_the_part(second: str, rule: str, line: int) -> None:
    """The first part, and the document around both, begin above."""
    (finding,) = [one for one in lint(mime(part("#!/bin/sh\ntrue"), second), "al2023").findings if one.rule.id == rule]
    assert (finding.where.part, finding.where.line, finding.where.column) == (None, line, 1)
    assert finding.message.startswith("parts[1]")
