# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action anywhere_validate without Ansible and without files: its options, and what one task does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .cluster_file import Read, read_file
from .model import Cluster
from .validate import SCOPES, Validation, validate

OPTIONS: dict[str, Any] = {
    "cluster_file": {"type": "path", "required": True},
    "hardware_csv": {"type": "path"},
    "scope": {"type": "str", "choices": [*SCOPES], "default": SCOPES[0]},
    "api_server_extra_args": {"type": "bool", "default": False},
}


def validate_task(options: Mapping[str, Any], *, read: Read, say: Callable[[str], None]) -> dict[str, Any]:
    """Validate a file, and print every problem. The task fails if there is an error. Raises C(SpecError) for files without text."""
    path, hardware = options["cluster_file"], options["hardware_csv"]
    text = read_file(path, read)
    table = None if hardware is None else read(hardware, "hardware_csv")
    found = validate(text, options["scope"], allow_api_server_args=options["api_server_extra_args"], hardware=table)
    rows = found.rows()
    names = {"cluster": path, "hardware": hardware}
    counts = {severity: sum(row["severity"] == severity for row in rows) for severity in ("error", "warning")}
    say("\n".join(_lines(found, rows, names)) or f"{path}: valid: {_in_words(found.cluster)}")
    result: dict[str, Any] = {
        "changed": False,
        "problems": rows,
        "counts": counts,
        "cluster": None if found.cluster is None else summary(found.cluster),
    }
    if counts["error"]:
        plural = "" if counts["error"] == 1 else "s"
        result |= {"failed": True, "msg": f"anywhere_validate: {counts['error']} error{plural} in {path}"}
    return result


def _lines(found: Validation, rows: Sequence[Mapping[str, Any]], names: Mapping[str, str | None]) -> list[str]:
    """A line for each problem, such as compilers write it, so that editors and CI systems find the place."""
    lines = []
    for problem, row in zip(found.problems, rows, strict=True):
        place = f"{names[row['file']]}:{row['line']}" if row["line"] else str(names[row["file"]])
        lines.append(f"{place}: {row['severity']}: {problem} [{problem.rule}]")
    return lines


def _in_words(cluster: Cluster | None) -> str:
    """A valid cluster on one line."""
    if cluster is None:
        return ""
    workers = sum(group.replicas for group in cluster.workers)
    role = "manages itself" if cluster.is_self_managed else f"managed by {cluster.management}"
    nodes = f"{cluster.control_plane.count} control plane nodes, {workers} workers"
    return f"cluster {cluster.name}, {cluster.provider_name}, Kubernetes {cluster.version}, {nodes}, {role}"


def summary(cluster: Cluster) -> dict[str, Any]:
    """What a play needs to know of a cluster, as plain data."""
    return {
        "name": cluster.name,
        "namespace": cluster.namespace,
        "provider": cluster.provider,
        "kubernetes_version": cluster.version,
        "management_cluster": cluster.management,
        "control_plane_count": cluster.control_plane.count,
        "external_etcd_count": None if cluster.etcd is None else cluster.etcd.count,
        "worker_groups": [
            {"name": group.name, "count": group.replicas, "kubernetes_version": group.version or cluster.version}
            for group in cluster.workers
        ],
    }
