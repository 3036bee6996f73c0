# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The clock, the disks, the memory and the pressure of a node. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re
from typing import Any, Dict, List

from .._join.model import Evidence
from .._node.host import Host

DISKS = ("/", "/var/lib/kubelet", "/var/lib/containerd")
_MEMORY = {"MemTotal": "total", "MemAvailable": "available", "SwapTotal": "swap"}
_PRESSURES = ("cpu", "memory", "io")

# systemd before 239 (Amazon Linux 2) calls the line "NTP synchronized".
_SYNCHRONIZED = re.compile(r"^\s*(?:System clock|NTP) synchronized: (?P<answer>yes|no)\s*$", re.MULTILINE)


def clock(host: Host, evidence: Evidence | None) -> Dict[str, Any]:
    """C(skew): seconds by which the clock is ahead of the API server. C(synchronized): whether the kernel's clock follows a time source.

    Both are None if they are unknown.
    """
    skew = None if evidence is None or evidence.api is None else evidence.api.clock_skew
    found = _SYNCHRONIZED.search(host.run("timedatectl", "status") or "")
    return {"skew": None if skew is None else round(skew, 1), "synchronized": found.group("answer") == "yes" if found else None}


def disks(host: Host) -> List[Dict[str, Any]]:
    """The free space of the file systems that kubelet and containerd use. Each path that exists is listed."""
    found = ((path, host.free_space(path)) for path in DISKS)
    return [{"path": path, **space._asdict()} for path, space in found if space is not None]


def memory(host: Host) -> Dict[str, int]:
    """C(total), C(available) and C(swap) in bytes, as far as the kernel tells them."""
    rows = (line.split() for line in (host.text("/proc/meminfo") or "").splitlines())
    return {_MEMORY[row[0][:-1]]: int(row[1]) * 1024 for row in rows if len(row) >= 2 and row[0][:-1] in _MEMORY and row[1].isdigit()}


def pressure(host: Host) -> Dict[str, Dict[str, float]]:
    """Resource → C(some) and C(full): percent of the last five minutes in which some or all processes waited for it.

    Empty on a kernel without this accounting (Amazon Linux 2).
    """
    found: Dict[str, Dict[str, float]] = {}
    for name in _PRESSURES if host.exists("/proc/pressure") else ():
        for line in (host.text(f"/proc/pressure/{name}") or "").splitlines():
            kind, _space, values = line.partition(" ")
            shares = dict(word.partition("=")[::2] for word in values.split())
            if kind in ("some", "full") and _is_number(shares.get("avg300", "")):
                found.setdefault(name, {})[kind] = float(shares["avg300"])
    return found


def _is_number(text: str) -> bool:
    return re.match(r"[0-9]{1,3}(?:\.[0-9]+)?\Z", text) is not None
