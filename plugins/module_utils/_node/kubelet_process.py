# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows from kubelet's unit and command line. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import os
from typing import Container

from .host import Host
from .kubelet_flags import Flags, last

UNITS = ("snap.kubelet-eks.daemon.service", "kubelet.service")
ROOT_DIRECTORY = "/var/lib/kubelet"


def find_unit(units: Container[str]) -> str | None:
    """The unit that runs kubelet, among the units that exist. The unit of the snap comes first."""
    return next((name for name in UNITS if name in units), None)


def node_name(flags: Flags, hostname: str) -> str | None:
    """The name under which kubelet registers. None when kubelet asks the cloud provider for it."""
    if last(flags, "cloud-provider") == "aws":
        return None
    return (last(flags, "hostname-override") or hostname).strip().lower()


def find_kubeconfig(host: Host, flags: Flags) -> str | None:
    """The kubeconfig that kubelet uses now. None for a kubelet without a cluster."""
    path, bootstrap = last(flags, "kubeconfig"), last(flags, "bootstrap-kubeconfig")
    if path and bootstrap and not host.exists(path) and host.exists(bootstrap):
        return bootstrap
    return path or bootstrap or None


def has_served(host: Host, flags: Flags) -> bool:
    """Whether the node has something that only a cluster gives: pods, or a signed serving certificate."""
    root = last(flags, "root-dir") or ROOT_DIRECTORY
    certificates = last(flags, "cert-dir") or os.path.join(root, "pki")
    return os.path.lexists(host.path(os.path.join(certificates, "kubelet-server-current.pem"))) or bool(host.names(f"{root}/pods"))
