# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules on addresses: the networks of pods and services, the CNI, and the endpoint of the control plane."""

from __future__ import annotations

import ipaddress
import re

from ..errors import Problems, joined, nearest
from ..network import cidr_problem, ip_problem
from .model import CILIUM, CLOUDSTACK, DOCKER, KINDNETD, NUTANIX, SNOW, TINKERBELL, VSPHERE, Cluster, Network
from .schema import is_rejected

_Block = ipaddress.IPv4Network | ipaddress.IPv6Network

DEFAULT_NODE_MASK = 24
_LARGEST_MASK_DIFFERENCE = 16
"""kube-controller-manager has a bitmap of node networks of this size."""

_SERVICE_BITS = (4, 20)
"""kubeadm needs ten addresses for services, and the API server refuses more than 2^20."""

_HOST = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_SAN = re.compile(r"(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9][a-z0-9-]{0,61}[a-z0-9]", re.ASCII)
_ADDRESS_ONLY = (NUTANIX, SNOW, TINKERBELL, VSPHERE)
"""Providers that announce the endpoint as a virtual address themselves: a name cannot be announced."""

_POLICY_MODES = ("always", "default", "never")
_ROUTING_MODES = ("direct", "overlay")


def check(cluster: Cluster, problems: Problems) -> None:
    """Report what is wrong with the addresses of a cluster."""
    network = cluster.network
    pods = _block(network.pods, joined(network.path, "pods"), "pods", problems)
    services = _block(network.services, joined(network.path, "services"), "services", problems)
    _check_pair(network, pods, services, problems)
    _check_node_mask(network, pods, problems)
    _check_service_size(network, services, problems)
    if not is_rejected(network.path, problems):
        _check_cni(cluster, problems)
    if not is_rejected(cluster.control_plane.path, problems):
        _check_endpoint(cluster, pods, services, problems)
    _check_sans(cluster, problems)


def is_host(text: str) -> bool:
    """Whether a text is an IP address or a DNS name. C(300.1.1.1) is neither."""
    if ip_problem(text) is None:
        return True
    return bool(_HOST.fullmatch(text)) and not text.rpartition(".")[2].isdecimal()


def is_port(text: str) -> bool:
    """Whether a text is the number of a port."""
    return text.isascii() and text.isdecimal() and len(text) <= 5 and 1 <= int(text) <= 65535


def _block(blocks: tuple[str, ...], path: str, what: str, problems: Problems) -> _Block | None:
    below = joined(path, "cidrBlocks")
    if problems.touches(below) or problems.touches(path) or is_rejected(path.rpartition(".")[0], problems):
        return None
    if not blocks:
        problems.add("anywhere.cidr", below, "is missing", allowed="a list with one CIDR", fix=f"add the network of the {what}")
        return None
    if len(blocks) > 1:
        problems.add("anywhere.cidr", below, f"has {len(blocks)} CIDRs", value=list(blocks), allowed="one CIDR", fix="keep one of them")
    reason = cidr_problem(blocks[0])
    if reason is not None:
        allowed = "a CIDR such as 192.168.0.0/16"
        problems.add("anywhere.cidr", joined(below, 0), reason, value=blocks[0], allowed=allowed)
        return None
    return ipaddress.ip_network(blocks[0])


def _check_pair(network: Network, pods: _Block | None, services: _Block | None, problems: Problems) -> None:
    path = f"{network.path}.services.cidrBlocks"
    if pods is None or services is None:
        return
    if pods.version != services.version:
        message = f"is IPv{services.version}, and the network of the pods, {pods}, is IPv{pods.version}"
        problems.add("anywhere.address_family", path, message, value=str(services), fix="use the same address family for both")
    elif pods.overlaps(services):
        message = f"overlaps with the network of the pods, {pods}"
        problems.add("anywhere.cidr_overlap", path, message, value=str(services), fix="use two networks without a common address")


def _check_node_mask(network: Network, pods: _Block | None, problems: Problems) -> None:
    path = f"{network.path}.nodes.cidrMaskSize"
    if pods is None or problems.touches(path):
        return
    mask = DEFAULT_NODE_MASK if network.node_mask is None else network.node_mask
    what = f"the network of the pods of one node, /{mask}"
    if mask > pods.max_prefixlen:
        problems.add("anywhere.node_mask", path, "is too large", value=mask, allowed=f"at most {pods.max_prefixlen}")
    elif pods.prefixlen >= mask:
        place = f"{network.path}.pods.cidrBlocks" if network.node_mask is None else path
        message = f"leaves no room for nodes: the network of all pods, {pods}, is not larger than {what}"
        largest = mask - 1
        problems.add("anywhere.node_mask", place, message, allowed=f"pods with /{largest} or wider for /{mask} on each node")
    elif mask - pods.prefixlen > _LARGEST_MASK_DIFFERENCE:
        place = f"{network.path}.pods.cidrBlocks" if network.node_mask is None else path
        message = f"is too far from the network of all pods, {pods}: {what}, has {mask - pods.prefixlen} bits more"
        allowed = f"at most {_LARGEST_MASK_DIFFERENCE} bits more than the network of all pods"
        problems.add("anywhere.node_mask", place, message, allowed=allowed)


def _check_service_size(network: Network, services: _Block | None, problems: Problems) -> None:
    if services is None:
        return
    smallest, largest = _SERVICE_BITS
    bits = services.max_prefixlen - services.prefixlen
    if not smallest <= bits <= largest:
        size = "small" if bits < smallest else "large"
        allowed = f"/{services.max_prefixlen - largest} to /{services.max_prefixlen - smallest}"
        path = f"{network.path}.services.cidrBlocks"
        problems.add("anywhere.service_network", path, f"is too {size} for services", value=str(services), allowed=allowed)


