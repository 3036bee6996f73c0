# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of the actions drain_report and node_drain, and their checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import Problems, SpecError, listed, nearest
from ..kubernetes import parse_version
from ..model.described_cluster import check_cluster
from ..model.plain import INVALID
from ..model.values import kubernetes_version
from ..quantities import parse_duration
from ..workloads.model import Cluster, Node
from .finding import Settings

TIMEOUT = "15m"
"""The default, as EKS waits for managed node groups."""

OPTIONS: dict[str, Any] = {
    "cluster": {"type": "dict", "default": {}},
    "timeout": {"type": "str", "default": TIMEOUT},
    "delete_after_timeout": {"type": "bool", "default": False},
    "delete_unmanaged_pods": {"type": "bool", "default": False},
    "delete_emptydir_data": {"type": "bool", "default": False},
}
"""The options of both actions."""


def read_options(options: Mapping[str, Any], now: float) -> tuple[dict[str, Any], Settings]:
    """The cluster, and the settings of a drain. Raises C(SpecError) with all problems."""
    problems = Problems()
    cluster: dict[str, Any] = check_cluster(options["cluster"], problems)
    settings = _drain_settings(options, now, problems)
    problems.raise_any()
    return cluster, settings


def _drain_settings(options: Mapping[str, Any], now: float, problems: Problems) -> Settings:
    target = checked_version(options.get("target_version"), "target_version", problems)
    return Settings(
        timeout_seconds(options["timeout"], problems),
        options["delete_after_timeout"],
        options["delete_unmanaged_pods"],
        options["delete_emptydir_data"],
        bool(options.get("surge")),
        target,
        now,
    )


def checked_version(value: Any, path: str, problems: Problems) -> str:
    """A version of Kubernetes as text, '' without one or if it is not valid.

    Ansible may turn the number into text before it gets here, so 1.3 is refused as text, too: it was 1.30.
    """
    if value is None or value == "":
        return ""
    version = parse_version(value)
    if version is not None and version[1] < 10:
        problems.add("input.invalid_text", path, "is too old; as a number, 1.30 is 1.3", value=value, fix='quote it, for example "1.30"')
        return ""
    found = kubernetes_version(value, path, problems)
    return "" if found is INVALID else str(found)


def timeout_seconds(text: Any, problems: Problems) -> float:
    """The seconds of a duration such as 15m, or of a plain number."""
    written = str(text)
    seconds = parse_duration(f"{written}s" if written.isascii() and written.isdecimal() else written)
    if seconds is None or seconds <= 0:
        problems.add("input.invalid_text", "timeout", "is not a positive duration", value=text, fix="write it as 15m or 900s")
        return float(parse_duration(TIMEOUT) or 0)
    return float(seconds)


def chosen_nodes(cluster: Cluster, names: Iterable[str], labels: Mapping[str, str]) -> tuple[str, ...]:
    """The nodes that a report is about: by name, by labels, or all. Raises C(SpecError) for unknown ones, and for none."""
    problems = Problems()
    chosen = list(dict.fromkeys(names))
    for index, name in enumerate(chosen):
        if name not in cluster.nodes:
            guess = nearest(name, cluster.nodes)
            problems.add(
                "input.unknown_value", f"nodes[{index}]", "is not a node of this cluster", value=name,
                allowed=listed(sorted(cluster.nodes), guess) or f"one of {len(cluster.nodes)} nodes", nearest=guess,
            )  # fmt: skip
    problems.raise_any()
    found = chosen or sorted(cluster.nodes)
    selected = tuple(name for name in found if _has(cluster.nodes[name], labels))
    if not selected:
        path = "labels" if labels else "nodes"
        problems.add("input.unknown_value", path, "selects no node of this cluster", fix=_labels_hint(cluster, labels))
        raise SpecError(problems)
    return selected


def _has(node: Node, labels: Mapping[str, str]) -> bool:
    return all(node.labels.get(key) == str(value) for key, value in labels.items())


def _labels_hint(cluster: Cluster, labels: Mapping[str, str]) -> str:
    """The values that the nodes have for the labels."""
    if not cluster.nodes:
        return "check the context: the cluster has no nodes"
    parts = []
    for key, value in labels.items():
        values = sorted({node.labels[key] for node in cluster.nodes.values() if key in node.labels})
        if str(value) not in values:
            parts.append(f"{key} is {', '.join(values[:5])} on the nodes" if values else f"no node has the label {key}")
    return "; ".join(parts) or "no node has all of these labels"
