# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts in user data that was read: fields of the cluster and of the node group, by path.

What has several spellings gets one: flags and fields of kubelet, quantities, name servers, taints, lists without an order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import data, kubelet_settings
from ..errors import SpecError
from ..network import cluster_dns_ips
from ..readers.model import UserData
from .fact import Fact, Key, address, exact, leaves, path_of, typed
from .shown import authority, fingerprints

Facts = dict[Key, Fact]

DNS: Key = ("cluster", "dns_ips")
CIDR: Key = ("cluster", "service_cidr")
_CONFIG: Key = ("node_group", "kubelet", "config")
_PLACES: Mapping[str, Key] = {
    "clusterDNS": DNS,
    "kubeReserved": ("node_group", "reserved", "kube"),
    "maxPods": ("node_group", "max_pods"),
    "systemReserved": ("node_group", "reserved", "system"),
}
"""Fields of kubelet that have a field of their own in the input."""
_SEPARATE = frozenset({"family", "commands", "kubelet", "labels", "max_pods", "reserved", "taints", "trust", "user_data"})
"""Fields of the node group that are not compared value by value. C(scripts) has commands and user data."""
_UNORDERED: frozenset[Key] = frozenset(
    {
        ("node_group", "proxy", "no_proxy"),
        ("node_group", "windows", "excluded_snat_cidrs"),
        ("node_group", "windows", "kube_proxy_extra_args"),
    }
)


def facts(found: UserData) -> Facts:
    """The facts of the cluster and of the node group, apart from scripts."""
    group = found.node_group
    result: Facts = {("family",): Fact("family", found.family, found.family)} if found.family else {}
    result |= _of_cluster(found.cluster)
    others = {name: value for name, value in group.items() if name not in _SEPARATE}
    for key, value in leaves(others, ("node_group",)):
        if key != ("node_group",):
            result[key] = Fact(path_of(key), value, _sorted(value) if key in _UNORDERED else exact(value))
    for name, value in group.get("labels", {}).items():
        result["node_group", "labels", name] = Fact(path_of(("node_group", "labels", name)), value, value)
    if taints := group.get("taints"):
        meaning = sorted((taint["key"], taint.get("value", ""), taint["effect"]) for taint in taints)
        result["node_group", "taints"] = Fact("node_group.taints", taints, meaning)
    if trust := group.get("trust"):
        certificates = {one for text in trust for one in fingerprints(text) or (text,)}
        result["node_group", "trust"] = Fact("node_group.trust", trust, certificates)
    _add_kubelet(group, result)
    return result


def _sorted(value: Any) -> Any:
    return sorted(set(value)) if isinstance(value, list) and all(isinstance(one, str) for one in value) else exact(value)


def _of_cluster(cluster: Mapping[str, Any]) -> Facts:
    result: Facts = {}
    for name, value in cluster.items():
        path = f"cluster.{name}"
        if name == "certificate_authority":
            result["cluster", name] = Fact(path, authority(value), fingerprints(value) or "".join(value.split()))
        elif name == "endpoint":
            result["cluster", name] = Fact(path, value, value.rstrip("/"))
        elif name == "service_cidr":
            result[CIDR] = Fact(path, value, address(value) or value)
        elif name == "dns_ips":
            result[DNS] = Fact(path, value, [address(one) or one for one in value])
        else:
            result["cluster", name] = Fact(path, value, exact(value))
    if DNS not in result and CIDR in result:
        try:
            computed = cluster_dns_ips(cluster["service_cidr"])
        except SpecError:
            computed = []
        if computed:
            result[DNS] = Fact("cluster.dns_ips", computed, [address(one) for one in computed], is_computed=True)
    return result


def row_of(field: Key) -> Mapping[str, Any]:
    """The row of a field of kubelet. Empty if there is none."""
    row: Mapping[str, Any] = {"fields": data.kubelet_fields()["fields"]}
    for name in field:
        row = row["fields"].get(name, {}) if "fields" in row else row.get("items", {})
    return row


def _place(field: Key) -> Key:
    """The key of a field of kubelet."""
    return (*_PLACES[field[0]], *field[1:]) if field[0] in _PLACES else (*_CONFIG, *field)


def _add_kubelet(group: Mapping[str, Any], result: Facts) -> None:
    """Add the settings of kubelet. A flag replaces the field that it also sets."""
    kubelet = group.get("kubelet", {})
    for field, value in leaves(kubelet.get("config", {}), ()):
        if field:
            result[_place(field)] = Fact(path_of(field, "node_group.kubelet.config"), value, typed(value, row_of(field)))
    for name, reserved in (("kubeReserved", "kube"), ("systemReserved", "system")):
        for field, value in leaves(group.get("reserved", {}).get(reserved, {}), (name,)):
            result[_place(field)] = Fact(path_of(field[1:], f"node_group.reserved.{reserved}"), value, typed(value, row_of(field)))
    if "max_pods" in group:
        result["node_group", "max_pods"] = Fact("node_group.max_pods", group["max_pods"], exact(group["max_pods"]))
    for flag, texts in sorted(kubelet.get("flags", {}).items()):
        listed = [texts] if isinstance(texts, str) else texts
        for key, fact in _of_flag(flag, listed, result):
            result[key] = fact


def _of_flag(flag: str, texts: Sequence[str], result: Facts) -> Iterator[tuple[Key, Fact]]:
    path = path_of((flag,), "node_group.kubelet.flags")
    place = kubelet_settings.field_of(flag)
    known = flag in data.kubelet_flags()["flags"]
    if place is None or place[0] in ("registerWithTaints", "nodeLabels"):
        single = known and not kubelet_settings.is_map(flag) and not kubelet_settings.is_list(flag)
        value = texts[-1] if single else list(texts)
        yield ("node_group", "kubelet", "flags", flag), Fact(path, value, exact(value))
        return
    value = kubelet_settings.value_of(flag, texts)
    if isinstance(value, Mapping) and flag != kubelet_settings.FEATURE_GATES:
        key = _place(place)
        for other in [other for other in result if other[: len(key)] == key]:
            del result[other]
    for field, item in leaves(value, place):
        yield _place(field), Fact(path if field == place else path_of(_place(field)), item, typed(item, row_of(field)))
