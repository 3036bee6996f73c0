# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node groups from the variables of an inventory: every group once, although each of its hosts has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Problems, group_name, joined
from ..model.checks import shows_secret
from .batch import Source

CLUSTER, GROUP = "eks_node_cluster", "eks_node_group"
HOST_VARIABLES = (CLUSTER, GROUP)
"""The variables that describe the node of a host."""


@dataclass(frozen=True)
class Host:
    """The variables of one host; None for a variable that the host does not have."""

    name: str
    cluster: Any
    node_group: Any

    def path(self, variable: str) -> str:
        """The path of a variable, as messages show it."""
        return f"{joined('hosts', self.name)}.{variable}"


def sources_of(hosts: Sequence[Host]) -> list[Source]:
    """One source for each cluster, with each group once. Hosts without C(eks_node_group) are skipped.

    Raises C(SpecError) if no host has a group, or if two hosts have different variables for one group.
    """
    problems = Problems()
    members = [host for host in hosts if host.node_group is not None]
    if not members:
        message = f"has no host with {GROUP}"
        fix = f"set {CLUSTER} and eks_node_groups (for example with -e @my.yml), or use an inventory whose hosts have {CLUSTER} and {GROUP}"
        problems.add("input.missing_field", "inventory", message, fix=fix)
    firsts: dict[tuple[Any, ...], Host] = {}
    for host in members:
        if host.cluster is None:
            message = f"is not set, although {GROUP} is"
            problems.add("input.missing_field", host.path(CLUSTER), message, fix="set it for the same hosts")
            continue
        first = firsts.setdefault(_identity(host, firsts), host)
        if first is not host:
            _compare(first, host, problems)
    problems.withhold_values(shows_secret)
    problems.raise_any()
    by_cluster: list[tuple[Host, list[Host]]] = []
    for first in firsts.values():
        found = next((listed for other, listed in by_cluster if other.cluster == first.cluster), None)
        if found is None:
            by_cluster.append((first, found := []))
        found.append(first)
    return [
        Source(
            first.cluster,
            [host.node_group for host in listed],
            cluster_path=first.path(CLUSTER),
            group_paths=tuple(host.path(GROUP) for host in listed),
        )
        for first, listed in by_cluster
    ]


def _identity(host: Host, firsts: Mapping[tuple[Any, ...], Host]) -> tuple[Any, ...]:
    """The names of the cluster and the group. A group without a valid name is one with its equals."""
    group = group_name(host.node_group)
    if group is not None:
        return (_cluster_name(host.cluster), group)
    return next((key for key, other in firsts.items() if other.node_group == host.node_group and len(key) == 1), (host.name,))


def _cluster_name(cluster: Any) -> str:
    """The name of a cluster, also of the output of C(aws eks describe-cluster)."""
    described = cluster.get("cluster", cluster) if isinstance(cluster, dict) else cluster
    return str(described.get("name") if isinstance(described, dict) else described)


def _compare(first: Host, host: Host, problems: Problems) -> None:
    fix = "set the variable once, in the group_vars of the group, or give the node groups different names"
    for variable, one, other in ((CLUSTER, first.cluster, host.cluster), (GROUP, first.node_group, host.node_group)):
        for path, value in _differences(one, other, ""):
            message = f"differs from {first.path(variable)}{path}, but both hosts belong to the node group {group_name(host.node_group)}"
            problems.add(
                "input.conflict", f"{host.path(variable)}{path}", message, fix=fix, **({"value": value} if value is not None else {})
            )


def _differences(one: Any, other: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The paths at which two values differ, each with the second value."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}, key=str):
            yield from _differences(one.get(key), other.get(key), path + joined("x", key)[1:])
    elif one != other or isinstance(one, bool) != isinstance(other, bool):
        yield path, other
