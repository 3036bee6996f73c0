# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Request the Node object of this node from the API server, as kubelet does. Standard library, Python 3.7 and newer.

The token is sent only through TLS, to a server whose certificate kubelet trusts. The clock of another server is read by a request without
credentials. The result contains no secrets.
"""

from __future__ import annotations

import base64
import contextlib
import ipaddress
import json
import os
import re
import ssl
import tempfile
import time
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Mapping
from urllib.parse import quote, unquote

from .._node import http_client as https
from .._node import kubeconfig as kubeconfigs
from .._node.host import Host
from .._node.redaction import redact_string
from .credentials import Credentials, CredentialsFailed, CredentialSource, decode_base64, parse_time
from .model import ApiResult, NodeObject, to_plain_text

REQUEST_TIMEOUT = 6.0
"""Seconds for one request, from the DNS query to the end of the answer."""

_PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure")
_SYSTEM_AUTHORITIES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")


class ApiClient:
    """A client for the API server of one kubeconfig. `path`: the kubeconfig. `environment`: the variables of the kubelet process."""

    def __init__(self, host: Host, path: str, environment: Mapping[str, str], timeout: float = REQUEST_TIMEOUT) -> None:
        self._host = host
        self._path = path
        self._environment = environment
        self._timeout = timeout
        self._text: str | None = None
        self._access: kubeconfigs.Access | None = None
        self._source: CredentialSource | None = None

    def request_node(self, name: str) -> ApiResult:
        """Request the Node `name`; the result says how far the request got."""
        text = self._host.text(self._path)
        if text is None and os.path.lexists(self._host.path(self._path)):
            return ApiResult("bad_kubeconfig", f"{self._path} cannot be read", kubeconfig=self._path)
        if text is None:
            return ApiResult("no_kubeconfig", kubeconfig=self._path)
        try:
            access, source = self._load(text)
        except kubeconfigs.Unusable as problem:
            return ApiResult("bad_kubeconfig", str(problem), kubeconfig=self._path)
        uses_program = isinstance(access.user.get("exec"), dict)
        base = ApiResult(
            "", kubeconfig=self._path, server=redact_string(access.server), host=access.host, uses_program=uses_program,
            cluster_name=kubeconfigs.cluster_name(access.user) if uses_program else None,
        )  # fmt: skip
        try:
            credentials = source.get()
        except CredentialsFailed as failure:
            return base._replace(outcome=failure.outcome, message=failure.message, program=failure.program)
        if credentials is None:
            return base._replace(outcome="bad_kubeconfig", message=f"{self._path} contains no credentials")
        try:
            proxy = find_proxy(access, self._environment)
        except UnsupportedProxy as problem:
            return base._replace(outcome="proxy", message=str(problem))
        base = base._replace(proxy=proxy and proxy.shown, credentials=credentials.description, expires=credentials.expires)
        target = https.Target(access.host, access.port, str(access.cluster.get("tls-server-name") or access.host), proxy)
        result = self._send(base, access, credentials, target, name)
        if result.status == 401:
            source.reject()
        return result

    def _load(self, text: str) -> tuple[kubeconfigs.Access, CredentialSource]:
        """The kubeconfig and the source of its credentials, which keeps them as long as the kubeconfig stays the same."""
        if text != self._text or self._access is None or self._source is None:
            self._access = kubeconfigs.read(text, self._path)
            self._source = CredentialSource(self._access, self._host, self._environment)
            self._text = text
        return self._access, self._source

    def _send(self, base: ApiResult, access: kubeconfigs.Access, credentials: Credentials, target: https.Target, name: str) -> ApiResult:
        certificates = None
        if access.cluster.get("insecure-skip-tls-verify") is not True:
            certificates, where = self._read_authority(access)
            base = base._replace(authority=where)
            if certificates is None:
                return base._replace(outcome="no_authority", message=f"{where} cannot be read")
        try:
            tls = https.context(certificates)
        except (ssl.SSLError, ValueError):
            return base._replace(outcome="no_authority", message=f"{base.authority} contains no valid certificate")
        try:
            _load_client_certificate(tls, credentials)
        except (OSError, ValueError) as error:
            message = f"{credentials.description} cannot be used: {getattr(error, 'strerror', None) or error}"
            return base._replace(outcome="bad_certificate", message=message)
        headers = {"User-Agent": "nodebootstrap.eks join_check"}
        if credentials.token is not None:
            headers["Authorization"] = f"Bearer {credentials.token}"
        # resourceVersion=0 lets the API server answer from its cache, which is cheap for it when many nodes ask at once.
        path = f"{access.path}/api/v1/nodes/{quote(name, safe='')}?resourceVersion=0"
        try:
            answer = https.get(target, path, headers, tls, time.monotonic() + self._timeout)
        except https.Failure as failure:
            return self._explain_failure(base, failure, target, tls)
        return _parse_answer(base._replace(clock_skew=_clock_skew(answer.moment)), answer, name)

    def _read_authority(self, access: kubeconfigs.Access) -> tuple[str | None, str]:
        """(certificates that kubelet trusts, where they are); None if they cannot be read."""
        cluster = access.cluster
        if cluster.get("certificate-authority-data"):
            return decode_base64(cluster["certificate-authority-data"]), f"certificate-authority-data of {self._path}"
        if cluster.get("certificate-authority"):
            path = access.file(str(cluster["certificate-authority"]))
            return self._host.text(path), path
        # Without an authority in the kubeconfig Go trusts those of the host.
        path = next((path for path in _SYSTEM_AUTHORITIES if self._host.exists(path)), _SYSTEM_AUTHORITIES[0])
        return self._host.text(path), path

    def _explain_failure(self, base: ApiResult, failure: https.Failure, target: https.Target, tls: ssl.SSLContext) -> ApiResult:
        """The result of a request without an answer. For a refused certificate, find out more about it."""
        base = base._replace(outcome=failure.kind, message=to_plain_text(failure.said, 300))
        deadline = time.monotonic() + self._timeout
        if failure.kind == "names":
            certificate = https.certificate(target, tls, deadline) or {}
            names = [str(value)[:253] for _kind, value in certificate.get("subjectAltName", ())]
            base = base._replace(certificate_names=tuple(names[:20]))
        if failure.kind == "dates":
            base = base._replace(date_problem=failure.facts["how"])
            with contextlib.suppress(https.Failure):
                base = base._replace(clock_skew=_clock_skew(https.get(target, "/", {}, https.context(None), deadline).moment))
        return base


def _load_client_certificate(tls: ssl.SSLContext, credentials: Credentials) -> None:
    if credentials.certificate is not None:
        tls.load_cert_chain(credentials.certificate, credentials.key)
    elif credentials.pems is not None:
        # ssl loads certificates only from files. This one is readable by its owner only, and removed at once.
        handle, path = tempfile.mkstemp(prefix="join-", dir="/run" if os.access("/run", os.W_OK) else None)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write("\n".join(credentials.pems))
            tls.load_cert_chain(path)
        finally:
            os.unlink(path)


def _clock_skew(server_time: float | None) -> float | None:
    """Seconds by which the clock of this machine is ahead of the server's; None if the server does not send its time."""
    return None if server_time is None else round(time.time() - server_time, 1)


