# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of the Kubernetes API for tests, and a cluster that consists of them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.finding import Question, Scope, Settings, Subnet
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.workloads import snapshot

Object = dict[str, Any]

NOW = 1_800_000_000.0
"""2027-01-15T08:00:00Z"""


def merged(base: Object, changes: Mapping[str, Any]) -> Object:
    """A copy with other values, merged as a merge patch. A key with dots is one path."""
    found = copy.deepcopy(base)
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = found
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    return found


def node(name: str, **changes: Any) -> Object:
    base = {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "labels": {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": "eu-west-1a"},
        },
        "spec": {},
        "status": {
            "allocatable": {"cpu": "2", "memory": "4Gi", "pods": "17"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kubeletVersion": "v1.35.2-eks-1"},
        },
    }
    return merged(base, changes)


def pod(name: str, on: str = "a", *, owner: str | None = "ReplicaSet/web-7d9", **changes: Any) -> Object:
    kind, _slash, controller = (owner or "").partition("/")
    base: Object = {
        "metadata": {"name": name, "namespace": "web", "uid": f"uid-{name}", "labels": {"app": "web", "pod-template-hash": "7d9"}},
        "spec": {"nodeName": on, "containers": [{"name": "web", "resources": {"requests": {"cpu": "500m", "memory": "256Mi"}}}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }
    if owner:
        base["metadata"]["ownerReferences"] = [{"kind": kind, "name": controller, "uid": f"uid-{controller}", "controller": True}]
    return merged(base, changes)


def budget(name: str = "web", **changes: Any) -> Object:
    base = {
        "metadata": {"name": name, "namespace": "web", "generation": 1},
        "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
        "status": {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3},
    }
    return merged(base, changes)


def exhausted(name: str = "web", **changes: Any) -> Object:
    return budget(name, **{"status__disruptionsAllowed": 0, "status__currentHealthy": 2, **changes})


NODES = {"a": node("a"), "b": node("b")}


class Objects:
    """The lists of a cluster, by path. Missing lists are empty, and a text is the reason why a list cannot be read."""

    def __init__(self, lists: Mapping[str, list[Object] | str]) -> None:
        self.lists = lists
        self.asked: list[str] = []

    def items(self, path: str, **query: str) -> Iterable[Object]:
        self.asked.append(path)
        found = self.lists.get(path, [])
        assert not isinstance(found, str)
        return found

    def optional(self, path: str, **query: str) -> Any:
        self.asked.append(path)
        return self.lists.get(path, [])


def lists(*objects: Object, nodes: Iterable[Object] | None = None, **more: list[Object] | str) -> dict[str, list[Object] | str]:
    """Pods and budgets by their shape, two nodes, and lists by the name of their constant in snapshot."""
    found: dict[str, list[Object] | str] = {
        snapshot.NODES: list(NODES.values() if nodes is None else nodes),
        snapshot.PODS: [one for one in objects if "containers" in one.get("spec", {})],
        snapshot.BUDGETS: [one for one in objects if "selector" in one.get("spec", {})],
        snapshot.DAEMON_SETS: [{"metadata": {"namespace": "kube-system", "name": "aws-node"}}],
    }
    return found | {getattr(snapshot, name): value for name, value in more.items()}


def scope(
    found: Mapping[str, list[Object] | str],
    *drained: str,
    settings: Settings | None = None,
    version: str = "1.36.3",
    subnets: tuple[Subnet, ...] = (),
    answers: Mapping[Question, str] | None = None,
) -> Scope:
    cluster = snapshot.read_cluster(Objects(found), version)
    return Scope(cluster, drained or ("a",), settings or Settings(now=NOW), subnets, answers or {})
