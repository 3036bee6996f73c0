# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values computed from the instance type: max pods and kubelet's reservations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .. import capacity
from ..errors import Problem, Problems, SpecError
from .fields import RESERVABLE

_IMAGE_COMPUTES_RESERVED = ("al2", "al2023", "ubuntu")
"""Families whose image sizes kubeReserved for the number of pods of the instance type, whatever max pods is set to
(amazon-eks-ami, bootstrap.sh and nodeadm). Bottlerocket follows the setting; Windows reserves nothing."""

_AUTO_MODES = {"windows": "windows_secondary_ip"}
"""The mode that C(auto) stands for; eni for other families."""

_NUMBERS = ("max_enis", "ips_per_eni", "vcpus")


@dataclass(frozen=True)
class Pods:
    """A number of pods. number: None if it cannot be computed here. path: the place that gives it."""

    number: int | None
    path: str = "node_group.max_pods"


@dataclass(frozen=True)
class Shape:
    """The instance types of a node group, with the known facts about each type."""

    types: tuple[str, ...] = ()
    known: tuple[capacity.InstanceShape, ...] = ()
    vcpus: int | None = None
    """vCPUs of the smallest type, because reservations must fit on every node of the group. None if the vCPUs of one type are unknown."""
    unknown: tuple[Problem, ...] = ()
    """Problems of unknown types. They are reported only if a value has to be computed from the type."""

    @classmethod
    def of(cls, instance: Mapping[str, Any], problems: Problems, running: str | None = None) -> Shape:
        """Return the shapes of C(node_group.instance). running: the type of the single node that the specification is for, if known."""
        if running is not None:
            instance = {**{key: value for key, value in instance.items() if key in _NUMBERS}, "type": running}
        if "type" in instance and "types" in instance:
            problems.add(
                "input.conflict",
                "node_group.instance.types",
                "cannot be set together with node_group.instance.type",
                fix="set only one of the two",
            )
        types = tuple(instance.get("types") or ([instance["type"]] if "type" in instance else []))
        numbers = {name: instance[name] for name in _NUMBERS if name in instance}
        known: list[capacity.InstanceShape] = []
        unknown: list[Problem] = []
        for index, name in enumerate(types or ([None] if "max_enis" in numbers or "ips_per_eni" in numbers else [])):
            try:
                known.append(capacity.instance_shape(name, path="node_group.instance", **numbers))
            except SpecError as error:
                if running is not None:
                    unknown.append(_unknown_node(running))
                    continue
                path = f"node_group.instance.types[{index}]" if "types" in instance else "node_group.instance.type"
                unknown.extend(replace(one, path=path) if one.path.endswith(".type") else one for one in error.problems)
        counts = [shape.vcpus for shape in known]
        vcpus = numbers.get("vcpus") or (min(count or 0 for count in counts) if counts and not unknown else None)
        return cls(types, () if unknown else tuple(known), vcpus or None, tuple(unknown))

    @property
    def by_type(self) -> tuple[capacity.InstanceShape | None, ...]:
        """The facts about each type, None for a type that is not known."""
        facts = {shape.type: shape for shape in self.known}
        return tuple(facts.get(name) for name in self.types)

    def image_pods(self) -> int | None:
        """Return the number of pods that the image computes for the smallest type: the ENI formula without options."""
        try:
            return min(capacity.max_pods(shape) for shape in self.known) if self.known else None
        except SpecError:
            return None


def _unknown_node(running: str) -> Problem:
    """Return the problem of a running node whose instance type the table does not contain."""
    fix = "set instance.max_enis, instance.ips_per_eni and instance.vcpus"
    return Problem(
        "capacity.unknown_instance_type",
        "node_group.instance",
        "the type of this node is not in the table of instance types",
        value=running,
        fix=fix,
    )


