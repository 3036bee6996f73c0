# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real API server answers dry runs of evictions as the report on drains predicts; and the client of the collection calls it."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes.client import KubernetesClient, KubernetesError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.api import ClusterApi
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.budgets import Budgets, questions, verdict
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.decide import EVICT, Request
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.finding import Scope, Settings
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.report import report
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.workloads.model import Cluster
from ansible_collections.nodebootstrap.eks.tests.lab import Lab, control_plane
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

NODE = "node-of-the-verdicts"
READY, NOT_READY = [{"type": "Ready", "status": "True"}], [{"type": "Ready", "status": "False"}]
PODS: dict[str, dict[str, Any]] = {
    "ready": {"phase": "Running", "conditions": READY},
    "not-ready": {"phase": "Running", "conditions": NOT_READY},
    "no-condition": {"phase": "Running"},
    "pending": {"phase": "Pending"},
    "succeeded": {"phase": "Succeeded"},
    "failed": {"phase": "Failed", "conditions": NOT_READY},
    "deleted": {"phase": "Running", "conditions": READY},
    "other-label": {"phase": "Running", "conditions": READY},
}
"""Pods of every namespace by name, with their status."""

SELECTS: dict[str, Any] = {"matchLabels": {"app": "web"}}


def budget(allowed: int, current: int, desired: int, **more: Any) -> dict[str, Any]:
    """The spec and the status of a budget. observed: the generation of the status."""
    spec = {"minAvailable": 1, "selector": more.pop("selector", SELECTS), **more.pop("spec", {})}
    status = {"disruptionsAllowed": allowed, "currentHealthy": current, "desiredHealthy": desired, "expectedPods": 3}
    return {
        "spec": {name: value for name, value in spec.items() if value is not None},
        "status": {**status, "observedGeneration": 1, **more},
    }


