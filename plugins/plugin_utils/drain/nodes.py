# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that are not ready, versions of kubelet, and subnets without addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..workloads.model import Node
from .finding import BLOCKS, NOTICE, Finding, Scope, named, plural

_OLDEST = 3
"""Minor versions by which kubelet may be older than the API server. Source: the version skew policy of Kubernetes."""

_FEW_ADDRESSES = 16
_VERSION = re.compile(r"v?(\d+)\.(\d+)")


def minor(version: str) -> tuple[int, int] | None:
    """Major and minor version."""
    found = _VERSION.match(version)
    return (int(found[1]), int(found[2])) if found else None


def findings(scope: Scope) -> Iterator[Finding]:
    """All rules about nodes and their subnets."""
    for node in scope.drained():
        yield from _readiness(node, scope)
        yield from _skew(node, scope)
    yield from _target(scope)
    for subnet in scope.subnets:
        if subnet.free == 0 and not subnet.nodes:
            reason = f"the subnet {subnet.id} of the group has no free address, so no new node starts in it"
            yield Finding("drain.subnet_exhausted", NOTICE, "", "", reason, "remove network interfaces that are not used")
        elif subnet.free == 0:
            reason = f"the subnet {subnet.id} has no free address, so neither new nodes nor new pods get one"
            fix = "add a subnet, or remove network interfaces that are not used"
            yield Finding("drain.subnet_exhausted", BLOCKS, "", named(subnet.nodes), reason, fix)
        elif subnet.free < _FEW_ADDRESSES:
            reason = f"the subnet {subnet.id} has only {subnet.free} free addresses"
            yield Finding("drain.subnet_nearly_exhausted", NOTICE, "", named(subnet.nodes), reason, "add a subnet")


def _readiness(node: Node, scope: Scope) -> Iterator[Finding]:
    if not node.is_ready:
        stays = [pod for pod in scope.cluster.pods.get(node.name, ()) if not pod.is_mirror and not pod.is_of_daemon_set]
        if stays:
            reason = f"the node is not ready ({node.ready_reason}), so {plural(len(stays), 'pod')} cannot end on it"
            yield Finding("drain.node_not_ready", BLOCKS, "", node.name, reason, "repair the node, or delete it with its instance")
        else:
            reason = f"the node is not ready ({node.ready_reason}), but has no pod to evict"
            yield Finding("drain.node_not_ready", NOTICE, "", node.name, reason, "repair or replace the node")
    if node.is_cordoned:
        fix = "uncordon it afterwards if it should run pods again"
        yield Finding("drain.already_cordoned", NOTICE, "", node.name, "the node is cordoned already, and stays so if the drain fails", fix)


def _skew(node: Node, scope: Scope) -> Iterator[Finding]:
    server, kubelet = minor(scope.cluster.version), minor(node.version)
    if server is None or kubelet is None:
        return
    shown = f"kubelet {node.version} on the API server {scope.cluster.version}"
    # An upgrade to a supported version is the fix.
    target = minor(scope.settings.target_version)
    is_fixed = target is not None and _is_supported(target, server)
    severity = NOTICE if is_fixed else BLOCKS
    upgrade = f"the upgrade to kubelet {scope.settings.target_version} corrects this"
    if kubelet > server:
        fix = upgrade if is_fixed else "upgrade the control plane first"
        yield Finding("drain.kubelet_too_new", severity, "", node.name, f"{shown} is newer, which Kubernetes does not support", fix)
    elif not _is_supported(kubelet, server):
        oldest = f"{server[0]}.{server[1] - _OLDEST}"
        fix = upgrade if is_fixed else f"replace the node by one with kubelet {oldest} or newer"
        reason = f"{shown} is {plural(server[1] - kubelet[1], 'minor version')} older, and Kubernetes supports {_OLDEST}"
        yield Finding("drain.kubelet_too_old", severity, "", node.name, reason, fix)


def _is_supported(kubelet: tuple[int, int], server: tuple[int, int]) -> bool:
    """Whether Kubernetes supports this kubelet with this API server."""
    return kubelet[0] == server[0] and 0 <= server[1] - kubelet[1] <= _OLDEST


def _target(scope: Scope) -> Iterator[Finding]:
    server, target = minor(scope.cluster.version), minor(scope.settings.target_version)
    if server is None or target is None:
        return
    shown = f"the new kubelet {scope.settings.target_version} on the API server {scope.cluster.version}"
    if target > server:
        reason = f"{shown} would be newer, which Kubernetes does not support"
        yield Finding("drain.kubelet_too_new", BLOCKS, "", "", reason, "upgrade the control plane first, or choose an older version")
    elif not _is_supported(target, server):
        fix = f"choose {server[0]}.{server[1] - _OLDEST} or newer"
        yield Finding(
            "drain.kubelet_too_old", BLOCKS, "", "", f"{shown} would be too old: Kubernetes supports {_OLDEST} minor versions", fix
        )
