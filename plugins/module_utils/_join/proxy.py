# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which proxy kubelet uses, by the rules of Go's C(golang.org/x/net/http/httpproxy). Pure. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import base64
import ipaddress
import re
from typing import NamedTuple
from urllib.parse import unquote

_URL = re.compile(
    r"(?P<scheme>[A-Za-z0-9+.-]+)://(?:(?P<user>[^@/]*)@)?(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[^@/:\[\]\s]+))(?::(?P<port>[0-9]{1,5}))?(?:/\S*)?\Z"
)
_PORTS = {"http": 80, "https": 443}


class Proxy(NamedTuple):
    """C(authorization): value of the header of that name, or None; it is secret. C(shown): what may be told."""

    scheme: str
    host: str
    port: int
    authorization: str
    shown: str


class BadProxy(Exception):
    """A proxy that cannot be used, in words for the user."""


def of_environment(environment, host, port):
    """The Proxy for C(https://HOST:PORT) with these variables; None where the way is direct. Raises BadProxy."""
    name, value = _first(environment, "HTTPS_PROXY", "https_proxy")
    if not value or not _goes_through(_first(environment, "NO_PROXY", "no_proxy")[1], host, port):
        return None
    return of_url(value, name)


def of_url(value, name):
    """The Proxy of a URL; C(name) says where it stands. None for what Go does not understand, and ignores. Raises BadProxy."""
    match = _URL.match(value) or _URL.match(f"http://{value}")
    if match is None or int(match.group("port") or 1) > 65535:
        return None
    scheme = match.group("scheme").lower()
    if scheme not in _PORTS:
        raise BadProxy(f"{name} names a proxy of the kind {scheme}, and only http and https are known here")
    user, authorization = match.group("user"), None
    if user:
        secret = ":".join(unquote(part) for part in (user if ":" in user else f"{user}:").split(":", 1))
        authorization = "Basic " + base64.b64encode(secret.encode("utf-8", "surrogateescape")).decode("ascii")
    host = match.group("six") or match.group("name")
    port = int(match.group("port") or _PORTS[scheme])
    return Proxy(scheme, host, port, authorization, f"{scheme}://{f'[{host}]' if ':' in host else host}:{port} ({name})")


def _first(environment, *names):
    return next(((name, environment[name]) for name in names if environment.get(name)), (names[0], ""))


def _goes_through(no_proxy, host, port):
    """Whether an address is not one of those that NO_PROXY names."""
    address = _address(host)
    host = host.lower()
    if host == "localhost" or (address is not None and address.is_loopback):
        return False
    return not any(_matches(entry.strip().lower(), host, address, port) for entry in no_proxy.split(","))


def _matches(entry, host, address, port):
    if entry in ("", "*"):
        return entry == "*"
    if "/" in entry:
        try:
            network = ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
        return address is not None and address.version == network.version and address in network
    name, only = _split_port(entry)
    if only and only != str(port):
        return False
    given = _address(name)
    if given is not None:
        return given == address
    if not name or address is not None:
        return False
    name = name[1:] if name.startswith("*.") else name
    return host.endswith(name) if name.startswith(".") else host == name or host.endswith(f".{name}")


def _split_port(entry):
    """(host, port or an empty text)."""
    match = re.match(r"\[(?P<six>[^\]]*)\](?::(?P<a>[^:]*))?\Z|(?P<name>[^:]*):(?P<b>[^:]*)\Z", entry)
    if match is None:
        return entry, ""
    return (match.group("six"), match.group("a") or "") if match.group("six") is not None else (match.group("name"), match.group("b"))


def _address(text):
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
