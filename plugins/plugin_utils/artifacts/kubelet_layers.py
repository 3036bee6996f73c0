# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration that kubelet of a node group runs with, and the problems that kubelet would have with it.

Every Linux family says its C(Layers): what the image sets, what the user sets on top, and where. C(check) puts them together for the
cluster's minor (C(kubelet_effective)) and applies the table of rules (C(kubelet_rules)).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from .. import capacity, kubelet
from ..data import kubelet_gates, kubernetes_versions
from ..errors import Problem, Problems, SpecError, joined
from ..kubelet_effective import Effective, Origin, effective_config, file_config, flag_fields, with_layers
from ..kubelet_flags import flags_of_field
from ..kubelet_managers import MANY_PODS
from ..kubelet_rules import check as check_rules
from ..model.merge import KUBELET_CONFIGS, KUBELET_FLAGS, place_path, value_at
from ..model.own_fields import flag_places
from ..model.plain import INVALID
from ..model.spec import NodeSpec

_UBUNTU = {"resolvConf": "/run/systemd/resolve/resolv.conf"}
_UNKNOWN_RESERVED = {"cpu": "60m", "ephemeral-storage": "1Gi", "memory": "255Mi"}
"""What the images reserve at least, where the instance type is unknown."""


_HARMLESS = frozenset(("maxPods", "clusterDNS", "kubeReserved", "systemReserved"))
"""Fields that are checked where they are read. kubelet takes them, as long as nothing else is set."""


@dataclass(frozen=True)
class Layers:
    """What a family gives kubelet.

    drop_in: the user's fields that become a drop-in, or a part of the finished file.
    flags: name → values in force.
    is_finished_file: whether there is one file (strategy static), and no drop-in.
    inside: field, or flag with its dashes, → the text of the user that sets it (C(node_group.user_data), C(node_group.override)).
    """

    drop_in: Mapping[str, Any]
    flags: Mapping[str, tuple[str, ...]]
    is_finished_file: bool = False
    inside: Mapping[str, str] = field(default_factory=dict)


def script_layers(spec: NodeSpec) -> Layers:
    """The layers of al2 and ubuntu."""
    pods = {"maxPods": spec.max_pods} if spec.max_pods is not None else {}
    return Layers(spec.kubelet_document() | pods, spec.kubelet_flags, spec.strategy == "static")


def check(spec: NodeSpec, layers: Layers, problems: Problems) -> tuple[Problem, ...]:
    """Report what kubelet would refuse. Return the warnings.

    Without a version only what every kubelet of the family refuses is reported.
    """
    flags = flag_fields(layers.flags)
    if not flags and _HARMLESS.issuperset(layers.drop_in) and not layers.inside and (spec.max_pods or 0) <= MANY_PODS:
        return ()
    version = spec.cluster.kubernetes_version
    if version is None and problems.touches("cluster.kubernetes_version"):
        return ()
    return check_versions(spec.family, version, partial(effective, spec, layers), problems)


def check_versions(
    family: str, version: tuple[int, int] | None, of_minor: Callable[[int], Effective], problems: Problems
) -> tuple[Problem, ...]:
    """Report what kubelet of a version would refuse; without a version, what every kubelet of the family refuses. Return the warnings.

    of_minor: what kubelet of a minor runs with.
    """
    table = kubelet_gates()
    if version is not None:
        minors = [min(version[1], table["last"])] if version[0] == 1 and version[1] >= table["first"] else []
    else:
        minors = list(range(28, kubernetes_versions()["families"][family].get("until", table["last"]) + 1))
    results = []
    for minor in minors:
        found = Problems()
        found.extend(problems)
        before = len(found)
        warnings = check_rules(of_minor(minor), found)
        results.append((tuple(found)[before:], warnings))
    if not results:
        return ()
    everywhere = set.intersection(*({(problem.rule, problem.path) for problem in found} for found, _unused in results))
    problems.extend(problem for problem in results[-1][0] if (problem.rule, problem.path) in everywhere)
    return results[-1][1]


def effective(spec: NodeSpec, layers: Layers, minor: int) -> Effective:
    """What kubelet of a minor runs with on the nodes of a group."""
    shape = _shape(spec)
    given = dict(spec.given)
    origins = {name: _origin(given, layers, name) for name in layers.drop_in}
    flags = flag_fields(layers.flags)
    origins |= {path.partition(".")[0]: _flag_origin(given, layers, name) for name, (path, _unused) in flags.items()}
    # Addresses of name servers are checked where they are read.
    origins.pop("clusterDNS", None)
    return on_image(spec.family, minor, layers, origins, shape, computes_memory="memory" not in spec.kube_reserved)


