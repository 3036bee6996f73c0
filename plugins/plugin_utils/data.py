# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts with a date: read once from the JSON files in C(_data), handed out read-only.

Every file names its source and its date; the scripts in C(tools/) of the repository write the files that can be generated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .errors import Problem, SpecError, nearest

_FOLDER = Path(__file__).parent / "_data"


def _frozen(value: Any) -> Any:
    """C(value) as something that a caller cannot change under the next caller's feet."""
    if isinstance(value, dict):
        return MappingProxyType({key: _frozen(item) for key, item in value.items()})
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    return value


def _read(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_bytes())
    return read


def _load(name: str) -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = _frozen(_read(name))
    return loaded


class _Rows(Mapping[str, Mapping[str, Any]]):
    """A table whose rows become mappings only when they are read: a user needs one of 1,400 types."""

    def __init__(self, columns: Sequence[str], rows: Mapping[str, Sequence[Any]], overrides: Mapping[str, Mapping[str, Any]]) -> None:
        self._columns = columns
        self._rows = rows
        self._overrides = overrides

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        corrected = self._overrides.get(name, {})
        cells = self._rows[name]
        return MappingProxyType({column: corrected.get(column, cell) for column, cell in zip(self._columns, cells, strict=True)})

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


@cache
def instance_types() -> Mapping[str, Mapping[str, Any]]:
    """Instance type → C({max_enis, ips_per_eni, vcpus, hypervisor, architecture, memory}) of its default network card.

    C(hypervisor) is C(nitro), C(xen) or C(metal); C(architecture) is None where EC2 does not tell;
    C(memory) is in MiB.
    """
    table = _read("instance_types")
    empty = [None] * len(table["columns"])
    overrides = _read("instance_types_overrides")["rows"]
    return _Rows(table["columns"], {**dict.fromkeys(overrides, empty), **table["rows"]}, overrides)


@cache
def kubelet_fields() -> Mapping[str, Any]:
    """The KubeletConfiguration of every known minor as one tree; C(kubernetes.kubelet_config_problems) reads it."""
    return _load("kubelet_fields")


@cache
def kubelet_flags() -> Mapping[str, Any]:
    """kubelet's flags with the minors that know them; C(kubernetes.kubelet_flag_problems) reads it."""
    return _load("kubelet_flags")


@cache
def kubelet_gates() -> Mapping[str, Any]:
    """kubelet's feature gates with their state in each minor; C(kubelet_effective.Gates) reads it."""
    return _read("kubelet_gates")


@cache
def kubelet_defaults() -> Mapping[str, Any]:
    """kubelet's defaults with their minors; C(kubelet_effective) reads it."""
    return _read("kubelet_defaults")


@cache
def karpenter() -> Mapping[str, Any]:
    """What the AWS provider of Karpenter interprets, renders and drops; C(artifacts/karpenter.py) reads it."""
    return _load("karpenter")


@cache
def kubernetes_versions() -> Mapping[str, Any]:
    """The EKS calendar (C(eks)) and which minors each family runs on (C(families)); minors as numbers, the last one included."""
    return _load("kubernetes_versions")


@cache
def bottlerocket_settings() -> Mapping[str, Any]:
    """The tree of settings that Bottlerocket's Kubernetes variants for AWS know."""
    settings: Mapping[str, Any] = _load("bottlerocket_settings")["settings"]
    return settings


@cache
def eks_anywhere() -> Mapping[str, Any]:
    """The documents of EKS Anywhere: kinds, their fields and types, providers and versions; C(anywhere/schema.py) reads it."""
    return _load("eks_anywhere")


@cache
def ecr_accounts() -> Mapping[str, Any]:
    """Which account serves EKS's own images in which region."""
    return _load("ecr_accounts")


def ecr_host(region: str, path: str = "cluster.region") -> str:
    """The registry that serves EKS's own images to nodes in C(region), for example C(602401143452.dkr.ecr.us-east-2.amazonaws.com).

    A region that the table does not know is served by another one of its partition, as the images' own scripts do it. Raises
    C(SpecError) where no account of the partition is known.
    """
    table = ecr_accounts()
    regions = table["regions"]
    partition = next(row for row in table["partitions"] if region.startswith(row["prefix"]))
    served = region if region in regions else partition["fallback"]
    if served is None:
        message = "the ECR account of EKS's images in this partition is unknown"
        raise SpecError(
            [
                Problem(
                    "containerd.unknown_region", path, message, region, nearest=nearest(region, regions), fix="set containerd.pause_image"
                )
            ]
        )
    return f"{regions[served]}.dkr.ecr.{served}.{partition['domain']}"


def pause_image(region: str, version: str | None = None, path: str = "cluster.region") -> str:
    """The pause image EKS publishes for C(region), for example C(602401143452.dkr.ecr.us-east-2.amazonaws.com/eks/pause:3.10)."""
    return f"{ecr_host(region, path)}/eks/pause:{version or ecr_accounts()['pause_version']}"
