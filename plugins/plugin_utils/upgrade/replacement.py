# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replaces the instances of an Auto Scaling group: the next step while nothing has failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from . import availability, steps
from .model import (
    Action,
    Capacity,
    Group,
    Instance,
    Node,
    Observed,
    Operation,
    Protect,
    Reserve,
    Run,
    SetGroup,
    Suspend,
    Terminate,
    Wait,
    Wanted,
    WriteCapacity,
    WriteRun,
)  # fmt: skip
from .order import in_order

NOT_READY = "node_not_ready"
NO_INSTANCE = "no_instance"
NO_PROGRESS = "no_progress"

CAPACITY = "capacity"
REMOVAL = "removal"
"""Keys in C(Observed.waiting): for instances that the group has not launched, and for a node that cannot be removed yet."""


def forward(observed: Observed, group: Group, run: Run, wanted: Wanted) -> Action | None:
    """The next step, None if every node is upgraded."""
    view = View(observed, group, run, wanted)
    return (
        settle_operation(group, observed.nodes)
        or _prepare(view)
        or _failure(view)
        or _advance(view)
        or _protect(view)
        or _terminate_without_node(view)
        or _raise(view)
        or _start(view)
        or _wait(view)
    )


class View:
    """The nodes and instances of a group by their state. It only reads."""

    def __init__(self, observed: Observed, group: Group, run: Run, wanted: Wanted) -> None:
        self.observed, self.group, self.run, self.wanted = observed, group, run, wanted
        self.node_of = {node.instance: node for node in observed.nodes if node.instance}
        self.active = [instance for instance in group.instances if instance.is_active]
        self.old = [instance for instance in self.active if instance.version != run.version]
        self.new = [instance for instance in self.active if instance.version == run.version]

    def nodes(self, instances: list[Instance]) -> list[Node]:
        """The Node objects of instances that have joined."""
        return [self.node_of[instance.id] for instance in instances if instance.id in self.node_of]

    @property
    def marked(self) -> list[tuple[Node, Instance]]:
        """The nodes on which an upgrade is working."""
        pairs = [(self.node_of.get(instance.id), instance) for instance in self.active]
        return [(node, instance) for node, instance in pairs if node is not None and node.mark is not None]

    @property
    def is_settled(self) -> bool:
        """Whether the group has all of its instances, and every new one is a node that pods can be scheduled to."""
        return len(self.active) >= self.group.desired and not self.waiting_for

    @property
    def waiting_for(self) -> list[Instance]:
        """The new instances that are not available nodes. A node that is about to leave the group again is not waited for."""
        return [instance for instance in self.new if not self._is_available(instance)]

    def _is_available(self, instance: Instance) -> bool:
        node = self.node_of.get(instance.id)
        if node is None:
            return False
        is_right = not self.wanted.kubelet or is_version(node.kubelet, self.wanted.kubelet)
        return node.mark is not None or (node.is_available and is_right)

    def name(self, instance: Instance) -> str:
        """The name of an instance for messages."""
        node = self.node_of.get(instance.id)
        return f"the instance {instance.id}" if node is None else f"the node {node.name} ({instance.id})"

    def problem(self, instance: Instance) -> str:
        """Why a new instance is not available."""
        node = self.node_of.get(instance.id)
        if node is None:
            return "has not joined the cluster"
        if not node.is_ready:
            return "has not been Ready"
        if node.is_cordoned or node.is_tainted:
            return f"has been {'cordoned' if node.is_cordoned else 'tainted against new pods'}"
        return f"has had kubelet {node.kubelet} instead of {self.wanted.kubelet}"

    @property
    def limit(self) -> int:
        """The nodes that may be unavailable, 1 until the canary nodes are upgraded."""
        most = availability.limit(self.wanted.max_unavailable, availability.desired_by_others(self.group))
        upgraded = sum(node.is_available for node in self.nodes(self.new)) - self.group.capacity.surge
        return most if upgraded >= self.wanted.canary else 1


def is_version(kubelet: str, wanted: str) -> bool:
    """Whether a version of kubelet, such as C(v1.36.1-eks-1a2b), is the wanted minor or patch version."""
    found, parts = kubelet.removeprefix("v"), wanted.removeprefix("v")
    return found == parts or found.startswith((f"{parts}.", f"{parts}-", f"{parts}+"))


def waits(view: View) -> tuple[str, ...]:
    """What the group waits for now, as keys of C(Observed.waiting)."""
    missing = (CAPACITY,) if len(view.active) < view.group.desired else ()
    removal = (REMOVAL,) if view.group.capacity.surge and not view.marked and (view.run.stopped or not view.old) else ()
    return (*(instance.id for instance in view.waiting_for), *missing, *removal)


def settle_operation(group: Group, nodes: Sequence[Node]) -> Action | None:
    """Finish the operation that was recorded last: send it again, or record its result. nodes: as they are now."""
    capacity, operation = group.capacity, group.capacity.operation
    if operation is None:
        return None
    if availability.has_happened(group, operation):
        return WriteCapacity(replace(capacity, surge=availability.surge(group), operation=None))
    if group.desired != operation.before:
        # Others changed the capacity meanwhile: decide again.
        return WriteCapacity(replace(capacity, operation=None))
    if operation.kind == "terminate":
        is_active = any(instance.id == operation.instance and instance.is_active for instance in group.instances)
        if not is_active or _has_joined(operation.instance, nodes):
            return WriteCapacity(replace(capacity, operation=None))
        return Terminate(operation.instance, decrement=operation.after < operation.before)
    return SetGroup(desired=operation.after, max_size=max(group.max_size, operation.after))