def _parse_answer(base: ApiResult, answer: https.Answer, name: str) -> ApiResult:
    try:
        document = json.loads(answer.body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        document = None
    kind = document.get("kind") if isinstance(document, dict) else None
    message = str(document.get("message") or "") if isinstance(document, dict) and kind == "Status" else ""
    node = _parse_node(document, name) if isinstance(document, dict) and kind == "Node" and answer.status == 200 else None
    is_kubernetes = node is not None if kind == "Node" and answer.status == 200 else kind in ("Status", "Node")
    message = to_plain_text(message, 1000, is_document=True)
    return base._replace(outcome="answer", message=message, status=answer.status, is_kubernetes=is_kubernetes, node=node)


def _parse_node(document: Mapping[str, Any], name: str) -> NodeObject | None:
    """The Node object; None if it has another name."""
    metadata, status = document.get("metadata"), document.get("status")
    if not isinstance(metadata, dict) or metadata.get("name") != name:
        return None
    conditions = [one for one in (status.get("conditions") if isinstance(status, dict) else None) or [] if isinstance(one, dict)]
    spec = document.get("spec")
    taints = [one for one in (spec.get("taints") if isinstance(spec, dict) else None) or [] if isinstance(one, dict)]
    node = NodeObject(
        pressures=tuple(
            (str(one["type"]), to_plain_text(str(one.get("message") or ""), 300, is_document=True))
            for one in conditions
            if one.get("type") in _PRESSURES and one.get("status") == "True"
        ),
        taints=tuple(to_plain_text(f"{one.get('key')}:{one.get('effect')}", 300) for one in taints),
    )
    for condition in conditions:
        if condition.get("type") == "Ready":
            return node._replace(
                ready=str(condition.get("status")),
                reason=str(condition.get("reason") or "")[:100],
                message=to_plain_text(str(condition.get("message") or ""), 1000, is_document=True),
                heartbeat=parse_time(condition.get("lastHeartbeatTime")),
            )
    return node


# --- the proxy of kubelet, by the rules of Go's golang.org/x/net/http/httpproxy ----------------------------------------------------

_PROXY_URL = re.compile(
    r"(?P<scheme>[A-Za-z0-9+.-]+)://(?:(?P<user>[^@/]*)@)?(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<name>[^@/:\[\]\s]+))(?::(?P<port>[0-9]{1,5}))?(?:/\S*)?\Z"
)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_HOST_AND_PORT = re.compile(r"\[(?P<ipv6>[^\]]*)\](?::(?P<ipv6_port>[^:]*))?\Z|(?P<name>[^:]*):(?P<port>[^:]*)\Z")


class UnsupportedProxy(Exception):
    """The proxy cannot be used; the text says why."""


def find_proxy(access: kubeconfigs.Access, environment: Mapping[str, str]) -> https.Proxy | None:
    """The proxy for the API server of a kubeconfig, or None. Its proxy-url takes precedence over variables. Raises UnsupportedProxy."""
    if access.cluster.get("proxy-url"):
        return parse_proxy(str(access.cluster["proxy-url"]), "proxy-url of the kubeconfig")
    return proxy_of_environment(environment, access.host, access.port)


def proxy_of_environment(environment: Mapping[str, str], host: str, port: int) -> https.Proxy | None:
    """The proxy that variables set for `https://HOST:PORT`, or None. Raises UnsupportedProxy."""
    name, value = _first_set(environment, "HTTPS_PROXY", "https_proxy")
    if not value or not _uses_proxy(_first_set(environment, "NO_PROXY", "no_proxy")[1], host, port):
        return None
    return parse_proxy(value, name)


def parse_proxy(value: str, source: str) -> https.Proxy | None:
    """The proxy with this URL; None for a URL that Go ignores. `source`: where it is set. Raises UnsupportedProxy."""
    match = _PROXY_URL.match(value) or _PROXY_URL.match(f"http://{value}")
    if match is None or int(match.group("port") or 1) > 65535:
        return None
    scheme = match.group("scheme").lower()
    if scheme not in _DEFAULT_PORTS:
        raise UnsupportedProxy(f"{source} contains a proxy with the scheme {scheme}; join_check supports only http and https")
    user, authorization = match.group("user"), None
    if user:
        secret = ":".join(unquote(part) for part in (user if ":" in user else f"{user}:").split(":", 1))
        authorization = "Basic " + base64.b64encode(secret.encode("utf-8", "surrogateescape")).decode("ascii")
    host = match.group("ipv6") or match.group("name")
    port = int(match.group("port") or _DEFAULT_PORTS[scheme])
    return https.Proxy(scheme, host, port, authorization, f"{scheme}://{f'[{host}]' if ':' in host else host}:{port} ({source})")


def _first_set(environment: Mapping[str, str], *names: str) -> tuple[str, str]:
    return next(((name, environment[name]) for name in names if environment.get(name)), (names[0], ""))


def _uses_proxy(no_proxy: str, host: str, port: int) -> bool:
    address = _parse_address(host)
    host = host.lower()
    if host == "localhost" or (address is not None and address.is_loopback):
        return False
    return not any(_matches(entry.strip().lower(), host, address, port) for entry in no_proxy.split(","))


def _matches(entry: str, host: str, address: IPv4Address | IPv6Address | None, port: int) -> bool:
    """Whether an entry of NO_PROXY matches."""
    if entry in ("", "*"):
        return entry == "*"
    if "/" in entry:
        try:
            network = ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
        return address is not None and address.version == network.version and address in network
    name, entry_port = _split_port(entry)
    if entry_port and entry_port != str(port):
        return False
    entry_address = _parse_address(name)
    if entry_address is not None:
        return entry_address == address
    if not name or address is not None:
        return False
    name = name[1:] if name.startswith("*.") else name
    return host.endswith(name) if name.startswith(".") else host == name or host.endswith(f".{name}")


def _split_port(entry: str) -> tuple[str, str]:
    """(host, port); the port is empty if there is none."""
    match = _HOST_AND_PORT.match(entry)
    if match is None:
        return entry, ""
    if match.group("ipv6") is not None:
        return match.group("ipv6"), match.group("ipv6_port") or ""
    return match.group("name"), match.group("port")


def _parse_address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
