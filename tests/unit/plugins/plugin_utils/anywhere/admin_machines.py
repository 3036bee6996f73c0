# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of an admin machine without a problem, and changes of them."""

from __future__ import annotations

import copy
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import preflight_tools
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters

GIB = 1024**3
_VERSIONS = {"docker": "28.0.1", "kind": "0.33.0", "clusterctl": "1.14.0", "kubectl": "1.34.1", "helm": "4.3.1", "eksctl": "0.215.0"}
_DISK = {"path": "/srv/eks", "free_bytes": 100 * GIB, "free_inodes": 900, "inodes": 1000}
_HEALTHY = {
    "addresses": {"10.0.0.10": None},
    "cgroup_version": 2,
    "clock_synchronized": True,
    "containers": [{"name": "web", "state": "running", "image": "nginx:1", "cluster": "", "role": ""}],
    "disks": {"work_dir": _DISK, "docker": {**_DISK, "path": "/var/lib/docker"}},
    "docker": {"version": "28.0.1", "memory": 32 * GIB, "cpus": 8, "root": "/var/lib/docker", "cgroup_version": 2, "problem": ""},
    "files": {},
    "inotify": {"max_user_watches": 524288, "max_user_instances": 512},
    "listening_ports": [22],
    "memory": {"total": 32 * GIB, "available": 16 * GIB, "swap": 0},
    "problems": [],
    "registries": [{"host": "registry.k8s.io", "status": 200, "problem": "", "kind": ""}],
    "system": {"id": "ubuntu", "version_id": "24.04", "architecture": "x86_64"},
    "tools": {
        tool.name: {"path": f"/usr/bin/{tool.name}", "version": _VERSIONS.get(tool.name, "0.26.1"), "problem": ""}
        for tool in preflight_tools.TOOLS
    },
    "user": {"name": "me", "root": False, "in_docker_group": True},
}


def facts(*changes: tuple[str, Any]) -> dict[str, Any]:
    """The facts with changes: path such as C(docker.problem), value."""
    found = copy.deepcopy(_HEALTHY)
    for path, value in changes:
        clusters.change(found, path, value)
    return found


def container(name: str, cluster: str = "") -> dict[str, str]:
    """A container of a cluster."""
    return {"name": name, "state": "exited", "image": "kindest/node:v1", "cluster": cluster, "role": "control-plane" if cluster else ""}
