# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The running processes of a machine: their programs, and the files that they use. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from typing import FrozenSet, List

from .._node.host import Host, command_line

KUBELET = "kubelet"

_PATH = re.compile(r"/[^\s:;,='\"]+")


def pids(host: Host) -> List[int]:
    """The IDs of all processes."""
    return sorted(int(name) for name in host.names("/proc") if name.isdigit())


def kubelets(host: Host) -> List[int]:
    """The processes whose program is kubelet."""
    return [pid for pid in pids(host) if os.path.basename(next(iter(command_line(host, pid)), "")) == KUBELET]


def used_paths(host: Host) -> FrozenSet[str]:
    """What processes use: working directories, programs, open files, and the paths on command lines. Also the files of this program."""
    found = {os.path.abspath(path) for path in (sys.argv[0], *sys.path) if path}
    for pid in pids(host):
        found.update(path for word in command_line(host, pid) for path in _PATH.findall(word))
        links = [f"/proc/{pid}/cwd", f"/proc/{pid}/exe", *(f"/proc/{pid}/fd/{name}" for name in _descriptors(host, pid))]
        for link in links:
            with suppress(OSError):
                found.add(os.readlink(host.path(link)))
    return frozenset(found)


def _descriptors(host: Host, pid: int) -> List[str]:
    """The open files of a process. A process that has ended, or of another user without root, has none."""
    try:
        return os.listdir(host.path(f"/proc/{pid}/fd"))
    except OSError:
        return []
