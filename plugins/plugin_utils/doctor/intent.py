# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of kubelet that a node should have: as the inventory describes it, or else as its user data says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..capacity import InstanceShape
from ..difference.fact import path_of
from ..explanation.al2023 import DROP_INS
from ..explanation.explain import explain
from ..explanation.model import Explanation
from ..explanation.outcome import PLACEHOLDERS, machine
from ..formats import plain
from ..kubelet_settings import NODE_LABELS, TAINTS
from ..outputs.named_files import with_files
from ..outputs.user_data import render
from ..sources.node import HIDDEN, Facts, instance_of, kubelet_version, minor

INVENTORY, USER_DATA = "the inventory", "its user data"
_STATED = ("user_data", "service_cidr")
"""Origins of a setting that was described. The others follow from the image or the instance."""
TAINTS_FIELD = "registerWithTaints"
_FAMILIES = ("al2", "al2023", "ubuntu")


@dataclass(frozen=True)
class Intent:
    """What was described. origin: where. config: fields of kubelet by path. flags: of kubelet by name, without dashes."""

    origin: str
    config: Mapping[str, Any]
    flags: Mapping[str, Any]


@dataclass(frozen=True)
class Described:
    """The variables of a host. cluster, group: C(eks_node_cluster) and C(eks_node_group), or None."""

    cluster: Any = None
    group: Any = None


def intent(facts: Facts, described: Described) -> Intent | None:
    """The settings, or None if nothing describes the node. Raises C(SpecError) for variables with problems.

    A node that this collection changed while it ran no longer has the settings of its user data.
    """
    version, instance = minor(kubelet_version(facts)), instance_of(facts)
    if described.group is not None:
        return _of_group(json.dumps([described.cluster, described.group], sort_keys=True), instance, version)
    found, family = plain.mapping(facts, "user_data"), plain.text(facts.get("family"))
    text = found.get("text")
    if plain.mapping(facts, "info").get("ours") or not isinstance(text, str) or not text or family not in _FAMILIES:
        return None
    return _of_text(USER_DATA, text, family, instance, version)


@lru_cache(maxsize=64)
def _of_group(variables: str, instance: InstanceShape | None, version: int | None) -> Intent | None:
    """variables: the cluster and the group as JSON. The nodes of a group have the same."""
    cluster, group = json.loads(variables)
    rendered = render(cluster, with_files(group, "."))
    family = rendered.spec.family
    return _of_text(INVENTORY, rendered.document.text, family, instance, version) if family in _FAMILIES else None


@lru_cache(maxsize=64)
def _of_text(origin: str, text: str, family: str, instance: InstanceShape | None, version: int | None) -> Intent:
    found = explain(text, family, machine(instance, None if version is None else (1, version)))
    config = {} if _can_change(found) else _stated(found.config)
    flags = {name.lstrip("-"): value for name, value in _stated(found.flags).items()}
    return Intent(origin, config, {name: flags[name] for name in (NODE_LABELS, TAINTS) if name in flags})


def registration(flags: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, str]:
    """The labels and taints with which kubelet registers the node, by path. flags: by name. config: fields of kubelet."""
    labels = (pair.partition("=")[::2] for pair in ",".join(_listed(flags.get(NODE_LABELS))).split(",") if pair)
    found = {path_of((name,), "labels"): value for name, value in labels}
    taints = [text for one in _listed(flags.get(TAINTS)) for text in one.split(",") if text]
    taints += [_taint(one) for one in plain.mappings(config.get(TAINTS_FIELD))]
    return found | ({"taints": ", ".join(sorted(text.replace("=:", ":") for text in taints))} if taints else {})


def _taint(taint: Mapping[str, Any]) -> str:
    key, value, effect = (plain.text(taint.get(name)) for name in ("key", "value", "effect"))
    return f"{key}={value}:{effect}"


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [one for one in value if isinstance(one, str)] if isinstance(value, (list, tuple)) else []


def _can_change(found: Explanation) -> bool:
    """Whether a command of the user data mentions a file with the settings, so that it can have changed them."""
    paths = {file.path for file in found.files} | {DROP_INS}
    return any(item.where is not None and item.what in paths for item in found.unknown)


def _stated(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one.value for name, one in settings.items() if one.source in _STATED and one.value is not None and _is_known(one.value)}


def _is_known(value: Any) -> bool:
    """False for values that only the instance knows, and for values that the node did not tell because they may be secret."""
    return not any(mark in text for text in _texts(value) for mark in (HIDDEN, *PLACEHOLDERS))


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in _texts(item)]
    return [text for item in value for text in _texts(item)] if isinstance(value, (list, tuple)) else [str(value)]
