# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of the model: kinds of clusters, one side of a move, and the names of machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.move import Side
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.observed import Providers

CLUSTER, PLANE, WORKERS, SECRET = "Cluster/c", "KubeadmControlPlane/c", "MachineDeployment/c-md-0", "Secret/c-kubeconfig"
ETCD = "EtcdadmCluster/c"
MORE, NEW = "MachineDeployment/c-md-1", "MachineDeployment/c-md-2"


@dataclass(frozen=True)
class Shape:
    """A cluster: its groups of machines with their numbers, before and after an upgrade, and the other clusters that it manages."""

    before: Mapping[str, int]
    after: Mapping[str, int]
    siblings: int = 0

    @property
    def needed(self) -> int:
        """The machines that are made once: those before, and every one after again, with its new version."""
        return sum(self.before.values()) + sum(self.after.values())


SHAPES = {
    "one": Shape({PLANE: 1}, {PLANE: 1}),
    "ha": Shape({PLANE: 3, WORKERS: 1}, {PLANE: 3, WORKERS: 1}),
    "groups": Shape({PLANE: 1, WORKERS: 2, MORE: 1}, {PLANE: 1, WORKERS: 1, NEW: 1}),
    "etcd": Shape({ETCD: 1, PLANE: 1, WORKERS: 1}, {ETCD: 1, PLANE: 1, WORKERS: 1}),
    "siblings": Shape({PLANE: 1, WORKERS: 2}, {PLANE: 1, WORKERS: 2}, 2),
}
"""One node, a control plane of three, groups that are added and removed, external etcd, and other clusters."""


class Violation(AssertionError):
    """A machine was created twice or lost, a kubeconfig was lost, or objects were thrown away."""


@dataclass
class Half:
    """One cluster with its objects of Cluster API, in the order in which they were made. paused: of the object Cluster."""

    providers: Providers = Providers.MISSING
    objects: list[str] = field(default_factory=list)
    paused: bool = False

    @property
    def side(self) -> Side:
        return Side(frozenset(self.objects), self.paused if CLUSTER in self.objects else None)

    @property
    def works(self) -> bool:
        """Do controllers reconcile the cluster?"""
        return self.providers in (Providers.READY, Providers.OLD) and CLUSTER in self.objects and not self.paused


FIRST = (CLUSTER, ETCD, PLANE)


def group_of(machine: str) -> str:
    """The group of a machine, from its name."""
    return machine.partition("@")[0].replace(".", "/")


def version_of(machine: str) -> int:
    """The version of a machine, from its name."""
    return int(machine.partition("@")[2].partition("#")[0])


def objects_of(machines: list[str]) -> set[str]:
    """The objects of machines."""
    return {f"Machine/n/{name}" for name in machines}
