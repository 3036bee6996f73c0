# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields that can be given in two places: united where they are disjoint, refused where they disagree.

A kubelet setting may stand in C(kubelet.config), in C(nodeadm.kubelet.config) or, for Bottlerocket, under
C(bottlerocket.settings.kubernetes); some of them (max pods, DNS, reservations) also have a field of our own, because
other values are computed from them. Each is looked up here once, so that nothing else has to know where it stood.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import Problems, joined, shown
from ..formats.secrets import find_secrets
from .fields import RESERVABLE, quantity
from .plain import INVALID
from .schema import integer, list_of

GROUP = "node_group"
Place = tuple[str, ...]

KUBELET_CONFIGS: tuple[Place, ...] = (("kubelet", "config"), ("nodeadm", "kubelet", "config"))
_BOTTLEROCKET: Place = ("bottlerocket", "settings", "kubernetes")

MAX_PODS: tuple[Place, ...] = (*((*place, "maxPods") for place in KUBELET_CONFIGS), (*_BOTTLEROCKET, "max-pods"))
DNS_IPS: tuple[Place, ...] = (*((*place, "clusterDNS") for place in KUBELET_CONFIGS), (*_BOTTLEROCKET, "cluster-dns-ip"))
KUBE_RESERVED: tuple[Place, ...] = (*((*place, "kubeReserved") for place in KUBELET_CONFIGS), (*_BOTTLEROCKET, "kube-reserved"))
SYSTEM_RESERVED: tuple[Place, ...] = (*((*place, "systemReserved") for place in KUBELET_CONFIGS), (*_BOTTLEROCKET, "system-reserved"))


def place_path(place: Iterable[str]) -> str:
    """The path of a place in the node group, as users read it."""
    path = GROUP
    for key in place:
        path = joined(path, key)
    return path


def take(tree: dict[str, Any], place: Place) -> Any:
    """Remove and return what stands at C(place), with mappings that are empty without it; INVALID when nothing stands there."""
    *parents, last = place
    chain: list[Any] = [tree]
    for key in parents:
        chain.append(chain[-1].get(key) if isinstance(chain[-1], dict) else None)
    if not isinstance(chain[-1], dict) or last not in chain[-1]:
        return INVALID
    value = chain[-1].pop(last)
    for key, parent, emptied in reversed(list(zip(parents, chain, chain[1:], strict=False))):
        if not emptied:
            del parent[key]
    return value


def merge_disjoint(
    first: Mapping[str, Any], first_path: str, second: Mapping[str, Any], second_path: str, problems: Problems
) -> dict[str, Any]:
    """Both mappings in one. The same leaf with another value is a problem that names both paths."""
    result = dict(first)
    for key, value in second.items():
        if key not in result:
            result[key] = value
        elif isinstance(result[key], Mapping) and isinstance(value, Mapping):
            result[key] = merge_disjoint(result[key], joined(first_path, key), value, joined(second_path, key), problems)
        elif result[key] != value or isinstance(result[key], bool) != isinstance(value, bool):
            report_twice(joined(second_path, key), value, joined(first_path, key), result[key], problems)
    return result


def report_twice(path: str, value: Any, other_path: str, other: Any, problems: Problems) -> None:
    """Report that two places give different values, which stay unsaid where one of them may be a secret."""
    key = path.rpartition(".")[2]
    secret = any(find_secrets(f"{key} = {one}") for one in (value, other) if isinstance(one, str))
    says, got = ("", {}) if secret else (f", which says {shown(other)}", {"value": value})
    problems.add(path, f"disagrees with {other_path}{says}", fix="give it in one place only", **got)


def merge_scalar(tree: dict[str, Any], places: Sequence[Place], own: Any, own_path: str, kind: Any, problems: Problems) -> tuple[Any, str]:
    """One value out of our own field (or None) and C(places); returns it with the path it came from."""
    found, origin = own, own_path
    for place in places:
        value = take(tree, place)
        if value is INVALID or value is None:
            continue
        path = place_path(place)
        value = kind(value, path, problems)
        if value is INVALID:
            continue
        if found is None:
            found, origin = value, path
        elif found != value:
            report_twice(path, value, origin, found, problems)
    return found, origin


def merge_max_pods(tree: dict[str, Any], own: Any, problems: Problems) -> tuple[Any, str]:
    """The node group's max pods: a number, C(auto), a rule, or None."""
    return merge_scalar(tree, MAX_PODS, own, f"{GROUP}.max_pods", integer(1, 65535), problems)


