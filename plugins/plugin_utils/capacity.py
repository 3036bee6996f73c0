# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many pods an instance has addresses for, and what kubelet should reserve for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from . import data
from .errors import Problems, nearest

MAX_PODS_MODES = ("eni", "prefix", "windows_secondary_ip", "windows_prefix")

_PREFIX_SIZE = 16
"""Addresses in a delegated prefix (/28)."""

_HOST_NETWORK_PODS = 2
"""Pods that need no address of their own on a Linux node: aws-node and kube-proxy."""

_SMALL_CEILING, _LARGE_CEILING, _LARGE_FROM_VCPUS = 110, 250, 31
"""EKS recommends at most 110 pods, or 250 with more than 30 vCPUs (amazon-eks-ami, max-pods-calculator, 2025)."""

_MOST = 2**31 - 1
"""kubelet's maxPods is a 32-bit number; nothing counted here comes near."""


@dataclass(frozen=True)
class InstanceShape:
    """What of an instance decides how many pods it can run.

    max_enis: network interfaces that the default network card takes.
    ips_per_eni: IPv4 addresses that one interface takes, its own included.
    vcpus: None if unknown.
    nitro: whether prefixes can be delegated (Nitro, bare metal included); None if unknown.
    architecture: C(x86_64) or C(arm64); None if unknown.
    memory: in MiB; None if unknown.
    """

    max_enis: int
    ips_per_eni: int
    vcpus: int | None = None
    nitro: bool | None = None
    type: str | None = None
    architecture: str | None = None
    memory: int | None = None


