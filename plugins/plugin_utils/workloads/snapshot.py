# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a cluster by a fixed number of lists: never one request for each pod."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from .model import Budget, Cluster, Pod, Webhook
from .objects import read_budget, read_claim, read_node, read_volume, read_webhooks, ready_nodes
from .pods import read_pod

NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"
BUDGETS = "/apis/policy/v1/poddisruptionbudgets"
DAEMON_SETS = "/apis/apps/v1/daemonsets"
CLAIMS = "/api/v1/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
NAMESPACES = "/api/v1/namespaces"
VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
MUTATING = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices"


class Source(Protocol):
    """Reads the API. C(items) raises an error if it fails, C(optional) returns why as a sentence."""

    def items(self, path: str, **query: str) -> Iterable[Mapping[str, Any]]:
        """The items of a list, in the order of the API."""

    def optional(self, path: str, **query: str) -> list[Mapping[str, Any]] | str:
        """The items of a list, or why it could not be read."""


def read_cluster(source: Source, version: str = "") -> Cluster:
    """Everything that the rules need. version: of the API server."""
    unchecked: list[str] = []

    def optional(path: str, **query: str) -> list[Mapping[str, Any]] | None:
        found = source.optional(path, **query)
        if isinstance(found, str):
            unchecked.append(found)
            return None
        return found

    nodes = {node.name: node for node in map(read_node, source.items(NODES))}
    pods: dict[str, list[Pod]] = {}
    uses_claims = False
    for raw in source.items(PODS):
        pod = read_pod(raw)
        pods.setdefault(pod.node, []).append(pod)
        uses_claims = uses_claims or bool(pod.claims)
    budgets: dict[str, list[Budget]] = {}
    for budget in map(read_budget, source.items(BUDGETS)):
        budgets.setdefault(budget.namespace, []).append(budget)
    daemon_sets = optional(DAEMON_SETS)
    claims = [read_claim(raw) for raw in (optional(CLAIMS) if uses_claims else None) or ()]
    volumes = [read_volume(raw) for raw in (optional(VOLUMES) if uses_claims else None) or ()]
    webhooks = _webhooks(optional(VALIDATING), optional(MUTATING))
    endpoints = {}
    for namespace, name in sorted({hook.service for hook in webhooks if hook.service}):
        slices = optional(SLICES.format(namespace), labelSelector=f"kubernetes.io/service-name={name}")
        if slices is not None:
            endpoints[namespace, name] = tuple(node for raw in slices for node in ready_nodes(raw))
    namespaces = optional(NAMESPACES) if webhooks or _uses_namespaces(pods.values()) else None
    return Cluster(
        nodes,
        {name: tuple(found) for name, found in pods.items()},
        {name: tuple(found) for name, found in budgets.items()},
        None if daemon_sets is None else frozenset(_name(raw) for raw in daemon_sets),
        {(claim.namespace, claim.name): claim for claim in claims},
        {volume.name: volume for volume in volumes},
        webhooks,
        endpoints,
        {str(raw["metadata"]["name"]): raw["metadata"].get("labels") or {} for raw in namespaces or ()},
        version,
        tuple(unchecked),
    )


def _name(raw: Mapping[str, Any]) -> tuple[str, str]:
    return str(raw["metadata"].get("namespace") or ""), str(raw["metadata"]["name"])


def _webhooks(validating: Iterable[Mapping[str, Any]] | None, mutating: Iterable[Mapping[str, Any]] | None) -> tuple[Webhook, ...]:
    return tuple(
        hook
        for kind, found in (("ValidatingWebhookConfiguration", validating), ("MutatingWebhookConfiguration", mutating))
        for raw in found or ()
        for hook in read_webhooks(raw, kind)
    )


def _uses_namespaces(pods: Iterable[Iterable[Pod]]) -> bool:
    return any(
        term.namespace_selector is not None
        for found in pods
        for pod in found
        for term in (*pod.placement.affinity, *pod.placement.anti_affinity)
    )
