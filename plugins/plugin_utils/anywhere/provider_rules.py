# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules on the documents of the providers: datacenters and machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from .. import data
from ..errors import Problems, joined, nearest
from ..formats.pem import certificates
from ..network import ip_problem
from ..quantities import parse_quantity
from .documents import Document, Documents
from .host_rules import check_host, check_users
from .model import TINKERBELL, Cluster
from .network_rules import is_host
from .snow_rules import check_ip_pool, check_snow_datacenter, check_snow_machine

_CLONE_MODES = ("fullClone", "linkedClone")
_NETWORKS = 2
_IDENTIFIERS = ("name", "uuid")
_BOOT_TYPES = ("legacy", "uefi")
_GPU_TYPES = ("deviceID", "name")
_AFFINITIES = ("anti", "no", "pro")
_SMALLEST_MEMORY, _SMALLEST_DISK = Decimal(2 * 1024**3), Decimal(20 * 1024**3)

Check = Callable[[Document, Documents, Cluster, Problems], None]


def check(documents: Documents, cluster: Cluster, problems: Problems) -> None:
    """Report what is wrong with the documents of the provider."""
    for document in documents.all:
        path = joined(document.path, "spec")
        families = data.eks_anywhere()["os_families"].get(document.kind)
        if families is not None:
            _check_os_family(document, families, joined(path, "osFamily"), problems)
            check_users(document, problems)
            check_host(document, problems)
        if document.kind in _CHECKS:
            _CHECKS[document.kind](document, documents, cluster, problems)


def _check_os_family(document: Document, families: tuple[str, ...], path: str, problems: Problems) -> None:
    family = document.spec.get("osFamily")
    if problems.touches(path):
        return
    if family is None and document.kind in ("SnowMachineConfig", "TinkerbellMachineConfig"):
        return
    if family not in families:
        message = "is missing" if family is None else "is not an operating system of this provider"
        value = {} if family is None else {"value": family}
        guess = nearest(family, families) if family else None
        problems.add("anywhere.os_family", path, message, allowed=", ".join(families), nearest=guess, **value)


def _choice(value: Any, words: tuple[str, ...], path: str, problems: Problems) -> None:
    if value is not None and value not in words and not problems.touches(path):
        problems.add(
            "input.unknown_value", path, "is not a known value", value=value, allowed=", ".join(words), nearest=nearest(value, words)
        )


def _at_least(spec: Mapping[str, Any], names: tuple[str, ...], path: str, problems: Problems) -> None:
    for name in names:
        if isinstance(spec.get(name), int) and spec[name] < 1:
            problems.add("input.out_of_range", joined(path, name), "is out of range", value=spec[name], allowed="1 or more")


def _vsphere_datacenter(document: Document, _documents: Documents, cluster: Cluster, problems: Problems) -> None:
    path = joined(document.path, "spec")
    server = document.spec.get("server")
    if server and not is_host(server.lower()):
        problems.add("anywhere.host", joined(path, "server"), "is not a host", value=server, allowed="an IP address or a DNS name")
    if server and server == cluster.control_plane.endpoint:
        message = "is the endpoint of the control plane, too"
        problems.add("anywhere.address_in_use", joined(path, "server"), message, value=server, fix="use another address for the endpoint")
    if document.spec.get("insecure"):
        fix = "set thumbprint, and remove insecure"
        problems.add("anywhere.insecure", joined(path, "insecure"), "is true, so the server of vSphere is not verified", fix=fix)
    _check_unique(document.spec.get("failureDomains") or (), joined(path, "failureDomains"), problems)


def _check_unique(rows: Any, path: str, problems: Problems) -> None:
    """Report names that are there twice in a list."""
    seen: set[str] = set()
    for index, row in enumerate(rows):
        name = row.get("name")
        if name and name in seen:
            place = joined(joined(path, index), "name")
            problems.add("anywhere.failure_domain", place, "is there twice", value=name, fix="rename one of the two")
        seen.add(name)


def _vsphere_machine(document: Document, _documents: Documents, _cluster: Cluster, problems: Problems) -> None:
    path = joined(document.path, "spec")
    _at_least(document.spec, ("diskGiB", "memoryMiB", "numCPUs"), path, problems)
    _choice(document.spec.get("cloneMode"), _CLONE_MODES, joined(path, "cloneMode"), problems)
    networks = document.spec.get("networks") or ()
    if len(networks) > _NETWORKS:
        problems.add("input.out_of_range", joined(path, "networks"), f"has {len(networks)} networks", allowed=f"at most {_NETWORKS}")


