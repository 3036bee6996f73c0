# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The identity of a process as the holder of a Lease, and whether such a process still exists. Runs on the controller."""

from __future__ import annotations

import os
from typing import Optional


def holder(pid: int) -> str:
    """The identity of a process of this machine: C(HOST/NAMESPACE/PID/START), so that a later process with the same ID differs."""
    return "{0}/{1}/{2}/{3}".format(os.uname().nodename, _namespace(), pid, _started(pid) or "0")


def is_gone(identity: str) -> bool:
    """Whether a holder was a process of this machine that does not exist any more. False if it is not known."""
    parts = identity.rsplit("/", 3)
    if len(parts) != 4 or parts[0] != os.uname().nodename or not _namespace() or parts[1] != _namespace():
        return False
    return parts[2].isdigit() and _started(int(parts[2])) != parts[3]


def _namespace() -> str:
    """The namespace of process IDs: containers can have the same host name. '' where the system does not tell."""
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return ""


def _started(pid: int) -> Optional[str]:
    """When a process began, in ticks since the boot; None if there is no such process, or if it has ended."""
    try:
        with open("/proc/{0}/stat".format(pid), "rb") as stream:
            # The name of the program, in parentheses, may contain spaces.
            words = stream.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if words[0] in (b"Z", b"X") else words[19].decode("ascii")
