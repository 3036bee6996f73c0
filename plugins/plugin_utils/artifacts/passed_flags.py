# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the flags of kubelet that we pass to a bootstrap script with the flags in a call of the user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..errors import Problem, Problems, shown
from ..kubelet_settings import NODE_LABELS, TAINTS, is_list, is_map, is_same, value_of
from ..model.spec import NodeSpec
from . import origins
from .kubelet_precedence import labels_of, taints_of

CONFIG_DIR = "config-dir"
FIX = "set it in one place only"
_FIELDS = {"max-pods": "maxPods", "kube-reserved": "kubeReserved", "system-reserved": "systemReserved"}


@dataclass(frozen=True)
class Given:
    """A value that our call passes. name: as it is passed. path: the input that gives it. is_computed: the user did not write it."""

    name: str
    value: str
    path: str
    is_computed: bool = False


Difference = tuple[Given, str | None]
"""A value of ours, and the different value of the call; None if the call does not pass it."""


def differences(
    spec: NodeSpec, words: Iterable[str], found: Mapping[str, list[str]], paths: Mapping[str, str] | None = None
) -> Iterator[Difference]:
    """Every flag in C(words), ours, that C(found), those of the call, lack or set differently. paths: of flags whose place is known."""
    labels = labels_of(found.get(NODE_LABELS, ()))
    for key, value in spec.labels.items():
        if labels.get(key) != value:
            yield Given(f"label {key}", value, origins.of_label(spec, key)), labels.get(key)
    taints = {f"{taint.key}:{taint.effect}": taint.value for taint in taints_of(",".join(found.get(TAINTS, [])[-1:]))}
    for taint in spec.taints:
        name = f"{taint.key}:{taint.effect}"
        if taints.get(name) != taint.value:
            yield Given(f"taint {name}", taint.value, origins.of_taints(spec)), taints.get(name)
    wanted: dict[str, list[str]] = {}
    for word in words:
        name, _unused, value = word.removeprefix("--").partition("=")
        wanted.setdefault(name, []).append(value)
    for name, values in wanted.items():
        if name in (NODE_LABELS, TAINTS):
            continue
        other = found.get(name)
        if other is None or not _is_same(name, values, other):
            path = origins.of_field(spec, (_FIELDS[name],)) if name in _FIELDS else origins.of_flag(spec, name)
            shows_all = is_list(name) or is_map(name)
            passed = None if other is None else ",".join(other) if shows_all else other[-1]
            yield Given(f"--{name}", ",".join(values), (paths or {}).get(name, path)), passed


def _is_same(name: str, values: list[str], found: list[str]) -> bool:
    if name == CONFIG_DIR:
        return found[-1].rstrip("/") == values[-1].rstrip("/")
    if is_map(name):
        wanted, other = value_of(name, values), value_of(name, found)
        return all(key in other and is_same(name, value, other[key]) for key, value in wanted.items())
    return is_same(name, value_of(name, values), value_of(name, found))


def warn(found: Iterable[Difference], script: str, looked_up: Iterable[str], warnings: Problems) -> None:
    """Add a warning for each value of ours that a call of C(script) in C(override) changes, or does not pass.

    looked_up: what the script gets from EKS if it is missing.
    """
    ignored = tuple(looked_up)
    for given, other in found:
        if given.is_computed or (other is None and given.name in ignored):
            continue
        if other is None:
            value = "" if given.name == f"--{CONFIG_DIR}" else f", which is {shown(given.value)},"
            message = f"does not pass {given.name} to {script}, so {given.path}{value} has no effect"
        else:
            message = f"passes {given.name} {shown(other)} to {script}, which replaces {shown(given.value)} of {given.path}"
        warnings.extend([Problem("user_data.replaced_by_override", "node_group.override", message, fix=FIX)])
