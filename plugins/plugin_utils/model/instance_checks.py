# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of a specification against the instance types of the group: architecture, capacity, and the recommended number of pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from .. import capacity
from ..errors import Problem, Problems
from ..quantities import parse_quantity
from .compute import Shape
from .fields import AMI_TYPES
from .spec import NodeSpec

_MIB = 1024 * 1024


def check(spec: NodeSpec, shape: Shape, problems: Problems) -> tuple[Problem, ...]:
    """Report what cannot run on the instance types of C(shape). Return warnings."""
    _architecture(spec, shape, problems)
    _reserved(spec, shape, problems)
    return tuple(_recommended_pods(spec, shape))


def _architecture(spec: NodeSpec, shape: Shape, problems: Problems) -> None:
    name = str(spec.given.get("family"))
    if spec.family == "windows":
        image, reason = "x86_64", "Windows images for EKS exist only for x86_64"
    elif name in AMI_TYPES:
        image = "arm64" if "ARM_64" in name else "x86_64"
        reason = f"{name} is an image for {image}"
    else:
        return
    for index, (kind, one) in enumerate(zip(shape.types, shape.by_type, strict=True)):
        if one is None or one.architecture in (None, image):
            continue
        given = spec.given.get("instance", {})
        # A live node has a type even if the group does not name one.
        path = "node_group.instance" + (".type" if "type" in given else f".types[{index}]" if "types" in given else "")
        if spec.family == "windows":
            fix = "use an instance type with Intel or AMD processors, or another family"
        else:
            other = name.replace("ARM_64", "x86_64") if image == "arm64" else name.replace("x86_64", "ARM_64")
            fix = f"set family: {other}" if other in AMI_TYPES else f"set family: {spec.family}"
        problems.add("capacity.wrong_architecture", path, f"has the architecture {one.architecture}, but {reason}", value=kind, fix=fix)


def _reserved(spec: NodeSpec, shape: Shape, problems: Problems) -> None:
    """kubelet exits if the reservations and the hard eviction thresholds exceed the capacity of the machine."""
    if not (spec.kube_reserved or spec.system_reserved or "evictionHard" in spec.kubelet_config):
        return
    memory = [one.memory for one in shape.known if one.memory is not None]
    # Linux sees less memory than the type has, so a reservation of all of it is too much, too.
    limits = {
        "cpu": (None if shape.vcpus is None else Decimal(shape.vcpus), f"{shape.vcpus} vCPUs"),
        "memory": (Decimal(min(memory) * _MIB) if memory and not shape.unknown else None, f"{min(memory, default=0)}Mi of memory"),
    }
    for resource, (limit, name) in limits.items():
        places = {
            "reserved.kube": spec.kube_reserved.get(resource),
            "reserved.system": spec.system_reserved.get(resource),
            "kubelet.config.evictionHard": _threshold(spec.kubelet_config) if resource == "memory" else None,
        }
        amounts = {place: amount for place, text in places.items() if (amount := _amount(text)) is not None}
        total = sum(amounts.values(), Decimal(0))
        if limit is None or not amounts or total < limit or (resource == "cpu" and total == limit):
            continue
        largest = max(amounts, key=lambda place: amounts[place])
        path = _path(spec, largest, resource)
        if problems.touches(path):
            continue
        shown = ", ".join(f"{place} {places[place]}" for place in amounts)
        problems.add(
            "reserved.exceeds_capacity",
            path,
            f"reserves more {resource} than the instance has ({shown}), so kubelet exits",
            allowed=f"{'at most' if resource == 'cpu' else 'less than'} {name} together",
            fix="reserve less, or use a larger instance",
        )


def _path(spec: NodeSpec, place: str, resource: str) -> str:
    """The path of an amount in the input: reservations can also be given as fields of kubelet."""
    if place.endswith("evictionHard"):
        return 'node_group.kubelet.config.evictionHard["memory.available"]'
    part = place.rpartition(".")[2]
    kubelet_field = f"kubelet.config.{part}Reserved"
    for given in (place, kubelet_field):
        node: Any = spec.given
        for key in (*given.split("."), resource):
            node = node.get(key) if isinstance(node, Mapping) else None
        if node is not None:
            return f"node_group.{given}.{resource}"
    return f"node_group.{place}"


def _threshold(config: Mapping[str, Any]) -> Any:
    thresholds = config.get("evictionHard")
    return thresholds.get("memory.available") if isinstance(thresholds, Mapping) else None


def _amount(text: Any) -> Decimal | None:
    """A quantity in units or bytes; None for none, for a percentage, and for text that another check rejects."""
    return parse_quantity(text) if isinstance(text, str) and not text.endswith("%") else None


def _recommended_pods(spec: NodeSpec, shape: Shape) -> Iterable[Problem]:
    asked = spec.given.get("max_pods")
    if not isinstance(asked, Mapping) or "ceiling" in asked or spec.max_pods is None or shape.vcpus is None:
        return
    ceiling = capacity.recommended_pods(shape.vcpus)
    if spec.max_pods > ceiling:
        message = f"computes {spec.max_pods} pods, but EKS recommends at most {ceiling} for {shape.vcpus} vCPUs"
        yield Problem(
            "capacity.above_recommendation",
            "node_group.max_pods",
            message,
            fix="set max_pods.ceiling: true, or false to keep the number",
        )
