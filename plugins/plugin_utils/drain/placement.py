# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Can the pods of a drained node run on other nodes? The checks of the scheduler, node by node."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import NamedTuple

from ..workloads.model import Amounts, Cluster, Node, Placement, Pod, Spread, Volume
from .budgets import workload
from .finding import BLOCKS, NOTICE, Finding, Scope
from .topology import Topology

_AUTOSCALERS = ("cluster-autoscaler", "aws-cluster-autoscaler", "karpenter")
_NAME_LABELS = ("app.kubernetes.io/name", "k8s-app", "app")
_HOSTNAME = "kubernetes.io/hostname"
_NO_EFFECT = "PreferNoSchedule"
_PODS = "pods"
_ONE_POD = 1000
"""One pod, in thousandths as all amounts."""

Check = Callable[[Node], bool]


class Failure(NamedTuple):
    """Why no node takes a pod. can_grow: whether a new node like the drained one would take it."""

    rule: str
    reason: str
    fix: str
    can_grow: bool


def findings(scope: Scope) -> Iterator[Finding]:
    """The pods that no other node takes."""
    board = Board(scope.cluster)
    autoscaler = _autoscaler(scope.cluster)
    for name in scope.nodes:
        for pod, failure in board.move_all(name, has_surge=scope.settings.has_surge):
            if failure.can_grow and autoscaler:
                reason = f"{failure.reason}; {autoscaler} has to add a node"
                fix = "check that the autoscaler may add nodes, or add one"
                yield Finding("drain.needs_autoscaler", NOTICE, pod.full_name, name, reason, fix)
            else:
                yield Finding(failure.rule, BLOCKS, pod.full_name, name, failure.reason, failure.fix)


def _autoscaler(cluster: Cluster) -> str:
    """The running autoscaler, '' without one."""
    for pods in cluster.pods.values():
        for pod in pods:
            if pod.is_ready and any(pod.labels.get(label) in _AUTOSCALERS for label in _NAME_LABELS):
                return workload(pod)
    return ""


def moves(pod: Pod) -> bool:
    """Is the pod created again on another node?"""
    return not (pod.is_mirror or pod.is_of_daemon_set or pod.is_completed or pod.deleted_at or pod.owner is None)


