# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of an upgrade: the nodes in order, and what changes in the group. It is the same data for text, JSON and the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import availability
from .in_place import obstacle
from .model import Group, Node, Observed, Run, Wanted
from .order import in_order, sizes
from .replacement import View, is_version


@dataclass(frozen=True)
class Row:
    """A node. batch: from 1. state: C(waiting), C(cordoned) if it was before, or what an interrupted upgrade does with it."""

    batch: int
    node: str
    instance: str
    zone: str
    kubelet: str
    version: str
    pods: int
    state: str


@dataclass(frozen=True)
class Plan:
    """group: its name. way: C(replace), C(in_place) or C(managed). current, target: versions. max_unavailable: as a number of nodes.

    steps: what happens, in sentences. rows: the nodes in the order in which they are upgraded. upgraded: the number of nodes that are.
    unavailable_nodes: the nodes that are not available before it begins, each with the reason. obstacle: why it does not begin.
    """

    group: str
    way: str
    current: str
    target: str
    max_unavailable: int
    desired: int
    unavailable: int
    steps: tuple[str, ...]
    rows: tuple[Row, ...]
    upgraded: int
    is_interrupted: bool = False
    unavailable_nodes: tuple[str, ...] = ()
    obstacle: str = ""

    def plain(self) -> dict[str, Any]:
        """The plan as plain data."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        lists = {"steps": list(self.steps), "unavailable_nodes": list(self.unavailable_nodes)}
        return {**fields, **lists, "rows": [dict(vars(row)) for row in self.rows]}


def replacement_plan(observed: Observed, group: Group, target: str, wanted: Wanted, pods: Mapping[str, int]) -> Plan:
    """The plan for an Auto Scaling group. pods: the number of pods that are evicted, by node."""
    run = group.run
    version = run.version if run is not None else target
    view = View(observed, group, _run_of(group, version), wanted)
    most = availability.limit(wanted.max_unavailable, availability.desired_by_others(group))
    old = in_order(view.nodes(view.old), wanted)
    versions = {instance.id: instance.version for instance in view.active}
    rows = _rows(old, [versions.get(node.instance, "") for node in old], wanted, most, pods)
    missing = [instance for instance in view.old if instance.id not in view.node_of]
    rows += [Row(1, "", one.id, one.zone, "", one.version, 0, "has not joined the cluster") for one in missing]
    current = ", ".join(sorted({instance.version or "none" for instance in view.old}, key=lambda text: (len(text), text)))
    return Plan(
        group.name, "replace", current or version, version, most, availability.desired_by_others(group), availability.unavailable(observed),
        tuple(_replacement_steps(group, version, wanted, min(most, len(view.old)))) if rows else (),
        tuple(rows), len(view.new), run is not None, availability.unavailable_names(availability.active_nodes(observed)),
    )  # fmt: skip


def in_place_plan(observed: Observed, group: str, wanted: Wanted, pods: Mapping[str, int], tasks: str) -> Plan:
    """The plan for an upgrade in place. tasks: what runs on each node."""
    most = availability.limit(wanted.max_unavailable, len(observed.nodes))
    old = in_order((node for node in observed.nodes if is_due(node, wanted, observed)), wanted)
    rows = _rows(old, [node.kubelet for node in old], wanted, most, pods)
    current = ", ".join(sorted({node.kubelet for node in old}))
    steps = [
        f"Each node is cordoned and drained, taken out of external load balancers, and upgraded {wanted.settle_seconds:.0f} s later: "
        f"{tasks}.",
        f"It is uncordoned when it is Ready{f' with kubelet {wanted.kubelet}' if wanted.kubelet else ''}.",
        "The first node that does not become Ready stops the upgrade.",
    ]
    return Plan(
        group, "in_place", current, wanted.kubelet or current, most, len(observed.nodes), availability.unavailable(observed),
        tuple(steps) if rows else (), tuple(rows), len(observed.nodes) - len(old), observed.run is not None,
        availability.unavailable_names(observed.nodes),
        "" if observed.run is not None else obstacle(observed, wanted, [node.name for node in old]),
    )  # fmt: skip


def is_due(node: Node, wanted: Wanted, observed: Observed) -> bool:
    """Whether a node has to be upgraded in place: it has another version of kubelet, or this run has not upgraded it yet."""
    mark, run = node.mark, observed.run
    if mark is not None and mark.step == "done" and run is not None and mark.run == run.id:
        return False
    return mark is not None or not wanted.kubelet or not is_version(node.kubelet, wanted.kubelet)


def _run_of(group: Group, version: str) -> Run:
    return group.run or Run("", version, group.version, group.max_size)


def _rows(nodes: list[Node], versions: list[str], wanted: Wanted, most: int, pods: Mapping[str, int]) -> list[Row]:
    batches = [number for number, size in enumerate(sizes(len(nodes), wanted, most), 1) for _node in range(size)]
    rows = []
    for batch, node, version in zip(batches, nodes, versions, strict=True):
        waiting = "cordoned" if node.is_cordoned else "waiting"
        state = waiting if node.mark is None else f"interrupted: {node.mark.step}"
        rows.append(Row(batch, node.name, node.instance, node.zone, node.kubelet, version, pods.get(node.name, 0), state))
    return rows


def _replacement_steps(group: Group, version: str, wanted: Wanted, surge: int) -> list[str]:
    steps = []
    suspended = [name for name in ("AZRebalance",) if name not in group.suspended]
    if suspended:
        steps.append(f"{', '.join(suspended)} is suspended until the end.")
    if group.resolved != version:
        steps.append(f"The group gets version {version} of its launch template instead of {group.version}.")
    if wanted.surge:
        after = group.desired - group.capacity.surge + surge
        maximum = f", MaxSize from {group.max_size} to {after}" if after > group.max_size else ""
        steps.append(f"Up to {surge} new node{'' if surge == 1 else 's'} become Ready before old ones are drained{maximum}, until the end.")
    else:
        steps.append("Nodes are terminated before new ones are launched: until then, evicted pods can stay Pending.")
    steps.append(
        "Each old node is cordoned and drained, taken out of external load balancers, and its instance terminated "
        f"{wanted.settle_seconds:.0f} s later."
    )
    steps.append("The first node that does not become Ready stops the upgrade, and the group is put back.")
    return steps
