# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts a group back after a failure or on request, and removes what an upgrade leaves behind when it ends."""

from __future__ import annotations

from dataclasses import replace

from . import availability, steps
from .model import (
    Action,
    DrainState,
    Group,
    Instance,
    Mark,
    Node,
    Observed,
    Operation,
    Protect,
    Reserve,
    ResumeProcesses,
    Run,
    SetGroup,
    Stop,
    Suspend,
    Wait,
    Wanted,
    WriteCapacity,
)  # fmt: skip
from .replacement import REMOVAL, View, settle_operation, terminate

SURPLUS = "surplus_node"

_ATTEMPTS = 2


def backward(observed: Observed, group: Group, run: Run, wanted: Wanted) -> Action | None:
    """The next step, None if nothing is left to put back. Nodes that were upgraded stay."""
    view = View(observed, group, run, wanted)
    return (
        _finish_operation(view) or _release(view) or _old_version(view) or _replace_failed(view) or remove_surplus(view) or clean_up(view)
    )


def clean_up(view: View) -> Action | None:
    """Restore the group after the last node, and remove the state last."""
    group, run = view.group, view.run
    for node in view.observed.nodes:
        if node.protected_by:
            return Protect(node.name, "")
    leftover = next((node for node, _instance in view.marked if node.mark is not None and not node.mark.is_surplus), None)
    if leftover is not None and leftover.mark is not None:
        return steps.release(leftover, leftover.mark)
    # Others may have used the larger maximum, or changed it.
    max_size = max(run.max_size, group.desired)
    if group.capacity.max_size and group.max_size == group.capacity.max_size and group.max_size != max_size:
        return SetGroup(max_size=max_size)
    suspended = tuple(name for name in run.suspended if name in group.suspended)
    return ResumeProcesses(suspended) if suspended else None


def _finish_operation(view: View) -> Action | None:
    """Carry out the operation that was recorded last if it serves to put the group back; otherwise record whether it has happened."""
    group, operation = view.group, view.group.capacity.operation
    if operation is None:
        return None
    is_old = any(instance.id == operation.instance for instance in view.old)
    is_unwanted = operation.kind == "raise" or (operation.kind == "terminate" and is_old)
    if is_unwanted and not availability.has_happened(group, operation):
        return WriteCapacity(replace(group.capacity, operation=None))
    return settle_operation(group, view.observed.nodes)


def _release(view: View) -> Action | None:
    """Uncordon what still runs. A surplus node is not released: it leaves the group."""
    for node, _instance in view.marked:
        if node.mark is not None and not node.mark.is_surplus:
            return steps.release(node, node.mark)
    return None


def _old_version(view: View) -> Action | None:
    """Give the group its launch template version back, before it launches another instance."""
    version = version_before(view)
    return SetGroup(version=version) if view.group.version != version else None


def version_before(view: View) -> str:
    """The version that the group had. If the name that it had stands for the new version now, the number of the old one."""
    run, group = view.run, view.group
    names = dict(group.names)
    if names.get(run.before, run.before) != run.version:
        return run.before
    numbers = [instance.version for instance in view.old]
    return max(set(numbers), key=lambda number: (numbers.count(number), number)) if numbers else run.before


def _replace_failed(view: View) -> Action | None:
    """Terminate new nodes that are not Ready: they run no pods. The group gets smaller, or launches nodes of the old version instead."""
    group = view.group
    if group.resolved == view.run.version and not (group.capacity.surge and group.desired > group.min_size):
        return None
    for instance in view.waiting_for:
        node = view.node_of.get(instance.id)
        if node is None or not node.is_ready:
            return terminate(view, instance)
    return None


def remove_surplus(view: View) -> Action | None:
    """Drain and terminate the nodes that the upgrade added."""
    group = view.group
    marked = [(node, node.mark, instance) for node, instance in view.marked if node.mark is not None and node.mark.is_surplus]
    if not group.capacity.surge:
        return next((steps.release(node, mark) for node, mark, _instance in marked), None)
    if len(view.active) <= availability.desired_by_others(group):
        # The group never got the instances that it was asked for.
        operation = Operation("lower", group.desired, group.desired - group.capacity.surge)
        return WriteCapacity(replace(group.capacity, operation=operation))
    missing = next((instance for instance in view.active if instance.id not in view.node_of), None)
    if missing is not None:
        return terminate(view, missing)
    return _drain_surplus(view, *marked[0]) if marked else _choose_surplus(view)


def _drain_surplus(view: View, node: Node, mark: Mark, instance: Instance) -> Action:
    if steps.drain_failure(node, mark, view.observed):
        return steps.release(node, mark)
    found = steps.next_step(node, mark, view.observed, view.wanted)
    if found is not None:
        return found
    if mark.step == "act":
        return terminate(view, instance)
    if mark.step == "drain":
        return Wait(f"pods to leave {node.name}, which is one node too many", drain=(node.name,))
    return Wait(f"load balancers to stop using {node.name}")


def _choose_surplus(view: View) -> Action:
    """Begin to drain the youngest new node. After two nodes whose pods did not leave, give up until the next run."""
    observed, wanted = view.observed, view.wanted
    nodes = sorted(view.nodes(view.new) or view.nodes(view.old), key=lambda node: (node.created, node.name), reverse=True)
    failed = [node for node in nodes if not steps.is_drained(observed.drains.get(node.name, DrainState()))]
    left = [node for node in nodes if node not in failed]
    if len(failed) >= _ATTEMPTS or not left or observed.waiting.get(REMOVAL, observed.now) < observed.now - wanted.node_seconds:
        return _give_up(view, failed)
    missing = tuple(name for name in view.run.suspended if name not in view.group.suspended)
    if missing:
        return Suspend(missing)
    most = availability.limit(wanted.max_unavailable, availability.desired_by_others(view.group))
    for node in left:
        if availability.unavailable_with(observed, node) <= most:
            return Reserve(node.name, steps.begin(node, observed, view.run.id, is_surplus=True))
    return Wait(f"nodes to become Ready before one is removed: {availability.unavailable(observed)} are unavailable")


def _give_up(view: View, failed: list[Node]) -> Action:
    """The processes of the group are restored in any case. MaxSize is not: it cannot be less than the number of nodes."""
    suspended = tuple(name for name in view.run.suspended if name in view.group.suspended)
    if suspended:
        return ResumeProcesses(suspended)
    group, drains = view.group, view.observed.drains
    pods = "; ".join(
        f"{node.name}: {drains[node.name].refused or steps.pods(drains[node.name].left)}" for node in failed if node.name in drains
    )
    return Stop(
        SURPLUS,
        f"{group.name} has {group.capacity.surge} more nodes than before the upgrade, which cannot be removed: "
        f"{pods or 'too few nodes are Ready'}; fix: let the pods leave, and run the playbook with --tags abort",
        is_restored=False,
    )