class Board:
    """The nodes that take pods with their free resources."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._topology: Topology | None = None
        self._free = {name: _free(node, cluster.pods.get(name, ())) for name, node in cluster.nodes.items()}
        targets = [node for node in cluster.nodes.values() if node.is_ready and not node.is_cordoned]
        # Most room first: nearly every pod fits on the first node that is tried.
        self._targets = sorted(targets, key=lambda node: (-self._free[node.name].get("cpu", 0), node.name))
        self._allowed: dict[Hashable, list[Node]] = {}

    def move_all(self, name: str, *, has_surge: bool) -> Iterator[tuple[Pod, Failure]]:
        """Move the pods of a node, largest first, and yield the pods that no node takes."""
        node = self._cluster.nodes[name]
        pods = sorted(filter(moves, self._cluster.pods.get(name, ())), key=lambda pod: -pod.requests.get("cpu", 0))
        like = _like(node)
        used: dict[str, dict[str, int]] = {}
        free_like = _free(node, [pod for pod in self._cluster.pods.get(name, ()) if pod.is_of_daemon_set or pod.is_mirror])
        for pod in pods:
            checks = self._checks(pod)
            if self._place(pod, name, checks, used):
                continue
            can_grow = _is_allowed(pod, like) and all(check(like) for check in checks.values())
            if can_grow and has_surge and _fits(pod.requests, free_like, used.get("", {})):
                _use(used, "", pod)
                continue
            yield pod, self._failure(pod, name, checks, can_grow, has_surge=has_surge)

    def _place(self, pod: Pod, own: str, checks: dict[str, Check], used: dict[str, dict[str, int]]) -> bool:
        """Reserve room on the first node that takes the pod."""
        cpu = pod.requests.get("cpu", 0)
        for node in self._static(pod):
            free = self._free[node.name]
            if free.get("cpu", 0) < cpu:
                return False
            if node.name == own or not _fits(pod.requests, free, used.get(node.name, _EMPTY)):
                continue
            if all(check(node) for check in checks.values()):
                _use(used, node.name, pod)
                return True
        return False

    def _static(self, pod: Pod) -> list[Node]:
        """The nodes whose labels and taints the pod accepts. Pods of all controllers with the same rules share the list."""
        key = _rules(pod)
        found = self._allowed.get(key)
        if found is None:
            found = self._allowed[key] = [node for node in self._targets if _is_allowed(pod, node)]
        return found

    def _checks(self, pod: Pod) -> dict[str, Check]:
        """The other conditions, by the rule that reports them."""
        found: dict[str, Check] = {}
        volumes = self._volumes(pod)
        if volumes:
            rule = "drain.local_volume" if any(one.is_local for one in volumes) else "drain.zonal_volume"
            found[rule] = lambda node: all(_reaches(volume, node) for volume in volumes)
        if pod.host_ports:
            found["drain.host_port"] = lambda node: not self._ports(node) & set(pod.host_ports)
        # In most clusters nothing needs the counts, which take time.
        if self._topology is None:
            self._topology = Topology(self._cluster)
        for rule, checks in (
            ("drain.pod_affinity", self._topology.affinity(pod)),
            ("drain.anti_affinity", self._topology.anti_affinity(pod)),
            ("drain.topology_spread", self._topology.spread(pod, _rules(pod), lambda node, one: _counts_in(pod, node, one))),
        ):
            if checks:
                found[rule] = _all_of(checks)
        return found

    def _volumes(self, pod: Pod) -> list[Volume]:
        claims = [self._cluster.claims.get((pod.namespace, name)) for name in pod.claims]
        found = [self._cluster.volumes.get(claim.volume) for claim in claims if claim is not None]
        return [volume for volume in found if volume is not None and volume.node_terms is not None]

    def _ports(self, node: Node) -> set[tuple[int, str]]:
        return {port for pod in self._cluster.pods.get(node.name, ()) if not pod.is_completed for port in pod.host_ports}

    def _failure(self, pod: Pod, own: str, checks: dict[str, Check], can_grow: bool, *, has_surge: bool) -> Failure:
        """The first condition that leaves no node."""
        left = [node for node in self._static(pod) if node.name != own]
        if not left and not (can_grow and has_surge):
            return Failure("drain.no_matching_node", *_no_match(pod), can_grow)
        for rule, check in checks.items():
            left = [node for node in left if check(node)]
            if not left and not (can_grow and has_surge):
                return Failure(rule, *_TEXTS[rule], can_grow)
        needs = ", ".join(f"{_shown(name, value)} {name}" for name, value in sorted(pod.requests.items())) or "a place"
        reason = f"no node has room for it together with the other pods of the node: it needs {needs}"
        fix = f"add a node, upgrade with surge, or lower the requests of {workload(pod)}"
        return Failure("drain.no_room", reason, fix, can_grow)


_EMPTY: dict[str, int] = {}

_TEXTS = {
    "drain.local_volume": (
        "its volume is stored on this node",
        "move the data, or delete the PersistentVolumeClaim with the pod if the data is not needed",
    ),
    "drain.zonal_volume": (
        "no other node is in the zone of its volume",
        "add a node in that zone, or upgrade with surge",
    ),
    "drain.host_port": ("its host port is used on every other node", "add a node, or do not use a host port"),
    "drain.pod_affinity": ("no other node is close to the pods that its affinity requires", "add a node there, or prefer the affinity"),
    "drain.anti_affinity": (
        "the required anti-affinity excludes every other node",
        "add a node, upgrade with surge, or prefer the anti-affinity instead of requiring it",
    ),
    "drain.topology_spread": (
        "the topology spread excludes every other node while this one is cordoned",
        "add a node, raise maxSkew, or set nodeTaintsPolicy: Honor in the constraint",
    ),
}


def _no_match(pod: Pod) -> tuple[str, str]:
    selector = ", ".join(f"{key}={value}" for key, value in pod.placement.node_selector)
    by = (
        f"its nodeSelector ({selector})" if selector else "its node affinity" if pod.placement.node_terms is not None else "its tolerations"
    )
    return f"{by} and the taints leave no other node that is ready", "add such a node, upgrade with surge, or change where it may run"


def _shown(name: str, value: int) -> str:
    if name == "cpu":
        return f"{value}m"
    whole = value // 1000
    return f"{whole // 2**20}Mi" if whole >= 2**20 else str(whole)


def _free(node: Node, pods: tuple[Pod, ...] | list[Pod]) -> dict[str, int]:
    free = dict(node.allocatable)
    count = 0
    for pod in pods:
        if pod.is_completed:
            continue
        count += 1
        for name, value in pod.requests.items():
            free[name] = free.get(name, 0) - value
    if _PODS in free:
        free[_PODS] -= count * _ONE_POD
    return free


def _fits(requests: Amounts, free: Amounts, used: Amounts) -> bool:
    if _PODS in free and free[_PODS] - used.get(_PODS, 0) < _ONE_POD:
        return False
    return all(value <= free.get(name, 0) - used.get(name, 0) for name, value in requests.items() if value)


def _use(used: dict[str, dict[str, int]], node: str, pod: Pod) -> None:
    taken = used.setdefault(node, {})
    taken[_PODS] = taken.get(_PODS, 0) + _ONE_POD
    for name, value in pod.requests.items():
        taken[name] = taken.get(name, 0) + value


def _like(node: Node) -> Node:
    """A new node of the same group."""
    labels = {name: value for name, value in node.labels.items() if name != _HOSTNAME}
    taints = tuple(taint for taint in node.taints if not taint.key.startswith("node.kubernetes.io/"))
    return node._replace(name="", labels={**labels, _HOSTNAME: ""}, taints=taints, is_cordoned=False, is_ready=True)


def _is_allowed(pod: Pod, node: Node) -> bool:
    return _matches(pod.placement, node) and all(
        taint.effect == _NO_EFFECT or any(one.tolerates(taint) for one in pod.tolerations) for taint in node.taints
    )


def _rules(pod: Pod) -> Hashable:
    """What C(_is_allowed) depends on."""
    return pod.placement.node_selector, pod.placement.node_terms, pod.tolerations


def _matches(placement: Placement, node: Node) -> bool:
    if any(node.labels.get(key) != value for key, value in placement.node_selector):
        return False
    return placement.node_terms is None or any(term.matches(node.name, node.labels) for term in placement.node_terms)


def _counts_in(pod: Pod, node: Node, constraint: Spread) -> bool:
    """Is a node part of the domains of a topology spread?"""
    if constraint.honors_affinity and not _matches(pod.placement, node):
        return False
    if not constraint.honors_taints:
        return True
    return not node.is_cordoned and _is_allowed(pod, node)


def _reaches(volume: Volume, node: Node) -> bool:
    return volume.node_terms is None or any(term.matches(node.name, node.labels) for term in volume.node_terms)


def _all_of(checks: list[Check]) -> Check:
    return lambda node: all(check(node) for check in checks)
