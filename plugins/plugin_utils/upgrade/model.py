# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an upgrade observes, what it is asked for, and the steps that it can take: frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

NodeStep = Literal["drain", "settle", "act", "verify", "done"]
"""What happens with a node: its pods are evicted; load balancers stop sending requests to it; its instance is terminated, or the tasks of
an upgrade in place run; it becomes Ready again; it is upgraded."""

OperationKind = Literal["raise", "terminate", "lower"]


@dataclass(frozen=True)
class Mark:
    """The annotation of a node that an upgrade is working on.

    since: when the step began, in seconds since the epoch. was_cordoned, was_excluded: whether the node was cordoned, and had the label for
    load balancers, before the upgrade. is_surplus: the node is removed because the group has more nodes than before the upgrade.
    """

    run: str
    step: NodeStep
    since: float
    was_cordoned: bool = False
    was_excluded: bool = False
    is_surplus: bool = False


@dataclass(frozen=True)
class Run:
    """The state of a group: an upgrade that has begun.

    version: the launch template version that it upgrades to. before: the version that the group had: a number, C($Latest) or C($Default).
    max_size: that of the group before. suspended: the processes that the upgrade suspends.
    stopped: why the group is put back, '' while the upgrade proceeds.
    """

    id: str
    version: str = ""
    before: str = ""
    max_size: int = 0
    suspended: tuple[str, ...] = ()
    stopped: str = ""


@dataclass(frozen=True)
class Operation:
    """A change of the capacity that may or may not have happened: it is recorded before the request is sent.

    before, after: the desired capacity. instance: the instance that is terminated.
    """

    kind: OperationKind
    before: int
    after: int
    instance: str = ""


@dataclass(frozen=True)
class Capacity:
    """What the upgrade changed of the capacity of a group.

    surge: the nodes that the group has in addition. max_size: what the upgrade set, 0 if nothing.
    """

    surge: int = 0
    max_size: int = 0
    operation: Operation | None = None


@dataclass(frozen=True)
class Instance:
    """An instance of an Auto Scaling group. version: that of its launch template."""

    id: str
    zone: str
    lifecycle: str
    version: str

    @property
    def is_active(self) -> bool:
        """Whether it counts for the desired capacity, and stays."""
        return self.lifecycle.partition(":")[0] in ("Pending", "InService")


@dataclass(frozen=True)
class Group:
    """An Auto Scaling group. version: of the launch template, as the group names it: a number, C($Latest) or C($Default).

    names: the numbers that C($Latest) and C($Default) stand for.
    """

    name: str
    desired: int
    min_size: int
    max_size: int
    version: str
    names: tuple[tuple[str, str], ...] = ()
    instances: tuple[Instance, ...] = ()
    suspended: frozenset[str] = frozenset()
    run: Run | None = None
    capacity: Capacity = Capacity()

    @property
    def resolved(self) -> str:
        """The number of the version that an instance gets that is launched now."""
        return dict(self.names).get(self.version, self.version)


@dataclass(frozen=True)
class Node:
    """A Node object. instance: the ID in its provider ID, '' if it has none.

    is_protected: the cluster autoscaler leaves it. protected_by: the run that told it so, '' for others.
    """

    name: str
    instance: str = ""
    zone: str = ""
    kubelet: str = ""
    is_ready: bool = False
    is_cordoned: bool = False
    is_tainted: bool = False
    is_excluded: bool = False
    is_protected: bool = False
    protected_by: str = ""
    mark: Mark | None = None
    created: str = ""

    @property
    def is_available(self) -> bool:
        """Whether it is Ready, and pods can be scheduled to it."""
        return self.is_ready and not self.is_cordoned and not self.is_tainted


@dataclass(frozen=True)
class DrainState:
    """The result of evicting the pods of a node once. left: the pods that still have to leave, each with what keeps it.

    refused: why some will never leave, '' if they may.
    """

    left: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class Observed:
    """Everything that a decision depends on.

    group: None for an upgrade in place. run: of an upgrade in place. began: when this process began. changed: when it changed something
    last. drains: the results of its evictions, by node. waiting: since when it has waited for a node, by instance or node.
    """

    now: float
    nodes: tuple[Node, ...]
    group: Group | None = None
    run: Run | None = None
    began: float = 0.0
    changed: float = 0.0
    drains: Mapping[str, DrainState] = field(default_factory=dict)
    waiting: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """What the user asks for.

    version: the number of the launch template version. kubelet: the version of kubelet that upgraded nodes must have, '' for any.
    max_unavailable: a number, or a percentage such as C(33%). run: the ID of a run that begins.
    abort: put the group back. must_resume: only continue what has begun.
    """

    run: str
    version: str = ""
    kubelet: str = ""
    max_unavailable: str = "1"
    surge: bool = True
    by_zone: bool = False
    canary: int = 1
    settle_seconds: float = 60.0
    node_seconds: float = 900.0
    abort: bool = False
    must_resume: bool = False


# --- actions: one step each. Every one can be repeated. -----------------------------------------------------------------------------


@dataclass(frozen=True)
class WriteRun:
    """Write the state of the group. It is written before the first change, and removed after the last. message: why it changes."""

    run: Run
    message: str = ""


@dataclass(frozen=True)
class WriteCapacity:
    """Write what the upgrade changes of the capacity."""

    capacity: Capacity


@dataclass(frozen=True)
class SetGroup:
    """Change the Auto Scaling group. None and '' leave a field as it is."""

    desired: int | None = None
    max_size: int | None = None
    version: str = ""


@dataclass(frozen=True)
class Suspend:
    """Suspend processes of the Auto Scaling group."""

    processes: tuple[str, ...]


@dataclass(frozen=True)
class ResumeProcesses:
    """Resume processes of the Auto Scaling group."""

    processes: tuple[str, ...]


@dataclass(frozen=True)
class Terminate:
    """Terminate an instance in the group. decrement: whether the desired capacity becomes smaller."""

    instance: str
    decrement: bool


@dataclass(frozen=True)
class Reserve:
    """Mark a node and cordon it, in one request."""

    node: str
    mark: Mark


@dataclass(frozen=True)
class SetMark:
    """Write the next step of a node. exclude: also take it out of external load balancers, in the same request."""

    node: str
    mark: Mark
    exclude: bool = False


@dataclass(frozen=True)
class Release:
    """Undo what the upgrade did to a node, in one request. mark: what stays of the annotation."""

    node: str
    uncordon: bool
    include: bool
    mark: Mark | None = None


@dataclass(frozen=True)
class Protect:
    """Tell the cluster autoscaler to leave a node, or that it may remove it again."""

    node: str
    run: str


@dataclass(frozen=True)
class Wait:
    """Evict pods of these nodes, and look again after a pause. reason: what the upgrade waits for."""

    reason: str
    drain: tuple[str, ...] = ()


@dataclass(frozen=True)
class Act:
    """The tasks of an upgrade in place can run on this node."""

    node: str


@dataclass(frozen=True)
class Done:
    """The upgrade has ended. message: what was done."""

    message: str


@dataclass(frozen=True)
class Stop:
    """The upgrade has failed. rule: a stable name of the cause. is_restored: whether nothing is left to put back."""

    rule: str
    message: str
    is_restored: bool = True


@dataclass(frozen=True)
class Finish:
    """Remove the state of the group. outcome: how the upgrade has ended."""

    outcome: Done | Stop


Action = (
    Finish
    | WriteRun
    | WriteCapacity
    | SetGroup
    | Suspend
    | ResumeProcesses
    | Terminate
    | Reserve
    | SetMark
    | Release
    | Protect
    | Wait
    | Act
    | Done
    | Stop
)
