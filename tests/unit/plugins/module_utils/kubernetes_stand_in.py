# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An HTTP server that gives prepared answers and records the requests, and a kubeconfig for it."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
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


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[Server]:
    """A server on the loopback address; with a file of key and certificate over TLS."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            parts = urlsplit(self.path)
            body = json.loads(raw) if raw else None
            made.requests.append(Recorded(self.command, parts.path, dict(parse_qsl(parts.query)), dict(self.headers), body))
            code, answer, headers = made.answers.pop(0) if len(made.answers) > 1 else made.answers[0]
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
