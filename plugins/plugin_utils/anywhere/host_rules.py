# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules on the operating system of machines: users, time servers, certificates and settings of Bottlerocket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import Problems, joined
from ..formats.pem import certificates
from ..network import ip_problem
from .documents import Document
from .network_rules import is_host
from .schema import type_name

BOTTLEROCKET = "bottlerocket"
_BOTTLEROCKET_USER = "ec2-user"


def check_users(document: Document, problems: Problems) -> None:
    """Report users of a machine config that EKS Anywhere refuses."""
    path = f"{document.path}.spec.users"
    users = document.spec.get("users") or ()
    for index, user in enumerate(users):
        place = joined(joined(path, index), "name")
        name = user.get("name")
        if problems.touches(place):
            continue
        if not name:
            problems.add("input.missing_field", place, "is required", fix="add the name of the user")
        elif document.spec.get("osFamily") == BOTTLEROCKET and name != _BOTTLEROCKET_USER:
            problems.add("anywhere.user", place, "is not the user of Bottlerocket", value=name, allowed=_BOTTLEROCKET_USER)


def check_host(document: Document, problems: Problems) -> None:
    """Report settings of the operating system that EKS Anywhere refuses."""
    path = f"{document.path}.spec.hostOSConfiguration"
    host = document.spec.get("hostOSConfiguration")
    if host is None or problems.touches(path):
        return
    time = host.get("ntpConfiguration")
    if time is not None:
        _check_time_servers(tuple(time.get("servers") or ()), f"{path}.ntpConfiguration.servers", problems)
    is_bottlerocket = document.spec.get("osFamily") == BOTTLEROCKET
    for name in ("bottlerocketConfiguration", "certBundles"):
        # For EKS Anywhere, an empty mapping is a configuration, and an empty list has no bundle.
        if host.get(name) not in (None, []) and not is_bottlerocket:
            problems.add("anywhere.only_bottlerocket", joined(path, name), "is for osFamily: bottlerocket only", fix="remove it")
    if is_bottlerocket:
        _check_bottlerocket(host.get("bottlerocketConfiguration") or {}, f"{path}.bottlerocketConfiguration", problems)
    for index, bundle in enumerate(host.get("certBundles") or ()):
        if is_bottlerocket and bundle.get("data"):
            certificates(bundle["data"], joined(joined(joined(path, "certBundles"), index), "data"), problems)


def _check_bottlerocket(config: Mapping[str, Any], path: str, problems: Problems) -> None:
    """Report settings of Bottlerocket that are empty or have a wrong form."""
    settings = config.get("kubernetes") or {}
    for name, reason, allowed in (
        ("allowedUnsafeSysctls", _empty_problem, "a name such as net.core.somaxconn"),
        ("clusterDNSIPs", _address_problem, "an IP address"),
    ):
        below = f"{path}.kubernetes.{name}"
        rows = settings.get(name)
        if rows is not None and not isinstance(rows, list):
            problems.add("input.wrong_type", below, f"must be a list, not {type_name(rows)}", value=rows)
            continue
        for index, value in enumerate(rows or ()):
            if (message := reason(value)) is not None:
                problems.add("anywhere.bottlerocket", joined(below, index), message, value=value, allowed=allowed)
    pods = settings.get("maxPods")
    if pods is not None and (isinstance(pods, bool) or not isinstance(pods, int) or pods < 0):
        problems.add("anywhere.bottlerocket", f"{path}.kubernetes.maxPods", "is not a number of pods", value=pods, allowed="0 or more")
    for part, name in (("kernel", "sysctlSettings"), ("boot", "bootKernelParameters")):
        values = (config.get(part) or {}).get(name)
        below = f"{path}.{part}.{name}"
        if values is not None and not isinstance(values, dict):
            problems.add("input.wrong_type", below, f"must be a mapping, not {type_name(values)}", value=values)
        elif values is not None and "" in values:
            problems.add("anywhere.bottlerocket", below, "has an empty name", fix="add the name of the setting, or remove the entry")


def _empty_problem(value: Any) -> str | None:
    return None if isinstance(value, str) and value else "is empty"


def _address_problem(value: Any) -> str | None:
    return None if isinstance(value, str) and ip_problem(value) is None else "is not an IP address"


def _check_time_servers(servers: tuple[str, ...], path: str, problems: Problems) -> None:
    if not servers:
        fix = "add a server, or remove ntpConfiguration"
        problems.add("anywhere.time_server", path, "is empty", allowed="at least one server", fix=fix)
    for index, server in enumerate(servers):
        host = server.partition("://")[2] or server
        if not is_host(host.lower()) and ip_problem(host.strip("[]")) is not None and not problems.touches(joined(path, index)):
            allowed = "an IP address or a DNS name"
            problems.add("anywhere.time_server", joined(path, index), "is not a host", value=server, allowed=allowed)
