# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a fleet as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from .model import Fleet, count


def json_report(fleet: Fleet) -> str:
    """All nodes and causes. A finding of a node names its cause by the index, and has the message with the values of the node."""
    return json.dumps(plain_report(fleet), indent=1, sort_keys=True) + "\n"


def plain_report(fleet: Fleet) -> dict[str, Any]:
    """The same as plain data."""
    nodes = [
        {
            "name": row.name,
            "state": row.state,
            "counts": fleet.counts(row),
            "findings": [{"cause": index, "message": message} for index, message in row.findings],
            **asdict(row.values),
        }
        for row in fleet.rows
    ]
    causes = [
        {
            "rule": cause.rule.id,
            "severity": cause.rule.severity,
            "message": cause.message,
            "why": cause.rule.why,
            "fix": cause.fix,
            "nodes": list(cause.nodes),
        }
        for cause in fleet.causes
    ]
    return {"nodes": nodes, "causes": causes, "counts": counts(fleet)}


def counts(fleet: Fleet) -> dict[str, int]:
    """The number of findings on all nodes by severity."""
    return count(fleet.causes[index].rule for row in fleet.rows for index, _message in row.findings)
