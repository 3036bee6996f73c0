# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to the kubelet of this machine, each within a time limit: is it well, and what configuration does it say it has?

Standard library, Python 3.7 and newer. No proxy, no redirect, no name service.

C(/configz) is served on kubelet's own port (10250) to whom kubelet authorizes: with the authorization mode Webhook, which the images
for EKS set, the cluster must allow the asking identity C(get) on C(nodes/configz) or C(nodes/proxy). A node's own identity is not, so
on most nodes the answer is that it may not. What is tried: a request without credentials, then one with the client certificate of
kubelet's kubeconfig where it has one. A program that the kubeconfig names, such as aws-iam-authenticator, is never run for it, and no
token is sent anywhere.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
import time

from .._node import kubelet_flags as flags_of
from .._node import redaction as secrets
from .._node.kubelet_config import at

LARGEST_ANSWER = 1024 * 1024
_STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})[ \r]")


class NoAnswer(Exception):
    """Why there is no answer, in words for the user."""


def get(host, port, path, timeout, context=None):
    """(status, body) of one GET within C(timeout) seconds, over TLS where there is a C(context)."""
    moment = time.monotonic() + timeout
    connection = None
    try:
        connection = socket.create_connection((host, port), timeout=timeout)
        if context is not None:
            connection = context.wrap_socket(connection)
        # HTTP/1.0: the answer ends with the connection and comes in one piece.
        connection.sendall(f"GET {path} HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode("ascii"))
        received = _receive(connection, moment)
    except socket.timeout:
        raise NoAnswer(f"no answer within {timeout:g} s") from None
    except OSError as error:
        raise NoAnswer(error.strerror or str(error) or type(error).__name__) from None
    finally:
        if connection is not None:
            connection.close()
    head, _unused, body = received.partition(b"\r\n\r\n")
    status = _STATUS.match(head)
    if status is None:
        raise NoAnswer("what answers there does not speak HTTP")
    return int(status.group(1)), body


def _receive(connection, moment):
    received = b""
    while len(received) <= LARGEST_ANSWER:
        left = moment - time.monotonic()
        if left <= 0:
            raise socket.timeout()
        connection.settimeout(left)
        part = connection.recv(65536)
        if not part:
            return received
        received += part
    raise NoAnswer(f"the answer is longer than {LARGEST_ANSWER} bytes")


def _address(given):
    """Where to ask a kubelet that listens at C(given)."""
    return {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1", "[::]": "::1"}.get(given, given)


def _setting(flags, merged, flag, default):
    """What kubelet uses: a flag, else a field of its configuration, else its default."""
    given = flags_of.last(flags, flag)
    if given is None:
        given = at(merged, flags_of.FIELDS[flag])
    return str(default if given is None else given)


def _port(text):
    return int(text) if text.isdigit() and int(text) < 65536 else 0


def healthz(flags, merged, timeout):
    """What kubelet's own health check says."""
    host = _address(_setting(flags, merged, "healthz-bind-address", "127.0.0.1"))
    port = _port(_setting(flags, merged, "healthz-port", 10248))
    if not port:
        return {"url": None, "ok": None, "status": None, "problem": "kubelet's configuration switches its health check off (healthzPort)"}
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}/healthz"
    try:
        status, body = get(host, port, "/healthz", timeout)
    except NoAnswer as error:
        return {"url": url, "ok": False, "status": None, "problem": str(error)}
    ok = status == 200 and body.strip() == b"ok"
    said = secrets.in_word(body[:200].decode("utf-8", "replace").strip())
    return {"url": url, "ok": ok, "status": status, "problem": None if ok else f"it says: {said}"}


def configz(flags, merged, certificate, timeout):
    """The configuration that the running kubelet serves, or why it does not. C(certificate): path of a client certificate, key path."""
    host = _address(_setting(flags, merged, "address", ""))
    port = _port(_setting(flags, merged, "port", 10250))
    if not port or _setting(flags, merged, "enable-server", "true").lower() == "false":
        return {"config": None, "problem": "kubelet's server is switched off"}
    if _setting(flags, merged, "enable-debugging-handlers", "true").lower() == "false":
        return {"config": None, "problem": "kubelet does not serve /configz: enableDebuggingHandlers is false"}
    problem = None
    for pair in [None, certificate] if certificate else [None]:
        try:
            status, body = get(host, port, "/configz", timeout, _context(pair))
        except NoAnswer as error:
            return {"config": None, "problem": f"https://{host}:{port}/configz: {error}"}
        except (OSError, ValueError) as error:
            return {"config": None, "problem": f"the client certificate of kubelet's kubeconfig cannot be used: {error}"}
        if status == 200:
            return _served(body)
        problem = _refusal(status, pair)
        if status != 401:
            break
    return {"config": None, "problem": problem}


def _context(pair):
    """TLS to this machine itself. kubelet's certificate is for the node's name and not for this address, and nothing secret is sent."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if pair is not None:
        context.load_cert_chain(*pair)
    return context


def _served(body):
    try:
        config = secrets.in_value(json.loads(body.decode("utf-8"))["kubeletconfig"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return {"config": None, "problem": "the answer is no configuration of a kubelet"}
    return {"config": config, "problem": None}


def _refusal(status, pair):
    who = "this node's client certificate" if pair else "requests without credentials"
    if status == 401:
        return f"kubelet does not accept {who} (401), and a token of the node's role is not tried"
    if status == 403:
        return f"kubelet does not authorize {who} (403): the cluster must allow get on nodes/configz or nodes/proxy"
    return f"kubelet answers with status {status}"
