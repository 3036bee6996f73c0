# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rules need of the objects of the API. Equal parts of pods are shared, so that 30,000 pods fit in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .selectors import NodeTerm, Selector

Amounts = Mapping[str, int]
"""Resources: millicores of C(cpu), thousandths of other units, so that every amount is an integer."""


class Owner(NamedTuple):
    """The controller of a pod."""

    kind: str
    name: str
    uid: str


class Toleration(NamedTuple):
    """A toleration. operator: C(Equal) or C(Exists). effect: '' tolerates every effect. seconds: None tolerates forever."""

    key: str
    operator: str
    value: str
    effect: str
    seconds: int | None = None

    def tolerates(self, taint: Taint) -> bool:
        """Is the taint tolerated, at least for a while?"""
        if self.effect and self.effect != taint.effect:
            return False
        if self.operator == "Exists":
            return not self.key or self.key == taint.key
        return self.key == taint.key and self.value == taint.value


class Taint(NamedTuple):
    """A taint of a node."""

    key: str
    value: str
    effect: str


class PodTerm(NamedTuple):
    """A required term of C(podAffinity) or C(podAntiAffinity).

    namespaces: empty for that of the pod, if there is no namespace_selector either.
    """

    topology_key: str
    selector: Selector | None
    namespaces: frozenset[str]
    namespace_selector: Selector | None


class Spread(NamedTuple):
    """A topology spread constraint with C(DoNotSchedule)."""

    topology_key: str
    max_skew: int
    min_domains: int
    selector: Selector | None
    label_keys: tuple[str, ...]
    honors_affinity: bool
    honors_taints: bool


class Placement(NamedTuple):
    """Where a pod may run. node_terms: None without required node affinity, otherwise one of them must match."""

    node_selector: tuple[tuple[str, str], ...] = ()
    node_terms: tuple[NodeTerm, ...] | None = None
    affinity: tuple[PodTerm, ...] = ()
    anti_affinity: tuple[PodTerm, ...] = ()
    spread: tuple[Spread, ...] = ()


class Pod(NamedTuple):
    """A pod. deleted_at: '' if it is not being deleted, otherwise when it should be gone. grace: seconds.

    claims: names of PersistentVolumeClaims. host_ports: port and protocol.
    """

    namespace: str
    name: str
    uid: str
    node: str
    phase: str
    is_ready: bool
    deleted_at: str
    grace: int
    finalizers: tuple[str, ...]
    labels: Mapping[str, str]
    owner: Owner | None
    is_mirror: bool
    is_not_safe_to_evict: bool
    is_not_to_disrupt: bool
    tolerations: tuple[Toleration, ...]
    placement: Placement
    requests: Amounts
    host_ports: tuple[tuple[int, str], ...]
    empty_dirs: tuple[str, ...]
    host_paths: tuple[str, ...]
    claims: tuple[str, ...]

    @property
    def full_name(self) -> str:
        """The name with the namespace."""
        return f"{self.namespace}/{self.name}"

    @property
    def is_completed(self) -> bool:
        """Have all its containers ended for good?"""
        return self.phase in ("Succeeded", "Failed")

    @property
    def is_of_daemon_set(self) -> bool:
        """Is its controller a DaemonSet?"""
        return self.owner is not None and self.owner.kind == "DaemonSet"


class Node(NamedTuple):
    """A node. ready_reason: why it is not ready. version: of kubelet, without the leading v."""

    name: str
    uid: str
    is_ready: bool
    ready_reason: str
    is_cordoned: bool
    taints: tuple[Taint, ...]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    allocatable: Amounts
    version: str
    provider_id: str


class Budget(NamedTuple):
    """A PodDisruptionBudget with its status. selector: None selects no pod. always_allows_unhealthy: unhealthyPodEvictionPolicy.

    is_processed: whether the status is of this generation. sync_failure: why the controller cannot compute the status, '' if it can.
    """

    namespace: str
    name: str
    selector: Selector | None
    allowed: int
    current: int
    desired: int
    expected: int
    disrupted: int
    is_processed: bool
    always_allows_unhealthy: bool
    min_available: str
    max_unavailable: str
    sync_failure: str

    @property
    def full_name(self) -> str:
        """The name with the namespace."""
        return f"{self.namespace}/{self.name}"


class Claim(NamedTuple):
    """A PersistentVolumeClaim. volume: '' if it is not bound."""

    namespace: str
    name: str
    volume: str


class Volume(NamedTuple):
    """A PersistentVolume. node_terms: None if every node can use it. is_local: its data is on one node."""

    name: str
    node_terms: tuple[NodeTerm, ...] | None
    is_local: bool


class Webhook(NamedTuple):
    """An admission webhook that is called when a pod or an eviction is created.

    service: namespace and name, None for a URL. fails_closed: failurePolicy. resources: C(pods), C(pods/eviction) or both.
    """

    configuration: str
    name: str
    kind: str
    service: tuple[str, str] | None
    fails_closed: bool
    resources: frozenset[str]
    namespace_selector: Selector | None
    object_selector: Selector | None


class Cluster(NamedTuple):
    """What was read of a cluster. daemon_sets: namespace and name, None if they are not known.

    endpoints: the service of a webhook → the nodes of its ready endpoints ('' for an endpoint without a node). unchecked: what could not be
    read, as sentences.
    """

    nodes: Mapping[str, Node]
    pods: Mapping[str, tuple[Pod, ...]]
    budgets: Mapping[str, tuple[Budget, ...]]
    daemon_sets: frozenset[tuple[str, str]] | None = None
    claims: Mapping[tuple[str, str], Claim] = {}
    volumes: Mapping[str, Volume] = {}
    webhooks: tuple[Webhook, ...] = ()
    endpoints: Mapping[tuple[str, str], tuple[str, ...]] = {}
    namespaces: Mapping[str, Mapping[str, str]] = {}
    version: str = ""
    unchecked: tuple[str, ...] = ()
