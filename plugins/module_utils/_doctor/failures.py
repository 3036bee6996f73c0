# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The units of a node that failed, and what they logged. Standard library, Python 3.7 and newer."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence

from .._join.model import shorten, to_plain_text
from .._node import journald
from .._node.errors import ApplyRefused
from .._node.host import Host, format_time, to_wall_time
from .._node.systemd import Unit, read_units

MAX_UNITS, MAX_LINES = 10, 8


def read(host: Host, units: Mapping[str, Mapping[str, Any]]) -> List[Dict[str, Any]]:
    """The failed units, and the units of a node that systemd restarted. C(units): of node_info.

    C(unit), C(failed) (now, or before a restart), C(time), C(reason), C(restarts), C(lines): the last ones, without secrets.
    """
    failed = _failed_units(host)
    restarted = [name for name, unit in units.items() if unit.get("restarts") and name not in failed]
    states = _states(host, [*failed, *restarted][:MAX_UNITS])
    return [_describe(name, unit, name in failed) for name, unit in states.items()]


def _failed_units(host: Host) -> List[str]:
    output = host.run("systemctl", "list-units", "--state=failed", "--all", "--no-legend", "--no-pager", "--plain") or ""
    # systemd 219 marks failed units with a dot.
    rows = (line.replace("\N{BLACK CIRCLE}", " ").split() for line in output.splitlines())
    return [row[0] for row in rows if row]


def _states(host: Host, names: List[str]) -> Dict[str, Unit]:
    try:
        return read_units(names, host.run_program)
    except ApplyRefused as error:
        host.report(str(error))
        return {}


def _last_lines(entries: Sequence[journald.Entry]) -> List[str]:
    """What the unit logged, or what systemd says about a unit that logged nothing."""
    return [entry.text for entry in entries if not entry.systemd] or [entry.text for entry in entries]


def _describe(name: str, unit: Unit, is_failed: bool) -> Dict[str, Any]:
    entries = journald.entries(name)
    failure = None if is_failed else journald.last_failure(entries, float("inf"))
    lines = _last_lines(entries) if is_failed else failure.lines if failure else []
    ended = unit.inactive_entered
    return {
        "unit": name,
        "failed": is_failed,
        "time": None if ended is None else format_time(to_wall_time(ended)),
        "reason": unit.result if is_failed else failure.how if failure else "",
        "restarts": unit.restarts,
        "lines": list(shorten(to_plain_text(line, is_document=True) for line in lines[-MAX_LINES:])),
    }