def _tinkerbell_datacenter(document: Document, documents: Documents, cluster: Cluster, problems: Problems) -> None:
    path = joined(document.path, "spec")
    address = document.spec.get("tinkerbellIP")
    place = joined(path, "tinkerbellIP")
    if address and ip_problem(address) is not None:
        allowed = "a free IP address in the network of the nodes"
        problems.add("input.invalid_ip", place, "is not an IP address", value=address, allowed=allowed)
    elif address and address == cluster.control_plane.endpoint:
        message = "is the endpoint of the control plane, too"
        problems.add("anywhere.address_in_use", place, message, value=address, fix="use two addresses")
    machines = [one for one in documents.of_kind("TinkerbellMachineConfig") if one.spec.get("osImageURL")]
    if document.spec.get("osImageURL") and machines:
        fix = "keep it in the machine configs only, or in the datacenter only"
        problems.add("input.conflict", joined(path, "osImageURL"), f"is set, and {machines[0].path} has one, too", fix=fix)
    for name in ("osImageURL", "hookImagesURLPath", "hookIsoURL"):
        _check_url(document.spec.get(name), joined(path, name), problems)


def _check_url(url: str | None, path: str, problems: Problems) -> None:
    if url and not url.startswith(("http://", "https://")):
        problems.add("anywhere.url", path, "is not a URL", value=url, allowed="a URL with http:// or https://")


def _tinkerbell_machine(document: Document, _documents: Documents, _cluster: Cluster, problems: Problems) -> None:
    path = joined(document.path, "spec")
    selector, affinity = document.spec.get("hardwareSelector"), document.spec.get("hardwareAffinity")
    place = joined(path, "hardwareSelector")
    if selector and affinity:
        problems.add("input.conflict", place, "is set, and hardwareAffinity is set, too", fix="remove one of the two")
    elif not selector and not affinity and not problems.touches(place):
        problems.add("anywhere.hardware_selector", place, "is missing", allowed="one label of the hardware, such as {type: worker}")
    elif selector and len(selector) != 1:
        problems.add("anywhere.hardware_selector", place, f"has {len(selector)} labels", value=dict(selector), allowed="one label")
    if affinity is not None and not affinity.get("required") and not problems.touches(joined(path, "hardwareAffinity")):
        problems.add("anywhere.hardware_selector", f"{path}.hardwareAffinity.required", "is empty", allowed="at least one term")
    for index, term in enumerate((affinity or {}).get("preferred") or ()):
        weight = term.get("weight")
        if weight is None or not 1 <= weight <= 100:
            below = joined(f"{path}.hardwareAffinity.preferred", index)
            problems.add("input.out_of_range", joined(below, "weight"), "is out of range", value=weight, allowed="1 to 100")
    _check_url(document.spec.get("osImageURL"), joined(path, "osImageURL"), problems)


def _nutanix_datacenter(document: Document, _documents: Documents, cluster: Cluster, problems: Problems) -> None:
    path = joined(document.path, "spec")
    endpoint, port = document.spec.get("endpoint"), document.spec.get("port")
    if endpoint and not is_host(endpoint.lower()):
        problems.add("anywhere.host", joined(path, "endpoint"), "is not a host", value=endpoint, allowed="an IP address or a DNS name")
    if port is not None and not 1 <= port <= 65535:
        problems.add("input.out_of_range", joined(path, "port"), "is out of range", value=port, allowed="1 to 65535, usually 9440")
    if document.spec.get("additionalTrustBundle"):
        certificates(document.spec["additionalTrustBundle"], joined(path, "additionalTrustBundle"), problems)
    if document.spec.get("insecure"):
        fix = "set additionalTrustBundle, and remove insecure"
        problems.add("anywhere.insecure", joined(path, "insecure"), "is true, so Prism Central is not verified", fix=fix)
    domains = document.spec.get("failureDomains") or ()
    _check_unique(domains, joined(path, "failureDomains"), problems)
    groups = [group.name for group in cluster.workers]
    for index, domain in enumerate(domains):
        below = joined(joined(path, "failureDomains"), index)
        _check_identifier(domain.get("cluster"), joined(below, "cluster"), problems)
        for number, name in enumerate(domain.get("workerMachineGroups") or ()):
            if name not in groups:
                place = joined(joined(below, "workerMachineGroups"), number)
                message = "is not a worker group of the cluster"
                allowed = ", ".join(groups) or None
                problems.add("anywhere.failure_domain", place, message, value=name, allowed=allowed, nearest=nearest(name, groups))


def _check_identifier(value: Mapping[str, Any] | None, path: str, problems: Problems) -> None:
    """Report a resource of Nutanix that is not named by exactly the field that its type says."""
    if not value or problems.touches(path):
        return
    kind = value.get("type")
    _choice(kind, _IDENTIFIERS, joined(path, "type"), problems)
    if kind in _IDENTIFIERS and not value.get(str(kind)):
        problems.add("input.missing_field", joined(path, str(kind)), f"is required for the type {kind}", fix=f"add {kind}")


