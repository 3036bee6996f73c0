# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificates that kubelet uses, without their keys. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Dict, Iterator, List, Mapping, Tuple

from .._inspect import cluster
from .._node import certificates
from .._node.host import Host
from .._node.kubelet_process import KUBECONFIG, find_kubeconfig

CLIENT, SERVING, AUTHORITY = "client", "serving", "authority"

_DIRECTORY = "/var/lib/kubelet/pki"
_CURRENT_CLIENT, _CURRENT_SERVING = "kubelet-client-current.pem", "kubelet-server-current.pem"
"""Certificates that the cluster signed. The certificate that kubelet signs itself is not verified by any client."""


def read(host: Host, facts: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """The certificates, each file once. C(facts): of node_info.

    C(use): C(CLIENT), C(SERVING) or C(AUTHORITY). C(pem): its certificates only, because the file may contain the key, too.
    """
    found: Dict[str, Dict[str, Any]] = {}
    for use, path, text in _texts(host, facts):
        pem = "\n".join(certificates.split(text))
        if pem:
            found.setdefault(path, {"use": use, "path": path, "pem": f"{pem}\n"})
    return list(found.values())


def _texts(host: Host, facts: Mapping[str, Any]) -> Iterator[Tuple[str, str, str]]:
    """Use, path and text of each file."""
    kubelet = facts.get("kubelet") or {}
    flags, config = kubelet.get("flags") or {}, (kubelet.get("config") or {}).get("effective") or {}
    path = find_kubeconfig(host, flags) or KUBECONFIG
    kubeconfig = cluster.kubeconfig_at(host, path)
    directory = str(flags.get("cert-dir") or _DIRECTORY)
    serving = flags.get("tls-cert-file") or config.get("tlsCertFile")
    if kubeconfig.client_certificate:
        yield CLIENT, kubeconfig.client_certificate[0], host.text(kubeconfig.client_certificate[0]) or ""
    yield CLIENT, f"{directory}/{_CURRENT_CLIENT}", host.text(f"{directory}/{_CURRENT_CLIENT}") or ""
    path_of_serving = serving if isinstance(serving, str) else f"{directory}/{_CURRENT_SERVING}"
    yield SERVING, path_of_serving, host.text(path_of_serving) or ""
    if kubeconfig.authority_data:
        yield AUTHORITY, path, _decode(kubeconfig.authority_data)
    elif kubeconfig.authority:
        yield AUTHORITY, kubeconfig.authority, host.text(kubeconfig.authority) or ""


def _decode(data: str) -> str:
    try:
        return base64.b64decode(data).decode("ascii", "backslashreplace")
    except (binascii.Error, ValueError):
        return ""  # node_info reports it
