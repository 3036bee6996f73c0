# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Docker on an admin machine: its daemon, and the containers of clusters. Only reads. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import json
from typing import Any, Dict, List

from .tools import Tools, last_line

_COLUMNS = ("name", "state", "image", "cluster", "role")
_FORMAT = "\t".join(("{{.Names}}", "{{.State}}", "{{.Image}}", '{{.Label "io.x-k8s.kind.cluster"}}', '{{.Label "io.x-k8s.kind.role"}}'))


def daemon(tools: Tools) -> Dict[str, Any]:
    """The daemon: its version, memory in bytes, processors, root directory and cgroup version. C(problem): why it does not answer."""
    result = tools.run(("docker", "info", "--format", "{{json .}}"))
    try:
        info = json.loads(result.output) if result.output else {}
    except ValueError:
        info = {}
    errors = info.get("ServerErrors") if isinstance(info, dict) else None
    problem = str(errors[0])[:300] if errors else "" if isinstance(info, dict) and info.get("ServerVersion") else last_line(result)
    return {
        "version": None if problem else str(info["ServerVersion"]),
        "memory": None if problem else _number(info.get("MemTotal")),
        "cpus": None if problem else _number(info.get("NCPU")),
        "root": None if problem else str(info.get("DockerRootDir") or "") or None,
        "cgroup_version": None if problem else _number(info.get("CgroupVersion")),
        "problem": problem,
    }


def containers(tools: Tools) -> List[Dict[str, str]]:
    """All containers, also stopped ones, sorted by name. C(cluster) and C(role) are empty for containers of no cluster.

    kind and the Docker provider of Cluster API use the same labels.
    """
    result = tools.run(("docker", "ps", "--all", "--format", _FORMAT))
    rows = [line.split("\t") for line in result.output.splitlines()] if result.status == 0 else []
    return sorted((dict(zip(_COLUMNS, row)) for row in rows if len(row) == len(_COLUMNS)), key=lambda one: one["name"])


def _number(value: Any) -> int | None:
    text = str(value)
    return int(text) if text.isdigit() else None
