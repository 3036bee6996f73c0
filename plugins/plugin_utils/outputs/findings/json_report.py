# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings as JSON, with their places in the file and in the decoded part."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .source import Source, counts, file_place


def json_report(sources: Sequence[Source]) -> str:
    """All findings, and the number of each severity."""
    return json.dumps({"sources": [_source(one) for one in sources], "counts": counts(sources)}, indent=2) + "\n"


def _source(source: Source) -> dict[str, Any]:
    rows = []
    for finding in source.findings:
        place = file_place(source, finding.where)
        at = {"line": place.line, "column": place.column, "length": place.length}
        rows.append({**finding.plain(), "file": at, "why": finding.rule.why, "source": finding.rule.source})
    return {"name": source.name, "path": source.path or None, "findings": rows}
