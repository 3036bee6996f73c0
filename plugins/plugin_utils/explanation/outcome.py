# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows from user data on one kind of node, and what follows whatever the node is, if its type or version is not given."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .. import data
from ..capacity import InstanceShape
from ..kubelet_fields import Version
from ..readers.model import Place
from ..versions import known_minors
from .model import File, Setting, Unknown

INSTANCE_ID, PRIVATE_DNS_NAME = "<instance-id>", "<private-dns-name>"
REGION, AVAILABILITY_ZONE = "<region>", "<availability-zone>"
IPV4, IPV6 = "<ipv4>", "<ipv6>"
PAUSE_IMAGE = "<pause-image>"
CLUSTER_NAME, ENDPOINT, AUTHORITY = "<cluster-name>", "<api-server-endpoint>", "<certificate-authority>"

_OF_INSTANCE = "only the instance knows it"
_OF_EKS = "EKS or Karpenter adds the cluster to this user data"
PLACEHOLDERS: Mapping[str, str] = {
    **dict.fromkeys((INSTANCE_ID, PRIVATE_DNS_NAME, REGION, AVAILABILITY_ZONE, IPV4, IPV6), _OF_INSTANCE),
    PAUSE_IMAGE: "the image's script computes it from the region and the partition",
    **dict.fromkeys((CLUSTER_NAME, ENDPOINT, AUTHORITY), _OF_EKS),
}
"""Placeholders in files and settings, and why their values are unknown."""

OF_TYPE, OF_VERSION = "depends on the instance type", "depends on the Kubernetes version"
OLDEST_MINOR = 28
"""The oldest kubelet whose defaults the tables have."""
_SMALL, _LARGE = InstanceShape(2, 2, 1, memory=512), InstanceShape(15, 50, 192, memory=1 << 20)
"""Two machines that have in common only what all have."""


@dataclass(frozen=True)
class Machine:
    """What the caller knows about the nodes. shape: None if the type is not given. version: None if it is not given."""

    shape: InstanceShape | None = None
    version: Version = None


def machine(shape: InstanceShape | None, version: Version) -> Machine:
    """The machine. A version whose kubelet the tables do not have is unknown."""
    is_known = version is not None and version[0] == 1 and OLDEST_MINOR <= version[1] <= known_minors()[1]
    return Machine(shape, version if is_known else None)


@dataclass(frozen=True)
class Kind:
    """One kind of node. shape, minor: of it."""

    shape: InstanceShape
    minor: int


@dataclass
class Outcome:
    """What follows from user data on one kind of node.

    files: path → text. unknown: path or name → the reason why it cannot be known. config, flags: of kubelet. warnings: what the image's
    program logs.
    """

    files: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    config: dict[str, Setting] = field(default_factory=dict)
    flags: dict[str, Setting] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def kinds(machine: Machine, family: str) -> list[tuple[str, Kind]]:
    """The kinds of nodes that C(machine) can be, each with what a difference from the first one shows."""
    newest = data.kubernetes_versions()["families"][family].get("until", known_minors()[1])
    minor = newest if machine.version is None else machine.version[1]
    first = Kind(machine.shape or _SMALL, minor)
    found = [("", first)]
    if machine.version is None:
        found += [(OF_VERSION, replace(first, minor=other)) for other in range(OLDEST_MINOR, newest)]
    if machine.shape is None:
        found.append((OF_TYPE, replace(first, shape=_LARGE)))
    return found


def combine(outcomes: Iterable[tuple[str, Outcome]]) -> Outcome:
    """What all outcomes have in common. What differs is unknown, for the reason of the outcome that differs."""
    (_unused, first), *others = outcomes
    result = Outcome(dict(first.files), dict(first.unknown), dict(first.config), dict(first.flags), first.warnings)
    for reason, other in others:
        result.warnings = tuple(text for text in result.warnings if text in other.warnings)
        for path in first.files.keys() ^ other.files.keys() | {path for path in first.files if first.files[path] != other.files.get(path)}:
            result.unknown.setdefault(path, other.unknown.get(path, reason))
        for path, why in other.unknown.items():
            result.unknown.setdefault(path, why)
        _merge(result.config, first.config, other.config, reason, result.unknown)
        _merge(result.flags, first.flags, other.flags, reason, result.unknown)
    result.files = {path: text for path, text in result.files.items() if path not in result.unknown}
    return result


def _merge(
    result: dict[str, Setting], first: Mapping[str, Setting], other: Mapping[str, Setting], reason: str, unknown: dict[str, str]
) -> None:
    for name in first.keys() | other.keys():
        one, two = first.get(name), other.get(name)
        if one != two:
            known = first[name] if name in first else other[name]
            same = one is not None and two is not None and one.source == two.source
            result[name] = replace(known, value=None, path=known.path if same else None, where=known.where if same else None)
            unknown.setdefault(name, reason)


def files_of(outcome: Outcome, written_by: Callable[[str], str]) -> list[File]:
    """The files of an outcome, also those whose content is unknown."""
    settings = outcome.config.keys() | outcome.flags.keys()
    paths = outcome.files.keys() | (outcome.unknown.keys() - settings)
    return [File(path, written_by(path), outcome.files.get(path)) for path in sorted(paths) if path[:1] == "/" or path[1:3] == ":\\"]


def authority(text: str) -> str | None:
    """The text of a certificate authority in base64. None for other text."""
    try:
        return base64.b64decode(text, validate=True).decode("utf-8") or None
    except ValueError:
        return None


def used_placeholders(texts: Iterable[Any]) -> list[Unknown]:
    """The placeholders in values."""
    together = "\n".join(str(text) for text in texts)
    return [Unknown(name, why) for name, why in PLACEHOLDERS.items() if name in together]


def of_user(value: Any, path: str, where: Place | None) -> Setting:
    """A setting of user data."""
    return Setting(value, "user_data", path, where)
