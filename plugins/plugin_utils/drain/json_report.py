# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on a drain as JSON."""

from __future__ import annotations

import json
from typing import Any

from .report import Report, counts


def json_report(report: Report) -> str:
    """All nodes and findings."""
    return json.dumps(plain_report(report), indent=1, sort_keys=True) + "\n"


def plain_report(report: Report) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "nodes": [{"name": name, "pods": pods} for name, pods in zip(report.nodes, report.pods, strict=True)],
        "findings": [finding.plain() for finding in report.findings],
        "counts": counts(report.findings),
        "blocked": report.is_blocked,
    }
