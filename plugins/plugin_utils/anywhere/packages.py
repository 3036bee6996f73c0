# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The packages of a cluster: charts that helm installs when the cluster manages itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import Problems, joined

OPTIONS: dict[str, Any] = {
    "name": {"type": "str", "required": True},
    "chart": {"type": "str", "required": True},
    "version": {"type": "str"},
    "namespace": {"type": "str", "default": "eksa-packages"},
    "values": {"type": "dict", "default": {}},
}
REGISTRY = "oci://"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", re.ASCII)
_LONGEST = {"name": 53, "namespace": 63}
"""helm uses the name of a release in labels, with a suffix."""


def read(rows: Sequence[Mapping[str, Any]], option: str, problems: Problems) -> tuple[dict[str, Any], ...]:
    """The packages with their defaults. Everything that helm would refuse late, or fetch from somewhere else, is a problem."""
    found = [{name: row.get(name, field.get("default")) for name, field in OPTIONS.items()} for row in rows]
    seen: dict[tuple[str, str], str] = {}
    for index, row in enumerate(found):
        place = joined(option, index)
        _check(row, place, problems)
        key = (row["namespace"], row["name"])
        if key in seen:
            problems.add(
                "input.conflict", f"{place}.name", f"is the release of {seen[key]}, too", value=row["name"], fix="use another name"
            )
        seen.setdefault(key, place)
    return tuple(found)


def _check(row: Mapping[str, Any], place: str, problems: Problems) -> None:
    for name, longest in _LONGEST.items():
        if not _NAME.fullmatch(row[name]) or len(row[name]) > longest:
            allowed = f"lower-case letters, digits and -, up to {longest} characters"
            problems.add("input.invalid_text", f"{place}.{name}", "is not a name", value=row[name], allowed=allowed)
    chart = row["chart"]
    if not chart.startswith(("/", "~/", REGISTRY)):
        allowed = "an absolute path on the admin machine, or oci://REGISTRY/CHART"
        problems.add("input.invalid_text", f"{place}.chart", "is neither a path nor in a registry", value=chart, allowed=allowed)
    if chart.startswith(REGISTRY) and not row["version"]:
        fix = "name the version of the chart: without it, helm takes the newest one"
        problems.add("input.missing_field", f"{place}.version", "is required for a chart in a registry", fix=fix)
