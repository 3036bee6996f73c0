# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to the kubelet of this machine, each with a time limit: its health, and the configuration that it reports.

Standard library, Python 3.7 and newer. No proxy, no redirect, no name service.

kubelet serves C(/configz) on its own port (10250) to clients that it authorizes. With the authorization mode Webhook, which the images for
EKS set, the cluster must allow the client C(get) on C(nodes/configz) or C(nodes/proxy). The identity of a node is not allowed that, so most
nodes answer that access is denied. The first request has no credentials, the second one the client certificate of kubelet's kubeconfig, if
it has one. Programs in the kubeconfig, such as aws-iam-authenticator, are never run for this, and no token is sent.
"""

from __future__ import annotations

import json
import ssl
import time
from typing import Any, Dict, Mapping, Tuple

from .._node import health, http_client
from .._node.kubelet_config import setting
from .._node.kubelet_process import Flags
from .._node.redaction import redact_value

MAX_ANSWER_BYTES = 1024 * 1024


def healthz(flags: Flags, config: Mapping[str, Any], timeout: float) -> Dict[str, Any]:
    """The answer of kubelet's own health check."""
    host = _local_address(setting(flags, config, "healthz-bind-address", "127.0.0.1"))
    port = _port(setting(flags, config, "healthz-port", 10248))
    if not port:
        return {"url": None, "ok": None, "status": None, "problem": "kubelet's configuration switches its health check off (healthzPort)"}
    result = health.check(health.HealthUrl(host, port, "/healthz"), timeout)
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}/healthz"
    return {"url": url, "ok": result.is_healthy, "status": result.status, "problem": result.problem}


def configz(flags: Flags, config: Mapping[str, Any], certificate: Tuple[str, str] | None, timeout: float) -> Dict[str, Any]:
    """The configuration that the running kubelet reports, or why it does not. C(certificate): path of a client certificate, key path."""
    host = _local_address(setting(flags, config, "address", ""))
    port = _port(setting(flags, config, "port", 10250))
    if not port or setting(flags, config, "enable-server", "true").lower() == "false":
        return {"config": None, "problem": "kubelet's server is switched off"}
    if setting(flags, config, "enable-debugging-handlers", "true").lower() == "false":
        return {"config": None, "problem": "kubelet does not serve /configz: enableDebuggingHandlers is false"}
    problem = None
    for pair in [None, certificate] if certificate else [None]:
        try:
            tls = _tls(pair)
        except (OSError, ValueError) as error:
            return {"config": None, "problem": f"the client certificate of kubelet's kubeconfig cannot be used: {error}"}
        try:
            answer = http_client.send(
                http_client.Target(host, port), http_client.Request("/configz"), tls, time.monotonic() + timeout, MAX_ANSWER_BYTES
            )
        except http_client.Failure as failure:
            said = f"no answer within {timeout:g} s" if failure.kind == "silent" else failure.said
            return {"config": None, "problem": f"https://{host}:{port}/configz: {said}"}
        if answer.status == 200:
            return _parse(answer.body)
        problem = _explain_status(answer.status, pair is not None)
        if answer.status != 401:
            break
    return {"config": None, "problem": problem}


def _local_address(given: str) -> str:
    """The address to connect to for an address that kubelet listens on."""
    return {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1", "[::]": "::1"}.get(given, given)


def _port(text: str) -> int:
    return int(text) if text.isdigit() and int(text) < 65536 else 0


def _tls(pair: Tuple[str, str] | None) -> ssl.SSLContext:
    """TLS to this machine itself. kubelet's certificate names the node and not this address, and nothing secret is sent."""
    tls = http_client.context(None)
    if pair is not None:
        tls.load_cert_chain(*pair)
    return tls


def _parse(body: bytes) -> Dict[str, Any]:
    try:
        config = redact_value(json.loads(body.decode("utf-8"))["kubeletconfig"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return {"config": None, "problem": "the answer is not a configuration of kubelet"}
    return {"config": config, "problem": None}


def _explain_status(status: int, has_certificate: bool) -> str:
    client = "this node's client certificate" if has_certificate else "requests without credentials"
    if status == 401:
        return f"kubelet does not accept {client} (401), and a token of the node's role is not tried"
    if status == 403:
        return f"kubelet does not authorize {client} (403): the cluster must allow get on nodes/configz or nodes/proxy"
    return f"kubelet answers with status {status}"
