# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules on the documents of the provider Snow."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Any

from ..errors import Problems, joined, nearest
from ..network import cidr_problem, ip_problem
from .documents import Document, Documents
from .host_rules import BOTTLEROCKET
from .model import Cluster

_CONNECTORS = ("QSFP", "RJ45", "SFP_PLUS")
_INTERFACES = 8
_VLANS = 4095
_INSTANCE_TYPE = re.compile(r"sbe-[cg]\.[0-9]*x?large", re.ASCII)
_SMALLEST_VOLUME, _SMALLEST_OF_BOTTLEROCKET = 8, 25
"""Gigabytes. The image of Bottlerocket has 2 gigabytes for containers, so it needs a volume for them."""


def check_snow_datacenter(document: Document, _documents: Documents, _cluster: Cluster, problems: Problems) -> None:
    """Report a datacenter without credentials."""
    path = f"{document.path}.spec.identityRef"
    reference = document.spec.get("identityRef") or {}
    if not reference.get("name") and not problems.touches(path):
        fix = "add the Secret with the credentials"
        problems.add("input.missing_field", path, "is required", allowed="{kind: Secret, name: …}", fix=fix)


def check_snow_machine(document: Document, _documents: Documents, _cluster: Cluster, problems: Problems) -> None:
    """Report machines of Snow without devices or with networks that are not valid."""
    path = joined(document.path, "spec")
    devices = document.spec.get("devices") or ()
    if not devices and not problems.touches(joined(path, "devices")):
        problems.add("input.missing_field", joined(path, "devices"), "is required", allowed="the IP addresses of the devices")
    for index, device in enumerate(devices):
        place = joined(joined(path, "devices"), index)
        if ip_problem(device) is not None and not problems.touches(place):
            problems.add("input.invalid_ip", place, "is not an IP address", value=device, allowed="the IP address of a device")
    connector = document.spec.get("physicalNetworkConnector")
    if connector and connector not in _CONNECTORS:
        place, guess = joined(path, "physicalNetworkConnector"), nearest(connector, _CONNECTORS)
        problems.add("input.unknown_value", place, "is not a known value", value=connector, allowed=", ".join(_CONNECTORS), nearest=guess)
    kind = document.spec.get("instanceType")
    if kind and not _INSTANCE_TYPE.fullmatch(kind):
        place, allowed = joined(path, "instanceType"), "a type such as sbe-c.large or sbe-g.2xlarge"
        problems.add("input.unknown_value", place, "is not a type of Snow", value=kind, allowed=allowed)
    _check_volumes(document.spec, path, problems)
    below = f"{path}.network.directNetworkInterfaces"
    if not problems.touches(joined(path, "network")):
        interfaces = (document.spec.get("network") or {}).get("directNetworkInterfaces") or ()
        _check_interfaces(tuple(interfaces), below, problems)


def _check_volumes(spec: Mapping[str, Any], path: str, problems: Problems) -> None:
    is_bottlerocket = spec.get("osFamily") == BOTTLEROCKET
    containers, place = spec.get("containersVolume"), joined(path, "containersVolume")
    if containers is None and is_bottlerocket and not problems.touches(place):
        fix = f"add a volume of {_SMALLEST_OF_BOTTLEROCKET} or more"
        problems.add("input.missing_field", place, "is required for bottlerocket", fix=fix)
    volumes = [(containers, place, _SMALLEST_OF_BOTTLEROCKET if is_bottlerocket else _SMALLEST_VOLUME)] if containers is not None else []
    others = joined(path, "nonRootVolumes")
    volumes += [(one, joined(others, index), _SMALLEST_VOLUME) for index, one in enumerate(spec.get("nonRootVolumes") or ())]
    for volume, below, smallest in volumes:
        size = volume.get("size")
        if (size is None or size < smallest) and not problems.touches(joined(below, "size")):
            problems.add("input.out_of_range", joined(below, "size"), "is too small", value=size, allowed=f"{smallest} or more")


def _check_interfaces(interfaces: tuple[Mapping[str, Any], ...], path: str, problems: Problems) -> None:
    if not 1 <= len(interfaces) <= _INTERFACES:
        problems.add("anywhere.snow_network", path, f"has {len(interfaces)} interfaces", allowed=f"1 to {_INTERFACES} interfaces")
        return
    primary = [index for index, one in enumerate(interfaces) if one.get("primary")]
    if len(primary) != 1:
        message = f"has {len(primary)} interfaces with primary: true"
        problems.add("anywhere.snow_network", path, message, allowed="exactly one primary interface")
    for index, one in enumerate(interfaces):
        below = joined(path, index)
        if one.get("dhcp") and one.get("ipPoolRef"):
            problems.add("input.conflict", joined(below, "ipPoolRef"), "is set, and dhcp is true", fix="remove one of the two")
        elif not one.get("dhcp") and not one.get("ipPoolRef"):
            problems.add("anywhere.snow_network", below, "has no addresses", allowed="dhcp: true, or an ipPoolRef")
        for name, first, last in (("index", 1, _INTERFACES), ("vlanID", 0, _VLANS)):
            number = one.get(name)
            if number is not None and not first <= number <= last:
                problems.add("input.out_of_range", joined(below, name), "is out of range", value=number, allowed=f"{first} to {last}")


def check_ip_pool(document: Document, _documents: Documents, _cluster: Cluster, problems: Problems) -> None:
    """Report ranges of addresses outside of their network."""
    for index, pool in enumerate(document.spec.get("pools") or ()):
        _check_range(pool, joined(f"{document.path}.spec.pools", index), problems)


def _check_range(pool: Mapping[str, Any], path: str, problems: Problems) -> None:
    bad = [name for name in ("ipStart", "ipEnd", "gateway") if pool.get(name) and ip_problem(pool[name]) is not None]
    for name in bad:
        problems.add("input.invalid_ip", joined(path, name), "is not an IP address", value=pool[name], allowed="an IP address")
    reason = cidr_problem(pool["subnet"]) if pool.get("subnet") else None
    if reason is not None:
        problems.add("input.invalid_cidr", joined(path, "subnet"), reason, value=pool["subnet"], allowed="a CIDR such as 10.0.0.0/24")
    if bad or reason is not None or problems.touches(path):
        return
    first, last, network = ipaddress.ip_address(pool["ipStart"]), ipaddress.ip_address(pool["ipEnd"]), ipaddress.ip_network(pool["subnet"])
    for name, address in (("ipStart", first), ("ipEnd", last)):
        if address not in network:
            message = f"is outside of the subnet {network}"
            problems.add("anywhere.ip_pool", joined(path, name), message, value=str(address), fix="correct the address or the subnet")
    if first.version == last.version and int(first) >= int(last):
        message = f"is not smaller than ipEnd, {last}"
        problems.add("anywhere.ip_pool", joined(path, "ipStart"), message, value=str(first), fix="exchange or correct the two")