def _counts(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= _MOST


@lru_cache(maxsize=256)
def _row_of(instance_type: str) -> Mapping[str, Any] | None:
    """The row of the table of instance types, or None. Cached, because many groups have the same type."""
    return data.instance_types().get(instance_type)


def instance_shape(
    instance_type: str | None = None,
    *,
    max_enis: int | None = None,
    ips_per_eni: int | None = None,
    vcpus: int | None = None,
    path: str = "instance",
) -> InstanceShape:
    """The shape of an instance type; given numbers win over the table. Raises C(SpecError) naming fields below C(path)."""
    problems = Problems()
    given = {"max_enis": max_enis, "ips_per_eni": ips_per_eni, "vcpus": vcpus}
    for name, value in given.items():
        if value is not None and not _counts(value, 1):
            problems.add("capacity.invalid_count", f"{path}.{name}", "is not a count", value=value, allowed="a whole number from 1")
    problems.raise_any()
    row: dict[str, Any] = {}
    if instance_type is not None:
        known = _row_of(instance_type) if isinstance(instance_type, str) else None
        if known is not None:
            row.update(known)
        elif max_enis is None or ips_per_eni is None:
            problems.add(
                "capacity.unknown_instance_type",
                f"{path}.type",
                "is not in the table of instance types",
                value=instance_type,
                nearest=nearest(instance_type, data.instance_types()),
                fix="correct the type, or also set max_enis, ips_per_eni and vcpus",
            )
    row.update({name: value for name, value in given.items() if value is not None})
    if not problems and (row.get("max_enis") is None or row.get("ips_per_eni") is None):
        problems.add(
            "capacity.missing_instance",
            path,
            "has neither a type nor max_enis and ips_per_eni",
            fix="set type, or max_enis, ips_per_eni and vcpus",
        )
    problems.raise_any()
    hypervisor = row.get("hypervisor")
    return InstanceShape(
        max_enis=row["max_enis"],
        ips_per_eni=row["ips_per_eni"],
        vcpus=row.get("vcpus"),
        nitro=None if hypervisor is None else hypervisor in {"nitro", "metal"},
        type=instance_type if isinstance(instance_type, str) else None,
        architecture=row.get("architecture"),
        memory=row.get("memory"),
    )


def max_pods(
    instance: InstanceShape,
    mode: str = "eni",
    custom_networking: bool = False,
    reserved_enis: int = 0,
    ceiling: bool = False,
    *,
    path: str = "max_pods",
) -> int:
    """The most pods that C(instance) has addresses for.

    Formulas: amazon-eks-ami, max-pods-calculator (2025); Amazon EKS user guide for Windows (one interface, no pods on the host network).
    With custom networking the primary interface serves no pods. C(ceiling) caps the result at 110, or 250 above 30 vCPUs.
    Raises C(SpecError) for arguments that make no sense and for results that are not positive.
    """
    problems = Problems()
    _check(instance, mode, custom_networking, reserved_enis, ceiling, path, problems)
    problems.raise_any()
    slots = instance.ips_per_eni - 1
    per_slot = _PREFIX_SIZE if mode in {"prefix", "windows_prefix"} else 1
    if mode.startswith("windows_"):
        pods = slots * per_slot
    else:
        enis = instance.max_enis - int(custom_networking) - reserved_enis
        if enis <= 0:
            problems.add(
                "capacity.no_interface_left",
                f"{path}.reserved_enis" if reserved_enis else f"{path}.custom_networking",
                f"leaves no network interface for pods: the instance supports {instance.max_enis}",
                value=reserved_enis if reserved_enis else custom_networking,
                fix="use a larger instance, or reserve fewer",
            )
        pods = enis * slots * per_slot + _HOST_NETWORK_PODS
    if not problems and pods <= 0:
        problems.add("capacity.no_addresses", path, "the instance has no addresses for pods", value=pods, fix="use a larger instance")
    problems.raise_any()
    if ceiling and instance.vcpus is not None:
        pods = min(pods, recommended_pods(instance.vcpus))
    return pods


def recommended_pods(vcpus: int) -> int:
    """The most pods that EKS recommends for a node."""
    return _LARGE_CEILING if vcpus >= _LARGE_FROM_VCPUS else _SMALL_CEILING


def _check(
    instance: InstanceShape, mode: Any, custom_networking: Any, reserved_enis: Any, ceiling: Any, path: str, problems: Problems
) -> None:
    if mode not in MAX_PODS_MODES:
        guess = nearest(mode, MAX_PODS_MODES)
        problems.add(
            "input.unknown_value", f"{path}.mode", "is not a known mode", value=mode, allowed=", ".join(MAX_PODS_MODES), nearest=guess
        )
        return
    for name, value in (("custom_networking", custom_networking), ("ceiling", ceiling)):
        if not isinstance(value, bool):
            problems.add("input.wrong_type", f"{path}.{name}", "is not a boolean", value=value, allowed="true or false")
    if not _counts(reserved_enis, 0):
        problems.add(
            "capacity.invalid_count", f"{path}.reserved_enis", "is not a count", value=reserved_enis, allowed="a whole number from 0"
        )
    if mode.startswith("windows_"):
        if custom_networking is True:
            problems.add(
                "capacity.unsupported_on_windows",
                f"{path}.custom_networking",
                "is not available on Windows nodes",
                value=True,
                fix="remove it",
            )
        if _counts(reserved_enis, 1):
            problems.add(
                "capacity.unsupported_on_windows",
                f"{path}.reserved_enis",
                "Windows nodes use one network interface only",
                value=reserved_enis,
                fix="remove it",
            )
    if mode in {"prefix", "windows_prefix"} and instance.nitro is False:
        problems.add(
            "capacity.not_nitro",
            f"{path}.mode",
            f"{instance.type or 'this instance'} is not built on Nitro, so no prefixes can be delegated to it",
            value=mode,
            allowed="windows_secondary_ip" if mode == "windows_prefix" else "eni",
        )
    if ceiling is True and instance.vcpus is None:
        problems.add(
            "capacity.missing_vcpus",
            f"{path}.ceiling",
            "the ceiling depends on the number of vCPUs, which is unknown",
            value=True,
            fix="set vcpus",
        )


def kube_reserved(max_pods: int, vcpus: int) -> dict[str, str]:
    """What kubelet reserves for itself and the runtime: C({"cpu": "70m", "memory": "574Mi", "ephemeral-storage": "1Gi"}).

    Formulas: amazon-eks-ami (AL2's bootstrap.sh and nodeadm compute the same numbers). Raises C(SpecError) for counts below 1.
    """
    problems = Problems()
    for name, value in (("max_pods", max_pods), ("vcpus", vcpus)):
        if not _counts(value, 1):
            problems.add("capacity.invalid_count", name, "is not a count", value=value, allowed="a whole number from 1")
    problems.raise_any()
    # (upper end of the band in millicores, ten-thousandths of it that are reserved)
    bands = ((1000, 600), (2000, 100), (4000, 50), (vcpus * 1000, 25))
    total, reserved, below = vcpus * 1000, 0, 0
    for upper, share in bands:
        if total > below:
            reserved += (min(total, upper) - below) * share // 10_000
            below = upper
    return {"cpu": f"{reserved}m", "memory": f"{255 + 11 * max_pods}Mi", "ephemeral-storage": "1Gi"}


def max_pods_of_type(
    instance_type: str | None,
    mode: str = "eni",
    custom_networking: bool = False,
    reserved_enis: int = 0,
    ceiling: bool = False,
    *,
    max_enis: int | None = None,
    ips_per_eni: int | None = None,
    vcpus: int | None = None,
) -> int:
    """C(max_pods) of an instance type, or of the numbers given beside it or instead of it. Raises C(SpecError)."""
    shape = instance_shape(instance_type, max_enis=max_enis, ips_per_eni=ips_per_eni, vcpus=vcpus)
    return max_pods(shape, mode, custom_networking, reserved_enis, ceiling)
