# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an admin machine is before a cluster is created. Only reads. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import grp
import os
import pwd
from typing import Any, Dict, List, Mapping, NamedTuple, Tuple

from .._doctor import resources
from .._node.host import Host, read_system
from . import connections, docker
from .tools import Tools

_DOCKER_GROUP = "docker"
_LIMITS = ("max_user_watches", "max_user_instances")
_LISTENING = "0A"
"""The state of a listening socket in C(/proc/net/tcp)."""


class Request(NamedTuple):
    """What to look at. C(registries): see C(connections.registry)."""

    tools: Tuple[str, ...]
    work_dir: str
    files: Tuple[str, ...]
    addresses: Tuple[str, ...]
    registries: Tuple[Mapping[str, Any], ...]


def collect(host: Host, tools: Tools, request: Request) -> Dict[str, Any]:
    """The facts of a machine. C(problems): what could not be read."""
    daemon = docker.daemon(tools)
    facts = {
        "system": read_system(host),
        "clock_synchronized": resources.clock(host, None)["synchronized"],
        "memory": resources.memory(host),
        "disks": _disks(host, {"work_dir": request.work_dir, "docker": daemon["root"] or "/var/lib/docker"}),
        "inotify": {name: _limit(host, name) for name in _LIMITS},
        "cgroup_version": 2 if host.exists("/sys/fs/cgroup/cgroup.controllers") else 1,
        "user": user(),
        "tools": tools.versions(request.tools),
        "docker": daemon,
        "containers": [] if daemon["problem"] else docker.containers(tools),
        "listening_ports": listening_ports(host),
        "files": {path: _size(host, os.path.join(request.work_dir, path)) for path in request.files},
        "addresses": {address: connections.answering_port(address) for address in request.addresses},
        "registries": [connections.registry(one, os.environ, host.timeout) for one in request.registries],
    }
    return {**facts, "problems": list(host.problems)}


def user() -> Dict[str, Any]:
    """The user that runs this: its name, whether it is root, and whether this session is in the group C(docker)."""
    try:
        name = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        name = str(os.geteuid())
    try:
        is_member = grp.getgrnam(_DOCKER_GROUP).gr_gid in os.getgroups()
    except KeyError:
        is_member = False
    return {"name": name, "root": os.geteuid() == 0, "in_docker_group": is_member}


def listening_ports(host: Host) -> List[int]:
    """The TCP ports that are in use on this machine, sorted."""
    found = set()
    for name in ("tcp", "tcp6"):
        for line in (host.text(f"/proc/net/{name}") or "").splitlines():
            columns = line.split()
            if len(columns) > 3 and columns[3] == _LISTENING:
                found.add(int(columns[1].rpartition(":")[2], 16))
    return sorted(found)


def _disks(host: Host, paths: Mapping[str, str]) -> Dict[str, Dict[str, Any]]:
    """The free space by what it is for. Of a folder that does not exist yet, that of the next folder above it."""
    found = {}
    for name, path in paths.items():
        space = host.free_space(_existing(host, path))
        if space is not None:
            found[name] = {"path": path, "free_bytes": space.free_bytes, "free_inodes": space.free_inodes, "inodes": space.inodes}
    return found


def _existing(host: Host, path: str) -> str:
    while path not in ("", "/") and not host.exists(path):
        path = os.path.dirname(path)
    return path or "/"


def _limit(host: Host, name: str) -> int | None:
    text = (host.text(f"/proc/sys/fs/inotify/{name}") or "").strip()
    return int(text) if text.isdigit() else None


def _size(host: Host, path: str) -> int | None:
    try:
        return os.stat(host.path(path)).st_size
    except (OSError, ValueError):
        return None