def max_pods(value: Any, path: str, family: str, shape: Shape, problems: Problems, *, running: bool = False) -> int | None:
    """Return the final number of pods of a node, or None if the image decides. running: whether the shape is that of a running node."""
    if value is None or isinstance(value, int):
        return value
    if value == "auto" and running:
        value = {"mode": _AUTO_MODES.get(family, "eni")}
    if value == "auto":
        problems.add(
            "capacity.auto_without_node",
            path,
            "auto needs the instance type of a running node, which does not exist yet when user data is rendered",
            value=value,
            fix=f"set a number, or {{mode: {_AUTO_MODES.get(family, 'eni')}}} together with node_group.instance",
        )
        return None
    mode = value.get("mode")
    if mode is None:
        return None
    if mode.startswith("windows_") != (family == "windows"):
        allowed = "windows_secondary_ip, windows_prefix" if family == "windows" else "eni, prefix"
        problems.add("capacity.unsupported_mode", f"{path}.mode", f"does not exist on {family}", value=mode, allowed=allowed)
        return None
    if not shape.known:
        problems.extend(shape.unknown)
        if not problems.touches("node_group.instance"):
            fix = "set instance.type, or instance.max_enis and instance.ips_per_eni"
            problems.add("capacity.missing_instance", "node_group.instance", "is required to compute max_pods", fix=fix)
        return None
    options = {name: value[name] for name in ("custom_networking", "reserved_enis", "ceiling") if name in value}
    try:
        return min(capacity.max_pods(one, mode=mode, **options) for one in shape.known)
    except SpecError as error:
        problems.extend(replace(problem, path=f"{path}{problem.path.removeprefix('max_pods')}") for problem in error.problems)
        return None


def needs_running_node(group: Mapping[str, Any]) -> bool:
    """Return whether a node group needs the instance type of a running node.

    C(max_pods: auto) needs it. Computed reservations need it if the group does not name an instance type.
    """
    if group.get("max_pods") == "auto":
        return True
    instance, reserved = group.get("instance"), group.get("reserved")
    if isinstance(instance, Mapping) and instance.keys() & {"type", "types", *_NUMBERS}:
        return False
    kube = reserved.get("kube") if isinstance(reserved, Mapping) else None
    pods = group.get("max_pods")
    return kube == "auto" or (kube is None and group.get("strategy") == "static") or (isinstance(pods, Mapping) and "mode" in pods)


def automatic_reserved(pods: Pods | None, shape: Shape, problems: Problems, *, implied: bool) -> dict[str, str]:
    """Compute cpu, memory and ephemeral storage with the formulas of EKS, for the number of pods that will be in force."""
    final = pods.number if pods is not None else shape.image_pods()
    if final is not None and shape.vcpus is not None:
        return dict(capacity.kube_reserved(final, shape.vcpus))
    problems.extend(shape.unknown)
    if problems.touches("node_group.instance") or problems.touches("node_group.max_pods"):
        return {}
    path = "node_group.strategy" if implied else "node_group.reserved.kube"
    said = "is static, whose default reserved.kube: auto" if implied else "auto"
    if pods is not None and final is None:
        fix = "set max_pods instead, or set reserved.kube to quantities"
        message = f"{said} cannot be computed, because the number of pods in {pods.path} is not known here"
    else:
        needed = {"max_pods (or instance.type)": final, "instance.vcpus (or instance.type)": shape.vcpus}
        missing = [name for name, value in needed.items() if value is None]
        fix = f"set {' and '.join(missing)}, or set reserved.kube to quantities"
        message = f"{said} cannot be computed"
    problems.add("reserved.unknown_capacity", path, message, fix=fix)
    return {}


def reserved_warning(family: str, in_force: Pods, shape: Shape) -> Problem | None:
    """Return a warning if the image reserves memory for a number of pods other than C(in_force)."""
    default, pods = shape.image_pods(), in_force.number
    # nodeadm computes the reservations of an expression itself.
    if family not in _IMAGE_COMPUTES_RESERVED or pods in (default, None) or in_force.path.endswith("Expression"):
        return None
    if default is None:
        message = f"the image reserves memory for the number of pods of the instance type, not for {pods}"
    else:
        memory = capacity.kube_reserved(default, 1)["memory"]
        message = f"the image reserves {memory} of memory, sized for {default} pods, not for {pods}"
    path = in_force.path if in_force.path.startswith(("node_group.user_data", "node_group.override")) else "node_group.max_pods"
    fix = "set reserved.kube: auto" if shape.vcpus is not None else "set reserved.kube: auto (to render user data, also set instance.type)"
    return Problem("reserved.sized_for_other_max_pods", path, message, fix=fix)


def in_order(values: Mapping[str, str]) -> dict[str, str]:
    """Return reservations in the order cpu, memory, ephemeral-storage, pid."""
    return {name: values[name] for name in RESERVABLE if name in values}
