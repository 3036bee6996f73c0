# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections of an admin machine to registries, and to addresses that should be free. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import ssl
import time
from typing import Any, Dict, Mapping

from .._join.api_client import UnsupportedProxy, parse_proxy, proxy_of_environment
from .._node import http_client
from .._node.http_client import Failure, Request, Target

_PORTS = (6443, 443, 22)
"""What usually answers on a machine: an API server, a web server, SSH."""

_ADDRESS_SECONDS = 2.0
_ANSWERS = (200, 401, 403)
"""A registry answers one of these to a client without credentials."""


def registry(one: Mapping[str, Any], environment: Mapping[str, str], timeout: float) -> Dict[str, Any]:
    """Whether a registry answers at C(/v2/). Nothing is pulled, and no credentials are sent.

    C(one): C(host), which may have a port, C(proxy), or the proxy of the environment if it is None, C(no_proxy), C(ca_cert) in PEM,
    and C(verify).
    """
    name, port = _split(str(one["host"]))
    try:
        target = Target(name, port, name, _proxy(one, environment, name, port))
        answer = http_client.send(target, Request("/v2/"), _context(one), time.monotonic() + timeout)
    except (Failure, UnsupportedProxy, ValueError, ssl.SSLError) as error:
        problem = error.said if isinstance(error, Failure) else str(error)
        return {"host": one["host"], "status": None, "problem": problem[:300], "kind": getattr(error, "kind", "options")}
    problem = "" if answer.status in _ANSWERS else f"answers with the status {answer.status}"
    return {"host": one["host"], "status": answer.status, "problem": problem, "kind": "status" if problem else ""}


def _proxy(one: Mapping[str, Any], environment: Mapping[str, str], name: str, port: int) -> http_client.Proxy | None:
    if one.get("proxy") is None:
        return proxy_of_environment(environment, name, port)
    given = {"HTTPS_PROXY": str(one["proxy"]), "NO_PROXY": str(one.get("no_proxy") or "")}
    return proxy_of_environment(given, name, port) if parse_proxy(str(one["proxy"]), "the cluster file") else None


def _context(one: Mapping[str, Any]) -> ssl.SSLContext:
    if not one.get("verify", True):
        return http_client.context(None)
    return http_client.context(str(one["ca_cert"])) if one.get("ca_cert") else ssl.create_default_context()


def answering_port(address: str) -> int | None:
    """The port through which a machine with this address shows that it exists. None if nothing answers.

    A refused connection is an answer, too.
    """
    for port in _PORTS:
        try:
            http_client.send(Target(address, port), Request("/"), None, time.monotonic() + _ADDRESS_SECONDS)
        except Failure as failure:
            if not failure.connected and failure.kind != "refused":
                continue
        return port
    return None


def _split(host: str) -> tuple[str, int]:
    name, colon, port = host.rpartition(":")
    if colon and port.isdigit() and not (":" in name and not name.startswith("[")):
        return name.strip("[]"), int(port)
    return host.strip("[]"), 443
