# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Upgrades a node in place: the next step of one node. The tasks that upgrade it run between C(prepare) and C(finish)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from . import availability, steps
from .model import Act, Action, Done, Node, Observed, Release, Reserve, SetMark, Stop, Wait, Wanted
from .replacement import NO_PROGRESS, NOT_READY, is_version


def obstacle(observed: Observed, wanted: Wanted, due: Iterable[str]) -> str:
    """Why an upgrade of the nodes C(due) cannot begin, '' if it can. It leaves nodes cordoned that were cordoned before."""
    most = availability.limit(wanted.max_unavailable, len(observed.nodes))
    number = availability.unavailable(observed)
    names = ", ".join(availability.unavailable_names(observed.nodes))
    if number > most:
        return f"{number} of {len(observed.nodes)} nodes are unavailable, more than max_unavailable allows ({most}): {names}"
    cordoned = [node.name for node in observed.nodes if node.is_cordoned and node.mark is None]
    if len(cordoned) >= most and not set(due) <= set(cordoned):
        return (
            f"{', '.join(cordoned)} stay{'s' if len(cordoned) == 1 else ''} cordoned, as before, and with max_unavailable {most} no other "
            "node can be upgraded"
        )
    return ""


def is_reserved(node: Node) -> bool:
    """Whether the upgrade holds a node. Pods can have come to one that was uncordoned before its tasks began."""
    return node.mark is not None and (node.is_cordoned or node.mark.step not in ("drain", "settle", "act"))


def reserve(observed: Observed, wanted: Wanted, name: str) -> Action:
    """Cordon a node as soon as the group can spare it."""
    node = find(observed, name)
    if node is None:
        return _gone(name)
    if is_reserved(node):
        return Done(f"{name} is reserved")
    most = availability.limit(wanted.max_unavailable, len(observed.nodes))
    if availability.unavailable_with(observed, node) <= most:
        return Reserve(name, steps.begin(node, observed, wanted.run))
    number = availability.unavailable(observed)
    names = ", ".join(availability.unavailable_names(observed.nodes))
    text = f"{number} of {len(observed.nodes)} nodes are unavailable: {names}; max_unavailable is {most}"
    if observed.now - observed.changed > wanted.node_seconds:
        return Stop(NO_PROGRESS, f"{text}, for {wanted.node_seconds:.0f} s; {name} was not changed; fix: repair these nodes")
    return Wait(f"other nodes: {text}")


def prepare(observed: Observed, wanted: Wanted, name: str) -> Action:
    """Drain a reserved node, and take it out of external load balancers, until its tasks can run."""
    node = find(observed, name)
    if node is None:
        return _gone(name)
    mark = node.mark
    if mark is None:
        return Stop("not_reserved", f"{name} is not reserved any more: it was put back meanwhile")
    if not is_reserved(node):
        return reserve(observed, wanted, name)
    if mark.step in ("act", "verify", "done"):
        return Act(name)
    failure = steps.drain_failure(node, mark, observed)
    if failure:
        return Stop(steps.EVICTION, failure, is_restored=False)
    found = steps.next_step(node, mark, observed, wanted)
    if found is not None:
        return found
    if mark.step == "drain":
        return Wait(f"pods to leave {name}", drain=(name,))
    return Wait(f"load balancers to stop using {name}")


def finish(observed: Observed, wanted: Wanted, name: str) -> Action:
    """Wait until a node is Ready with the wanted version after its tasks, and uncordon it."""
    node = find(observed, name)
    if node is None:
        return _gone(name)
    mark = node.mark
    if mark is None or mark.step == "done":
        return Done(f"{name} is upgraded")
    if mark.step != "verify":
        return SetMark(name, replace(mark, step="verify", since=observed.now))
    is_right = not wanted.kubelet or is_version(node.kubelet, wanted.kubelet)
    if node.is_ready and not node.is_tainted and is_right:
        released = steps.release(node, mark)
        return replace(released, mark=replace(mark, step="done", since=observed.now))
    if observed.now - max(mark.since, observed.began) > wanted.node_seconds:
        problem = "is not Ready" if not node.is_ready else f"has kubelet {node.kubelet}" if not is_right else "is tainted against new pods"
        return Stop(NOT_READY, f"{name} {problem} {wanted.node_seconds:.0f} s after its upgrade", is_restored=False)
    return Wait(f"{name} to become Ready{f' with kubelet {wanted.kubelet}' if wanted.kubelet else ''}")


def put_back(observed: Observed, wanted: Wanted, name: str) -> Action:
    """Uncordon a node whose upgrade failed, if it still runs. One that is not Ready stays cordoned: it is the cause to look at."""
    node = find(observed, name)
    if node is None or node.mark is None or node.mark.step == "done":
        return Done(f"{name} is put back")
    if not node.is_ready and not wanted.abort:
        return Stop(NOT_READY, f"{name} is not Ready, and stays cordoned; fix: repair it, and run the playbook again", is_restored=False)
    return steps.release(node, node.mark)


def clean_up(observed: Observed, wanted: Wanted) -> Action:
    """Remove what the upgrade of all nodes leaves: the marks of upgraded nodes, and on abort everything."""
    for node in observed.nodes:
        if node.mark is not None and node.mark.step == "done":
            return Release(node.name, uncordon=False, include=False)
        if node.mark is not None and wanted.abort:
            return steps.release(node, node.mark)
    return Done("nothing is left to put back" if wanted.abort else f"all {len(observed.nodes)} nodes are upgraded")


def find(observed: Observed, name: str) -> Node | None:
    """A node by its name."""
    return next((node for node in observed.nodes if node.name == name), None)


def _gone(name: str) -> Stop:
    return Stop("no_node", f"the node {name} does not exist any more; fix: remove its host from the inventory", is_restored=False)
