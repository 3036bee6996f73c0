# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings as a JUnit report: a test suite for each source, a test case for each rule that it breaks."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from ..junit_report import suite, written
from .source import Source, file_place

_CLEAN = "no findings"
"""The test case of a source without findings: services do not show an empty suite."""


def junit(sources: Sequence[Source]) -> str:
    """A rule with an error is a failed test case; warnings and notes are the output of a passed one."""
    root = ElementTree.Element("testsuites")
    root.extend(_suite(source) for source in sources)
    return written(root)


def _suite(source: Source) -> ElementTree.Element:
    findings = []
    for finding in source.findings:
        place = file_place(source, finding.where)
        row = {"rule": finding.rule.id, "severity": finding.rule.severity, "path": f"{source.title}:{place.line}:{place.column}"}
        findings.append({**row, "message": finding.message, "fix": finding.fix or ""})
    rules = [*dict.fromkeys(row["rule"] for row in findings)]
    return suite(findings, rules or [_CLEAN], f"{source.name} {source.path}".rstrip() if source.is_file else source.title)
