# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The units of a node as node_info returns them. Standard library, Python 3.7 and newer."""

from __future__ import annotations

from typing import Any, Dict, Mapping

from .._node.errors import ApplyRefused
from .._node.host import Host, format_time, to_wall_time
from .._node.systemd import Unit, read_units

UNITS = (
    "containerd.service",
    "kubelet.service",
    "snap.kubelet-eks.daemon.service",
    "sandbox-image.service",
    "nodeadm-config.service",
    "nodeadm-run.service",
    "nodebootstrap-post.service",
    "nodebootstrap-recover.service",
)


def read(host: Host) -> Dict[str, Unit]:
    """The units among C(UNITS) that exist on the node."""
    try:
        units = read_units(UNITS, host.run_program)
    except ApplyRefused as error:
        host.report(str(error))
        return {}
    return {name: unit for name, unit in units.items() if unit.exists}


def started(unit: Unit | None) -> float | None:
    """When the main process of a unit was started, in seconds since 1970."""
    return None if unit is None or unit.main_started is None else to_wall_time(unit.main_started)


def describe(units: Mapping[str, Unit]) -> Dict[str, Dict[str, Any]]:
    """The facts of each unit."""
    return {name: _describe_one(unit) for name, unit in units.items()}


def _describe_one(unit: Unit) -> Dict[str, Any]:
    since = unit.active_entered if unit.active in ("active", "reloading") else unit.inactive_entered
    return {
        "state": unit.active,
        "sub_state": unit.sub,
        "enabled": unit.file_state or None,
        "result": unit.result or None,
        "since": None if since is None else format_time(to_wall_time(since)),
        "restarts": unit.restarts,
        "pid": unit.pid or None,
    }
