# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels, taints and cluster of a node that may be registered already.

kubelet sends labels and taints only when it registers. Afterwards only the cluster can change them.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .._node import kubelet_process
from .._node.errors import ApplyRefused
from .._node.host import read_hostname
from .._node.placeholders import PLACEHOLDER, PLACEHOLDERS, Identity
from . import preflight
from .manifest import RegistrationChange
from .observe import NodeState
from .plan import Plan, Registration

_OF_EKS = re.compile(r"([a-z0-9-]+\.)*(eks\.amazonaws\.com|nvidia\.com)/")


class NodePatch(NamedTuple):
    """What the controller has to patch in the Node object of this name."""

    node: str
    change: RegistrationChange

    def plain(self) -> dict[str, Any]:
        """The patch as the module returns it."""
        return {"node": self.node, **self.change.plain()}


class RegistrationDecision(NamedTuple):
    """What a run means for the registration of the node.

    C(moves): the node moves to another cluster. C(patched): everything to change in its Node object; None if that is nothing. C(joined):
    what the manifest should say about the join.
    """

    moves: bool
    patched: RegistrationChange | None
    joined: bool | None


def decide(plan: Plan, node: NodeState, take_over: bool, reconcile: bool, checks_join: bool) -> RegistrationDecision:
    """Decide whether the node may register, or keep its registration, as the plan says. Raises ApplyRefused if it may not.

    C(checks_join): this run checks the join at its end, so until then there is no sign of it.
    """
    moves = preflight.check_cluster(plan.cluster, node.membership, lambda: take_over or has_never_joined(node))
    current = None if moves else current_registration(plan, node)
    change = None if current is None else difference(current, plan.registration)
    registers = moves or current is None or (change is not None and has_never_joined(node))
    if registers:
        return RegistrationDecision(moves, None, False if checks_join else None)
    if change is not None and not reconcile:
        raise _refusal(change)
    return RegistrationDecision(False, combine(node.manifest.patched, change), node.manifest.joined)


def has_never_joined(node: NodeState) -> bool:
    """Whether it is certain that this node has never been in its cluster. May ask the API server."""
    if node.manifest.joined is not False or node.has_served:
        return False
    from .._join import wait

    return bool(wait.never_joined())


def current_registration(plan: Plan, node: NodeState) -> Registration | None:
    """What the node registered with; None if it never did.

    Without a manifest, the running kubelet tells. What it got from sources other than this plan is left out.
    """
    if node.manifest.registered is not None:
        return node.manifest.registered
    if node.membership is None or node.kubelet_registration is None:
        return None
    labels, taints = node.kubelet_registration
    # nodeadm merges labels and taints of several sources, and the plan is only one of them.
    has_other_sources = plan.family == "al2023"
    wanted = plan.registration
    labels = {key: value for key, value in labels.items() if key in wanted.labels or not (has_other_sources or _OF_EKS.match(key))}
    if has_other_sources:
        keys = {_key(taint) for taint in wanted.taints}
        taints = tuple(taint for taint in taints if _key(taint) in keys)
    return Registration(labels, taints)


def difference(current: Registration, wanted: Registration) -> RegistrationChange | None:
    """What would have to change on a registered node; None if nothing."""
    labels: dict[str, str | None] = {key: value for key, value in wanted.labels.items() if not _has_value(current.labels.get(key), value)}
    labels.update((key, None) for key in current.labels if key not in wanted.labels)
    old, new = [_normal(taint) for taint in current.taints], [_normal(taint) for taint in wanted.taints]
    to_set = tuple(taint for taint in wanted.taints if _normal(taint) not in old)
    to_remove = tuple(taint for taint in current.taints if _normal(taint) not in new)
    return RegistrationChange(labels, to_set, to_remove) if labels or to_set or to_remove else None


def combine(earlier: RegistrationChange | None, change: RegistrationChange | None) -> RegistrationChange | None:
    """Everything to patch since the node registered; the later change wins.

    The node does not learn whether the controller's patch succeeded, so every run with reconcile asks for all of it again.
    """
    if earlier is None or change is None:
        return change or earlier
    replaced = {_slot(taint) for taint in change.set_taints + change.remove_taints}
    to_set, to_remove = (
        tuple(taint for taint in taints if _slot(taint) not in replaced) for taints in (earlier.set_taints, earlier.remove_taints)
    )
    return RegistrationChange({**earlier.labels, **change.labels}, to_set + change.set_taints, to_remove + change.remove_taints)


def node_name(node: NodeState) -> str:
    """The name of the Node object. Raises ApplyRefused if it is not certain: the controller must not change another Node."""
    from .._node import journald

    unit, pid = ("", 0) if node.kubelet is None else (node.kubelet.name, node.kubelet.pid)
    flags = kubelet_process.parse(node.kubelet_argv[1:])
    found = kubelet_process.node_name(flags, read_hostname(), lambda: journald.process_log(unit, pid))
    if not found.is_certain:
        raise ApplyRefused(
            "the name of this node is not known: kubelet gets it from EC2 (--cloud-provider=aws), and its log does not show it",
            "restart kubelet, which then logs the name, and run again",
        )
    return found.name


def node_patch(change: RegistrationChange, name: str, identity: Identity) -> NodePatch:
    """What the controller has to patch, with placeholders filled in. C(name): of the Node."""
    labels = {key: value if value is None else identity.label(value) for key, value in change.labels.items()}
    return NodePatch(name, change._replace(labels=labels))


def _refusal(change: RegistrationChange) -> ApplyRefused:
    changes = [f"label {key}" + (" (removed)" if value is None else f"={value}") for key, value in sorted(change.labels.items())]
    slots = {_slot(taint) for taint in change.set_taints}
    removed = [taint for taint in change.remove_taints if _slot(taint) not in slots]
    changes += [f"taint {_normal(taint)}" for taint in change.set_taints] + [f"taint {_normal(taint)} (removed)" for taint in removed]
    return ApplyRefused(
        f"this node is registered already, and kubelet sends labels and taints only when it registers: {', '.join(changes)} would have no "
        "effect",
        "set reconcile: true with credentials for the cluster (role: eks_node_reconcile: true), or replace the node",
    )


def _key(taint: str) -> str:
    return re.split("[=:]", taint)[0]


def _slot(taint: str) -> tuple[str, str]:
    """Key and effect: a node has at most one taint for each pair."""
    return _key(taint), taint.rpartition(":")[2]


def _normal(taint: str) -> str:
    # KEY:EFFECT and KEY=:EFFECT are the same.
    return re.sub(r"=:", ":", taint)


def _has_value(current: str | None, wanted: str) -> bool:
    """Whether a label has its value. A placeholder stands for any value of its form."""
    if current is None or current == wanted:
        return current == wanted
    parts: list[str] = PLACEHOLDER.split(wanted)
    pattern = "".join(PLACEHOLDERS[part][1] if index % 2 else re.escape(part) for index, part in enumerate(parts))
    return re.match(pattern + r"\Z", current) is not None
