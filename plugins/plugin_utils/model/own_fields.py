# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flags and fields of kubelet that set what a field of the node group sets, too: labels, taints, max pods, name servers, reservations.

Each is one more place of that field. Equal values count once, disjoint labels and taints are united, and a different value is a problem
that names both places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from ..errors import Problems, joined
from ..kubelet_settings import NODE_LABELS, TAINTS, flag_name, is_list, value_of
from .fields import NODE_GROUP
from .merge import GROUP, KUBELET_CONFIGS, KUBELET_FLAGS, Given, place_path, report_twice, unquoted, value_at
from .plain import INVALID

FIELD_OF_FLAG: Mapping[str, str] = {
    NODE_LABELS: "labels",
    TAINTS: "taints",
    "max-pods": "max_pods",
    "cluster-dns": "kubelet.config.clusterDNS",
    "kube-reserved": "reserved.kube",
    "system-reserved": "reserved.system",
}
"""Flag → the field of the node group."""

TAINT_PLACES = tuple((*place, "registerWithTaints") for place in KUBELET_CONFIGS)


def flag_places(group: Mapping[str, Any], flag: str) -> list[Given]:
    """Every place in the group that sets C(flag), with the value of its field. Several items of a list flag are one value."""
    texts = list(_texts(group, flag))
    if flag in (NODE_LABELS, TAINTS):
        return list(texts)
    if not is_list(flag):
        return [(path, value_of(flag, [text])) for path, text in texts]
    words = place_path(KUBELET_FLAGS[1])
    groups = (list(found) for _unused, found in groupby(texts, lambda found: found[0].startswith(words)))
    return [(found[0][0], value_of(flag, [text for _unused, text in found])) for found in groups]


def _texts(group: Mapping[str, Any], flag: str) -> Iterator[tuple[str, str]]:
    own, words = value_at(group, KUBELET_FLAGS[0]), value_at(group, KUBELET_FLAGS[1])
    if isinstance(own, dict) and flag in own:
        path = joined(place_path(KUBELET_FLAGS[0]), flag)
        yield from ((path, str(value)) for value in (own[flag] if isinstance(own[flag], list) else [own[flag]]))
    for index, word in enumerate(words if isinstance(words, list) else []):
        name, equals, value = str(word).partition("=")
        if name.startswith("--") and equals and flag_name(name) == flag:
            yield joined(place_path(KUBELET_FLAGS[1]), index), unquoted(value)


def merge_labels(group: Mapping[str, Any], problems: Problems) -> dict[str, str]:
    """The labels of the field and of C(--node-labels)."""
    found: dict[str, str] = {}
    paths: dict[str, str] = {}
    for path, labels in _label_places(group, problems):
        for key, value in labels.items():
            if key not in found:
                found[key], paths[key] = value, joined(path, key)
            elif found[key] != value:
                report_twice(joined(path, key), value, paths[key], found[key], problems)
    return dict(sorted(found.items()))


def label_path(group: Mapping[str, Any], key: str) -> str:
    """The path that gives a label."""
    paths = [joined(path, key) for path, labels in _label_places(group, Problems()) if key in labels]
    return paths[0] if paths else joined(f"{GROUP}.labels", key)


def _label_places(group: Mapping[str, Any], problems: Problems) -> Iterator[tuple[str, Mapping[str, str]]]:
    yield f"{GROUP}.labels", group.get("labels", {})
    for path, text in flag_places(group, NODE_LABELS):
        pairs = (pair.partition("=") for pair in text.split(",") if pair)
        labels = NODE_GROUP["labels"]({key.strip(): value.strip() for key, _sign, value in pairs}, path, problems)
        yield path, labels if isinstance(labels, Mapping) else {}


def merge_taints(group: Mapping[str, Any], problems: Problems) -> list[Given]:
    """The taints of the field, of C(registerWithTaints) and of C(--register-with-taints), each with its path."""
    found: dict[tuple[str, str], Given] = {}
    rest: list[Given] = []
    for place, path, taint in _taint_places(group, problems):
        key = (str(taint.get("key")), str(taint.get("effect")))
        first = found.get(key) if "key" in taint and "effect" in taint else None
        if first is None or first[0].startswith(f"{place}["):
            rest.append((path, taint))
            found.setdefault(key, (path, taint))
        elif first[1].get("value", "") != taint.get("value", ""):
            report_twice(path, taint.get("value", ""), first[0], first[1].get("value", ""), problems)
    return rest


def taints_path(group: Mapping[str, Any]) -> str:
    """The place that gives the first taint."""
    return next((place for place, _path, _taint in _taint_places(group, Problems())), f"{GROUP}.taints")


def _taint_places(group: Mapping[str, Any], problems: Problems) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for index, taint in enumerate(group.get("taints", [])):
        yield f"{GROUP}.taints", joined(f"{GROUP}.taints", index), taint
    given = [(place_path(place), value_at(group, place)) for place in TAINT_PLACES]
    given += [(path, [item for item in text.split(",") if item]) for path, text in flag_places(group, TAINTS)]
    for place, value in given:
        taints = INVALID if value is INVALID or value is None else NODE_GROUP["taints"](value, place, problems)
        for index, taint in enumerate(taints if isinstance(taints, list) else []):
            yield place, joined(place, index), taint
