# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings as a JUnit report, the XML format that CI systems show. Each rule that was checked is a test case."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from ..errors import Problems, joined
from ..model.plain import INVALID
from ..model.schema import Kind, choice, list_of, record, text, wrong_type

_LINE = text(empty=True, multiline=True)
_FINDING = record(
    {"rule": text(), "severity": choice("error", "warning"), "path": _LINE, "message": _LINE, "fix": _LINE},
    required={"rule": "the ID of a rule", "severity": "error or warning", "path": "a path", "message": "text"},
)
_FINDINGS = list_of(_FINDING)
_RULES = list_of(text())

# XML 1.0 has no way to write these characters.
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_report(result: Any, name: Any) -> str:
    """C(result) as XML. It is the result of a module that returns C(findings) and C(rules). C(name) is the name of the test suite.

    A rule with an error is a failed test case. A rule that has only warnings passes, with the warnings as its output. Raises
    C(SpecError) if the result is of another form.
    """
    problems = Problems()
    given = result if isinstance(result, dict) else wrong_type(result, "a mapping", "result", problems)
    problems.raise_any()
    findings = _checked(given, "findings", _FINDINGS, problems)
    rules = _checked(given, "rules", _RULES, problems)
    suite = text()(name, "name", problems)
    problems.raise_any()
    return _document(findings, [*dict.fromkeys([*rules, *(finding["rule"] for finding in findings)])], suite)


def _checked(given: Mapping[str, Any], field: str, kind: Kind, problems: Problems) -> Any:
    path = joined("result", field)
    if field in given:
        return kind(given[field], path, problems)
    problems.add("input.missing_field", path, "is missing", fix="give the whole result of nodebootstrap.eks.image_verify")
    return INVALID


def _document(findings: Sequence[Mapping[str, str]], rules: Sequence[str], name: str) -> str:
    return written(suite(findings, rules, name))


def suite(findings: Sequence[Mapping[str, str]], rules: Sequence[str], name: str) -> ElementTree.Element:
    """A test suite. findings: with C(rule), C(severity), C(path), C(message) and C(fix). rules: the test cases."""
    failed = {finding["rule"] for finding in findings if finding["severity"] == "error"}
    counts = {"tests": str(len(rules)), "failures": str(len(failed)), "errors": "0"}
    element = ElementTree.Element("testsuite", {"name": _written(name), **counts})
    for rule in rules:
        case = ElementTree.SubElement(element, "testcase", {"classname": _written(name), "name": _written(rule)})
        found = [finding for finding in findings if finding["rule"] == rule]
        if found:
            # CI systems show the message in lists, and the text only on request.
            of_failure = {"message": _summary(found)} if rule in failed else {}
            lines = ElementTree.SubElement(case, "failure" if rule in failed else "system-out", of_failure)
            lines.text = "\n".join(_line(finding) for finding in found)
    return element


def written(element: ElementTree.Element) -> str:
    """An element as text."""
    ElementTree.indent(element)
    return ElementTree.tostring(element, encoding="unicode") + "\n"


def _summary(findings: Sequence[Mapping[str, str]]) -> str:
    """The first error of a test case, and the number of its other findings."""
    first = next(finding for finding in findings if finding["severity"] == "error")
    others = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return _written(f"{first['path']}: {first['message']}{others}")


def _line(finding: Mapping[str, str]) -> str:
    fix = f". Fix: {finding['fix']}" if finding.get("fix") else ""
    return _written(f"{finding['severity']}: {finding['path']}: {finding['message']}{fix}")


def _written(value: str) -> str:
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", value)
