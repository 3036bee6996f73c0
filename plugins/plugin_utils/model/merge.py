# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Merges fields that can be given in several places. Disjoint values are combined; conflicting values are errors.

A kubelet setting can be given in C(kubelet.config), in C(nodeadm.kubelet.config) or, for Bottlerocket, under
C(bottlerocket.settings.kubernetes). Max pods, DNS and reservations also have fields of their own, because other values are
computed from them. The functions below only read the node group; C(without) returns it without the places that were merged.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from .. import kubelet
from ..errors import Problems, joined, shown
from ..formats.secrets import find_secrets
from ..kubelet_settings import FEATURE_GATES, field_of, is_same, is_same_scalar, value_of
from .fields import RESERVABLE
from .plain import INVALID
from .schema import integer, list_of
from .values import quantity

GROUP = "node_group"
Place = tuple[str, ...]

KUBELET_CONFIGS: tuple[Place, ...] = (("kubelet", "config"), ("nodeadm", "kubelet", "config"))
_BOTTLEROCKET: Place = ("bottlerocket", "settings", "kubernetes")

MAX_PODS: tuple[Place, ...] = (*((*place, "maxPods") for place in KUBELET_CONFIGS), (*_BOTTLEROCKET, "max-pods"))
DNS_IPS: tuple[Place, ...] = (*((*place, "clusterDNS") for place in KUBELET_CONFIGS), (*_BOTTLEROCKET, "cluster-dns-ip"))
KUBE_RESERVED: tuple[Place, ...] = (*((*place, "kubeReserved") for place in KUBELET_CONFIGS), (*_BOTTLEROCKET, "kube-reserved"))
SYSTEM_RESERVED: tuple[Place, ...] = (*((*place, "systemReserved") for place in KUBELET_CONFIGS), (*_BOTTLEROCKET, "system-reserved"))
KUBELET_FLAGS: tuple[Place, ...] = (("kubelet", "flags"), ("nodeadm", "kubelet", "flags"))

DOCUMENT_HEAD = {"apiVersion": kubelet.API_VERSION, "kind": kubelet.KIND}

COMPUTED_PLACES = (*MAX_PODS, *DNS_IPS, *KUBE_RESERVED, *SYSTEM_RESERVED)
"""Every other place of a setting that has a field of its own."""
KUBELET_PLACES = (*KUBELET_CONFIGS, *KUBELET_FLAGS)


@cache
def place_path(place: Place) -> str:
    """Return the path of a place in the node group, as messages show it. Cached, because every group looks at all places."""
    path = GROUP
    for key in place:
        path = joined(path, key)
    return path


def value_at(tree: Mapping[str, Any], place: Place) -> Any:
    """Return the value at C(place), or INVALID if there is none."""
    value: Any = tree
    for key in place:
        if not isinstance(value, dict) or key not in value:
            return INVALID
        value = value[key]
    return value


def without(tree: dict[str, Any], places: Iterable[Place]) -> dict[str, Any]:
    """Return a copy of C(tree) without the values at C(places), and without the mappings that become empty."""
    for place in places:
        if value_at(tree, place) is not INVALID:
            tree = _without_one(tree, place)
    return tree


def _without_one(tree: dict[str, Any], place: Place) -> dict[str, Any]:
    key, *below = place
    child = _without_one(tree[key], tuple(below)) if below else {}
    return {name: child if name == key else value for name, value in tree.items() if name != key or child}


def merge_disjoint(
    first: Mapping[str, Any],
    first_path: str | Callable[[Place], str],
    second: Mapping[str, Any],
    second_path: str,
    problems: Problems,
    place: Place = (),
) -> dict[str, Any]:
    """Merge two mappings. If both set the same leaf to different values, report a problem that names both paths.

    first_path: of C(first), or a function that returns the path of a place in it. place: of the mappings, for that function.
    """
    result = dict(first)
    for key, value in second.items():
        if key not in result:
            result[key] = value
        elif isinstance(result[key], Mapping) and isinstance(value, Mapping):
            below = first_path if callable(first_path) else joined(first_path, key)
            result[key] = merge_disjoint(result[key], below, value, joined(second_path, key), problems, (*place, key))
        elif result[key] != value or isinstance(result[key], bool) != isinstance(value, bool):
            path = first_path((*place, key)) if callable(first_path) else joined(first_path, key)
            report_twice(joined(second_path, key), value, path, result[key], problems)
    return result


