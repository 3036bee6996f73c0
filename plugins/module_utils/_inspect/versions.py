# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operating system and the versions of kubelet and containerd. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import platform
from typing import Any, Dict

from .._node import program_versions
from .._node.host import Host, read_hostname, read_os_release


def system(host: Host) -> Dict[str, Any]:
    """The operating system, the kernel and the host name."""
    fields = read_os_release(host)
    uname = platform.uname()
    return {
        "os": {"id": fields.get("ID"), "version_id": fields.get("VERSION_ID"), "name": fields.get("PRETTY_NAME")},
        "kernel": uname.release,
        "architecture": uname.machine,
        "hostname": read_hostname(),
    }


def versions(host: Host, kubelet_pid: int) -> Dict[str, Any]:
    """The versions of kubelet and containerd, each with its source."""
    found = {"kubelet": program_versions.of_kubelet(host, kubelet_pid), "containerd": program_versions.of_containerd(host)}
    return {name: None if version is None else dict(version._asdict()) for name, version in found.items()}
