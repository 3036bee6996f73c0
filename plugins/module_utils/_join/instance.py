# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role and the clusters of this EC2 instance, from the instance metadata service. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re
from typing import Callable

from .._node import instance_identity
from .model import Instance

# EC2 does not show tags with a slash in the instance metadata; other services that answer in its place may.
_CLUSTER_TAGS = ("eks:cluster-name", "aws:eks:cluster-name", "eks:eks-cluster-name", "KubernetesCluster")
_OWNED_TAG = "kubernetes.io/cluster/"
_CLUSTER = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}\Z")
_ROLE = re.compile(r"[\w+=,.@-]{1,64}\Z", re.ASCII)


def read_instance(get: Callable[[str], str | None] | None = None) -> Instance:
    """The role and the clusters of this instance, requested once, within four seconds. `get`: returns a path of the metadata service."""
    get = get or _metadata_getter()
    document = get(instance_identity.PATH)
    account, region = (_field(document, name) for name in ("accountId", "region"))
    role = (get("meta-data/iam/security-credentials/") or "").strip()
    clusters = {}
    for key in (get("meta-data/tags/instance/") or "").splitlines():
        if key.startswith(_OWNED_TAG):
            clusters[_OWNED_TAG + "NAME"] = key[len(_OWNED_TAG) :]
        elif key in _CLUSTER_TAGS:
            clusters[key] = (get(f"meta-data/tags/instance/{key}") or "").strip()
    clusters = {key: name for key, name in clusters.items() if _CLUSTER.match(name)}
    return Instance(clusters, role if _ROLE.match(role) else None, account, region)


def _metadata_getter() -> Callable[[str], str | None]:
    # Imported here, because it imports HTTP.
    from .._node import imds

    client = imds.Client(timeout=2.0, retries=0)

    def get(path: str) -> str | None:
        try:
            return client.get(path, missing_ok=True)
        except imds.ImdsError:
            return None

    return get


def _field(text: str | None, name: str) -> str | None:
    """A field of the identity document; None if the service does not answer, or another program does."""
    try:
        return instance_identity.parse(text).text(name)
    except instance_identity.InvalidAnswer:
        return None
