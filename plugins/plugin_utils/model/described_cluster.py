# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads C(cluster) from what DescribeCluster of EKS returns, so that users do not have to copy single fields.

Accepted are the whole output of C(aws eks describe-cluster), its C(cluster), and the same with the snake_case keys of Ansible modules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import Problems, nearest
from .fields import CLUSTER_KIND
from .plain import plain

OWN_FIELDS = ("service_cidr", "dns_ips", "region", "kubernetes_version", "outpost")
"""Our own fields that can be added to a response, and that win over its values."""

_RESPONSE = frozenset(
    (
        "accessconfig",
        "arn",
        "certificateauthority",
        "clientrequesttoken",
        "cluster",
        "computeconfig",
        "connectorconfig",
        "controlplanescalingconfig",
        "createdat",
        "deletionprotection",
        "encryptionconfig",
        "endpoint",
        "health",
        "id",
        "identity",
        "kubernetesnetworkconfig",
        "logging",
        "name",
        "outpostconfig",
        "platformversion",
        "remotenetworkconfig",
        "resourcesvpcconfig",
        "rolearn",
        "status",
        "storageconfig",
        "tags",
        "upgradepolicy",
        "version",
        "zonalshiftconfig",
    )
)
"""The keys of a response in lower case (EKS API, DescribeCluster)."""

_ARN = re.compile(r"arn:[a-z-]+:eks:([a-z0-9-]+):[0-9]*:cluster/.+")


def check_cluster(cluster: Any, problems: Problems) -> Any:
    """Check the input C(cluster). Returns its valid fields, or INVALID if it is not a mapping."""
    given = plain(_without_response(cluster), "cluster", problems)
    return CLUSTER_KIND({} if given is None else given, "cluster", problems)


def _without_response(cluster: Any) -> Any:
    """C(cluster), or the same as our input if it is a DescribeCluster response."""
    if not isinstance(cluster, Mapping):
        return cluster
    inner = cluster.get("cluster")
    response = inner if isinstance(inner, Mapping) else cluster
    authority, arn = _get(response, "certificateAuthority"), _get(response, "arn")
    is_response = isinstance(authority, Mapping) or (authority is None and isinstance(arn, str))
    return _translate(response, {} if response is cluster else cluster) if is_response else cluster


def _translate(response: Mapping[str, Any], beside: Mapping[str, Any]) -> dict[str, Any]:
    """The input C(cluster) for a response. beside: the mapping that contains C(cluster); our own fields can be added there, too."""
    network, authority, outpost = (
        _mapping(_get(response, name)) for name in ("kubernetesNetworkConfig", "certificateAuthority", "outpostConfig")
    )
    is_ipv6 = str(_get(network, "ipFamily")).lower() == "ipv6"
    arn = _ARN.fullmatch(str(_get(response, "arn")))
    found = {
        "name": _get(response, "name"),
        "endpoint": _get(response, "endpoint"),
        "certificate_authority": _get(authority, "data"),
        "service_cidr": _get(network, "serviceIpv6Cidr" if is_ipv6 else "serviceIpv4Cidr"),
        "region": arn[1] if arn else None,
        "kubernetes_version": _get(response, "version"),
        "id": _get(response, "id") if outpost else None,
        "outpost": True if outpost else None,
    }
    own = {name: value for place in (response, beside) for name, value in place.items() if name in OWN_FIELDS or _is_misspelt(name)}
    return {name: value for name, value in (found | own).items() if value is not None}


def _is_misspelt(name: Any) -> bool:
    """Is C(name) probably meant as a field of ours, and unknown to EKS? The check of the fields then reports it."""
    return not isinstance(name, str) or (_fold(name) not in _RESPONSE and nearest(name, OWN_FIELDS) is not None)


def _fold(name: Any) -> str:
    return str(name).replace("_", "").lower()


def _get(response: Mapping[str, Any], name: str) -> Any:
    """A key of the response, in camelCase or in snake_case."""
    wanted = name.lower()
    return next((value for key, value in response.items() if _fold(key) == wanted), None)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