def report_twice(path: str, value: Any, other_path: str, other: Any, problems: Problems) -> None:
    """Report that two places give different values. The values are left out of the message if one of them may be a secret."""
    key = path.rpartition(".")[2]
    secret = any(find_secrets(f"{key} = {one}") for one in (value, other) if isinstance(one, str))
    says, got = ("", {}) if secret else (f", which is {shown(other)}", {"value": value})
    problems.add("input.conflict", path, f"conflicts with {other_path}{says}", fix="set it in one place only", **got)


Given = tuple[str, Any]
"""The path of a place in the input, and the value there."""


def _given(tree: dict[str, Any], places: Iterable[Place], flags: Iterable[Given]) -> list[Given]:
    found = [*((place_path(place), value_at(tree, place)) for place in places), *flags]
    return [(path, value) for path, value in found if value is not INVALID and value is not None]


def merge_scalar(
    tree: dict[str, Any], places: Sequence[Place], own: Any, own_path: str, kind: Any, problems: Problems, flags: Iterable[Given] = ()
) -> tuple[Any, str]:
    """Return the one value given in our own field (C(own), or None), at C(places) or by C(flags), and the path that gives it."""
    found, origin = own, own_path
    for path, raw in _given(tree, places, flags):
        value = kind(raw, path, problems)
        if value is INVALID:
            continue
        if found is None:
            found, origin = value, path
        elif found != value:
            report_twice(path, value, origin, found, problems)
    return found, origin


def merge_max_pods(tree: dict[str, Any], own: Any, problems: Problems, flags: Iterable[Given] = ()) -> tuple[Any, str]:
    """Return the max pods of the node group (a number, C(auto), a rule, or None) and the path that gives it."""
    return merge_scalar(tree, MAX_PODS, own, f"{GROUP}.max_pods", integer(1, 65535), problems, flags)


def merge_dns_ips(
    tree: dict[str, Any], own: list[str] | None, problems: Problems, flags: Iterable[Given] = ()
) -> tuple[list[str] | None, bool]:
    """Return the name servers in the input, or None, and whether they come from the node group instead of the cluster."""
    kind = list_of(_address, single=True, filled=True)
    found, origin = merge_scalar(tree, DNS_IPS, own, "cluster.dns_ips", kind, problems, flags)
    return found, origin != "cluster.dns_ips"


def _address(value: Any, path: str, problems: Problems) -> Any:
    try:
        return str(ipaddress.ip_address(value)) if isinstance(value, str) else _not_an_address(value, path, problems)
    except ValueError:
        return _not_an_address(value, path, problems)


def _not_an_address(value: Any, path: str, problems: Problems) -> Any:
    problems.add("input.invalid_ip", path, "is not an IP address", value=value, allowed="an IPv4 or IPv6 address")
    return INVALID


def merge_reserved(
    tree: dict[str, Any], places: Sequence[Place], own: Any, own_path: str, problems: Problems, flags: Iterable[Given] = ()
) -> tuple[bool, dict[str, str]]:
    """Return whether C(auto) was requested, and the explicit values from all places. flags: those of a flag of the same meaning."""
    automatic = own == "auto"
    result: dict[str, Any] = {} if automatic or own is None else dict(own)
    paths = {key: joined(own_path, key) for key in result}
    for path, values in _given(tree, places, flags):
        if not isinstance(values, dict):
            problems.add("input.wrong_type", path, "must be a mapping of quantities", value=values, allowed=", ".join(RESERVABLE))
            continue
        checked = {key: quantity(value, joined(path, key), problems) for key, value in values.items()}
        known = {key: value for key, value in checked.items() if value is not INVALID and _reservable(key, path, problems)}
        for key, value in known.items():
            if key not in result:
                result[key], paths[key] = value, joined(path, key)
            elif not is_same_scalar(result[key], value):
                report_twice(joined(path, key), value, paths[key], result[key], problems)
    names = [name for name, value in result.items() if value == "auto"]
    return automatic or bool(names), {name: value for name, value in result.items() if value != "auto"}


def _reservable(key: str, path: str, problems: Problems) -> bool:
    if key not in RESERVABLE:
        problems.add("reserved.unknown_resource", joined(path, key), "cannot be reserved", allowed=", ".join(RESERVABLE), fix="remove it")
    return key in RESERVABLE


def merge_kubelet_config(tree: dict[str, Any], problems: Problems) -> dict[str, Any]:
    """Merge C(kubelet.config) and C(nodeadm.kubelet.config) of a group C(without) the COMPUTED_PLACES.

    The result lacks C(apiVersion) and C(kind) with the only values that kubelet accepts, which every output contains anyway.
    """
    first, second = (value_at(tree, place) for place in KUBELET_CONFIGS)
    second_path = place_path(KUBELET_CONFIGS[1])
    if second is not INVALID and not isinstance(second, dict):
        problems.add("input.wrong_type", second_path, "must be a mapping", value=second, allowed="KubeletConfiguration fields")
        second = INVALID
    base = first if isinstance(first, dict) else {}
    if isinstance(second, dict):
        base = merge_disjoint(base, place_path(KUBELET_CONFIGS[0]), second, second_path, problems)
    return {name: value for name, value in base.items() if value != DOCUMENT_HEAD.get(name, INVALID)}


