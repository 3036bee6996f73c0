# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Service CIDRs, the DNS addresses in them, what a proxy must not see, and URLs without secrets."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from .errors import Problem, SpecError

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_DNS_HOST = 10
"""EKS gives the cluster DNS service the tenth address of the service CIDR (Amazon EKS user guide, 2024)."""

_ALWAYS_DIRECT = ("localhost", "127.0.0.1", "::1", "169.254.169.254", "fd00:ec2::254", ".internal")
"""Loopback, both addresses of the instance metadata service, and the names AWS gives instances."""

_URL_PARTS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?:[^/?#]*@)?"
    r"(?P<rest>(?:\[[0-9A-Fa-f:.]*\]|[^/?#@:\[\]]*)(?::[0-9]*)?(?:/[^?#]*)?)(?:[?#]|\Z)"
)
_PREFIX_LENGTH = re.compile(r"[0-9]{1,3}", re.ASCII)


def cidr_problem(text: object) -> str | None:
    """Why C(text) is not a CIDR as Kubernetes reads one (address, slash, prefix length, no host bits), or None when it is."""
    if not isinstance(text, str):
        return "a CIDR is text"
    read = _read_cidr(str(text))
    return read if isinstance(read, str) else None


@lru_cache(maxsize=256)
def _read_cidr(text: str) -> _Network | str:
    """The network, or why C(text) is not one. Cached, because all groups of a cluster have the same CIDR."""
    address_text, slash, length = text.partition("/")
    if not slash:
        return "has no prefix length"
    if "%" in address_text:
        return "a CIDR has no zone"
    # ipaddress reads netmasks (10.0.0.0/255.0.0.0) too; Go's net.ParseCIDR, which every consumer uses, does not.
    if not _PREFIX_LENGTH.fullmatch(length) or (len(length) > 1 and length.startswith("0")):
        return "the prefix length is not a number"
    try:
        address = ipaddress.ip_address(address_text)
    except ValueError:
        return "the part before the slash is not an IP address"
    if int(length) > address.max_prefixlen:
        return f"the prefix length of an IPv{address.version} CIDR is at most {address.max_prefixlen}"
    network = ipaddress.ip_network(text, strict=False)
    if network.network_address != address:
        return f"has host bits set; the network is {network}"
    return network


def ip_problem(text: object) -> str | None:
    """Why C(text) is not one IP address without a zone, or None when it is."""
    if not isinstance(text, str):
        return "an IP address is text"
    if "%" in text:
        return "an IP address here has no zone"
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return "is not an IP address"
    return None


def _network(cidr: object, path: str) -> _Network:
    read = _read_cidr(cidr) if isinstance(cidr, str) else cidr_problem(cidr)
    if isinstance(read, (ipaddress.IPv4Network, ipaddress.IPv6Network)):
        return read
    raise SpecError(
        [Problem("input.invalid_cidr", path, str(read), value=cidr, allowed="a CIDR such as 10.100.0.0/16 or fd40:6404:f93b::/108")]
    )


def cluster_dns_ips(service_cidr: str, path: str = "service_cidr") -> list[str]:
    """The cluster DNS addresses in C(service_cidr): host 10, computed as a number.

    (The images' own scripts replace text: C(10.100.0.64/26) gives them an address outside of the range.)
    Raises C(SpecError) when it is not a CIDR or too small to hold host 10.
    """
    network = _network(service_cidr, path)
    if network.num_addresses <= _DNS_HOST + 1:
        largest = network.max_prefixlen - 4
        raise SpecError(
            [
                Problem(
                    "cluster.no_dns_address",
                    path,
                    "is too small for the cluster DNS address, which is host 10 of the CIDR",
                    service_cidr,
                    allowed=f"/{largest} or wider",
                )
            ]
        )
    return [str(network.network_address + _DNS_HOST)]


def ip_family(cidr: str, path: str = "service_cidr") -> str:
    """C(ipv4) or C(ipv6). Raises C(SpecError) when C(cidr) is not a CIDR."""
    return f"ipv{_network(cidr, path).version}"


def endpoint_host(endpoint: object) -> str | None:
    """The host in an C(https) URL, lower case and without brackets, or None when there is none."""
    if not isinstance(endpoint, str):
        return None
    try:
        parts = urlsplit(endpoint)
        host, _unused = parts.hostname, parts.port
    except ValueError:
        return None
    return host if parts.scheme == "https" and host else None


def public_url(url: str) -> str | None:
    """A URL without its user name and password, and without its query and fragment, which may be a signature. None if it is not a URL."""
    parts = _URL_PARTS.match(url)
    return parts["scheme"] + parts["rest"] if parts else None


def no_proxy_entries(cluster_endpoint: str | None, service_cidr: str | None, user_list: Iterable[str] = ()) -> list[str]:
    """What a node must reach without a proxy: the user's entries in their order, then what every node needs, each once."""
    needed = [*_ALWAYS_DIRECT, service_cidr, endpoint_host(cluster_endpoint)]
    return list(dict.fromkeys([*user_list, *(entry for entry in needed if entry)]))
