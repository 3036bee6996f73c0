# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster of a node, and what this collection wrote on it, as node_info returns them. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import ssl
from typing import Any, Dict, List, Mapping, NamedTuple, Tuple

from .._node import certificates, nodeadm_files, snapd
from .._node import kubeconfig as kubeconfigs
from .._node.errors import ApplyRefused
from .._node.host import Host
from .._node.redaction import redact_command_line, redact_document, redact_string, redact_value

STATE = "/var/lib/nodebootstrap"


class Kubeconfig(NamedTuple):
    """The cluster and the user of the current context in the kubeconfig at C(path). None for what it does not say.

    C(authority): path of a file. C(authority_data): base64. C(client_certificate): paths of certificate and key.
    """

    path: str
    server: str | None = None
    name: str | None = None
    authority: str | None = None
    authority_data: str | None = None
    client_certificate: Tuple[str, str] | None = None


def kubeconfig_at(host: Host, path: str) -> Kubeconfig:
    """The Kubeconfig at a path. A damaged file is an empty one and a problem."""
    text = host.text(path)
    if text is None:
        return Kubeconfig(path)
    try:
        cluster, user = kubeconfigs.current(text, path)
    except kubeconfigs.Unusable as problem:
        host.report(str(problem))
        return Kubeconfig(path)
    server, authority = kubeconfigs.find_server(text), _text(cluster, "certificate-authority")
    certificate, key = _text(user, "client-certificate"), _text(user, "client-key")
    directory = path.rpartition("/")[0]
    pair = (certificate, key or certificate) if certificate else None
    return Kubeconfig(
        path=path,
        server=redact_string(server) if server else None,
        name=kubeconfigs.cluster_name(user),
        authority=kubeconfigs.absolute(authority, directory) if authority else None,
        authority_data=_text(cluster, "certificate-authority-data"),
        client_certificate=(kubeconfigs.absolute(pair[0], directory), kubeconfigs.absolute(pair[1], directory)) if pair else None,
    )


def _text(mapping: Mapping[str, Any], name: str) -> str | None:
    value = mapping.get(name)
    return value if isinstance(value, str) and value else None


def cluster(host: Host, kubeconfig: Kubeconfig) -> Dict[str, Any]:
    """The cluster that kubelet talks to."""
    path, authority, content = kubeconfig.path, kubeconfig.authority, None
    if kubeconfig.authority_data:
        authority = None
        try:
            content = base64.b64decode(kubeconfig.authority_data)
        except (binascii.Error, ValueError):
            host.report(f"certificate-authority-data of {path} is not valid base64")
    elif authority:
        content = host.read(authority)
    fingerprints = [hashlib.sha256(der).hexdigest() for der in _certificates(host, content or b"", authority or path)]
    return {
        "kubeconfig": path if host.exists(path) else None,
        "server": kubeconfig.server,
        "name": kubeconfig.name,
        "certificate_authority": {"path": authority, "sha256": fingerprints},
    }


def _certificates(host: Host, content: bytes, path: str) -> List[bytes]:
    found = []
    for block in certificates.split(content.decode("ascii", "backslashreplace")):
        try:
            found.append(ssl.PEM_cert_to_DER_cert(block))
        except ValueError:
            host.report(f"{path} contains an invalid certificate")
    return found


def ours(host: Host) -> Dict[str, Any] | None:
    """The files that this collection wrote on the node, and whether they changed since. None without a manifest."""
    path = f"{STATE}/manifest.json"
    text = host.text(path)
    if text is None:
        return None
    try:
        manifest = json.loads(text)
        files = manifest["files"]
        states = {name: _state(host, name, files[name]["sha256"]) for name in sorted(files)}
    except (ValueError, KeyError, TypeError, AttributeError):
        host.report(f"{path} is damaged")
        return None
    return {
        "manifest": path,
        "files": states,
        "pending": manifest.get("pending") or [],
        "interrupted": os.path.isdir(host.path(f"{STATE}/transaction")),
    }


def _state(host: Host, path: str, digest: str) -> str:
    if not os.path.lexists(host.path(path)):
        return "missing"
    content = host.read(path)
    if content is None:
        return "unreadable"
    return "unchanged" if hashlib.sha256(content).hexdigest() == digest else "changed"


def nodeadm(host: Host) -> List[Dict[str, Any]] | None:
    """The documents that nodeadm reads from its directory, in its order. None without that directory."""
    if not host.exists(nodeadm_files.DIRECTORY):
        return None
    texts = ((path, host.text(path)) for path in nodeadm_files.document_paths(host))
    return [{"path": path, "text": None if text is None else redact_document(text)} for path, text in texts]


def snap(host: Host) -> Dict[str, Any] | None:
    """The settings of the kubelet snap. None when it is not installed."""
    if not host.exists("/snap/kubelet-eks") and not host.exists("/etc/systemd/system/snap.kubelet-eks.daemon.service"):
        return None
    try:
        settings = snapd.read_settings("kubelet-eks", host.run_program)
    except ApplyRefused as error:
        host.report(str(error))
        return None
    shown: Dict[str, Any] = redact_value(settings)
    if isinstance(settings.get("args"), str):
        shown["args"] = " ".join(redact_command_line(settings["args"].split(" ")))
    return shown