def on_image(
    family: str,
    minor: int,
    layers: Layers,
    origins: Mapping[str, Origin],
    shape: capacity.InstanceShape | None = None,
    *,
    computes_memory: bool = True,
) -> Effective:
    """What kubelet of a minor runs with on an image. shape: the machine. computes_memory: whether nothing else reserves memory."""
    reserved = _image_reserved(shape)
    # The image's script of al2 looks for the flag, and strategy static for the field, too.
    own_cpus = "reserved-cpus" in layers.flags or (layers.is_finished_file and "reservedSystemCPUs" in layers.drop_in)
    with_cgroups = not (family == "al2" and own_cpus)
    of_flags = dict(flag_fields(layers.flags).values())
    if layers.is_finished_file:
        base = image_base(family, minor, with_cgroups=with_cgroups)
        config = effective_config(minor, kubelet.deep_merge(base, layers.drop_in), None, of_flags)
    else:
        file = _image_file(family, minor, with_cgroups, tuple((reserved or _UNKNOWN_RESERVED).items()))
        config = with_layers(minor, file, layers.drop_in, of_flags)
    computed = not layers.is_finished_file and reserved is None and computes_memory
    return Effective(minor, config, origins, family == "al2", None if shape is None else shape.vcpus, computed)


def image_base(family: str, minor: int, *, with_cgroups: bool) -> dict[str, Any]:
    """C(image_config), with or without the cgroups that processes of the system and of kubelet are reserved in."""
    left_out = () if with_cgroups else tuple(kubelet.RESERVED_CGROUPS)
    return {key: value for key, value in image_config(family, minor).items() if key not in left_out}


@cache
def _image_file(family: str, minor: int, with_cgroups: bool, reserved: tuple[tuple[str, str], ...]) -> Mapping[str, Any]:
    """The file of the image with the defaults of kubelet. Cached, because most groups differ only in what is merged into it."""
    return MappingProxyType(file_config(minor, {**image_base(family, minor, with_cgroups=with_cgroups), "kubeReserved": dict(reserved)}))


@cache
def image_config(family: str, minor: int) -> Mapping[str, Any]:
    """What the image, or nodeadm, sets on every node of a minor. Look, do not touch."""
    if family == "al2023":
        return kubelet.nodeadm_config((1, minor))
    base = kubelet.deep_merge(kubelet.CONFIG, kubelet.AMAZON_LINUX if family == "al2" else _UBUNTU)
    if minor <= kubernetes_versions()["switches"]["kubelet_api_qps_by_image_until"]:
        base |= {"kubeAPIQPS": 10, "kubeAPIBurst": 20}
    return base | (kubelet.RESERVED_CGROUPS if family == "al2" else {})


def _shape(spec: NodeSpec) -> capacity.InstanceShape | None:
    """The machine, where all nodes of the group are of one known type."""
    instance = spec.given.get("instance", {})
    numbers = {name: instance[name] for name in ("max_enis", "ips_per_eni", "vcpus") if name in instance}
    if len(spec.instance_types) > 1 or (not spec.instance_types and "max_enis" not in numbers):
        return None
    try:
        return capacity.instance_shape(spec.instance_types[0] if spec.instance_types else None, **numbers)
    except SpecError:
        return None


def _image_reserved(shape: capacity.InstanceShape | None) -> dict[str, str] | None:
    if shape is None or shape.vcpus is None:
        return None
    try:
        return capacity.kube_reserved(capacity.max_pods(shape), shape.vcpus)
    except SpecError:
        return None


_OWN_FIELDS = {"kubeReserved": "reserved.kube", "systemReserved": "reserved.system", "maxPods": "max_pods"}


def _origin(given: Mapping[str, Any], layers: Layers, name: str) -> Origin:
    if name in layers.inside:
        return Origin(layers.inside[name], f"spec.kubelet.config.{name}")
    for place in KUBELET_CONFIGS:
        if value_at(given, (*place, name)) is not INVALID:
            return Origin(joined(place_path(place), name))
    if name in _OWN_FIELDS and (places := flag_places(given, flags_of_field(name, None)[0])):
        return Origin(places[0][0])
    return Origin(f"node_group.{_OWN_FIELDS.get(name, f'kubelet.config.{name}')}")


def _flag_origin(given: Mapping[str, Any], layers: Layers, name: str) -> Origin:
    if f"--{name}" in layers.inside:
        return Origin(layers.inside[f"--{name}"], f"--{name}", is_flag=True)
    own, nodeadm = KUBELET_FLAGS
    if value_at(given, (*own, name)) is not INVALID:
        return Origin(joined(place_path(own), name), is_flag=True)
    words = value_at(given, nodeadm)
    indexes = [index for index, word in enumerate(words if isinstance(words, list) else []) if str(word).startswith(f"--{name}=")]
    path = joined(place_path(nodeadm), indexes[-1]) if indexes else place_path(nodeadm)
    return Origin(path, f"--{name}", is_flag=True)
