# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts with a date: read once from the JSON files in C(_data), handed out read-only.

Every file names its source and its date; the scripts in C(tools/) of the repository write those that a machine can write.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

_FOLDER = Path(__file__).parent / "_data"


def _frozen(value: Any) -> Any:
    """C(value) as something that a caller cannot change under the next caller's feet."""
    if isinstance(value, dict):
        return MappingProxyType({key: _frozen(item) for key, item in value.items()})
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    return value


def _load(name: str) -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = _frozen(json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8")))
    return loaded


@cache
def instance_types() -> Mapping[str, Mapping[str, Any]]:
    """Instance type → C({max_enis, ips_per_eni, vcpus, hypervisor, architecture}) of its default network card.

    C(hypervisor) is C(nitro), C(xen) or C(metal); C(vcpus), C(hypervisor) and C(architecture) are None where EC2 does not tell.
    """
    table = _load("instance_types")
    overrides = _load("instance_types_overrides")["rows"]
    columns = table["columns"]
    rows = {name: dict(zip(columns, cells, strict=True)) for name, cells in table["rows"].items()}
    for name, corrected in overrides.items():
        row = rows.setdefault(name, dict.fromkeys(columns))
        row.update({column: corrected[column] for column in columns if column in corrected})
    return MappingProxyType({name: MappingProxyType(row) for name, row in rows.items()})


@cache
def kubelet_fields() -> Mapping[str, Any]:
    """The KubeletConfiguration of every known minor as one tree; C(kubernetes.kubelet_config_problems) reads it."""
    return _load("kubelet_fields")


@cache
def kubelet_flags() -> Mapping[str, Any]:
    """kubelet's flags with the minors that know them; C(kubernetes.kubelet_flag_problems) reads it."""
    return _load("kubelet_flags")


@cache
def kubernetes_versions() -> Mapping[str, Any]:
    """The EKS calendar (C(eks)) and which minors each family runs on (C(families))."""
    return _load("kubernetes_versions")


@cache
def bottlerocket_settings() -> Mapping[str, Any]:
    """The tree of settings that Bottlerocket's Kubernetes variants for AWS know."""
    settings: Mapping[str, Any] = _load("bottlerocket_settings")["settings"]
    return settings


@cache
def ecr_accounts() -> Mapping[str, Any]:
    """Which account serves EKS's own images in which region."""
    return _load("ecr_accounts")


def ecr_host(region: str) -> str:
    """The registry that serves EKS's own images to nodes in C(region), for example C(602401143452.dkr.ecr.us-east-2.amazonaws.com).

    A region that the table does not know is served by another one of its partition, as the images' own scripts do it.
    """
    table = ecr_accounts()
    regions = table["regions"]
    partition = next((row for row in table["partitions"] if region.startswith(row["prefix"])), table["partitions"][-1])
    served = region if region in regions else partition["fallback"]
    return f"{regions[served]}.dkr.ecr.{served}.{partition['domain']}"


def pause_image(region: str, version: str | None = None) -> str:
    """The pause image EKS publishes for C(region), for example C(602401143452.dkr.ecr.us-east-2.amazonaws.com/eks/pause:3.10)."""
    return f"{ecr_host(region)}/eks/pause:{version or ecr_accounts()['pause_version']}"
