# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The path in the user's input that a value of the rendered NodeConfig comes from, for messages that name two places."""

from __future__ import annotations

from ..errors import joined
from ..kubelet_settings import Field
from ..model.merge import (
    DNS_IPS,
    KUBE_RESERVED,
    KUBELET_CONFIGS,
    KUBELET_FLAGS,
    MAX_PODS,
    SYSTEM_RESERVED,
    Place,
    place_path,
    value_at,
)
from ..model.own_fields import flag_places, label_path, taints_path
from ..model.plain import INVALID
from ..model.spec import NodeSpec

FIELDS = "the fields of node_group"

_OF_CLUSTER = {
    "name": "name",
    "apiServerEndpoint": "endpoint",
    "certificateAuthority": "certificate_authority",
    "cidr": "service_cidr",
    "enableOutpost": "outpost",
    "id": "id",
}
_OWN_FIELDS: dict[str, tuple[Place, ...]] = {
    "maxPods": (("max_pods",), *MAX_PODS),
    "clusterDNS": DNS_IPS,
    "kubeReserved": (("reserved", "kube"), *KUBE_RESERVED),
    "systemReserved": (("reserved", "system"), *SYSTEM_RESERVED),
}
"""The places of the fields that the node group has, too."""
_OWN_FLAGS = {"maxPods": "max-pods", "clusterDNS": "cluster-dns", "kubeReserved": "kube-reserved", "systemReserved": "system-reserved"}
_PROXY = {"HTTP_PROXY": "http", "HTTPS_PROXY": "https", "NO_PROXY": "no_proxy"}


def of_field(spec: NodeSpec, field: Field) -> str:
    """The path that gives a field of KubeletConfiguration. C(cluster.service_cidr) for name servers that are computed from it."""
    own = _OWN_FIELDS.get(field[0])
    places = [(*place, *field) for place in KUBELET_CONFIGS] if own is None else [(*place, *field[1:]) for place in own]
    for place in (*places, *(own or ())[:1]):
        if value_at(dict(spec.given), place) not in (INVALID, None):
            return place_path(place)
    if field[0] in _OWN_FLAGS and (given := flag_places(spec.given, _OWN_FLAGS[field[0]])):
        return given[0][0]
    if field[0] == "clusterDNS":
        return "cluster.dns_ips" if spec.cluster.dns_ips else "cluster.service_cidr"
    return FIELDS


def of_label(spec: NodeSpec, key: str) -> str:
    """The path that gives a label."""
    return label_path(spec.given, key)


def of_taints(spec: NodeSpec) -> str:
    """The path that gives taints."""
    return taints_path(spec.given)


def of_flag(spec: NodeSpec, flag: str) -> str:
    """The path that gives a flag of kubelet."""
    own, words = (value_at(dict(spec.given), place) for place in KUBELET_FLAGS)
    if isinstance(own, dict) and flag in own:
        return joined(place_path(KUBELET_FLAGS[0]), flag)
    for index, word in enumerate(words if isinstance(words, list) else []):
        if isinstance(word, str) and word.startswith(f"--{flag}="):
            return joined(place_path(KUBELET_FLAGS[1]), index)
    return FIELDS


def of_place(spec: NodeSpec, place: Place) -> str:
    """The path that gives a value of our NodeConfig. place: below C(spec)."""
    head, *rest = place
    if head == "cluster" and rest:
        return f"cluster.{_OF_CLUSTER.get(rest[0], rest[0])}"
    if place[:2] == ("kubelet", "config"):
        return of_field(spec, place[2:])
    if value_at(dict(spec.given), ("nodeadm", *place)) is not INVALID:
        return place_path(("nodeadm", *place))
    return of_field_place(spec, place)


def of_field_place(spec: NodeSpec, place: Place) -> str:
    """The path of the field, not below C(node_group.nodeadm), that gives a value of our NodeConfig."""
    if place[:2] == ("kubelet", "config"):
        return of_field(spec, place[2:])
    if place[:2] == ("instance", "localStorage"):
        return "node_group.local_storage." + {"strategy": "strategy", "mountPath": "mount_path"}.get(place[-1], place[-1])
    if place[:2] == ("instance", "environment"):
        return f"node_group.proxy.{_PROXY.get(place[-1].upper(), place[-1])}"
    if place[:2] == ("containerd", "config"):
        return place_path(place)
    return FIELDS
