# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads nodes, disruption budgets, volumes, claims, webhooks and endpoints of the API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .model import Budget, Claim, Node, Taint, Volume, Webhook
from .pods import amount
from .selectors import label_selector, node_terms

_NOTHING: Mapping[str, Any] = {}


def read_node(raw: Mapping[str, Any]) -> Node:
    """A node of the API."""
    metadata, spec, status = raw["metadata"], raw.get("spec") or _NOTHING, raw.get("status") or _NOTHING
    ready: Mapping[str, Any] = next((one for one in status.get("conditions") or () if one.get("type") == "Ready"), _NOTHING)
    is_ready = ready.get("status") == "True"
    reason = "" if is_ready else str(ready.get("message") or ready.get("reason") or "kubelet has not reported a status")
    return Node(
        metadata["name"],
        metadata.get("uid") or "",
        is_ready,
        " ".join(reason.split()),
        bool(spec.get("unschedulable")),
        tuple(Taint(one.get("key") or "", one.get("value") or "", one.get("effect") or "") for one in spec.get("taints") or ()),
        metadata.get("labels") or _NOTHING,
        metadata.get("annotations") or _NOTHING,
        {str(name): amount(str(value)) for name, value in (status.get("allocatable") or _NOTHING).items()},
        str((status.get("nodeInfo") or _NOTHING).get("kubeletVersion") or "").removeprefix("v"),
        spec.get("providerID") or "",
    )


def read_budget(raw: Mapping[str, Any]) -> Budget:
    """A PodDisruptionBudget of the API."""
    metadata, spec, status = raw["metadata"], raw.get("spec") or _NOTHING, raw.get("status") or _NOTHING
    failed = next(
        (one for one in status.get("conditions") or () if one.get("type") == "DisruptionAllowed" and one.get("reason") == "SyncFailed"),
        _NOTHING,
    )
    return Budget(
        metadata.get("namespace") or "",
        metadata["name"],
        label_selector(spec.get("selector")),
        int(status.get("disruptionsAllowed") or 0),
        int(status.get("currentHealthy") or 0),
        int(status.get("desiredHealthy") or 0),
        int(status.get("expectedPods") or 0),
        len(status.get("disruptedPods") or ()),
        int(status.get("observedGeneration") or 0) >= int(metadata.get("generation") or 0),
        spec.get("unhealthyPodEvictionPolicy") == "AlwaysAllow",
        _text(spec.get("minAvailable")),
        _text(spec.get("maxUnavailable")),
        str(failed.get("message") or "") if failed.get("status") == "False" else "",
    )


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def read_claim(raw: Mapping[str, Any]) -> Claim:
    """A PersistentVolumeClaim of the API."""
    metadata = raw["metadata"]
    return Claim(metadata.get("namespace") or "", metadata["name"], (raw.get("spec") or _NOTHING).get("volumeName") or "")


def read_volume(raw: Mapping[str, Any]) -> Volume:
    """A PersistentVolume of the API."""
    spec = raw.get("spec") or _NOTHING
    terms = node_terms((spec.get("nodeAffinity") or _NOTHING).get("required"))
    return Volume(raw["metadata"]["name"], terms, "local" in spec or "hostPath" in spec)


def read_webhooks(raw: Mapping[str, Any], kind: str) -> Iterator[Webhook]:
    """The webhooks of a configuration that are called when a pod or an eviction is created."""
    for one in raw.get("webhooks") or ():
        resources = frozenset(resource for resource in _PATTERNS for rule in one.get("rules") or () if _covers(rule, resource))
        if not resources:
            continue
        service = (one.get("clientConfig") or _NOTHING).get("service")
        yield Webhook(
            raw["metadata"]["name"],
            str(one.get("name")),
            kind,
            (str(service.get("namespace")), str(service.get("name"))) if service else None,
            one.get("failurePolicy", "Fail") == "Fail",
            resources,
            label_selector(one.get("namespaceSelector")),
            label_selector(one.get("objectSelector")),
        )


_PATTERNS = {"pods": {"pods", "*", "*/*"}, "pods/eviction": {"pods/eviction", "pods/*", "*/eviction", "*/*"}}
"""A resource → what covers it in a rule of a webhook."""


def _covers(rule: Mapping[str, Any], resource: str) -> bool:
    """Is the creation of this resource of the core group covered?"""
    return (
        bool({"CREATE", "*"} & set(rule.get("operations") or ()))
        and bool({"", "*"} & set(rule.get("apiGroups") or ()))
        and bool({"v1", "*"} & set(rule.get("apiVersions") or ()))
        and bool(_PATTERNS[resource] & set(rule.get("resources") or ()))
    )


def ready_nodes(raw: Mapping[str, Any]) -> Iterator[str]:
    """The node of each ready endpoint of an EndpointSlice, '' for an endpoint without one."""
    for one in raw.get("endpoints") or ():
        if (one.get("conditions") or _NOTHING).get("ready", True) is not False:
            yield one.get("nodeName") or ""
