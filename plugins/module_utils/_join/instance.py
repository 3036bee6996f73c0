# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who this instance is, for a node whose credentials are refused: asked once, for four seconds. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import json
import re

from .._node import imds

# EC2 keeps tags with a slash in their name out of the instance's metadata, kubernetes.io/cluster/NAME among them.
_TAGS = ("eks:cluster-name", "aws:eks:cluster-name", "eks:eks-cluster-name", "KubernetesCluster")
_OWNED = "kubernetes.io/cluster/"
_CLUSTER = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}\Z")
_ROLE = re.compile(r"[\w+=,.@-]{1,64}\Z", re.ASCII)


def facts(client=None):
    """C({"clusters": {tag: name}, "role", "account", "instance", "region"}): empty or None for what the metadata service does not say."""
    client = client or imds.Client(timeout=2.0, retries=0)
    document = _json(_asked(client, "dynamic/instance-identity/document"))
    found = {name: _plain(document.get(field)) for name, field in _FIELDS}
    role = (_asked(client, "meta-data/iam/security-credentials/") or "").strip()
    found["role"] = role if _ROLE.match(role) else None
    found["clusters"] = _clusters(client)
    return found


_FIELDS = (("account", "accountId"), ("instance", "instanceId"), ("region", "region"))


def _clusters(client):
    """The clusters that the instance's tags name."""
    found = {}
    for key in (_asked(client, "meta-data/tags/instance/") or "").splitlines():
        if key.startswith(_OWNED):
            found[_OWNED + "NAME"] = key[len(_OWNED) :]
        elif key in _TAGS:
            found[key] = (_asked(client, f"meta-data/tags/instance/{key}") or "").strip()
    return {key: name for key, name in found.items() if _CLUSTER.match(name)}


def _asked(client, path):
    try:
        return client.get(path, missing_ok=True)
    except imds.ImdsError:
        return None


def _json(text):
    try:
        document = json.loads(text or "")
    except (ValueError, RecursionError):
        document = None
    return document if isinstance(document, dict) else {}


def _plain(value):
    return value if isinstance(value, str) and re.match(r"[a-z0-9-]{1,64}\Z", value) else None
