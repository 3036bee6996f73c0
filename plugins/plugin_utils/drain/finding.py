# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A finding of the report, and what the rules are given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from ..workloads.model import Cluster, Node, Pod

BLOCKS, LOSES_DATA, NOTICE = SEVERITIES = ("blocks", "loses_data", "notice")
"""blocks: the drain would not end, or a pod would not come back. loses_data: data or work is lost. notice: for information."""


class Finding(NamedTuple):
    """One finding. id: of the rule in the catalogue. pod: namespace and name, '' for a finding on a node or the cluster. node: '' for the
    cluster. reason, fix: sentences without a full stop."""

    id: str
    severity: str
    pod: str
    node: str
    reason: str
    fix: str

    @property
    def rank(self) -> int:
        """The place of its severity, worst first."""
        return SEVERITIES.index(self.severity)

    def plain(self) -> dict[str, str]:
        """The finding as plain data."""
        return dict(self._asdict())


class Settings(NamedTuple):
    """How the nodes are drained.

    timeout: seconds for one node. has_surge: whether new nodes like the drained ones are added first. target_version: of kubelet after an
    upgrade, '' if the nodes are only drained. now: seconds since the epoch.
    """

    timeout: float = 900.0
    delete_after_timeout: bool = False
    delete_unmanaged_pods: bool = False
    delete_emptydir_data: bool = False
    has_surge: bool = False
    target_version: str = ""
    now: float = 0.0


class Subnet(NamedTuple):
    """A subnet of drained nodes, or of their group. free: unused addresses. nodes: the drained nodes in it."""

    id: str
    free: int
    nodes: tuple[str, ...]


class Question(NamedTuple):
    """What decides about the eviction of a pod that has budgets. The API server is asked about one pod for all with the same question."""

    namespace: str
    budgets: tuple[str, ...]
    is_ready: bool


class Scope(NamedTuple):
    """What a report is about. nodes: the names of the nodes to drain, in order. answers: why the API server refuses a dry run of an
    eviction, '' if it would evict the pod."""

    cluster: Cluster
    nodes: tuple[str, ...]
    settings: Settings
    subnets: tuple[Subnet, ...] = ()
    answers: Mapping[Question, str] = {}

    def drained(self) -> Iterator[Node]:
        """The nodes to drain."""
        return (self.cluster.nodes[name] for name in self.nodes)

    def pods(self) -> Iterator[Pod]:
        """The pods on the nodes to drain."""
        return (pod for name in self.nodes for pod in self.cluster.pods.get(name, ()))


def seconds_since_epoch(text: str) -> float | None:
    """A time of the API, None for an invalid one."""
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None


def plural(number: int, word: str) -> str:
    """A number with its noun."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def named(names: tuple[str, ...] | list[str], most: int = 3) -> str:
    """The first names of a list."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def seconds(value: float) -> str:
    """A duration for people, as Kubernetes writes it."""
    whole = int(value)
    if whole >= 60 and whole % 60 == 0:
        return f"{whole // 60}m"
    return f"{whole}s"
