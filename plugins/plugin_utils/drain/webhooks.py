# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Admission webhooks that fail: they keep pods from being evicted, or from coming back."""

from __future__ import annotations

from collections.abc import Iterator

from ..workloads.model import Pod, Webhook
from .finding import BLOCKS, NOTICE, Finding, Scope, named


def findings(scope: Scope) -> Iterator[Finding]:
    """Webhooks without a ready endpoint, and those whose endpoints are all on the drained nodes."""
    for hook in scope.cluster.webhooks:
        nodes = scope.cluster.endpoints.get(hook.service) if hook.service else None
        if nodes is None:
            continue
        affected = [pod for pod in scope.pods() if not pod.is_mirror and not pod.is_of_daemon_set and _is_called(hook, pod, scope)]
        if not affected:
            continue
        service = "/".join(hook.service or ())
        what = (
            "evictions" if hook.resources == {"pods/eviction"} else "new pods" if hook.resources == {"pods"} else "evictions and new pods"
        )
        shown = f"the webhook {hook.name} of the {hook.kind} {hook.configuration}, which is called for {what},"
        pods = f"{len(affected)} of them here: {named([pod.full_name for pod in affected])}"
        if not nodes and hook.fails_closed:
            fix = f"repair the pods of the service {service}, or delete the configuration if nothing uses it"
            yield Finding("drain.webhook_unavailable", BLOCKS, "", "", f"{shown} has no ready endpoint ({pods})", fix)
        elif not nodes:
            reason = f"{shown} has no ready endpoint; it is ignored after its timeout ({pods})"
            yield Finding("drain.webhook_ignored", NOTICE, "", "", reason, f"repair the pods of the service {service}")
        elif hook.fails_closed and set(nodes) <= set(scope.nodes) and len(set(nodes)) == 1:
            fix = f"run more replicas of {service} on other nodes, with a PodDisruptionBudget"
            reason = f"{shown} has all its endpoints on this node, so it fails while they move"
            yield Finding("drain.webhook_on_node", NOTICE, "", nodes[0], reason, fix)


def _is_called(hook: Webhook, pod: Pod, scope: Scope) -> bool:
    """Whether the webhook is called for a pod or its eviction. Conditions in CEL are not evaluated: they are taken as met."""
    labels = {"kubernetes.io/metadata.name": pod.namespace, **scope.cluster.namespaces.get(pod.namespace, {})}
    if hook.namespace_selector is not None and not hook.namespace_selector.matches(labels):
        return False
    if hook.object_selector is None:
        return True
    # An eviction has no labels.
    return ("pods" in hook.resources and hook.object_selector.matches(pod.labels)) or (
        "pods/eviction" in hook.resources and hook.object_selector.matches({})
    )
