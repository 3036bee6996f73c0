# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A proxy in front of moto's server: records the requests of EC2, changes answers, and lets something happen before a request.

Unlike moto, it repeats the answer to a request whose C(ClientToken) it has seen, as EC2 does.
"""

from __future__ import annotations

import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass
class AwsProxy:
    """requests: the parameters of each request of EC2. before: is called with the action before it is forwarded.

    answers: (action, old text, new text) to replace in an answer.
    """

    target: str
    url: str = ""
    requests: list[dict[str, str]] = field(default_factory=list)
    before: Callable[[str], None] = lambda _action: None
    answers: list[tuple[str, str, str]] = field(default_factory=list)
    by_token: dict[str, tuple[int, bytes, str]] = field(default_factory=dict)

    def of(self, action: str) -> list[dict[str, str]]:
        """The requests of one action."""
        return [one for one in self.requests if one["Action"] == action]


@contextmanager
def running(target: str) -> Iterator[AwsProxy]:
    """A running proxy."""
    proxy = AwsProxy(target)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parameters = dict(urllib.parse.parse_qsl(body.decode("utf-8", "replace")))
            action = parameters.get("Action", "")
            if action:
                proxy.requests.append(parameters)
                proxy.before(action)
            token = parameters.get("ClientToken", "")
            answer = proxy.by_token.get(token) or self._forward(body, action)
            if token:
                proxy.by_token[token] = answer
            self._send(*answer)

        def do_GET(self) -> None:
            self._send(*self._forward(None, ""))

        def _forward(self, body: bytes | None, action: str) -> tuple[int, bytes, str]:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
            request = urllib.request.Request(proxy.target + self.path, body, headers, method=self.command)
            try:
                with _DIRECT.open(request) as answer:
                    status, content, kind = answer.status, answer.read(), answer.headers.get("Content-Type", "")
            except urllib.error.HTTPError as error:
                status, content, kind = error.code, error.read(), error.headers.get("Content-Type", "")
            for wanted, old, new in proxy.answers:
                if wanted == action:
                    content = content.replace(old.encode(), new.encode())
            return status, content, kind

        def _send(self, status: int, content: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
