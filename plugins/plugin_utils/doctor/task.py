# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action doctor_report without Ansible: its options, and what one task does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..outputs import folder
from ..outputs.page import report_format
from .fleet import fleet
from .intent import Described
from .json_report import json_report, plain_report
from .model import Fleet
from .node import node_report
from .page import html
from .text import summary, text

FORMATS: Mapping[str, Callable[[Fleet], str]] = {"text": text, "json": json_report, "html": html}
OPTIONS: dict[str, Any] = {
    "results": {"type": "dict", "required": True},
    "format": {"type": "str", "choices": list(FORMATS)},
    "report": {"type": "path"},
}


def doctor_task(
    options: Mapping[str, Any], described: Mapping[str, Described], *, now: float, check_mode: bool, say: Callable[[str], None]
) -> dict[str, Any]:
    """Make the report, and write or print it. Raises C(SpecError).

    described: the variables of the hosts, by name. now: seconds since the epoch.
    say: prints the report, or its summary if it is written to a file.
    """
    found = fleet(node_report(str(name), result, now, described.get(str(name))) for name, result in options["results"].items())
    report = FORMATS[report_format(options["format"], options["report"])](found)
    changed = False
    if options["report"] is None:
        say(report.rstrip("\n"))
    else:
        say(summary(found))
        if not check_mode:
            changed = folder.write_file(options["report"], report.encode("utf-8"), "report")
    plain = plain_report(found)
    states = {row.name: row.state for row in found.rows}
    return {"changed": changed, "states": states, "causes": plain["causes"], "counts": plain["counts"]}
