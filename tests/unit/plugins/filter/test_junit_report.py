# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter junit_report: an independent reader finds every finding, and input of another form is refused."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest
from ansible.errors import AnsibleFilterError
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.filter import junit_report
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

report = junit_report.FilterModule().filters()["junit_report"]

ERROR = {"rule": "image.swap", "severity": "error", "path": "/etc/fstab", "message": 'swap <"&> is on', "fix": "remove it"}
WARNING = {"rule": "image.journal", "severity": "warning", "path": "/var/log/journal/1", "message": "a log", "fix": "delete it"}


def test_every_rule_is_a_test_case_and_only_errors_fail() -> None:
    both = ERROR | {"severity": "warning", "path": "/etc/fstab.d"}
    result = {"rules": ["image.swap", "image.journal", "image.firewall"], "findings": [ERROR, both, WARNING], "changed": False}
    suite = ElementTree.fromstring(report(result, "builder"))
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("builder", "3", "1")
    assert {case.get("name"): [child.tag for child in case] for case in suite} == {
        "image.swap": ["failure"],
        "image.journal": ["system-out"],
        "image.firewall": [],
    }
    lines = str(suite.findtext("testcase/failure")).splitlines()
    assert [("/etc/fstab.d" in line, 'swap <"&> is on' in line, "remove it" in line) for line in lines] == [
        (False, True, True),
        (True, True, True),
    ]


def test_a_rule_that_is_only_in_the_findings_is_a_test_case() -> None:
    suite = ElementTree.fromstring(report({"rules": [], "findings": [ERROR]}, "builder"))
    assert (suite.get("tests"), [case.get("name") for case in suite]) == ("1", ["image.swap"])


@given(st.text(min_size=1), st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1))
def test_any_text_makes_a_report_that_can_be_read(message: str, name: str) -> None:
    suite = ElementTree.fromstring(report({"rules": [], "findings": [ERROR | {"message": message}]}, name))
    assert len(suite.findall("testcase/failure")) == 1


@pytest.mark.parametrize(
    "result",
    [
        "passed",
        {"rules": ["image.swap"]},
        {"findings": [ERROR | {"severity": "fatal"}, {"rule": "image.swap"}], "rules": "image.swap"},
        {"findings": [ERROR | {"mesage": "text"}], "rules": [1]},
    ],
    ids=["text", "no findings", "wrong values", "wrong names"],
)
def test_another_form_is_refused(result: Any, golden_message: GoldenMessages) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        report(result, "builder")
    golden_message(caught.value)
