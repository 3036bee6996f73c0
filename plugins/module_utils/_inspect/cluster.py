# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ties a machine to a cluster, and what on it is ours: standard library, Python 3.7 and newer."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import re
import ssl
from typing import Any, NamedTuple

from .._node import kubeconfig as kubeconfigs
from .._node import redaction as secrets

KUBECONFIG = "/var/lib/kubelet/kubeconfig"
STATE = "/var/lib/nodebootstrap"
NODEADM = "/etc/eks/nodeadm.d"

_BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


class Kubeconfig(NamedTuple):
    """What the kubeconfig at C(path) says of the cluster and the user that count: None for what it does not.

    C(authority): path of a file. C(authority_data): base64. C(client_certificate): paths of certificate and key.
    """

    path: str
    server: Any = None
    name: Any = None
    authority: Any = None
    authority_data: Any = None
    client_certificate: Any = None


def kubeconfig_at(machine, path):
    """The Kubeconfig at a path; one that says nothing, and a line in C(problems), when it is damaged."""
    text = machine.text(path)
    if text is None:
        return Kubeconfig(path)
    try:
        cluster, user = kubeconfigs.current(text, path)
    except kubeconfigs.Unusable as problem:
        machine.problems.append(str(problem))
        return Kubeconfig(path)
    server, authority = _word(cluster, "server"), _word(cluster, "certificate-authority")
    certificate, key = _word(user, "client-certificate"), _word(user, "client-key")
    folder = path.rpartition("/")[0]
    return Kubeconfig(
        path=path,
        # The image has a placeholder there before it is bootstrapped.
        server=secrets.in_word(server) if server and re.match(r"https?://", server) else None,
        name=kubeconfigs.cluster_name(user),
        authority=kubeconfigs.absolute(authority, folder) if authority else None,
        authority_data=_word(cluster, "certificate-authority-data"),
        client_certificate=tuple(kubeconfigs.absolute(one, folder) for one in (certificate, key or certificate)) if certificate else None,
    )


def _word(mapping, name):
    value = mapping.get(name)
    return value if isinstance(value, str) and value else None


def cluster(machine, kubeconfig):
    """The cluster that kubelet talks to."""
    path, authority, content = kubeconfig.path, kubeconfig.authority, None
    if kubeconfig.authority_data:
        authority = None
        try:
            content = base64.b64decode(kubeconfig.authority_data)
        except (binascii.Error, ValueError):
            machine.problems.append(f"certificate-authority-data of {path} is no base64")
    elif authority:
        content = machine.read(authority)
    fingerprints = [hashlib.sha256(der).hexdigest() for der in _certificates(machine, content or b"", authority or path)]
    return {
        "kubeconfig": path if machine.exists(path) else None,
        "server": kubeconfig.server,
        "name": kubeconfig.name,
        "certificate_authority": {"path": authority, "sha256": fingerprints},
    }


def _certificates(machine, content, path):
    found = []
    for block in _BLOCK.findall(content):
        try:
            found.append(ssl.PEM_cert_to_DER_cert(block.decode("ascii").strip()))
        except ValueError:
            machine.problems.append(f"{path} holds a certificate that is none")
    return found


def ours(machine):
    """What this collection wrote on the machine, and whether it still is as it was written; None when there is nothing."""
    path = f"{STATE}/manifest.json"
    text = machine.text(path)
    if text is None:
        return None
    try:
        manifest = json.loads(text)
        files = manifest["files"]
        states = {name: _state(machine, name, files[name]["sha256"]) for name in sorted(files)}
    except (ValueError, KeyError, TypeError, AttributeError):
        machine.problems.append(f"{path} is damaged")
        return None
    return {
        "manifest": path,
        "files": states,
        "pending": manifest.get("pending") or [],
        "interrupted": os.path.isdir(machine.path(f"{STATE}/transaction")),
    }


def _state(machine, path, digest):
    if not os.path.lexists(machine.path(path)):
        return "missing"
    content = machine.read(path)
    if content is None:
        return "unreadable"
    return "unchanged" if hashlib.sha256(content).hexdigest() == digest else "changed"


def nodeadm(machine):
    """The documents that nodeadm reads from its folder, in its order; None on a machine that has no such folder."""
    if not machine.exists(NODEADM):
        return None
    documents = []
    for name in machine.names(NODEADM):
        path = f"{NODEADM}/{name}"
        if name.lower().endswith((".yaml", ".yml", ".json")) and os.path.isfile(machine.path(path)):
            text = machine.text(path)
            documents.append({"path": path, "text": None if text is None else secrets.in_text(text)})
    return documents


def snap(machine):
    """The settings of the kubelet snap; None where it is not installed."""
    if not machine.exists("/snap/kubelet-eks") and not machine.exists("/etc/systemd/system/snap.kubelet-eks.daemon.service"):
        return None
    text = machine.run("snap", "get", "-d", "kubelet-eks")
    try:
        settings = json.loads(text or "")
    except ValueError:
        return None
    if not isinstance(settings, dict):
        return None
    shown = secrets.in_value(settings)
    if isinstance(settings.get("args"), str):
        shown["args"] = " ".join(secrets.in_command_line(settings["args"].split(" ")))
    return shown
