# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client of the instance metadata service of EC2, version 2 only. Standard library, Python 3.7 and newer.

Each client asks for one token by PUT and sends it with every GET. The endpoint is an address, so no name service and no proxy is needed.
Every wait is limited, and one deadline limits all of them together.
"""

from __future__ import annotations

import ipaddress
import math
import re
import time
from typing import Any, Dict, Mapping, Tuple
from urllib.parse import urlsplit

from . import http_client, instance_identity
from .instance_identity import InvalidAnswer, shown

IPV4 = "http://169.254.169.254"
IPV6 = "http://[fd00:ec2::254]"

MAX_TIMEOUT = 60
MAX_RETRIES = 10
FIRST_PAUSE = 0.1
MAX_ANSWER_BYTES = 64 * 1024

_TOKEN_PATH = "/latest/api/token"
_TRANSIENT = frozenset({429, 500, 502, 503, 504})


class ImdsError(Exception):
    """A request failed. The text is the whole message, with what to do about it."""


def parse_endpoint(endpoint: str) -> Tuple[str, int]:
    """Host and port of C(http://ADDRESS[:PORT]). Raises ImdsError."""
    text = shown(endpoint)
    try:
        parts = urlsplit(endpoint)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ImdsError(f"endpoint {text} is not a URL: {error}") from None
    rest = (parts.path.strip("/"), parts.query, parts.fragment, parts.username, parts.password)
    if parts.scheme != "http" or any(rest) or port == 0 or re.search(r"[^!-~]", endpoint):
        raise ImdsError(f"endpoint {text} is not of the form http://ADDRESS or http://ADDRESS:PORT, for example {IPV4} or {IPV6}")
    try:
        ipaddress.ip_address(host)
    except ValueError:
        raise ImdsError(
            f"endpoint {text}: the host must be an IP address, because at boot a name may not resolve yet: use {IPV4} or {IPV6}"
        ) from None
    return host, port or 80


class Client:
    """Sends requests to one endpoint. C(timeout): seconds for one request. C(retries): how often a request is repeated.

    All requests end within C(timeout * (retries + 2)) seconds after the first one. Raises ImdsError, also for wrong options.
    """

    def __init__(self, endpoint: str = IPV4, timeout: float = 2.0, retries: int = 3) -> None:
        self.endpoint = endpoint.rstrip("/")
        self._host, self._port = parse_endpoint(endpoint)
        if not (math.isfinite(timeout) and 0 < timeout <= MAX_TIMEOUT):
            raise ImdsError(f"timeout {timeout} is out of range: more than 0 and at most {MAX_TIMEOUT} seconds")
        if not 0 <= retries <= MAX_RETRIES:
            raise ImdsError(f"retries {shown(retries)} is out of range: 0 to {MAX_RETRIES}")
        self._timeout = timeout
        self._retries = retries
        self.seconds = timeout * (retries + 2)
        self._deadline: float | None = None
        self._token: str | None = None

    def get(self, path: str, missing_ok: bool = False) -> str | None:
        """The text of a path below C(/latest/). None when it does not exist and C(missing_ok)."""
        if self._token is None:
            self._token = self._new_token()
        full = f"/latest/{path}"
        status, body = self._ask("GET", full, {"X-aws-ec2-metadata-token": self._token})
        if status == 404 and missing_ok:
            return None
        if status != 200:
            raise ImdsError(self._refused(full, status))
        try:
            return body.decode("utf-8").strip()
        except UnicodeDecodeError:
            raise _malformed(self.endpoint, InvalidAnswer(instance_identity.describe(path, body[:40], "text"))) from None

    def _new_token(self) -> str:
        # The token lives longer than the deadline, so it cannot expire between two requests of one call.
        lifetime = str(min(21600, max(60, math.ceil(self.seconds) + 60)))
        status, body = self._ask("PUT", _TOKEN_PATH, {"X-aws-ec2-metadata-token-ttl-seconds": lifetime})
        if status == 403:
            raise ImdsError(
                f"the instance metadata service at {self.endpoint} denied a token (403 Forbidden): it is disabled for this instance, "
                "or a local firewall or proxy blocks it. Enable it: "
                "aws ec2 modify-instance-metadata-options --instance-id ID --http-endpoint enabled"
            )
        if status != 200:
            raise ImdsError(
                f"{self.endpoint} did not return a token (status {status} for PUT {_TOKEN_PATH}): it is not version 2 of the instance "
                "metadata service. Check the option endpoint. Version 1 is not supported"
            )
        # A token has neither spaces nor line breaks; an HTML page has both. The token is secret, so it is not shown.
        if not re.fullmatch(rb"[!-~]{1,2048}", body.strip()) or body.lstrip().startswith(b"<"):
            raise ImdsError(
                f"{self.endpoint} answered PUT {_TOKEN_PATH} with a text that is not a token: another program answers at this address, "
                "for example a proxy or a captive portal. Check the option endpoint and local redirections"
            )
        return body.strip().decode("ascii")

    def _ask(self, method: str, path: str, headers: Mapping[str, str]) -> Tuple[int, bytes]:
        """Status and body, after retries where they can help."""
        if self._deadline is None:
            self._deadline = time.monotonic() + self.seconds
        problem = None
        for attempt in range(self._retries + 1):
            remaining = self._deadline - time.monotonic()
            if attempt:
                time.sleep(max(0, min(FIRST_PAUSE * 2 ** (attempt - 1), remaining)))
                remaining = self._deadline - time.monotonic()
            if remaining <= 0:
                break
            try:
                answer = self._send(http_client.Request(path, method, headers), min(self._timeout, remaining))
            except http_client.Failure as failure:
                if failure.kind == "silent" and failure.connected and remaining < self._timeout:
                    break  # the deadline cut this attempt short; an earlier one says more
                problem = self._explain(failure, method, path)
                continue
            if answer.status not in _TRANSIENT:
                return answer.status, answer.body
            problem = (
                f"{self.endpoint} answered {method} {path} with status {answer.status} {attempt + 1} times: it is busy or not ready, "
                "try later"
            )
        raise ImdsError(
            problem
            or f"the requests to {self.endpoint} took longer than {self.seconds:g} s together; the next one was {method} {path}. "
            "Raise the option timeout or retries"
        )

    def _send(self, request: http_client.Request, timeout: float) -> http_client.Answer:
        """Send one request over a new connection. Raises http_client.Failure if another attempt can help."""
        try:
            return http_client.send(http_client.Target(self._host, self._port), request, None, time.monotonic() + timeout, MAX_ANSWER_BYTES)
        except http_client.Failure as failure:
            if failure.facts.get("is_too_long"):
                raise ImdsError(
                    f"{self.endpoint} answered {request.method} {request.path} with more than {MAX_ANSWER_BYTES} bytes: check the option "
                    "endpoint"
                ) from None
            if failure.kind == "no_http":
                raise ImdsError(f"the program at {self.endpoint} does not use HTTP: check the option endpoint") from None
            raise

    def _explain(self, failure: http_client.Failure, method: str, path: str) -> str:
        if not failure.connected:
            return (
                f"the instance metadata service at {self.endpoint} cannot be reached ({failure.said}). Check that the host is an EC2 "
                f"instance, that its instance metadata service is enabled, that no firewall, route or network policy blocks {self._host}, "
                "and, in a container, that the container network can reach it"
            )
        if failure.kind == "silent" and method == "PUT":
            return (
                f"{self.endpoint} accepted the request for a token, but the answer did not arrive within {self._timeout:g} s. A hop limit "
                "of 1 looks like this inside a container: raise it to 2 (aws ec2 modify-instance-metadata-options --instance-id ID "
                "--http-put-response-hop-limit 2), or use the network of the host"
            )
        if failure.kind == "silent":
            return f"{self.endpoint} did not answer {method} {path} within {self._timeout:g} s: raise the option timeout, or try later"
        return f"{self.endpoint} closed the connection while it answered {method} {path} ({failure.said}): try later"

    def _refused(self, path: str, status: int) -> str:
        if status == 401:
            return (
                f"{self.endpoint} refused its own token for GET {path} (401 Unauthorized): the token expired, or another service issued "
                "it, for example behind a proxy. Check the option endpoint and local redirections"
            )
        if status == 403:
            return (
                f"{self.endpoint} denied GET {path} (403 Forbidden): instance metadata is disabled for this instance, or a local "
                "firewall or proxy blocks the path"
            )
        if status == 404:
            return f"{self.endpoint} does not have {path} (404 Not Found): check the option endpoint. Every EC2 instance has this path"
        return (
            f"{self.endpoint} answered GET {path} with status {status}, which the instance metadata service does not use: check the "
            "option endpoint"
        )


def _malformed(endpoint: str, answer: InvalidAnswer) -> ImdsError:
    """The error for an answer in the wrong form: it probably comes from another program."""
    return ImdsError(f"{endpoint}: {answer}. Check the option endpoint: another program answers there")


_IDENTITY = {
    "account_id": "accountId",
    "architecture": "architecture",
    "availability_zone": "availabilityZone",
    "image_id": "imageId",
    "instance_id": "instanceId",
    "instance_type": "instanceType",
    "pending_time": "pendingTime",
    "region": "region",
    "document_version": "version",
}
_IDENTITY_OR_NONE = {"kernel_id": "kernelId", "local_ipv4": "privateIp", "ramdisk_id": "ramdiskId"}
_IDENTITY_LISTS = {
    "billing_products": "billingProducts",
    "devpay_product_codes": "devpayProductCodes",
    "marketplace_product_codes": "marketplaceProductCodes",
}
"""Name of the fact → field of the identity document that contains no secret."""


def instance_facts(client: Client) -> Dict[str, Any]:
    """The facts of this instance that the module imds_info documents. One token and five requests. Raises ImdsError."""
    try:
        return _facts(client)
    except InvalidAnswer as answer:
        raise _malformed(client.endpoint, answer) from None


def _facts(client: Client) -> Dict[str, Any]:
    document = instance_identity.parse(client.get(instance_identity.PATH))
    result: Dict[str, Any] = {name: document.text(field) for name, field in _IDENTITY.items()}
    result.update((name, document.optional(field)) for name, field in _IDENTITY_OR_NONE.items())
    result.update((name, document.codes(field)) for name, field in _IDENTITY_LISTS.items())
    result["instance_life_cycle"] = _get(client, "meta-data/instance-life-cycle", instance_identity.LIFE_CYCLE)
    result["mac"] = _get(client, "meta-data/mac", instance_identity.MAC)
    result["local_hostname"] = _get(client, "meta-data/local-hostname", instance_identity.HOSTNAME)
    path = f"meta-data/network/interfaces/macs/{result['mac']}/ipv6s"
    # The path does not exist on an instance without IPv6.
    lines = (client.get(path, missing_ok=True) or "").splitlines()
    result["ipv6"] = [instance_identity.checked(path, line.strip(), instance_identity.IPV6) for line in lines]
    return result


def _get(client: Client, path: str, form: instance_identity.Form) -> str:
    return instance_identity.checked(path, client.get(path), form)
