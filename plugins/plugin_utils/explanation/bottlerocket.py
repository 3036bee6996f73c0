# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explains settings of Bottlerocket.

C(early-boot-config) sends them to the API at the first boot, C(sundog) adds the settings that are computed. Then bootstrap commands and
bootstrap containers run, and kubelet starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import capacity
from ..difference.fact import Key, leaves, path_of
from ..errors import Problems, SpecError
from ..formats import toml
from ..readers.model import ReadPart, UserData
from ..readers.places import place_of
from . import outcome
from .cloud_init import first_line
from .model import Explanation, Setting, Step, Unknown
from .outcome import Kind, Machine, Outcome

_KUBERNETES: Key = ("settings", "kubernetes")
_OF_NODE = {
    "hostname-override": outcome.PRIVATE_DNS_NAME,
    "node-ip": outcome.IPV4,
    "provider-id": f"aws:///{outcome.AVAILABILITY_ZONE}/{outcome.INSTANCE_ID}",
}
_IDENTITY = ("api-server", "cluster-certificate", "cluster-name")
_GENERATED_DNS = "Bottlerocket asks the EKS API for the service CIDR"


def explain(found: UserData, machine: Machine) -> Explanation:
    """What a Bottlerocket node does."""
    [part] = found.parts
    problems = Problems()
    tree = toml.load(part.text, "", problems)
    settings = tree.get("settings")
    whole = first_line(part)
    if len(problems) or not isinstance(settings, Mapping):
        why = next((problem.message for problem in problems), "has no table settings")
        steps = (Step("settings", "early-boot-config.service", f"fails, and the boot stops: the user data {why}", whole),)
        return Explanation(steps, (), {}, {}, {}, (Unknown("the settings", f"the user data {why}", whole),))
    given = {key: value for key, value in leaves(settings, ("settings",)) if len(key) > 1}
    rows = {path_of(key): Setting(value, "user_data", path_of(key), place_of(part, path_of(key))) for key, value in given.items()}
    kubernetes = settings.get("kubernetes")
    kubernetes = kubernetes if isinstance(kubernetes, Mapping) else {}
    result = outcome.combine((why, _computed(kubernetes, kind)) for why, kind in outcome.kinds(machine, "bottlerocket"))
    rows = {**result.config, **rows}
    unknown = [Unknown(name, why) for name, why in sorted(result.unknown.items())]
    if not set(_IDENTITY) & kubernetes.keys():
        unknown.append(Unknown("the cluster", "EKS or Karpenter adds it to this user data"))
    unknown += outcome.used_placeholders(row.value for row in rows.values())
    return Explanation(tuple(_steps(part, settings)), (), {}, {}, rows, tuple(unknown))


def _computed(kubernetes: Mapping[str, Any], kind: Kind) -> Outcome:
    """The settings that Bottlerocket computes if user data does not have them."""
    result = Outcome()
    pods = capacity.max_pods(kind.shape)
    own = kubernetes.get("max-pods")
    if own is None:
        result.config[path_of((*_KUBERNETES, "max-pods"))] = Setting(pods, "instance_type")
    reserved = kubernetes.get("kube-reserved")
    given = reserved if isinstance(reserved, Mapping) else {}
    try:
        computed = capacity.kube_reserved(pods if own is None else own, kind.shape.vcpus or 1)
    except SpecError:
        computed = {}
    for name, value in computed.items():
        if name not in given:
            result.config[path_of((*_KUBERNETES, "kube-reserved", name))] = Setting(value, "instance_type")
    for name, value in _OF_NODE.items():
        if name not in kubernetes:
            result.config[path_of((*_KUBERNETES, name))] = Setting(value, "instance")
    if "cluster-dns-ip" not in kubernetes:
        result.unknown[path_of((*_KUBERNETES, "cluster-dns-ip"))] = _GENERATED_DNS
    return result


def _steps(part: ReadPart, settings: Mapping[str, Any]) -> Iterator[Step]:
    yield Step("settings", "early-boot-config.service", "sends the settings to the API, at the first boot only", first_line(part))
    yield Step("settings", "sundog.service", "computes the settings that user data does not have")
    for table, unit in (("bootstrap-commands", "bootstrap-commands.service"), ("bootstrap-containers", "bootstrap-containers")):
        listed = settings.get(table)
        for name, item in sorted(listed.items()) if isinstance(listed, Mapping) else ():
            mode = item.get("mode", "off") if isinstance(item, Mapping) else "off"
            if mode != "off":
                where = place_of(part, path_of(("settings", table, name)))
                yield Step("settings", unit, f"runs {name} ({'at the first boot' if mode == 'once' else 'at every boot'})", where)
    yield Step("kubelet", "kubelet.service", "registers the node with the API server")
