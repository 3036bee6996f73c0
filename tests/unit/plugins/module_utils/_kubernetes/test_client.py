# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client of the Kubernetes API against an HTTP server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes.client import RETRY_SECONDS, KubernetesClient
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes.errors import KubernetesError, target_of
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.api_stand_in import Authority
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.kubernetes_stand_in import (
    SECRET,
    Server,
    kubeconfig,
    serving,
    status,
)

PODS = "/api/v1/pods"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as made:
        yield made


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def api(server: Server, tmp_path: Path, waits: list[float]) -> Iterator[KubernetesClient]:
    with KubernetesClient({"kubeconfig": str(kubeconfig(tmp_path / "config", server.url))}, sleep=waits.append) as made:
        yield made


def pod(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "web", "uid": f"uid-{name}"}}


def page(*names: str, token: str = "") -> dict[str, Any]:
    return {"items": [pod(name) for name in names], "metadata": {"continue": token}}


def names(items: Iterator[dict[str, Any]]) -> list[str]:
    return [item["metadata"]["name"] for item in items]


def failure(call: Any, *arguments: Any, **options: Any) -> KubernetesError:
    with pytest.raises(KubernetesError) as caught:
        call(*arguments, **options)
    assert SECRET not in str(caught.value)
    return caught.value


def test_a_read_sends_the_token_and_the_query(api: KubernetesClient, server: Server) -> None:
    server.answer(200, pod("a"))
    assert api.get("/api/v1/namespaces/web/pods/a", pretty=False, none=None)["metadata"]["name"] == "a"
    asked = server.requests[0]
    assert (asked.method, asked.path, asked.query) == ("GET", "/api/v1/namespaces/web/pods/a", {"pretty": "false"})
    assert asked.headers["Authorization"] == f"Bearer {SECRET}"


def test_a_list_reads_all_pages(api: KubernetesClient, server: Server) -> None:
    server.answer(200, page("a", "b", token="next"))
    server.answer(200, page("c"))
    assert names(api.list(PODS, labelSelector="app=web")) == ["a", "b", "c"]
    assert [one.query for one in server.requests] == [
        {"limit": "500", "labelSelector": "app=web"},
        {"limit": "500", "labelSelector": "app=web", "continue": "next"},
    ]


@pytest.mark.parametrize("offered", ["newer", ""])
def test_an_expired_list_is_continued_without_repeated_items(api: KubernetesClient, server: Server, offered: str) -> None:
    server.answer(200, page("a", "b", token="old"))
    server.answer(410, status(410, "Expired", metadata={"continue": offered}))
    server.answer(200, page("b", "c"))
    assert names(api.list(PODS)) == ["a", "b", "c"]
    assert server.requests[2].query.get("continue", "") == offered


def test_a_list_that_expires_at_once_fails(api: KubernetesClient, server: Server) -> None:
    server.answer(410, status(410, "Expired"))
    assert failure(list, api.list(PODS)).status == 410


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_reads_are_repeated(api: KubernetesClient, server: Server, waits: list[float], code: int) -> None:
    server.answer(code, status(code, "Busy"), Retry_After="3")
    server.answer(code, b"<html>bad gateway</html>")
    server.answer(200, pod("a"))
    assert api.get(f"{PODS}/a") == pod("a")
    assert waits == [3.0, RETRY_SECONDS[1]]


def test_repeats_end(api: KubernetesClient, server: Server, waits: list[float]) -> None:
    server.answer(503, status(503, "ServiceUnavailable", "etcd is away"))
    error = failure(api.get, PODS)
    assert (error.status, len(server.requests), waits) == (503, 1 + len(RETRY_SECONDS), list(RETRY_SECONDS))


def test_changes_are_sent_once(api: KubernetesClient, server: Server, waits: list[float]) -> None:
    causes = [{"reason": "DisruptionBudget", "message": "needs 2"}]
    server.answer(429, status(429, "TooManyRequests", "Cannot evict", details={"causes": causes}), Retry_After="10")
    error = failure(api.post, "/api/v1/namespaces/web/pods/a/eviction", {"kind": "Eviction"})
    assert (error.status, error.retry_after, error.causes, len(server.requests), waits) == (429, 10.0, causes, 1, [])


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("merge", "application/merge-patch+json"),
        ("json", "application/json-patch+json"),
        ("strategic", "application/strategic-merge-patch+json"),
    ],
)
def test_patches(api: KubernetesClient, server: Server, kind: str, content: str) -> None:
    server.answer(200, {"kind": "Node"})
    api.patch("/api/v1/nodes/a", {"spec": {"unschedulable": True}}, kind)
    asked = server.requests[0]
    assert (asked.method, asked.headers["Content-Type"], asked.body) == ("PATCH", content, {"spec": {"unschedulable": True}})


def test_create_replace_and_delete(api: KubernetesClient, server: Server) -> None:
    server.answer(200, {})
    api.create("/api/v1/namespaces/web/pods", pod("a"), dryRun="All")
    api.replace("/api/v1/namespaces/web/pods/a", pod("a"))
    api.delete("/api/v1/namespaces/web/pods/a", uid="uid-a", resource_version="7", grace_seconds=0)
    assert [(one.method, one.query) for one in server.requests] == [("POST", {"dryRun": "All"}), ("PUT", {}), ("DELETE", {})]
    assert server.requests[2].body == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "uid-a", "resourceVersion": "7"},
    }


