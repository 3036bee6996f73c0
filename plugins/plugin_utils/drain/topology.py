# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where pods run by topology domain: the counts behind affinity, anti-affinity and topology spread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple

from ..workloads.model import Cluster, Node, Pod, PodTerm, Spread
from ..workloads.selectors import Selector

Place = tuple[PodTerm, str]
"""A term with the namespace of the pod that has it."""


class Domains(NamedTuple):
    """The domains of a topology spread. domains: of each node. counts: the selected pods of each domain. smallest: of these counts."""

    selector: Selector | None
    domains: Mapping[str, str]
    counts: Mapping[str, int]
    smallest: int


class Topology:
    """Counts pods by domain. Every count is made once, for all pods with the same term."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._by_namespace: dict[str, list[Pod]] = {}
        self._counts: dict[Place, Counter[str]] = {}
        self._owned: dict[Place, Counter[str]] = {}
        self._spreads: dict[Hashable, Domains] = {}
        for pods in cluster.pods.values():
            for pod in pods:
                if pod.node in cluster.nodes and not pod.is_completed and not pod.deleted_at:
                    self._by_namespace.setdefault(pod.namespace, []).append(pod)
                    for term in pod.placement.anti_affinity:
                        domain = self._domain(pod.node, term.topology_key)
                        if domain is not None:
                            self._owned.setdefault((term, pod.namespace), Counter())[domain] += 1
        self._owned_in: dict[str, list[Place]] = {}
        self._owned_anywhere: list[Place] = []
        for place in self._owned:
            if place[0].namespace_selector is not None:
                self._owned_anywhere.append(place)
            else:
                for namespace in place[0].namespaces or {place[1]}:
                    self._owned_in.setdefault(namespace, []).append(place)

    def _domain(self, node: str, key: str) -> str | None:
        return self._cluster.nodes[node].labels.get(key)

    def _namespaces(self, term: PodTerm, namespace: str) -> frozenset[str]:
        """The namespaces in which a term selects pods. namespace: of the pod that has the term."""
        if term.namespace_selector is None:
            return term.namespaces or frozenset((namespace,))
        selected = (one for one in self._by_namespace if term.namespace_selector.matches(self._cluster.namespaces.get(one, {})))
        return term.namespaces.union(selected)

    def _selects(self, place: Place, pod: Pod) -> bool:
        term = place[0]
        if term.selector is None or not term.selector.matches(pod.labels):
            return False
        return pod.namespace in self._namespaces(term, place[1])

    def _count(self, place: Place) -> Counter[str]:
        """The pods that a term selects, by domain."""
        if place not in self._counts:
            term, found = place[0], Counter[str]()
            for namespace in self._namespaces(term, place[1]):
                for pod in self._by_namespace.get(namespace, ()):
                    domain = self._domain(pod.node, term.topology_key)
                    if domain is not None and term.selector is not None and term.selector.matches(pod.labels):
                        found[domain] += 1
            self._counts[place] = found
        return self._counts[place]

    # --- what a node must meet ------------------------------------------------------------------------------------------------------

    def affinity(self, pod: Pod) -> list[Callable[[Node], bool]]:
        """The conditions of the pod's required affinity to pods. The first pod of a group may select itself."""
        found: list[Callable[[Node], bool]] = []
        for term in pod.placement.affinity:
            place = (term, pod.namespace)
            others = self._without(self._count(place), pod, term.topology_key, self._selects(place, pod))
            if not others and self._selects(place, pod):
                continue
            found.append(_has_one(term.topology_key, others))
        return found

    def anti_affinity(self, pod: Pod) -> list[Callable[[Node], bool]]:
        """The conditions of the pod's required anti-affinity, and of that of others against it."""
        found: list[Callable[[Node], bool]] = []
        for term in pod.placement.anti_affinity:
            place = (term, pod.namespace)
            others = self._without(self._count(place), pod, term.topology_key, self._selects(place, pod))
            found.append(_has_none(term.topology_key, others))
        for place in (*self._owned_in.get(pod.namespace, ()), *self._owned_anywhere):
            if self._selects(place, pod):
                is_own = place[0] in pod.placement.anti_affinity and place[1] == pod.namespace
                others = self._without(self._owned[place], pod, place[0].topology_key, is_own)
                found.append(_has_none(place[0].topology_key, others))
        return found

    def spread(self, pod: Pod, key: Hashable, is_static: Callable[[Node, Spread], bool]) -> list[Callable[[Node], bool]]:
        """The conditions of the topology spread. Cordoned nodes are domains, too, unless nodeTaintsPolicy is C(Honor).

        is_static: is a node among the domains? key: pods with the same key have the same answers, so that they are counted once.
        """
        return [self._within(one, pod, self._spread_counts(one, pod, key, is_static)) for one in pod.placement.spread]

    def _spread_counts(self, constraint: Spread, pod: Pod, key: Hashable, is_static: Callable[[Node, Spread], bool]) -> Domains:
        place = (constraint, pod.namespace, spread_selector(constraint, pod), key)
        found = self._spreads.get(place)
        if found is None:
            selector, topology = place[2], constraint.topology_key
            domains = {
                name: node.labels[topology]
                for name, node in self._cluster.nodes.items()
                if topology in node.labels and is_static(node, constraint)
            }
            counts = dict.fromkeys(domains.values(), 0)
            for other in self._by_namespace.get(pod.namespace, ()):
                if other.node in domains and selector is not None and selector.matches(other.labels):
                    counts[domains[other.node]] += 1
            smallest = min(counts.values(), default=0) if len(counts) >= constraint.min_domains else 0
            found = self._spreads[place] = Domains(selector, domains, counts, smallest)
        return found

    def _within(self, constraint: Spread, pod: Pod, found: Domains) -> Callable[[Node], bool]:
        selects = found.selector is not None and found.selector.matches(pod.labels)
        own = found.domains.get(pod.node)
        if constraint.honors_taints and own is not None:
            found, own = self._without_node(constraint, pod, found), None
        leaves = int(selects and own is not None)
        # After the pod has left, its domain may have the fewest pods.
        smallest = min(found.smallest, found.counts[own] - 1) if leaves and own is not None else found.smallest
        most, topology = constraint.max_skew - int(selects) + smallest, constraint.topology_key

        def check(node: Node) -> bool:
            domain = node.labels.get(topology)
            return domain is not None and found.counts.get(domain, 0) - (leaves if domain == own else 0) <= most

        return check

    def _without_node(self, constraint: Spread, pod: Pod, found: Domains) -> Domains:
        """The domains without the node of the pod, which is cordoned during the drain."""
        domains = {name: domain for name, domain in found.domains.items() if name != pod.node}
        counts = dict.fromkeys(domains.values(), 0)
        counts.update((domain, count) for domain, count in found.counts.items() if domain in counts)
        own = found.domains[pod.node]
        if own in counts and found.selector is not None:
            here = self._by_namespace.get(pod.namespace, ())
            counts[own] -= sum(1 for other in here if other.node == pod.node and found.selector.matches(other.labels))
        smallest = min(counts.values(), default=0) if len(counts) >= constraint.min_domains else 0
        return Domains(found.selector, domains, counts, smallest)

    def _without(self, counts: Counter[str], pod: Pod, key: str, counts_itself: bool) -> Mapping[str, int]:
        """The counts after a pod has left its node."""
        domain = self._domain(pod.node, key)
        if not counts_itself or domain is None:
            return counts
        left = Counter(counts)
        left[domain] -= 1
        return +left


def spread_selector(constraint: Spread, pod: Pod) -> Selector | None:
    """The selector of a constraint with the values that the pod has for matchLabelKeys."""
    if constraint.selector is None:
        return None
    return constraint.selector.with_labels(constraint.label_keys, pod.labels)


def _has_one(key: str, counts: Mapping[str, int]) -> Callable[[Node], bool]:
    return lambda node: counts.get(node.labels.get(key, ""), 0) > 0


def _has_none(key: str, counts: Mapping[str, int]) -> Callable[[Node], bool]:
    return lambda node: key not in node.labels or counts.get(node.labels[key], 0) == 0