def without_flagged(
    tree: dict[str, Any], config: dict[str, Any], flags: Mapping[str, tuple[str, ...]], problems: Problems
) -> dict[str, Any]:
    """Return C(config), the merged configuration of C(tree), without values that a flag also sets. Report values that differ.

    kubelet prefers the flag, so a different value in the configuration would have no effect.
    """
    for flag, values in flags.items():
        field = field_of(flag)
        value = INVALID if field is None or not all(isinstance(one, str) for one in values) else value_at(config, field)
        if field is None or value is INVALID or value is None:
            continue
        given = value_of(flag, values)
        if flag == FEATURE_GATES and isinstance(given, dict) and isinstance(value, dict):
            for gate in given.keys() & value.keys():
                if not is_same_scalar(given[gate], value[gate]):
                    _report_flagged(tree, flag, (*field, gate), given[gate], value[gate], problems)
        elif is_same(flag, given, value):
            config = _without_one(config, field)
        else:
            _report_flagged(tree, flag, field, ",".join(values), value, problems)
    return config


def _report_flagged(tree: dict[str, Any], flag: str, field: Place, given: Any, value: Any, problems: Problems) -> None:
    place = next((place for place in KUBELET_CONFIGS if value_at(tree, (*place, *field)) is not INVALID), KUBELET_CONFIGS[0])
    report_twice(flag_path(tree, flag), given, place_path((*place, *field)), value, problems)


def flag_path(tree: dict[str, Any], flag: str) -> str:
    """Return the path of a flag in the node group."""
    own, words = (value_at(tree, place) for place in KUBELET_FLAGS)
    listed = isinstance(words, list) and not (isinstance(own, dict) and flag in own)
    return _word_path(words, flag) if listed else joined(place_path(KUBELET_FLAGS[0]), flag)


def _word_path(words: list[Any], flag: str) -> str:
    """Return the path of the first word in C(nodeadm.kubelet.flags) that sets a flag."""
    path = place_path(KUBELET_FLAGS[1])
    found = (index for index, word in enumerate(words) if isinstance(word, str) and word.startswith(f"--{flag}="))
    return next((joined(path, index) for index in found), path)


def merge_kubelet_flags(tree: dict[str, Any], problems: Problems, others: Container[str] = ()) -> dict[str, tuple[str, ...]]:
    """Merge C(kubelet.flags) and the C(--name=value) words of C(nodeadm.kubelet.flags), by flag name. others: flags that are left out."""
    own, words = (value_at(tree, place) for place in KUBELET_FLAGS)
    fields = {name: value for name, value in (own if isinstance(own, dict) else {}).items() if name not in others}
    flags = {name: tuple(value if isinstance(value, list) else [value]) for name, value in fields.items()}
    path = place_path(KUBELET_FLAGS[1])
    if words is INVALID or words is None:
        return flags
    if not isinstance(words, list):
        problems.add("input.wrong_type", path, "must be a list of flags", value=words, allowed='["--name=value", …]')
        return flags
    added: dict[str, tuple[str, ...]] = {}
    for index, word in enumerate(words):
        name, equals, value = str(word).partition("=")
        if not isinstance(word, str) or not equals or not name.startswith("--") or not name[2:]:
            problems.add("nodeadm.invalid_flag", joined(path, index), "is not one flag with its value", value=word, allowed="--name=value")
        elif not value.isprintable():
            problems.add(
                "nodeadm.invalid_flag",
                joined(path, index),
                "contains a line break or another control character",
                value=word,
                allowed="--name=value",
            )
        elif name[2:] not in others:
            added[name[2:]] = (*added.get(name[2:], ()), unquoted(value))
    for name, values in added.items():
        own = flags.get(name)
        if own is not None and not is_same(name, value_of(name, [str(value) for value in own]), value_of(name, values)):
            report_twice(
                _word_path(words, name), ",".join(values), joined(place_path(KUBELET_FLAGS[0]), name), ",".join(map(str, own)), problems
            )
    return added | flags


def unquoted(value: str) -> str:
    """Remove surrounding quotes, as systemd does when it splits the line that nodeadm writes."""
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" and value[0] not in value[1:-1]
    return value[1:-1] if quoted else value
