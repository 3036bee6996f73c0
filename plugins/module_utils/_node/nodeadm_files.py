# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of nodeadm: which documents it reads besides the user data, and what it writes. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import os
from typing import List

from .host import Host
from .kubelet_process import BOOTSTRAP_KUBECONFIG, KUBECONFIG

DIRECTORY = "/etc/eks/nodeadm.d"

ENVIRONMENT = "/etc/eks/kubelet/environment"
KUBELET_DROP_IN = "/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf"
WRITES = (
    "/etc/containerd/base-runtime-spec.json",
    "/etc/containerd/config.toml",
    "/etc/eks/image-credential-provider/config.json",
    ENVIRONMENT,
    "/etc/kubernetes/kubelet/config.json",
    KUBELET_DROP_IN,
    "/etc/kubernetes/pki/ca.crt",
    "/etc/soci-snapshotter-grpc/config.toml",
    "/etc/systemd/system.conf.d/environment.conf",
    "/etc/systemd/system/containerd.service.d/10-soci-snapshotter.conf",
    "/etc/systemd/system/containerd.service.d/environment.conf",
    "/etc/systemd/system/kubelet.service.d/environment.conf",
    "/run/eks/nodeadm/config.json",
    "/run/systemd/resolved.conf.d/40-eks.conf",
    BOOTSTRAP_KUBECONFIG,
    KUBECONFIG,
)
"""What nodeadm writes (amazon-eks-ami, July 2026)."""

_ENDINGS = (".yaml", ".yml", ".json")


def document_paths(host: Host) -> List[str]:
    """The documents that nodeadm reads from its directory, in the order in which it merges them: a later one wins.

    As nodeadm (internal/configprovider/file.go): the ending counts in any case, directories are left out, and links are followed.
    """
    paths = [f"{DIRECTORY}/{name}" for name in host.names(DIRECTORY) if name.lower().endswith(_ENDINGS)]
    return [path for path in paths if os.path.islink(host.path(path)) or not os.path.isdir(host.path(path))]
