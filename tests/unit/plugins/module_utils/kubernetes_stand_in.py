# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An HTTP server that gives prepared answers and records the requests, and a kubeconfig for it."""

from __future__ import annotations

import copy
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

SECRET = "s3cr3t-t0ken-of-the-test"


@dataclass
class Recorded:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class Server:
    """answers: (status, body, headers) in the order of the requests; the last one repeats. A body of bytes is sent as it is."""

    url: str
    answers: list[tuple[int, Any, dict[str, str]]]
    requests: list[Recorded] = field(default_factory=list)

    def answer(self, status: int, body: Any, **headers: str) -> None:
        self.answers.append((status, body, {name.replace("_", "-"): value for name, value in headers.items()}))


def status(code: int, reason: str, message: str = "", **more: Any) -> dict[str, Any]:
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message, **more}


Reply = tuple[int, Any, dict[str, str]]


@contextmanager
def serving(certificate: Path | None = None, reply: Callable[[Recorded], Reply] | None = None) -> Iterator[Server]:
    """A server on the loopback address; with a file of key and certificate over TLS. reply: answers in place of prepared ones."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            parts = urlsplit(self.path)
            body = json.loads(raw) if raw else None
            asked = Recorded(self.command, parts.path, dict(parse_qsl(parts.query)), dict(self.headers), body)
            made.requests.append(asked)
            prepared = made.answers
            code, answer, headers = reply(asked) if reply else prepared.pop(0) if len(prepared) > 1 else prepared[0]
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(code)
            for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do

        def log_message(self, *_unused: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        http.socket = context.wrap_socket(http.socket, server_side=True)
    made = Server(f"http{'s' if certificate else ''}://127.0.0.1:{http.server_port}", [])
    threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield made
    finally:
        http.shutdown()
        http.server_close()


_BUDGETS = "/apis/policy/v1/poddisruptionbudgets"
_EMPTY = ("namespaces", "endpointslices", "validatingwebhookconfigurations", "mutatingwebhookconfigurations")
"""Lists without objects."""


class Objects:
    """A cluster of objects by path of their list, for C(serving). Evictions remove pods without a budget whose UID is not in C(refuses)."""

    def __init__(self, lists: Mapping[str, list[dict[str, Any]]], version: str = "v1.36.3") -> None:
        self.lists = copy.deepcopy(dict(lists))
        self.version = version
        self.refuses: dict[str, Reply] = {}

    def reply(self, asked: Recorded) -> Reply:
        if asked.path == "/version":
            return 200, {"gitVersion": self.version}, {}
        if asked.method == "POST" and asked.path.endswith("/eviction"):
            return self._evict(asked)
        if asked.path in self.lists:
            return 200, {"items": self._selected(asked), "metadata": {}}, {}
        parent, _slash, name = asked.path.rpartition("/")
        found = next((one for one in self.lists.get(parent, []) if one["metadata"]["name"] == name), None)
        if found is None:
            return (200, {"items": [], "metadata": {}}, {}) if name in _EMPTY else (404, status(404, "NotFound"), {})
        if asked.method == "PATCH":
            found["spec"].update(asked.body["spec"])
        return 200, found, {}

    def _selected(self, asked: Recorded) -> list[dict[str, Any]]:
        node = asked.query.get("fieldSelector", "").removeprefix("spec.nodeName=")
        return [one for one in self.lists[asked.path] if not node or one["spec"].get("nodeName") == node]

    def _protects(self, budget: dict[str, Any], pod: dict[str, Any]) -> bool:
        selected = budget["spec"]["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
        return selected and budget["status"]["disruptionsAllowed"] == 0

    def _evict(self, asked: Recorded) -> Reply:
        pods, uid = self.lists["/api/v1/pods"], asked.body["deleteOptions"]["preconditions"]["uid"]
        if uid in self.refuses:
            return self.refuses[uid]
        if any(self._protects(budget, one) for budget in self.lists[_BUDGETS] for one in pods if one["metadata"]["uid"] == uid):
            return 429, status(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget."), {}
        if "dryRun" not in asked.query:
            pods[:] = [one for one in pods if one["metadata"]["uid"] != uid]
        return 201, {"kind": "Status", "status": "Success"}, {}


def kubeconfig(path: Path, server: str, user: dict[str, Any] | None = None, **cluster: Any) -> Path:
    """Write a kubeconfig with the context "test"."""
    path.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "test",
                "contexts": [{"name": "test", "context": {"cluster": "here", "user": "me"}}],
                "clusters": [{"name": "here", "cluster": {"server": server, **cluster}}],
                "users": [{"name": "me", "user": {"token": SECRET} if user is None else user}],
            }
        )
    )
    return path
