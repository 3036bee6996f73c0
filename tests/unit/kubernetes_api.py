# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small Kubernetes API for tests of whole playbooks: objects by path, resource versions, merge patches, evictions and access reviews.

It replaces the API server where a test needs no controller. The lab has a real one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

Object = dict[str, Any]

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class KubernetesApi:
    """The objects by path. forbidden: C("VERB RESOURCE") without permission. refuse: gives the answer to an eviction of a pod, or None."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.requests: list[tuple[str, str, Any]] = []
        self.forbidden: set[str] = set()
        self.refuse: Callable[[Object], tuple[int, str] | None] = lambda pod: None
        self.fail_next = 0
        self.url = ""
        self.version = "v1.36.0"
        self.lock = threading.RLock()
        self._version = 1

    # --- for tests -------------------------------------------------------------------------------------------------------------------

    def put(self, path: str, found: Object) -> Object:
        """Create or replace an object."""
        with self.lock:
            self._version += 1
            found.setdefault("metadata", {}).update(name=path.rpartition("/")[2], resourceVersion=str(self._version))
            found["metadata"].setdefault("uid", f"uid-{self._version}")
            self.objects[path] = found
            return found

    def node(
        self, name: str, instance: str = "", version: str = "v1.35.1", *, is_ready: bool = True, zone: str = "us-west-2a", **metadata: Any
    ) -> Object:
        """Create a node."""
        status = {"nodeInfo": {"kubeletVersion": version}, "conditions": [{"type": "Ready", "status": "True" if is_ready else "False"}]}
        status["allocatable"] = {"cpu": "4", "memory": "8Gi", "pods": "50"}  # type: ignore[assignment]
        spec = {"providerID": f"aws:///{zone}/{instance}"} if instance else {}
        return self.put(
            f"/api/v1/nodes/{name}", {"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z", **metadata}, "spec": spec, "status": status}
        )

    def pod(self, name: str, node: str, **spec: Any) -> Object:
        """Create a pod of a ReplicaSet."""
        owner = {"kind": "ReplicaSet", "name": "web", "uid": "rs-1", "controller": True, "apiVersion": "apps/v1"}
        metadata = {"namespace": "default", "labels": {"app": "web"}, "ownerReferences": [owner]}
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        found = {
            "metadata": metadata,
            "spec": {"nodeName": node, "containers": [{"name": "web"}], "terminationGracePeriodSeconds": 5, **spec},
            "status": status,
        }
        return self.put(f"/api/v1/namespaces/default/pods/{name}", found)

    def nodes(self) -> dict[str, Object]:
        """The nodes by name."""
        with self.lock:
            return {path.rpartition("/")[2]: found for path, found in self.objects.items() if path.startswith("/api/v1/nodes/")}

    def changes(self) -> list[str]:
        """The requests that change something, without leases and reviews."""
        return [
            f"{method} {path}" for method, path, _body in self.requests if method != "GET" and "/leases" not in path and path != REVIEWS
        ]

    def kubeconfig(self, path: Path) -> Path:
        """Write a kubeconfig."""
        user, cluster = {"name": "me", "user": {"token": "t0ken"}}, {"name": "here", "cluster": {"server": self.url}}
        context = {"name": "test", "context": {"cluster": "here", "user": "me"}}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "contexts": [context],
            "clusters": [cluster],
            "users": [user],
        }
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    # --- requests --------------------------------------------------------------------------------------------------------------------

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Object]:
        """Answer one request."""
        with self.lock:
            if "dryRun" not in query:
                self.requests.append((method, path, body))
            if self.fail_next:
                self.fail_next -= 1
                return _status(503, "the server is busy")
            if path == "/version":
                return 200, {"gitVersion": self.version}
            if path == REVIEWS:
                return 201, {"status": {"allowed": self._may(body["spec"]["resourceAttributes"])}}
            if path.endswith("/eviction"):
                return self._evict(path.removesuffix("/eviction"), "dryRun" in query)
            handler = {"GET": self._get, "POST": self._post, "PUT": self._put, "PATCH": self._patch, "DELETE": self._delete}[method]
            return handler(path, query, body)

    def _may(self, attributes: Object) -> bool:
        resource = "/".join(filter(None, (attributes["resource"], attributes.get("subresource"))))
        return f"{attributes['verb']} {resource}" not in self.forbidden

    def _get(self, path: str, query: dict[str, str], _body: Any) -> tuple[int, Object]:
        if path in self.objects:
            return 200, self.objects[path]
        kind = path.rpartition("/")[2]
        items = [
            found
            for name, found in sorted(self.objects.items())
            if name.split("/")[-2] == kind and name.startswith(path.rpartition("/")[0])
        ]
        if not kind.endswith("s") or (not items and path.count("/") > 4 and "namespaces" in path):
            return _status(404, "not found")
        node = query.get("fieldSelector", "").partition("spec.nodeName=")[2]
        items = [found for found in items if not node or found["spec"].get("nodeName") == node]
        return 200, {"metadata": {}, "items": items}

    def _post(self, path: str, _query: dict[str, str], body: Any) -> tuple[int, Object]:
        name = f"{path}/{body['metadata']['name']}"
        return _status(409, "exists") if name in self.objects else (201, self.put(name, body))

    def _put(self, path: str, _query: dict[str, str], body: Any) -> tuple[int, Object]:
        old = self.objects.get(path)
        if old is None:
            return _status(404, "not found")
        wanted = body["metadata"].get("resourceVersion")
        return _status(409, "changed") if wanted and wanted != old["metadata"]["resourceVersion"] else (200, self.put(path, body))

    def _patch(self, path: str, _query: dict[str, str], body: Any) -> tuple[int, Object]:
        old = self.objects.get(path)
        if old is None:
            return _status(404, "not found")
        wanted = (body.get("metadata") or {}).get("resourceVersion")
        if wanted and wanted != old["metadata"]["resourceVersion"]:
            return _status(409, "changed")
        return 200, self.put(path, _merged(old, body))

    def _delete(self, path: str, _query: dict[str, str], body: Any) -> tuple[int, Object]:
        old = self.objects.get(path)
        if old is None:
            return _status(404, "not found")
        wanted = ((body or {}).get("preconditions") or {}).get("resourceVersion")
        if wanted and wanted != old["metadata"]["resourceVersion"]:
            return _status(409, "changed")
        return 200, self.objects.pop(path)

    def _evict(self, path: str, is_dry_run: bool) -> tuple[int, Object]:
        pod = self.objects.get(path)
        if pod is None:
            return _status(404, "not found")
        refused = self.refuse(pod)
        if refused is not None:
            return _status(*refused)
        if not is_dry_run:
            del self.objects[path]
        return 201, {"kind": "Status", "status": "Success"}


def _merged(old: Any, patch: Any) -> Any:
    if not isinstance(patch, dict) or not isinstance(old, dict):
        return patch
    merged = {**old, **{key: _merged(old.get(key, {} if isinstance(value, dict) else None), value) for key, value in patch.items()}}
    return {key: value for key, value in merged.items() if value is not None}


def _status(code: int, message: str) -> tuple[int, Object]:
    return code, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message}


@contextmanager
def serving() -> Iterator[KubernetesApi]:
    """An API on the loopback address."""
    api = KubernetesApi()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = urlsplit(self.path)
            code, found = api.answer(self.command, parts.path, dict(parse_qsl(parts.query)), json.loads(raw) if raw else None)
            data = json.dumps(found).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do

        def log_message(self, *_unused: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