def _has_joined(instance: str, nodes: Sequence[Node]) -> bool:
    """Whether an instance became a Ready node after its termination was decided: it may run pods now."""
    return any(node.instance == instance and node.is_ready and (node.mark is None or node.mark.step != "act") for node in nodes)


def _prepare(view: View) -> Action | None:
    group, run = view.group, view.run
    missing = tuple(name for name in run.suspended if name not in group.suspended)
    if missing and view.old:
        return Suspend(missing)
    return SetGroup(version=run.version) if group.resolved != run.version and view.old else None


def _failure(view: View) -> Action | None:
    """Record why the upgrade stops. From then on, the group is put back."""
    for rule, subject, message in _failures(view):
        return WriteRun(replace(view.run, stopped=f"{rule}:{subject}"), message)
    return None


def _failures(view: View) -> Iterator[tuple[str, str, str]]:
    """The rule, the node or instance, and the message of each failure."""
    observed, wanted, group = view.observed, view.wanted, view.group
    for node, _instance in view.marked:
        message = steps.drain_failure(node, node.mark, observed) if node.mark is not None else ""
        if message:
            yield steps.EVICTION, node.name, message
    since = observed.now - wanted.node_seconds
    seconds = f"{wanted.node_seconds:.0f} s"
    for instance in view.waiting_for:
        if observed.waiting.get(instance.id, observed.now) < since:
            yield NOT_READY, instance.id, f"{view.name(instance)} {view.problem(instance)} for {seconds}"
    if observed.waiting.get(CAPACITY, observed.now) < since:
        missing = group.desired - len(view.active)
        yield NO_INSTANCE, group.name, f"the Auto Scaling group {group.name} did not launch {missing} instances within {seconds}"
    if not view.marked and observed.changed < since:
        number = availability.unavailable(observed)
        yield NO_PROGRESS, group.name, f"{number} of {availability.desired(observed)} nodes have been unavailable for {seconds}"


def _advance(view: View) -> Action | None:
    """The next step of a node that is being replaced."""
    for node, instance in view.marked:
        mark = node.mark
        if mark is None:
            continue
        if instance in view.new and not mark.is_surplus:
            # It was marked by an upgrade to another version, or while the group was put back.
            return steps.release(node, mark)
        found = steps.next_step(node, mark, view.observed, view.wanted)
        if found is not None:
            return found
        if mark.step == "act":
            return terminate(view, instance)
    return None


def terminate(view: View, instance: Instance) -> WriteCapacity:
    """Record that an instance is about to be terminated. The group gets smaller while it has more nodes than before the upgrade."""
    group = view.group
    decrement = group.capacity.surge > 0 and group.desired > group.min_size
    operation = Operation("terminate", group.desired, group.desired - decrement, instance.id)
    return WriteCapacity(replace(group.capacity, operation=operation))


def _protect(view: View) -> Action | None:
    """Until all nodes are replaced, new nodes have few pods, and the cluster autoscaler would remove them."""
    if not view.old and not view.group.capacity.surge:
        return None
    for node in view.nodes(view.new):
        if not node.is_protected and not node.protected_by:
            return Protect(node.name, view.run.id)
    return None


def _terminate_without_node(view: View) -> Action | None:
    """An old instance that is not a node has no pods to drain."""
    if view.wanted.surge and not view.is_settled:
        return None
    return next((terminate(view, instance) for instance in view.old if instance.id not in view.node_of), None)


def _raise(view: View) -> Action | None:
    """Add nodes before others are drained."""
    group, surge = view.group, view.group.capacity.surge
    wanted_surge = min(view.limit, len(view.old)) if view.wanted.surge else 0
    if surge >= wanted_surge or not view.is_settled:
        return None
    after = group.desired + wanted_surge - surge
    maximum = max(group.max_size, after)
    raised = maximum if maximum != group.max_size else group.capacity.max_size
    return WriteCapacity(Capacity(surge, raised, Operation("raise", group.desired, after)))


def _start(view: View) -> Action | None:
    """Begin with another node, if the group can spare it now."""
    observed, wanted, limit = view.observed, view.wanted, view.limit
    begun = len([node for node, _instance in view.marked if node.mark is not None and not node.mark.is_surplus])
    slots = min(limit, view.group.capacity.surge) if wanted.surge else limit
    if begun >= slots or (wanted.surge and not view.is_settled):
        return None
    for node in in_order((node for node in view.nodes(view.old) if node.mark is None), wanted):
        if availability.unavailable_with(observed, node) <= limit:
            return Reserve(node.name, steps.begin(node, observed, view.run.id))
    return None


def _wait(view: View) -> Action | None:
    drained = tuple(node.name for node, _instance in view.marked if node.mark is not None and node.mark.step == "drain")
    if drained:
        return Wait(f"pods to leave {', '.join(drained)}", drain=drained)
    settling = [node.name for node, _instance in view.marked if node.mark is not None and node.mark.step == "settle"]
    if settling:
        return Wait(f"load balancers to stop using {', '.join(settling)}")
    if view.waiting_for:
        return Wait(f"{', '.join(_names(view, view.waiting_for))} to become Ready")
    if len(view.active) < view.group.desired:
        return Wait(f"the Auto Scaling group to launch {view.group.desired - len(view.active)} instances")
    if view.old:
        return Wait(f"other nodes to become Ready: {availability.unavailable(view.observed)} are unavailable")
    return None


def _names(view: View, instances: list[Instance]) -> list[str]:
    return [view.node_of[instance.id].name if instance.id in view.node_of else instance.id for instance in instances]