@pytest.mark.parametrize(
    ("method", "path", "words"),
    [
        ("get", PODS, ["list pods"]),
        ("get", f"{PODS}/a", ["get pods"]),
        ("create", "/api/v1/namespaces/web/pods/a/eviction", ["create pods/eviction", "namespace web"]),
        ("patch", "/api/v1/nodes/a", ["patch nodes"]),
        ("replace", "/apis/policy/v1/namespaces/web/poddisruptionbudgets/a", ["update poddisruptionbudgets.policy", "namespace web"]),
        ("delete", "/api/v1/namespaces/web", ["delete namespaces"]),
    ],
)
def test_a_missing_permission_names_the_verb_and_the_resource(
    api: KubernetesClient, server: Server, method: str, path: str, words: list[str]
) -> None:
    server.answer(403, status(403, "Forbidden", "RBAC: denied"))
    error = failure(getattr(api, method), path, *([{}] if method in ("create", "patch", "replace") else []))
    assert (error.status, error.reason) == (403, "Forbidden")
    assert mentions(str(error), *words, "RBAC: denied", "context test")


def test_401_loads_the_credentials_again_once(api: KubernetesClient, server: Server, tmp_path: Path) -> None:
    server.answer(401, status(401, "Unauthorized"))
    server.answer(200, pod("a"))
    kubeconfig(tmp_path / "config", server.url, {"token": "new"})
    assert api.create(PODS, pod("a")) == pod("a")
    assert [one.headers["Authorization"] for one in server.requests] == [f"Bearer {SECRET}", "Bearer new"]


def test_401_after_new_credentials_fails(api: KubernetesClient, server: Server) -> None:
    server.answer(401, status(401, "Unauthorized"))
    error = failure(api.get, PODS)
    assert (error.status, len(server.requests)) == (401, 2)


def test_not_found(api: KubernetesClient, server: Server) -> None:
    server.answer(404, status(404, "NotFound", 'pods "a" not found'))
    error = failure(api.get, "/api/v1/namespaces/web/pods/a")
    assert (error.status, error.reason) == (404, "NotFound")
    assert mentions(str(error), "pods a", "namespace web")


def test_an_answer_never_repeats_the_token(api: KubernetesClient, server: Server) -> None:
    server.answer(500, f"you sent Bearer {SECRET}".encode())
    assert failure(api.create, PODS, {}).status == 500


@pytest.mark.parametrize("body", [b"<html>hello</html>", b"[1]", b"\xff"])
def test_another_server_is_recognized(api: KubernetesClient, server: Server, body: bytes) -> None:
    server.answer(200, body)
    assert failure(api.get, PODS).reason == "Refused"


def test_a_redirect_is_not_followed(api: KubernetesClient, server: Server) -> None:
    server.answer(302, b"", Location="http://127.0.0.1:1/")
    assert failure(api.get, PODS).status == 302


def test_a_server_that_is_away(tmp_path: Path, waits: list[float]) -> None:
    with serving() as gone:
        pass
    api = KubernetesClient({"kubeconfig": str(kubeconfig(tmp_path / "config", gone.url))}, sleep=waits.append)
    error = failure(api.create, PODS, {})
    assert (error.reason, error.status, error.was_sent, waits) == ("Unreachable", 0, False, list(RETRY_SECONDS))


def test_tls_with_the_authority_of_the_kubeconfig(tmp_path: Path) -> None:
    authority, other = Authority(tmp_path / "pki"), Authority(tmp_path / "other", "other")
    with serving(authority.sign("server", ("127.0.0.1",))) as server:
        server.answer(200, pod("a"))
        good = kubeconfig(tmp_path / "good", server.url, **{"certificate-authority": str(authority.path)})
        assert KubernetesClient({"kubeconfig": str(good)}).get(PODS) == pod("a")
        bad = kubeconfig(tmp_path / "bad", server.url, **{"certificate-authority": str(other.path)})
        assert failure(KubernetesClient({"kubeconfig": str(bad)}).get, PODS).reason == "TLS"
        skipped = kubeconfig(tmp_path / "skipped", server.url, **{"insecure-skip-tls-verify": True})
        assert KubernetesClient({"kubeconfig": str(skipped)}).get(PODS) == pod("a")


def test_a_tunnel_is_the_same_api_if_tls_checks_the_name(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "pki")
    cluster = {"endpoint": "https://abc.eks.example", "name": "web"}
    with serving(authority.sign("server", ("abc.eks.example",))) as server:
        server.answer(200, pod("a"))
        more = {"certificate-authority": str(authority.path), "tls-server-name": "abc.eks.example"}
        tunnel = kubeconfig(tmp_path / "tunnel", server.url, **more)
        assert KubernetesClient({"kubeconfig": str(tunnel)}, cluster).get(PODS) == pod("a")
        more["tls-server-name"] = "other.eks.example"
        other = kubeconfig(tmp_path / "other", server.url, **more)
        assert failure(KubernetesClient, {"kubeconfig": str(other)}, cluster).reason == "Refused"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/v1/nodes", ("nodes", "", "", "")),
        ("/api/v1/nodes/a", ("nodes", "", "", "a")),
        ("/api/v1/namespaces", ("namespaces", "", "", "")),
        ("/api/v1/namespaces/web", ("namespaces", "", "", "web")),
        ("/api/v1/namespaces/web/pods", ("pods", "", "web", "")),
        ("/api/v1/namespaces/web/pods/a/eviction", ("pods/eviction", "", "web", "a")),
        ("/apis/apps/v1/namespaces/web/deployments/a", ("deployments", "apps", "web", "a")),
        ("/version", ("/version", "", "", "")),
    ],
)
def test_targets(path: str, expected: tuple[str, str, str, str]) -> None:
    assert target_of(path) == expected
