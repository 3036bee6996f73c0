# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings as SARIF 2.1.0, which code scanning services read."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ...lint.finding import Finding
from ...rules import Rule
from .source import Source, file_place

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(sources: Sequence[Source]) -> str:
    """All findings, with the rules that they name."""
    found = {finding.rule.id: finding.rule for source in sources for finding in source.findings}
    rules = [found[name] for name in sorted(found)]
    index = {rule.id: number for number, rule in enumerate(rules)}
    results: list[dict[str, Any]] = []
    seen: Counter[tuple[str, ...]] = Counter()
    for source in sources:
        for finding in source.findings:
            words = (source.name, *([source.path] if source.path else []), finding.rule.id, finding.message)
            results.append(_result(source, finding, index[finding.rule.id], _fingerprint(*words, str(seen[words]))))
            seen[words] += 1
    run = {
        "tool": {"driver": {"name": "nodebootstrap.eks", "rules": [_rule(rule) for rule in rules]}},
        "artifacts": [{"location": {"uri": uri}} for uri in dict.fromkeys(_uri(source.name) for source in sources if source.is_file)],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.why} Fix: {rule.fix} Source: {rule.source}."},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": [rule.id.partition(".")[0]]},
    }


def _result(source: Source, finding: Finding, index: int, fingerprint: str) -> dict[str, Any]:
    place, where = file_place(source, finding.where), finding.where
    region: dict[str, int] = {"startLine": place.line, "startColumn": place.column}
    if place.length is not None:
        region["endColumn"] = place.column + place.length
    message = finding.message + (f"; fix: {finding.fix}" if finding.fix else "")
    location: dict[str, Any] = {}
    if source.is_file:
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(source.name)}, "region": region}
    if source.path or not source.is_file:
        location["logicalLocations"] = [{"fullyQualifiedName": source.path if source.is_file else source.title}]
    return {
        "ruleId": finding.rule.id,
        "ruleIndex": index,
        "level": finding.rule.severity,
        "message": {"text": message},
        "locations": [location],
        "partialFingerprints": {"nodebootstrapFinding/v1": fingerprint},
        "properties": {"part": where.part, "line": where.line, "column": where.column},
    }


def _fingerprint(*words: str) -> str:
    """The same for the same finding, wherever its line moves."""
    return hashlib.sha256("\0".join(words).encode("utf-8", "replace")).hexdigest()


def _uri(name: str) -> str:
    path = quote(name.encode("utf-8", "replace"), safe="/")
    return f"file://{path}" if name.startswith("/") else path