def _nutanix_machine(document: Document, _documents: Documents, _cluster: Cluster, problems: Problems) -> None:
    path = joined(document.path, "spec")
    _at_least(document.spec, ("vcpuSockets", "vcpusPerSocket"), path, problems)
    for name, smallest, allowed in (("memorySize", _SMALLEST_MEMORY, "2Gi"), ("systemDiskSize", _SMALLEST_DISK, "20Gi")):
        size = parse_quantity(document.spec.get(name))
        if size is not None and size < smallest:
            value = document.spec[name]
            problems.add("input.out_of_range", joined(path, name), "is too small", value=value, allowed=f"{allowed} or more")
    for name in ("image", "cluster", "subnet", "project"):
        _check_identifier(document.spec.get(name), joined(path, name), problems)
    _choice(document.spec.get("bootType"), _BOOT_TYPES, joined(path, "bootType"), problems)
    for index, gpu in enumerate(document.spec.get("gpus") or ()):
        below = joined(joined(path, "gpus"), index)
        _choice(gpu.get("type"), _GPU_TYPES, joined(below, "type"), problems)
        if gpu.get("type") in _GPU_TYPES and not gpu.get(gpu["type"]):
            problems.add("input.missing_field", joined(below, gpu["type"]), f"is required for the type {gpu['type']}")


def _cloudstack_datacenter(document: Document, _documents: Documents, _cluster: Cluster, problems: Problems) -> None:
    path = joined(document.path, "spec")
    zones = document.spec.get("availabilityZones")
    old = [name for name in ("account", "domain", "managementApiEndpoint", "zones") if document.spec.get(name)]
    if zones and old:
        message = f"is set, and availabilityZones is set, too: {', '.join(old)} would have no effect"
        problems.add("input.conflict", joined(path, old[0]), message, fix="remove the older fields")
    elif not zones and not old and not problems.touches(path):
        problems.add("input.missing_field", joined(path, "availabilityZones"), "is required", allowed="at least one zone")
    for index, zone in enumerate(zones or ()):
        below = joined(joined(joined(path, "availabilityZones"), index), "zone")
        _check_cloudstack(zone.get("zone"), below, problems)
    _check_unique(zones or (), joined(path, "availabilityZones"), problems)


def _check_cloudstack(value: Mapping[str, Any] | None, path: str, problems: Problems) -> None:
    """Report a resource of CloudStack that has both an id and a name, or neither."""
    if value is None or problems.touches(path):
        return
    given = [name for name in ("id", "name") if value.get(name)]
    if len(given) == 2:
        problems.add("input.conflict", joined(path, "id"), "is set, and name is set, too", fix="remove one of the two")
    elif not given:
        problems.add("input.missing_field", joined(path, "name"), "is required, or id", fix="add one of the two")


def _cloudstack_machine(document: Document, _documents: Documents, _cluster: Cluster, problems: Problems) -> None:
    path = joined(document.path, "spec")
    for name in ("template", "computeOffering"):
        _check_cloudstack(document.spec.get(name), joined(path, name), problems)
    _choice(document.spec.get("affinity"), _AFFINITIES, joined(path, "affinity"), problems)
    if document.spec.get("affinityGroupIds") and document.spec.get("affinity") in ("anti", "pro"):
        problems.add("input.conflict", joined(path, "affinityGroupIds"), "is set, and affinity is set, too", fix="remove one of the two")
    check_users(document, problems)


def _template(document: Document, _documents: Documents, _cluster: Cluster, problems: Problems) -> None:
    path = f"{document.path}.spec.template"
    if not document.spec.get("template") and not problems.touches(path):
        problems.add("input.missing_field", path, "is required", fix="add the template of the workflow")


_CHECKS: Mapping[str, Check] = {
    "VSphereDatacenterConfig": _vsphere_datacenter,
    "VSphereMachineConfig": _vsphere_machine,
    TINKERBELL: _tinkerbell_datacenter,
    "TinkerbellMachineConfig": _tinkerbell_machine,
    "TinkerbellTemplateConfig": _template,
    "NutanixDatacenterConfig": _nutanix_datacenter,
    "NutanixMachineConfig": _nutanix_machine,
    "CloudStackDatacenterConfig": _cloudstack_datacenter,
    "CloudStackMachineConfig": _cloudstack_machine,
    "SnowDatacenterConfig": check_snow_datacenter,
    "SnowMachineConfig": check_snow_machine,
    "SnowIPPool": check_ip_pool,
}
