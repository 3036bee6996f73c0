# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of containerd that decide whether a node joins. Reads only. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re

from .._node import containerd_config
from .._node.containerd_config import Settings
from .._node.host import Host

_CRI = r"plugins\.\"io\.containerd\.(?:grpc\.v1\.cri|cri\.v1\.runtime)\"\."
_DEFAULT_RUNTIME = re.compile(_CRI + r"containerd\.default_runtime_name\Z")
_SYSTEMD_CGROUP = re.compile(_CRI + r"containerd\.runtimes\.(?P<runtime>[\w-]+|\"[^\"]*\")\.options\.SystemdCgroup\Z")
_CNI_DIRECTORY = re.compile(_CRI + r"cni\.conf_dir\Z")


def uses_systemd_cgroup(host: Host, pid: int, started: float = float("inf")) -> bool | None:
    """Whether the default runtime of containerd uses systemd for cgroups; None if it is not known.

    `started`: when containerd started, in seconds since 1970. It has not read what changed after that.
    """
    config = containerd_config.read(host, pid)
    if containerd_config.changed_after(host, config, started):
        return None
    return containerd_config.find(host, config, find_systemd_cgroup)


def find_systemd_cgroup(settings: Settings) -> bool | None:
    """SystemdCgroup of the default runtime; None if it is not set."""
    runtime = next((str(value) for name, value in settings.items() if _DEFAULT_RUNTIME.match(name)), "runc")
    found = {
        match.group("runtime").strip('"'): value is True
        for name, value in settings.items()
        for match in [_SYSTEMD_CGROUP.match(name)]
        if match
    }
    return found.get(runtime)


def cni_directory(host: Host, pid: int) -> str | None:
    """The directory in which containerd looks for the CNI configuration; None if it is not known."""
    return containerd_config.find(host, containerd_config.read(host, pid), _find_cni_directory)


def _find_cni_directory(settings: Settings) -> str | None:
    found = [str(value) for name, value in settings.items() if _CNI_DIRECTORY.match(name)]
    return next((path for path in found if path.startswith("/")), None)