ALWAYS, IF_HEALTHY = ({"unhealthyPodEvictionPolicy": name} for name in ("AlwaysAllow", "IfHealthyBudget"))
FAILED = [
    {
        "type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": "found no controllers",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
]  # fmt: skip
NAMESPACES: dict[str, list[dict[str, Any]]] = {
    "none": [],
    "allowed": [budget(1, 3, 2)],
    "exhausted": [budget(0, 2, 2)],
    "too-few": [budget(0, 1, 2)],
    "nothing-desired": [budget(0, 0, 0)],
    "always": [budget(0, 1, 2, spec=ALWAYS)],
    "always-exhausted": [budget(0, 2, 2, spec=ALWAYS)],
    "if-healthy": [budget(0, 1, 2, spec=IF_HEALTHY)],
    "if-healthy-enough": [budget(0, 3, 2, spec=IF_HEALTHY)],
    "not-processed": [budget(1, 3, 2, observedGeneration=0)],
    "sync-failed": [budget(0, 0, 0, conditions=FAILED)],
    "several": [budget(1, 3, 2), budget(1, 3, 2, selector={"matchExpressions": [{"key": "app", "operator": "Exists"}]})],
    "several-but-disjoint": [budget(0, 2, 2), budget(1, 3, 2, selector={"matchLabels": {"app": "other"}})],
    "empty-selector": [budget(0, 2, 2, selector={})],
    "no-selector": [budget(0, 2, 2, selector=None)],
    "not-in": [budget(0, 2, 2, selector={"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]})],
    "absent": [budget(0, 2, 2, selector={"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]})],
    "in": [budget(0, 2, 2, selector={"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "x"]}]})],
}
"""Namespaces with their budgets."""


@pytest.fixture(scope="module")
def api(lab: Lab) -> Iterator[KubernetesClient]:
    """A client with the kubeconfig of the administrator. The controller-manager stands still, so that the status of budgets stays."""
    os.kill(lab.state.pids["kube-controller-manager"], signal.SIGSTOP)
    try:
        with KubernetesClient({"kubeconfig": str(lab.kubeconfig())}, lab.cluster("1.36")) as client:
            _create_objects(client)
            yield client
            _remove_objects(client)
    finally:
        os.kill(lab.state.pids["kube-controller-manager"], signal.SIGCONT)


def _create(client: KubernetesClient, path: str, body: dict[str, Any]) -> None:
    with suppress(KubernetesError):
        client.create(path, body)
    client.get(f"{path}/{body['metadata']['name']}")


def _create_objects(client: KubernetesClient) -> None:
    _create(client, "/api/v1/nodes", {"metadata": {"name": NODE}})
    for name, budgets in NAMESPACES.items():
        namespace = f"verdict-{name}"
        _create(client, "/api/v1/namespaces", {"metadata": {"name": namespace}})
        _create(client, f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}})
        for pod, status in PODS.items():
            _create_pod(client, f"/api/v1/namespaces/{namespace}/pods", pod, status)
        for number, one in enumerate(budgets):
            path = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
            _create(client, path, {"metadata": {"name": f"budget-{number}"}, "spec": one["spec"]})
            client.patch(f"{path}/budget-{number}/status", {"status": one["status"]})


def _create_pod(client: KubernetesClient, path: str, name: str, status: dict[str, Any]) -> None:
    metadata: dict[str, Any] = {"name": name, "labels": {"app": "other" if name == "other-label" else "web"}}
    if name == "deleted":
        metadata["finalizers"] = ["example.com/keep"]
    spec = {"nodeName": NODE, "containers": [{"name": "web", "image": "web"}], "automountServiceAccountToken": False}
    _create(client, path, {"metadata": metadata, "spec": spec})
    client.patch(f"{path}/{name}/status", {"status": status})
    if name == "deleted":
        client.delete(f"{path}/{name}")


def _remove_objects(client: KubernetesClient) -> None:
    for name, pod in itertools.product(NAMESPACES, PODS):
        path = f"/api/v1/namespaces/verdict-{name}/pods/{pod}"
        client.patch(path, {"metadata": {"finalizers": None}})
        with suppress(KubernetesError):
            client.delete(path, grace_seconds=0)
    client.delete(f"/api/v1/nodes/{NODE}")
    for name in NAMESPACES:
        client.delete(f"/api/v1/namespaces/verdict-{name}")


@pytest.fixture(scope="module")
def cluster(api: KubernetesClient) -> Cluster:
    return ClusterApi(api, KubernetesError).cluster()


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_the_verdict_is_that_of_the_api_server(namespace: str, api: KubernetesClient, cluster: Cluster) -> None:
    client = ClusterApi(api, KubernetesError)
    pods = [pod for pod in cluster.pods[NODE] if pod.namespace == f"verdict-{namespace}"]
    assert sorted(pod.name for pod in pods) == sorted(PODS)
    expected = {pod.name: verdict(pod, Budgets(cluster)).status or 201 for pod in pods}
    answers = {pod.name: client.send(Request(EVICT, pod), dry_run=True).status for pod in pods}
    assert answers == expected


def test_the_table_has_every_verdict(cluster: Cluster) -> None:
    found = {verdict(pod, Budgets(cluster)).rule for pod in cluster.pods[NODE]}
    assert found == {
        "", "drain.budget_exhausted", "drain.unhealthy_pod", "drain.budget_not_processed", "drain.several_budgets", "drain.budget_invalid",
    }  # fmt: skip


def test_one_pod_of_each_budget_is_asked_about(api: KubernetesClient, cluster: Cluster) -> None:
    """The answers confirm every verdict, with fewer requests than pods."""
    scope = Scope(cluster, (NODE,), Settings())
    asked = questions(scope)
    answers = ClusterApi(api, KubernetesError).ask(asked)
    refused = [pod for pod in cluster.pods[NODE] if verdict(pod, Budgets(cluster)).rule]
    assert len(asked) < len(refused)
    assert set(answers) == set(asked) and all(answers.values())
    findings = [one.pod for one in report(scope._replace(answers=answers)).findings if one.id.startswith("drain.budget_")]
    assert set(findings) <= {pod.full_name for pod in refused} and findings


def test_the_api_server_has_the_last_word(cluster: Cluster) -> None:
    scope = Scope(cluster, (NODE,), Settings())
    answers = dict.fromkeys(questions(scope), "")
    assert not [one.id for one in report(scope._replace(answers=answers)).findings if "budget" in one.id or "unhealthy" in one.id]


def test_another_uid_is_never_evicted(api: KubernetesClient, cluster: Cluster) -> None:
    client = ClusterApi(api, KubernetesError)
    pod = next(pod for pod in cluster.pods[NODE] if pod.full_name == "verdict-none/ready")
    for kind in (EVICT, "delete"):
        assert client.send(Request(kind, pod._replace(uid="another"))).status == 409
    assert api.get("/api/v1/namespaces/verdict-none/pods/ready")["metadata"]["uid"] == pod.uid


# --- the client


def test_lists_in_pages(api: KubernetesClient, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = api.get("/api/v1/pods")["items"]
    pages = list(api.pages("/api/v1/pods", limit=7))
    assert [len(page) for page in pages[:-1]] == [7] * (len(pages) - 1) and len(pages) > 5
    assert [item for page in pages for item in page] == whole


def test_a_damaged_token_of_a_list(api: KubernetesClient) -> None:
    with pytest.raises(KubernetesError) as caught:
        api.get("/api/v1/pods", limit=5, **{"continue": "damaged"})
    assert caught.value.status == 400


def test_patches_preconditions_and_conflicts(api: KubernetesClient) -> None:
    path = f"/api/v1/nodes/{NODE}"
    assert api.patch(path, {"metadata": {"labels": {"a": "1"}}})["metadata"]["labels"]["a"] == "1"
    assert api.patch(path, [{"op": "replace", "path": "/metadata/labels/a", "value": "2"}], "json")["metadata"]["labels"]["a"] == "2"
    node = api.patch(path, {"metadata": {"labels": {"a": None}}}, "strategic")
    assert "a" not in node["metadata"].get("labels", {})
    with pytest.raises(KubernetesError) as caught:
        api.replace(path, {**node, "metadata": {**node["metadata"], "resourceVersion": "1"}})
    assert (caught.value.status, caught.value.reason) == (409, "Conflict")


def test_an_identity_without_permissions(api: KubernetesClient, lab: Lab, tmp_path: Path) -> None:
    stranger = control_plane.stranger_token(lab.state.token)
    path = tmp_path / "kubeconfig"
    path.write_text(lab.kubeconfig().read_text().replace(lab.state.token, stranger))
    with KubernetesClient({"kubeconfig": str(path)}) as client, pytest.raises(KubernetesError) as caught:
        next(client.list("/api/v1/pods"))
    assert caught.value.status == 403 and mentions(caught.value, "list pods", "stranger")
    assert stranger not in str(caught.value)
    path.write_text(lab.kubeconfig().read_text().replace(lab.state.token, "unknown-token"))
    with KubernetesClient({"kubeconfig": str(path)}) as client, pytest.raises(KubernetesError) as caught:
        next(client.list("/api/v1/pods"))
    assert caught.value.status == 401


def test_another_cluster_is_refused(lab: Lab) -> None:
    with pytest.raises(KubernetesError) as caught:
        KubernetesClient({"kubeconfig": str(lab.kubeconfig())}, {"endpoint": "https://other.example", "name": "other"})
    assert caught.value.reason == "Refused" and mentions(caught.value, "other.example", "cluster.endpoint")
