# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the API server says of this node's own Node object, asked as kubelet asks. Standard library, Python 3.7 and newer.

The token goes through TLS to a server whose certificate kubelet trusts, and nowhere else; to look at the clock of another one, a
request without credentials is made. What is told here holds no secret.
"""

from __future__ import annotations

import contextlib
import json
import os
import ssl
import tempfile
import time
from urllib.parse import quote

from .._node import http as https
from .._node import kubeconfig as kubeconfigs
from .._node.redaction import in_word
from . import credentials as credentials_of
from . import proxy as proxies
from .model import plain

LIMIT = 6.0
"""Seconds for one request, from the question for the name to the end of the answer."""


class Api:
    """The API server of one kubeconfig. C(path): where that lies. C(environment): of kubelet's process.

    C(ask) answers with a mapping: C(kind) says how far it got, and the rest is as the docstring of C(diagnosis) has it.
    """

    def __init__(self, machine, path, environment, limit=LIMIT):
        self._machine = machine
        self._path = path
        self._environment = environment
        self._limit = limit
        self._text = None
        self._access = None
        self._source = None

    def ask(self, name):
        """What the API server says of the Node C(name)."""
        told = {"kubeconfig": self._path}
        text = self._machine.text(self._path)
        if text is None:
            return dict(told, kind="no_kubeconfig")
        try:
            if text != self._text:
                self._access = kubeconfigs.read(text, self._path)
                self._source = credentials_of.Source(self._access, self._machine, self._environment)
                self._text = text
        except kubeconfigs.Unusable as problem:
            return dict(told, kind="bad_kubeconfig", said=str(problem))
        access = self._access
        told.update(server=in_word(access.server), host=access.host, user=_kind_of_user(access.user), proxy=None)
        try:
            given = self._source.get()
        except credentials_of.Failed as failed:
            return dict(told, kind=failed.kind, said=failed.said, program=failed.program)
        if given is None:
            return dict(told, kind="bad_kubeconfig", said=f"{self._path} names no credentials")
        try:
            proxy = self._proxy(access)
        except proxies.BadProxy as problem:
            return dict(told, kind="proxy", said=str(problem))
        told.update(proxy=proxy and proxy.shown, credentials=given.how, expires=given.expires)
        target = https.Target(access.host, access.port, str(access.cluster.get("tls-server-name") or access.host), proxy)
        return dict(told, **self._asked(target, given, name))

    def _proxy(self, access):
        """The proxy-url of the kubeconfig counts before variables."""
        if access.cluster.get("proxy-url"):
            return proxies.of_url(str(access.cluster["proxy-url"]), "proxy-url of the kubeconfig")
        return proxies.of_environment(self._environment, access.host, access.port)

    def _asked(self, target, given, name):
        told = {"authority": None}
        authority = None
        if self._access.cluster.get("insecure-skip-tls-verify") is not True:
            authority, told["authority"] = self._authority()
            if authority is None:
                return dict(told, kind="no_authority", said=f"{told['authority']} cannot be read")
        try:
            tls = https.context(authority)
        except (ssl.SSLError, ValueError):
            return dict(told, kind="no_authority", said=f"{told['authority']} holds no certificate")
        try:
            _present(tls, given)
        except (OSError, ValueError) as error:
            return dict(told, kind="bad_certificate", said=f"{given.how} cannot be used: {getattr(error, 'strerror', None) or error}")
        headers = {"User-Agent": "nodebootstrap.eks join_check"}
        if given.token is not None:
            headers["Authorization"] = f"Bearer {given.token}"
        # What its cache says is enough, and cheap for an API server that many nodes ask at once.
        path = f"{self._access.path}/api/v1/nodes/{quote(name, safe='')}?resourceVersion=0"
        try:
            answer = https.get(target, path, headers, tls, time.monotonic() + self._limit)
        except https.Failure as failed:
            return dict(told, **self._not_asked(failed, target, tls))
        if answer.status == 401:
            self._source.refused()
        return dict(told, skew=_skew(answer.moment), **_answered(answer, name))

    def _authority(self):
        """(certificates that kubelet trusts, where they stand); None for those that cannot be read."""
        cluster = self._access.cluster
        if cluster.get("certificate-authority-data"):
            return credentials_of.decoded(cluster["certificate-authority-data"]), f"certificate-authority-data of {self._path}"
        if not cluster.get("certificate-authority"):
            return _of_the_machine(self._machine)
        path = self._access.file(str(cluster["certificate-authority"]))
        return self._machine.text(path), path

    def _not_asked(self, failed, target, tls):
        """What there is to tell of a request that brought no answer."""
        told = {"kind": failed.kind, "said": plain(failed.said, 300)}
        moment = time.monotonic() + self._limit
        if failed.kind == "names":
            shown = https.certificate(target, tls, moment) or {}
            told["names"] = [str(value)[:253] for _kind, value in shown.get("subjectAltName", ())][:20]
        if failed.kind == "dates":
            told["how"] = failed.facts["how"]
            with contextlib.suppress(https.Failure):
                told["skew"] = _skew(https.get(target, "/", {}, https.context(None), moment).moment)
        return told


def _kind_of_user(user):
    """Who asks, as far as it can be told before: C(exec) with what it was told of the cluster."""
    if isinstance(user.get("exec"), dict):
        return {"kind": "exec", "cluster": kubeconfigs.cluster_name(user)}
    return {"kind": "certificate" if user.get("client-certificate") or user.get("client-certificate-data") else "token"}


_SYSTEM = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")


def _of_the_machine(machine):
    """The authorities that Go trusts when the kubeconfig names none."""
    found = next(((machine.text(path), path) for path in _SYSTEM if machine.exists(path)), None)
    return found or (None, _SYSTEM[0])


def _present(tls, given):
    """Let TLS show a client certificate, when that is what there is."""
    if given.certificate is not None:
        tls.load_cert_chain(given.certificate, given.key)
    elif given.pems is not None:
        # TLS takes a file alone; this one is the caller's own, and gone at once.
        handle, path = tempfile.mkstemp(prefix="join-", dir="/run" if os.access("/run", os.W_OK) else None)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write("\n".join(given.pems))
            tls.load_cert_chain(path)
        finally:
            os.unlink(path)


def _skew(moment):
    """Seconds by which this machine's clock runs ahead of the server's; None when the server does not say."""
    return None if moment is None else round(time.time() - moment, 1)


def _answered(answer, name):
    try:
        document = json.loads(answer.body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        document = None
    kind = document.get("kind") if isinstance(document, dict) else None
    said = str(document.get("message") or "") if kind == "Status" else ""
    told = {"kind": "answer", "status": answer.status, "said": plain(said, 1000, whole=True), "kubernetes": kind in ("Status", "Node")}
    if answer.status == 200 and kind == "Node":
        told["node"] = _node(document, name)
        told["kubernetes"] = told["node"] is not None
    return told


def _node(document, name):
    """What counts of a Node object; None when it is not that of this name."""
    metadata, spec, status = (document.get(key) if isinstance(document.get(key), dict) else {} for key in ("metadata", "spec", "status"))
    if metadata.get("name") != name:
        return None
    found = {"ready": None, "reason": "", "message": "", "heartbeat": None}
    for condition in status.get("conditions") or []:
        if isinstance(condition, dict) and condition.get("type") == "Ready":
            found = {
                "ready": str(condition.get("status")),
                "reason": str(condition.get("reason") or "")[:100],
                "message": plain(str(condition.get("message") or ""), 1000, whole=True),
                "heartbeat": credentials_of.seconds(condition.get("lastHeartbeatTime")),
            }
    taints = [str(taint.get("key"))[:253] for taint in spec.get("taints") or [] if isinstance(taint, dict)]
    return dict(found, taints=taints)
