# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that moves: evictions follow budgets, pods end, controllers create them again. It has its own clock."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.api import ClusterApi
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.budgets import Budgets, verdict
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.run import World
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.workloads import snapshot
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.workloads.model import Cluster
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.workloads.objects import read_budget
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.workloads.pods import read_pod
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.drain.api_objects import NODES, NOW, Object

SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


class Refusal(Exception):
    def __init__(self, status: int, message: str = "", retry_after: float | None = None) -> None:
        super().__init__(message or f"status {status}")
        self.status, self.message, self.retry_after = status, message, retry_after
        self.causes: list[dict[str, str]] = []


class MovingCluster:
    """The client of a cluster. pods end_after seconds after their eviction; None is never.

    events: what happens at a time, in seconds from the start.
    """

    def __init__(self, *objects: Object, end_after: float | None = 5.0) -> None:
        self.now = NOW
        self.nodes = {name: copy.deepcopy(one) for name, one in NODES.items()}
        self.pods = {one["metadata"]["uid"]: copy.deepcopy(one) for one in objects if "containers" in one["spec"]}
        self.budgets = [copy.deepcopy(one) for one in objects if "selector" in one["spec"]]
        self.daemon_sets: list[Object] = [{"metadata": {"namespace": "kube-system", "name": "aws-node"}}]
        self.end_after = end_after
        self.events: list[tuple[float, Callable[[], None]]] = []
        self.requests: list[tuple[float, str, str]] = []
        self.said: list[str] = []
        self.recreates: Callable[[Object], str | None] = lambda pod: "b"
        self.fails: Callable[[str, str], Refusal | None] = lambda method, path: None
        self._numbers = itertools.count(1)
        self._ends: dict[str, float] = {}

    @property
    def api(self) -> ClusterApi:
        return ClusterApi(self, Refusal)

    @property
    def world(self) -> World:
        return World(lambda: self.now, self.sleep, self.said.append)

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds
        for moment, event in [one for one in self.events if NOW + one[0] <= self.now]:
            self.events.remove((moment, event))
            event()
        for uid in [uid for uid, end in self._ends.items() if end <= self.now]:
            del self._ends[uid]
            self.remove(uid)

    def remove(self, uid: str) -> None:
        gone = self.pods.pop(uid, None)
        place = self.recreates(gone) if gone and gone["metadata"].get("ownerReferences") else None
        if gone is None or place is None:
            return
        number = next(self._numbers)
        new = copy.deepcopy(gone)
        new["metadata"].pop("deletionTimestamp", None)
        new["metadata"] |= {"uid": f"new-{number}", "name": f"{gone['metadata']['name']}-{number}"}
        new["spec"]["nodeName"] = place
        self.pods[new["metadata"]["uid"]] = new

    # --- the client

    def get(self, path: str, **query: Any) -> Object:
        self._note("GET", path)
        name = path.rpartition("/")[2]
        if name not in self.nodes:
            raise Refusal(404, f'nodes "{name}" not found')
        return self.nodes[name]

    def list(self, path: str, **query: Any) -> Iterator[Object]:
        self._note("LIST", path)
        if path == snapshot.PODS:
            node = str(query["fieldSelector"]).partition("=")[2]
            return iter([copy.deepcopy(one) for one in self.pods.values() if one["spec"]["nodeName"] == node])
        return iter(self.daemon_sets if path == snapshot.DAEMON_SETS else [])

    def patch(self, path: str, body: Any, kind: str = "merge", **query: Any) -> Object:
        self._note("PATCH", path)
        node = self.nodes[path.rpartition("/")[2]]
        node["spec"]["unschedulable"] = bool(body["spec"]["unschedulable"])
        return node

    def create(self, path: str, body: Mapping[str, Any], **query: Any) -> Object:
        self._note("EVICT", path)
        pod = self._pod(path.removesuffix("/eviction"), body["deleteOptions"]["preconditions"]["uid"])
        budgets = tuple(map(read_budget, self.budgets))
        answer = verdict(read_pod(pod), Budgets(Cluster({}, {}, {"web": budgets})))
        if answer.status == 500:
            raise Refusal(500, SEVERAL)
        if answer.status:
            raise Refusal(answer.status, "the budget does not allow it", 10.0)
        if "dryRun" not in query:
            self._end(pod)
        return {}

    def delete(self, path: str, *, uid: str = "", **query: Any) -> Object:
        self._note("DELETE", path)
        self._end(self._pod(path, uid))
        return {}

    def _note(self, method: str, path: str) -> None:
        self.requests.append((self.now - NOW, method, path.removeprefix("/api/v1/")))
        refusal = self.fails(method, path)
        if refusal is not None:
            raise refusal

    def _pod(self, path: str, uid: str) -> Object:
        name = path.rpartition("/")[2]
        found = next((one for one in self.pods.values() if one["metadata"]["name"] == name), None)
        if found is None:
            raise Refusal(404)
        if found["metadata"]["uid"] != uid:
            raise Refusal(409, "the UID in the precondition does not match")
        return found

    def _end(self, pod: Object) -> None:
        grace = pod["spec"].get("terminationGracePeriodSeconds", 30)
        pod["metadata"].setdefault("deletionTimestamp", datetime.fromtimestamp(self.now + grace, timezone.utc).isoformat())
        if self.end_after is not None and not pod["metadata"].get("finalizers"):
            self._ends[pod["metadata"]["uid"]] = self.now + self.end_after

    def is_cordoned(self, node: str = "a") -> bool:
        return bool(self.nodes[node]["spec"].get("unschedulable"))

    def sent(self, method: str) -> list[str]:
        return [path.rpartition("pods/")[2].removesuffix("/eviction") for _when, one, path in self.requests if one == method]
