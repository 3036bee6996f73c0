# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operating system and the versions of kubelet and containerd. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import platform
import re
from typing import Any, Dict, Iterable, Pattern

from .._node.host import Host, read_os_release

_VERSION = re.compile(r"(?<![\w.])v?([0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+~-]*)")
_SNAP = "/snap/kubelet-eks/current"
_SNAP_VERSION = re.compile(r"^version:[ \t]*[\"']?v?([0-9]+\.[0-9]+[0-9A-Za-z.+~-]*)", re.MULTILINE)


def system(host: Host) -> Dict[str, Any]:
    """The operating system, the kernel and the host name."""
    fields = read_os_release(host)
    uname = platform.uname()
    return {
        "os": {"id": fields.get("ID"), "version_id": fields.get("VERSION_ID"), "name": fields.get("PRETTY_NAME")},
        "kernel": uname.release,
        "architecture": uname.machine,
        "hostname": uname.node,
    }


def versions(host: Host, kubelet_pid: int) -> Dict[str, Any]:
    """The versions of kubelet and containerd, each with its source: files of the image first, then the programs."""
    kubelet = _from_file(host, "/etc/eks/kubelet-version.txt") or _from_file(host, f"{_SNAP}/meta/snap.yaml", _SNAP_VERSION)
    programs = ["/usr/bin/kubelet", f"{_SNAP}/kubelet", "/usr/local/bin/kubelet"] + ([f"/proc/{kubelet_pid}/exe"] if kubelet_pid else [])
    containerd = _from_file(host, "/etc/eks/containerd-version.txt")
    return {
        "kubelet": kubelet or _from_program(host, programs, "Kubernetes"),
        "containerd": containerd or _from_program(host, ["/usr/bin/containerd", "/usr/local/bin/containerd"], "containerd"),
    }


def _from_file(host: Host, path: str, pattern: Pattern[str] = _VERSION) -> Dict[str, str] | None:
    match = pattern.search(host.text(path) or "")
    return {"version": match.group(1), "source": path} if match else None


def _from_program(host: Host, programs: Iterable[str], word: str) -> Dict[str, str] | None:
    for program in programs:
        if host.exists(program):
            text = host.run(program, "--version") or ""
            match = _VERSION.search(text) if word in text else None
            if match:
                return {"version": match.group(1), "source": f"{program} --version"}
    return None
