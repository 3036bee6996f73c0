# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls the Kubernetes API: plain JSON, lists in pages, and errors that say what to do. Runs on the controller.

    with KubernetesClient(options, cluster) as api:
        node = api.get("/api/v1/nodes/NAME")
        for pod in api.list("/api/v1/pods", fieldSelector="spec.nodeName=NAME"):
            ...
        api.patch("/api/v1/nodes/NAME", {"spec": {"unschedulable": True}})

C(options) has the values of C(OPTIONS) and may have those of C(_aws.client.OPTIONS). C(cluster) is the input of the collection.
"""

from __future__ import annotations

import json
import time
import traceback
from functools import partial
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional
from urllib.parse import urlencode, urlsplit

from ansible.module_utils.basic import missing_required_lib

from .._aws import client as aws
from . import credentials
from .credentials import Credentials
from .errors import KubernetesError, refused

URLLIB3_ERROR = ""
try:
    import urllib3
    from urllib3 import exceptions
except ImportError:
    URLLIB3_ERROR = traceback.format_exc()

__all__ = ("OPTIONS", "KubernetesClient", "KubernetesError", "run_action")

OPTIONS: Dict[str, Any] = {"kubeconfig": {"type": "path"}, "context": {"type": "str"}}
"""The options for Kubernetes, as Ansible checks them. Without a kubeconfig, the options of C(_aws.client) find credentials of AWS."""

PAGE = 500
"""Items of one page of a list."""

CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0
RETRY_SECONDS = (0.5, 1.0, 2.0, 4.0)
"""The waits before a read is repeated."""

_LONGEST_WAIT = 30.0
"""Seconds that a wait lasts if the API server asks for a longer one."""

_PATCHES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}
_BUSY = (429, 500, 502, 503, 504)
"""Statuses after which a read is repeated."""


def run_action(action: Any, work: Callable[[], Dict[str, Any]]) -> Dict[str, Any]:
    """The result of C(work) with the environment of the task, in which credentials are found. A known error fails the task."""

    def explained() -> Dict[str, Any]:
        try:
            return work()
        except KubernetesError as error:
            return {"failed": True, "msg": f"{action._task.action.rpartition('.')[2]}: {error}", "reason": error.reason}

    return aws.run_action(action, explained)


class KubernetesClient:
    """A connection to one API server. Nothing is sent before the first request. Every method raises C(KubernetesError)."""

    def __init__(
        self,
        options: Mapping[str, Any],
        cluster: Optional[Mapping[str, Any]] = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        load: Callable[..., Credentials] = credentials.load,
    ) -> None:
        if URLLIB3_ERROR:
            raise KubernetesError(missing_required_lib("urllib3"), reason="Credentials")
        self._load: Callable[[], Credentials] = partial(load, options, cluster)
        self._sleep = sleep
        self._credentials = self._load()
        self._pool = self._new_pool()

    def __enter__(self) -> KubernetesClient:
        return self

    def __exit__(self, *_unused: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()

    @property
    def source(self) -> str:
        """Where the credentials come from, for messages. Never a secret."""
        return self._credentials.source

    # --- requests -------------------------------------------------------------------------------------------------------------------

    def get(self, path: str, **query: Any) -> Dict[str, Any]:
        """One object."""
        return self._request("GET", path, query)

    def list(self, path: str, **query: Any) -> Iterator[Dict[str, Any]]:
        """Every item of a list, read in pages of 500. The items have no C(kind) and C(apiVersion) of their own."""
        for page in self.pages(path, **query):
            yield from page

    def pages(self, path: str, **query: Any) -> Iterator[List[Dict[str, Any]]]:
        """The pages of a list. If the list expires between two pages, the rest is read as it is now, and no item is repeated."""
        token = last = ""
        has_expired = False
        while True:
            try:
                answer = self._request("GET", path, {"limit": PAGE, **query, **({"continue": token} if token else {})})
            except KubernetesError as error:
                if error.status != 410 or not token:
                    raise
                # The API server offers a token to continue with newer data. Without one, the list starts again.
                offered = str(error.details.get("continue") or "")
                has_expired, token = True, offered if offered != token else ""
                continue
            items = answer.get("items") or []
            if has_expired:
                # Lists are sorted by namespace and name.
                items = [item for item in items if _key(item) > last]
            last = _key(items[-1]) if items else last
            yield items
            token = (answer.get("metadata") or {}).get("continue") or ""
            if not token:
                return

    def create(self, path: str, body: Mapping[str, Any], **query: Any) -> Dict[str, Any]:
        """Create an object, or post to a subresource such as C(pods/NAME/eviction)."""
        return self._request("POST", path, query, body)

    post = create

    def replace(self, path: str, body: Mapping[str, Any], **query: Any) -> Dict[str, Any]:
        """Replace an object. With C(metadata.resourceVersion) in the body, a change by others fails with status 409."""
        return self._request("PUT", path, query, body)

    def patch(self, path: str, body: Any, kind: str = "merge", **query: Any) -> Dict[str, Any]:
        """Change an object. kind: C(merge), C(json) or C(strategic)."""
        return self._request("PATCH", path, query, body, _PATCHES[kind])

    def delete(
        self, path: str, *, uid: str = "", resource_version: str = "", grace_seconds: Optional[int] = None, **query: Any
    ) -> Dict[str, Any]:
        """Delete an object. uid, resource_version: preconditions; another object of the same name fails with status 409."""
        conditions = {name: value for name, value in (("uid", uid), ("resourceVersion", resource_version)) if value}
        body: Dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if conditions:
            body["preconditions"] = conditions
        if grace_seconds is not None:
            body["gracePeriodSeconds"] = grace_seconds
        return self._request("DELETE", path, query, body)

    # --- transport ------------------------------------------------------------------------------------------------------------------

    def _request(
        self, method: str, path: str, query: Mapping[str, Any], body: Any = None, kind: str = "application/json"
    ) -> Dict[str, Any]:
        waits = list(RETRY_SECONDS)
        has_renewed = False
        while True:
            self._renew_expired()
            try:
                return self._send(method, path, query, body, kind)
            except KubernetesError as error:
                if error.status == 401 and not has_renewed:
                    has_renewed = True
                    self._renew()
                elif waits and _is_repeatable(method, error):
                    self._sleep(min(max(waits.pop(0), error.retry_after or 0.0), _LONGEST_WAIT))
                else:
                    raise

    def _send(self, method: str, path: str, query: Mapping[str, Any], body: Any, kind: str) -> Dict[str, Any]:
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "nodebootstrap.eks", **self._credentials.headers}
        if body is not None:
            headers["Content-Type"] = kind
        url = self._credentials.server + path + (f"?{urlencode(_plain(query))}" if query else "")
        timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
        data = None if body is None else json.dumps(body).encode()
        try:
            answer = self._pool.request(method, url, body=data, headers=headers, timeout=timeout, retries=False, redirect=False)
        except exceptions.HTTPError as error:
            raise self._no_answer(error) from None
        if answer.status >= 300:
            raise refused(method, path, answer.status, self._without_secrets(answer.data), answer.headers, self.source)
        try:
            found = json.loads(answer.data) if answer.data else {}
        except ValueError:
            found = None
        if not isinstance(found, dict):
            address = _shown(self._credentials.server)
            raise KubernetesError(
                f"what answers at {address} is not a Kubernetes API; fix: check the server in {self.source}", reason="Refused"
            )
        return found

    def _new_pool(self) -> Any:
        found = self._credentials
        arguments: Dict[str, Any] = {"maxsize": 1, "block": False}
        if found.context is not None:
            arguments.update(ssl_context=found.context, **({"server_hostname": found.server_name} if found.server_name else {}))
        if found.server_name and found.context is not None and found.context.check_hostname:
            arguments["assert_hostname"] = found.server_name
        if not found.proxy:
            return urllib3.PoolManager(**arguments)
        try:
            return urllib3.ProxyManager(found.proxy, **arguments)
        except (exceptions.HTTPError, ValueError):
            raise KubernetesError(
                f"the proxy for {_shown(found.server)} is not an HTTP proxy; fix: check proxy-url or HTTPS_PROXY"
            ) from None

    def _renew_expired(self) -> None:
        if self._credentials.expires is not None and time.time() >= self._credentials.expires:
            self._renew()

    def _renew(self) -> None:
        """Load the credentials again: tokens of EKS are valid for 15 minutes, an upgrade takes longer."""
        self.close()
        self._credentials = self._load()
        self._pool = self._new_pool()

    def _without_secrets(self, body: bytes) -> bytes:
        """An answer that does not repeat the credentials, whatever a proxy answers."""
        for value in self._credentials.headers.values():
            body = body.replace(value.rpartition(" ")[2].encode(), b"...")
        return body

    def _no_answer(self, error: Any) -> KubernetesError:
        address, text = _shown(self._credentials.server), str(error)
        if isinstance(error, exceptions.ProxyError):
            return KubernetesError(f"the proxy does not connect to {address}; fix: check HTTPS_PROXY and NO_PROXY", reason="Unreachable")
        if isinstance(error, exceptions.SSLError):
            cause = text.partition("certificate verify failed: ")[2].rstrip(")").split(" (_ssl")[0] or "the connection is not TLS"
            return KubernetesError(
                f"the identity of the API server at {address} cannot be verified ({cause}); fix: check the certificate authority in "
                f"{self.source}, and whether a proxy inspects TLS",
                reason="TLS",
            )
        if isinstance(error, getattr(exceptions, "NameResolutionError", ())):
            cause = "its name is unknown"
        elif isinstance(error, exceptions.NewConnectionError):
            cause = "no connection"
        else:
            is_late = isinstance(error, (exceptions.ConnectTimeoutError, exceptions.ReadTimeoutError))
            cause = "no answer in time" if is_late else "the connection ended"
        found = KubernetesError(
            f"the API server at {address} does not answer ({cause}); fix: check the network, the VPN, the proxy, and whether the endpoint "
            "of the cluster allows your address",
            reason="Unreachable",
        )
        found.was_sent = not isinstance(error, (exceptions.NewConnectionError, exceptions.ConnectTimeoutError))
        return found


def _is_repeatable(method: str, error: KubernetesError) -> bool:
    """Whether a request can be sent again: reads after a failure of the server, others only if they were not sent at all."""
    if error.reason == "Unreachable":
        return method == "GET" or not error.was_sent
    return method == "GET" and error.status in _BUSY


def _key(item: Mapping[str, Any]) -> str:
    """What the API server sorts lists by."""
    metadata = item.get("metadata") or {}
    return "/".join(filter(None, (metadata.get("namespace"), metadata.get("name"))))


def _plain(query: Mapping[str, Any]) -> Dict[str, str]:
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in query.items() if value is not None}


def _shown(server: str) -> str:
    parts = urlsplit(server)
    return parts.netloc.rpartition("@")[2]
