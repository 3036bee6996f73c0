# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of numbers against the type of the instance: pods against its addresses, and reservations against its size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ..capacity import InstanceShape, max_pods
from ..errors import Problems, SpecError
from ..quantities import parse_quantity
from .kubelet_settings import Flag
from .subject import Subject

_MIB = 1 << 20
_RESERVED = {"kubeReserved": "kube-reserved", "systemReserved": "system-reserved"}


@dataclass(frozen=True)
class Amounts:
    """What user data tells kubelet. pods: and its path. reserved: name, amounts and path. evictions: thresholds, and their path."""

    pods: tuple[Any, str] | None
    reserved: tuple[tuple[str, Mapping[str, Any], str], ...]
    evictions: tuple[Mapping[str, Any], str] | None


def of_kubelet(config: Mapping[str, Any], paths: Mapping[str, str], flags: Sequence[Flag] = ()) -> Amounts:
    """The amounts in a configuration of kubelet, and in its flags, which take precedence. paths: of the fields of the configuration."""
    passed = {flag.name: flag for flag in flags}
    pods = (config["maxPods"], paths["maxPods"]) if "maxPods" in config else None
    if (flag := passed.get("max-pods")) is not None:
        pods = (int(flag.value) if flag.value.isascii() and flag.value.isdigit() and len(flag.value) < 10 else None, flag.path)
    reserved = [(name, config[name], paths[name]) for name in _RESERVED if name in config and _RESERVED[name] not in passed]
    reserved += [(name, _pairs(passed[name].value, "="), passed[name].path) for name in _RESERVED.values() if name in passed]
    evictions = (config["evictionHard"], paths["evictionHard"]) if "evictionHard" in config else None
    if (flag := passed.get("eviction-hard")) is not None:
        evictions = (_pairs(flag.value, "<"), flag.path)
    return Amounts(pods, tuple((name, amounts, at) for name, amounts, at in reserved if isinstance(amounts, Mapping)), evictions)


def _pairs(text: str, sign: str) -> dict[str, str]:
    return {key: value for pair in text.split(",") for key, _sign, value in [pair.partition(sign)]}


def check(amounts: Amounts, subject: Subject, problems: Problems) -> None:
    """Report amounts that the instance does not have."""
    shape = subject.instance
    if shape is None:
        return
    if amounts.pods is not None and isinstance(amounts.pods[0], int):
        _check_pods(amounts.pods[0], amounts.pods[1], shape, subject.family, problems)
    _check_reserved(amounts, shape, problems)


def addresses(shape: InstanceShape, family: str | None, *, prefixes: bool = False) -> int | None:
    """The number of pods for which the instance has addresses with the Amazon VPC CNI. None if it cannot have prefixes."""
    modes = ("windows_secondary_ip", "windows_prefix") if family == "windows" else ("eni", "prefix")
    try:
        return max_pods(shape, modes[prefixes])
    except SpecError:
        return None


def _check_pods(pods: int, path: str, shape: InstanceShape, family: str | None, problems: Problems) -> None:
    plain = addresses(shape, family)
    if plain is None or pods <= plain:
        return
    most = addresses(shape, family, prefixes=True)
    if most is not None and pods <= most:
        message = f"is {pods}, but {shape.type} has addresses for {plain} pods without prefix delegation of the Amazon VPC CNI"
        problems.add("capacity.needs_prefixes", path, message)
    else:
        message = f"is {pods}, but {shape.type} has addresses for at most {most or plain} pods of the Amazon VPC CNI"
        problems.add("capacity.too_many_pods", path, message)


def _check_reserved(amounts: Amounts, shape: InstanceShape, problems: Problems) -> None:
    """kubelet exits if the reservations and the eviction threshold exceed the capacity of the machine."""
    limits = {
        "cpu": (shape.vcpus, f"at most {shape.vcpus} vCPUs together"),
        # Linux sees less memory than the type has, so a reservation of all of it is too much, too.
        "memory": (shape.memory and shape.memory * _MIB - 1, f"less than {shape.memory}Mi of memory together"),
    }
    for resource, (limit, allowed) in limits.items():
        found = [(name, found.get(resource), path) for name, found, path in amounts.reserved]
        if resource == "memory" and amounts.evictions is not None and isinstance(amounts.evictions[0], Mapping):
            found.append(("evictionHard", amounts.evictions[0].get("memory.available"), amounts.evictions[1]))
        known = [(name, text, path, amount) for name, text, path in found if (amount := _amount(text)) is not None]
        if limit is None or not known or sum((amount for *_rest, amount in known), Decimal(0)) <= limit:
            continue
        path = max(known, key=lambda row: row[3])[2]
        shown = ", ".join(f"{name} {text}" for name, text, _path, _amount in known)
        message = f"reserves more {resource} than {shape.type} has ({shown}), so kubelet exits"
        problems.add("reserved.exceeds_capacity", path, message, allowed=allowed, fix="reserve less, or use a larger instance")


def _amount(text: Any) -> Decimal | None:
    """A quantity in units or bytes; None for a percentage, and for text that another check rejects."""
    return parse_quantity(text) if isinstance(text, str) and not text.endswith("%") else None
