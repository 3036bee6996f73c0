# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small client of the lab's API server, as cluster administrator."""

from __future__ import annotations

import contextlib
import http.client
import json
import ssl
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode, urlsplit

Object = dict[str, Any]
MERGE = "application/merge-patch+json"


class ApiError(RuntimeError):
    """The API server refused a request: `status` is the HTTP status, the text is from the API server."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


class Api:
    """A client that opens one connection per request."""

    def __init__(self, endpoint: str, authority: bytes | str, token: str) -> None:
        parts = urlsplit(endpoint)
        self._host, self._port = parts.hostname or "", parts.port or 443
        self._token = token
        self._context = ssl.create_default_context(cadata=authority.decode() if isinstance(authority, bytes) else authority)

    def get(self, path: str) -> Object:
        return self.call("GET", path)

    def patch(self, path: str, body: Object) -> Object:
        return self.call("PATCH", path, body, MERGE)

    def call(self, method: str, path: str, body: Object | None = None, kind: str = "application/json") -> Object:
        """Send one request and return the answer. Raises ApiError if it is refused, OSError if there is no answer."""
        connection = self._connect(60)
        try:
            answer = self._ask(connection, method, path, body, kind)
            found: Object = json.loads(answer.read())
            return found
        finally:
            connection.close()

    def ready(self) -> bool:
        """Is the API server ready?"""
        connection = self._connect(10)
        try:
            connection.request("GET", "/readyz", headers=self._headers())
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def watch(self, path: str, seconds: int = 300, *, labels: str = "", version: str = "") -> Iterator[tuple[str, Object]]:
        """Yield (ADDED | MODIFIED | DELETED, object): first all existing objects, then each change, until the server ends the watch.

        labels: a selector, such as C(app=web). version: the resourceVersion of a list; then only changes since then are reported.
        """
        connection = self._connect(seconds + 30)
        query = urlencode({"watch": "true", "timeoutSeconds": seconds, "labelSelector": labels, "resourceVersion": version})
        try:
            answer = self._ask(connection, "GET", f"{path}?{query}", None, "")
            while line := answer.readline():
                event = json.loads(line)
                if event["type"] == "ERROR":
                    return
                yield event["type"], event["object"]
        finally:
            connection.close()

    def _connect(self, timeout: float) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}

    def _ask(
        self, connection: http.client.HTTPSConnection, method: str, path: str, body: Object | None, kind: str
    ) -> http.client.HTTPResponse:
        headers = self._headers() | ({"Content-Type": kind} if body is not None else {})
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        if answer.status >= 300:
            text = answer.read().decode(errors="replace")
            with contextlib.suppress(ValueError, AttributeError):
                text = json.loads(text).get("message", text)
            raise ApiError(answer.status, text)
        return answer
