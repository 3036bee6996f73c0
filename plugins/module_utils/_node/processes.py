# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads running processes from /proc. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import os
from typing import Dict, List, NamedTuple

from .host import Host


class Process(NamedTuple):
    """A running process. Without one, C(pid) is 0 and the rest is empty. C(argv): the command line, program first.

    C(environment): may contain secrets. C(started): seconds since 1970, None when that is unknown.
    """

    pid: int
    argv: List[str]
    environment: Dict[str, str]
    started: float | None = None


def read_process(host: Host, pid: int, started: float | None = None) -> Process:
    """The process with a pid. C(pid) 0 means that there is none."""
    if not pid:
        return Process(0, [], {}, started)
    pairs = (os.fsdecode(item).partition("=") for item in _items(host, pid, "environ") if b"=" in item)
    return Process(pid, command_line(host, pid), {name: value for name, _equals, value in pairs}, started)


def command_line(host: Host, pid: int) -> List[str]:
    """The command line of a process, program first, [] when there is no such process."""
    return [word.decode("utf-8", "replace") for word in _items(host, pid, "cmdline")]


def _items(host: Host, pid: int, name: str) -> List[bytes]:
    content = host.read(f"/proc/{pid}/{name}") if pid else None
    return (content or b"").split(b"\0")[:-1]
