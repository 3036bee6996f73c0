# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The network of this machine as the kernel shows it below C(/proc): its addresses, and which process listens on a port.

Standard library, Python 3.7 and newer.
"""

from __future__ import annotations

import ipaddress
import os
import re
from typing import Iterator

from .host import MAX_FILE_BYTES, Host

_LOCAL_IPV4 = re.compile(r"\|-- (?P<address>[0-9.]+)\n(?:\s+/[0-9]+ (?!host LOCAL).*\n)*\s+/32 host LOCAL")
_LISTEN = "0A"
_UNIT = re.compile(r"/(?P<unit>[^/]+\.(?:service|scope))(?:/|$)")


def addresses(host: Host) -> frozenset[str] | None:
    """The IPv4 and IPv6 addresses of all interfaces. None when they are unknown."""
    ipv4 = host.text("/proc/net/fib_trie")
    if ipv4 is None or len(ipv4) >= MAX_FILE_BYTES:
        # With very many routes, the rest is cut off.
        return None
    found = {match.group("address") for match in _LOCAL_IPV4.finditer(ipv4)}
    for line in (host.text("/proc/net/if_inet6") or "").splitlines():
        digits = line.partition(" ")[0]
        if re.match(r"[0-9a-f]{32}\Z", digits):
            found.add(str(ipaddress.IPv6Address(int(digits, 16))))
    return frozenset(found)


def listeners(host: Host, port: int) -> list[str]:
    """The processes that listen on a TCP port: C(NAME \\(pid PID, UNIT\\)). Command lines are left out: they may contain secrets."""
    sockets = {f"socket:[{inode}]" for name in ("tcp", "tcp6") for inode in _listening(host.text(f"/proc/net/{name}") or "", port)}
    if not sockets:
        return []
    return [_describe(host, pid) for pid in host.names("/proc") if pid.isdigit() and _has_one_of(host, pid, sockets)]


def _listening(table: str, port: int) -> Iterator[str]:
    """The inodes of the sockets that listen on a port."""
    for line in table.splitlines()[1:]:
        words = line.split()
        if len(words) > 9 and words[3] == _LISTEN and words[1].rpartition(":")[2] == f"{port:04X}":
            yield words[9]


def _has_one_of(host: Host, pid: str, sockets: set[str]) -> bool:
    directory = f"/proc/{pid}/fd"
    try:
        # Another process ends at any time.
        handles = os.listdir(host.path(directory))
    except OSError:
        return False
    for handle in handles:
        try:
            if os.readlink(host.path(f"{directory}/{handle}")) in sockets:
                return True
        except OSError:
            continue
    return False


def _describe(host: Host, pid: str) -> str:
    name = (host.text(f"/proc/{pid}/comm") or "unknown").strip()
    units = [match.group("unit") for match in _UNIT.finditer(host.text(f"/proc/{pid}/cgroup") or "")]
    return f"{name} (pid {pid}{f', {units[0]}' if units else ''})"
