# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drain asks of the Kubernetes API, by a client that the caller brings: C(module_utils/_kubernetes/client.py)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from ..workloads.model import Cluster, Node, Pod
from ..workloads.objects import read_node
from ..workloads.pods import read_pod
from ..workloads.snapshot import DAEMON_SETS, NODES, PODS, read_cluster
from .decide import DELETE, EVICT, Answer, DaemonSets, Request
from .finding import Question

_EVICTION = {"apiVersion": "policy/v1", "kind": "Eviction"}


class Client(Protocol):
    """The methods of C(KubernetesClient) that are used here."""

    def get(self, path: str, **query: Any) -> dict[str, Any]: ...
    def list(self, path: str, **query: Any) -> Iterator[dict[str, Any]]: ...
    def create(self, path: str, body: Mapping[str, Any], **query: Any) -> dict[str, Any]: ...
    def patch(self, path: str, body: Any, kind: str = "merge", **query: Any) -> dict[str, Any]: ...
    def delete(self, path: str, *, uid: str = "", **query: Any) -> dict[str, Any]: ...


class ClusterApi:
    """Reads a cluster, and cordons and evicts. error: the type of the client's errors, with C(status), C(causes) and C(retry_after)."""

    def __init__(self, client: Client, error: type[Exception]) -> None:
        self._client = client
        self.error = error

    # --- reading --------------------------------------------------------------------------------------------------------------------

    def items(self, path: str, **query: str) -> Iterable[Mapping[str, Any]]:
        """The items of a list."""
        return self._client.list(path, **query)

    def optional(self, path: str, **query: str) -> list[Mapping[str, Any]] | str:
        """The items of a list, or why it could not be read. A server that is away is an error here, too."""
        try:
            return list(self._client.list(path, **query))
        except self.error as error:
            if getattr(error, "status", 0) not in (403, 404):
                raise
            return f"not checked: {error}"

    def version(self) -> str:
        """The version of the API server, without the leading v."""
        return str(self._client.get("/version").get("gitVersion") or "").removeprefix("v")

    def cluster(self) -> Cluster:
        """Everything that the report needs."""
        return read_cluster(self, self.version())

    def node(self, name: str) -> Node:
        """One node."""
        return read_node(self._client.get(f"{NODES}/{name}"))

    def pods_on(self, node: str) -> list[Pod]:
        """The pods of a node."""
        return [read_pod(raw) for raw in self._client.list(PODS, fieldSelector=f"spec.nodeName={node}")]

    def daemon_sets(self) -> DaemonSets:
        """The DaemonSets of the cluster, None if they may not be read."""
        found = self.optional(DAEMON_SETS)
        if isinstance(found, str):
            return None
        return frozenset((str(raw["metadata"].get("namespace") or ""), str(raw["metadata"]["name"])) for raw in found)

    # --- changes --------------------------------------------------------------------------------------------------------------------

    def cordon(self, name: str, value: bool) -> None:
        """Cordon or uncordon a node."""
        self._client.patch(f"{NODES}/{name}", {"spec": {"unschedulable": value or None}})

    def send(self, request: Request, *, dry_run: bool = False) -> Answer:
        """Evict or delete the pod with this UID. Never another one of the same name."""
        pod = request.pod
        path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
        try:
            if request.kind == DELETE:
                self._client.delete(path, uid=pod.uid)
            else:
                options: dict[str, Any] = {"preconditions": {"uid": pod.uid}}
                query = {"dryRun": "All"} if dry_run else {}
                if dry_run:
                    options["dryRun"] = ["All"]
                body = {**_EVICTION, "metadata": {"name": pod.name, "namespace": pod.namespace}, "deleteOptions": options}
                self._client.create(f"{path}/eviction", body, **query)
        except self.error as error:
            return self._answer(error)
        return Answer(201)

    def _answer(self, error: Exception) -> Answer:
        causes = [str(cause.get("message")) for cause in getattr(error, "causes", ()) if cause.get("message")]
        message = "; ".join(causes) or str(getattr(error, "message", "") or error)
        return Answer(int(getattr(error, "status", 0)), message, getattr(error, "retry_after", None))

    def ask(self, questions: Mapping[Question, Pod]) -> dict[Question, str]:
        """Why the API server refuses dry runs of the evictions, '' if it does not. Without an answer, the question is left out."""
        found = {}
        for question, pod in questions.items():
            answer = self.send(Request(EVICT, pod), dry_run=True)
            if 200 <= answer.status < 300:
                found[question] = ""
            # A pod that is gone, and a server that is away, say nothing about the others.
            elif answer.status not in (0, 404, 409):
                found[question] = f"{answer.status}: {answer.message}"
        return found