def merge_dns_ips(tree: dict[str, Any], own: list[str] | None, problems: Problems) -> tuple[list[str] | None, bool]:
    """The name servers the user gave, or None, and whether the node group gives them and not the cluster."""
    kind = list_of(_address, single=True, filled=True)
    found, origin = merge_scalar(tree, DNS_IPS, own, "cluster.dns_ips", kind, problems)
    return found, origin != "cluster.dns_ips"


def _address(value: Any, path: str, problems: Problems) -> Any:
    try:
        return str(ipaddress.ip_address(value)) if isinstance(value, str) else _not_an_address(value, path, problems)
    except ValueError:
        return _not_an_address(value, path, problems)


def _not_an_address(value: Any, path: str, problems: Problems) -> Any:
    problems.add(path, "is not an IP address", value=value, allowed="an IPv4 or IPv6 address")
    return INVALID


def merge_reserved(
    tree: dict[str, Any], places: Sequence[Place], own: Any, own_path: str, problems: Problems
) -> tuple[bool, dict[str, str]]:
    """(computed, explicit): whether C(auto) was asked for, and the values given by hand, wherever they stood."""
    automatic = own == "auto"
    result: dict[str, Any] = {} if automatic or own is None else dict(own)
    for place in places:
        values = take(tree, place)
        path = place_path(place)
        if values is INVALID or values is None:
            continue
        if not isinstance(values, dict):
            problems.add(path, "must be a mapping of quantities", value=values, allowed=", ".join(RESERVABLE))
            continue
        checked = {key: quantity(value, joined(path, key), problems) for key, value in values.items()}
        known = {key: value for key, value in checked.items() if value is not INVALID and _reservable(key, path, problems)}
        result = merge_disjoint(result, own_path, known, path, problems)
    names = [name for name, value in result.items() if value == "auto"]
    return automatic or bool(names), {name: value for name, value in result.items() if value != "auto"}


def _reservable(key: str, path: str, problems: Problems) -> bool:
    if key not in RESERVABLE:
        problems.add(joined(path, key), "cannot be reserved", allowed=", ".join(RESERVABLE), fix="remove it")
    return key in RESERVABLE


def merge_kubelet_config(tree: dict[str, Any], problems: Problems) -> dict[str, Any]:
    """C(kubelet.config) and C(nodeadm.kubelet.config) in one, after the values above were taken out."""
    first, second = (take(tree, place) for place in KUBELET_CONFIGS)
    second_path = place_path(KUBELET_CONFIGS[1])
    if second is not INVALID and not isinstance(second, dict):
        problems.add(second_path, "must be a mapping", value=second, allowed="KubeletConfiguration fields")
        second = INVALID
    base = first if isinstance(first, dict) else {}
    return merge_disjoint(base, place_path(KUBELET_CONFIGS[0]), second, second_path, problems) if isinstance(second, dict) else base


def merge_kubelet_flags(tree: dict[str, Any], problems: Problems) -> dict[str, tuple[str, ...]]:
    """C(kubelet.flags) and the C(--name=value) words of C(nodeadm.kubelet.flags), by name."""
    own = take(tree, ("kubelet", "flags"))
    flags = {name: tuple(value if isinstance(value, list) else [value]) for name, value in (own if isinstance(own, dict) else {}).items()}
    words = take(tree, ("nodeadm", "kubelet", "flags"))
    path = place_path(("nodeadm", "kubelet", "flags"))
    if words is INVALID or words is None:
        return flags
    if not isinstance(words, list):
        problems.add(path, "must be a list of flags", value=words, allowed='["--name=value", …]')
        return flags
    added: dict[str, tuple[str, ...]] = {}
    for index, word in enumerate(words):
        name, equals, value = str(word).partition("=")
        if not isinstance(word, str) or not equals or not name.startswith("--") or not name[2:]:
            problems.add(joined(path, index), "is not one flag with its value", value=word, allowed="--name=value")
        elif not value.isprintable():
            problems.add(joined(path, index), "contains a line break or another control character", value=word, allowed="--name=value")
        elif name[2:] in flags:
            other = joined(f"{GROUP}.kubelet.flags", name[2:])
            problems.add(joined(path, index), f"is also given in {other}", value=word, fix="give it in one place only")
        else:
            added[name[2:]] = (*added.get(name[2:], ()), _unquoted(value))
    return flags | added


def _unquoted(value: str) -> str:
    """A value as kubelet gets it: the quotes around it are systemd's, which splits the line that nodeadm writes."""
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" and value[0] not in value[1:-1]
    return value[1:-1] if quoted else value