def _check_cni(cluster: Cluster, problems: Problems) -> None:
    network = cluster.network
    path = joined(network.path, "cniConfig")
    old = joined(network.path, "cni")
    if problems.touches(path) or problems.touches(old):
        return
    if network.old_cni and network.cni is not None:
        problems.add("input.conflict", old, "is set, and cniConfig is set, too", fix="remove cni")
    elif network.old_cni and network.old_cni not in (CILIUM, KINDNETD, "cilium-enterprise"):
        guess, allowed = nearest(network.old_cni, (CILIUM, KINDNETD)), f"{CILIUM}, {KINDNETD}"
        problems.add("anywhere.cni", old, "is not a CNI of EKS Anywhere", value=network.old_cni, allowed=allowed, nearest=guess)
    elif network.old_cni:
        name = KINDNETD if network.old_cni == KINDNETD else CILIUM
        problems.add("anywhere.deprecated_field", old, "is deprecated", fix=f"use cniConfig: {{{name}: {{}}}}")
    elif network.plugin is None:
        both = network.cni is not None and len(network.cni) > 1
        message = "has two CNIs" if both else "is missing, or has no CNI"
        problems.add("anywhere.cni", path, message, allowed=f"{CILIUM}: {{}}, or {KINDNETD}: {{}} for Docker")
    uses_kindnetd = network.old_cni == KINDNETD or (network.cni is not None and KINDNETD in network.cni)
    if uses_kindnetd and cluster.provider != DOCKER:
        place = old if network.cni is None else joined(path, KINDNETD)
        message = f"is for Docker only, and the provider is {cluster.provider_name}"
        problems.add("anywhere.cni", place, message, allowed=CILIUM)
    _check_cilium(network, joined(path, CILIUM), cluster, problems)


def _check_cilium(network: Network, path: str, cluster: Cluster, problems: Problems) -> None:
    cilium = (network.cni or {}).get(CILIUM) or {}
    others = sorted(name for name, value in cilium.items() if name != "skipUpgrade" and value not in ("", None))
    if cilium.get("skipUpgrade") and others:
        message = f"is true, so {', '.join(others)} would have no effect"
        problems.add("anywhere.cilium", joined(path, "skipUpgrade"), message, fix="remove the other fields, or skipUpgrade")
    for name, modes in (("policyEnforcementMode", _POLICY_MODES), ("routingMode", _ROUTING_MODES)):
        mode = cilium.get(name)
        if mode and mode not in modes:
            guess, allowed = nearest(mode, modes), ", ".join(modes)
            problems.add("anywhere.cilium", joined(path, name), "is not a mode of Cilium", value=mode, allowed=allowed, nearest=guess)
    if cilium.get("routingMode") == "direct" and not cilium.get("ipv4NativeRoutingCIDR"):
        message = "is required for the routing mode direct"
        problems.add("anywhere.cilium", joined(path, "ipv4NativeRoutingCIDR"), message, allowed="the CIDR that the network routes")
    for name in ("ipv4NativeRoutingCIDR", "ipv6NativeRoutingCIDR"):
        reason = cidr_problem(cilium[name]) if cilium.get(name) else None
        if reason is not None:
            problems.add("anywhere.cilium", joined(path, name), reason, value=cilium[name], allowed="a CIDR such as 192.168.0.0/16")


def _check_endpoint(cluster: Cluster, pods: _Block | None, services: _Block | None, problems: Problems) -> None:
    path = f"{cluster.control_plane.path}.endpoint.host"
    host = cluster.control_plane.endpoint
    if problems.touches(path) or problems.touches(joined(cluster.control_plane.path, "endpoint")):
        return
    if cluster.provider == DOCKER:
        if host:
            problems.add("anywhere.endpoint_of_docker", path, "is not supported by Docker", value=host, fix="remove endpoint")
        return
    if not host and cluster.has_known_provider:
        problems.add("anywhere.endpoint", path, "is missing", allowed="a free IP address in the network of the nodes")
    if not host:
        return
    address, port = _split_port(host) if cluster.provider == CLOUDSTACK else (host, None)
    if port is not None and not is_port(port):
        problems.add("anywhere.endpoint", path, "does not end with a port", value=host, allowed="a port from 1 to 65535")
    if ip_problem(address) is not None and (cluster.provider in _ADDRESS_ONLY or not is_host(address)):
        only, rest = _split_port(host)
        fix = f"write {only}, without the port" if rest is not None and ip_problem(only) is None else None
        allowed = "an IP address" if cluster.provider in _ADDRESS_ONLY else "an IP address, or the DNS name of a host"
        problems.add("anywhere.endpoint", path, f"is not {allowed}", value=host, allowed=allowed, fix=fix)
        return
    if ip_problem(address) is None:
        for block, what in ((pods, "pods"), (services, "services")):
            if block is not None and ipaddress.ip_address(address) in block:
                message = f"is an address in the network of the {what}, {block}"
                problems.add("anywhere.endpoint", path, message, value=host, fix="use a free address in the network of the nodes")


def _split_port(host: str) -> tuple[str, str | None]:
    if host.count(":") != 1:
        return host, None
    address, _colon, port = host.partition(":")
    return address, port


def _check_sans(cluster: Cluster, problems: Problems) -> None:
    path = joined(cluster.control_plane.path, "certSans")
    for index, name in enumerate(cluster.control_plane.cert_sans):
        is_name = bool(_SAN.fullmatch(name)) and not name.rpartition(".")[2].isdecimal()
        if not is_name and ip_problem(name) is not None and not problems.touches(joined(path, index)):
            allowed = "an IP address, or a DNS name with a dot in lower case, such as api.example.com"
            problems.add("anywhere.cert_san", joined(path, index), "is not an IP address or a DNS name", value=name, allowed=allowed)
