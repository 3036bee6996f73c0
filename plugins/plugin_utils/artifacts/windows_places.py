# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the fields with the arguments of C(Start-EKSBootstrap.ps1) in C(override), which replaces our call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import Problems, joined
from ..kubelet_settings import is_same
from ..model.spec import NodeSpec
from ..windows_calls import EXTRA_ARGS, NAME, flags_of, read_calls
from . import origins, proxy_places, windows_bootstrap
from .comparison import POWERSHELL_MENTION
from .model import Notes
from .passed_flags import Difference, Given, differences, warn

_OVERRIDE = "node_group.override"
_LOOKED_UP = ("-APIServerEndpoint", "-Base64ClusterCA")
_PATHS = {
    "EKSClusterName": "cluster.name",
    "APIServerEndpoint": "cluster.endpoint",
    "Base64ClusterCA": "cluster.certificate_authority",
    "ServiceCIDR": "cluster.service_cidr",
    "ContainerRuntime": "node_group.windows.container_runtime",
    "KubeProxyExtraArgs": "node_group.windows.kube_proxy_extra_args",
    "ExcludedSnatCIDRs": "node_group.windows.excluded_snat_cidrs",
    "Endpoint": "node_group.windows.eks_endpoint",
}


def notes(spec: NodeSpec) -> Notes:
    """Warnings about values of the fields that C(override) changes, and PowerShell of the user that was not compared with the fields."""
    if spec.managed:
        return Notes()
    warnings, unchecked = Problems(), Problems()
    texts = list(zip(spec.user_data_paths, spec.user_data, strict=True))
    texts += [(joined("node_group.commands.pre", index), command) for index, command in enumerate(spec.commands_pre)]
    for path, text in texts:
        if POWERSHELL_MENTION.search(text) or not proxy_places.is_read(spec, path, text):
            _not_read(path, unchecked)
    if spec.override is not None:
        known = {name: value for name, value in windows_bootstrap.variable_values(spec).items() if isinstance(value, str)}
        reading = read_calls(spec.override, known)
        passed = [flags_of(call) for call in reading.calls[-1:]]
        if spec.proxy is not None:
            proxy_places.warn(spec, warnings)
        is_read = reading.is_complete and proxy_places.is_read(spec, _OVERRIDE, spec.override)
        if not is_read or not reading.calls or None in passed or None in [v for call in reading.calls for v in call.values()]:
            _not_read(_OVERRIDE, unchecked)
        for call, flags in zip(reading.calls[-1:], passed, strict=True):
            found = [*_options(spec, call), *(differences(spec, windows_bootstrap.kubelet_words(spec), flags) if flags is not None else ())]
            warn(found, NAME, _LOOKED_UP, warnings)
    return Notes(tuple(warnings), tuple(unchecked))


def _not_read(path: str, unchecked: Problems) -> None:
    read = f"literal arguments of {NAME} in override and literal proxy variables"
    message = f"contains PowerShell that was not compared with the fields: only {read} are"
    unchecked.add("user_data.unread_shell", path, message, fix="write the settings of the node as fields")


def _options(spec: NodeSpec, call: Mapping[str, tuple[str, ...] | None]) -> Iterator[Difference]:
    for name, value in windows_bootstrap.parameters(spec):
        if name == EXTRA_ARGS:
            continue
        items = (value,) if isinstance(value, str) else tuple(value)
        other = call.get(name, ())
        if other is None or _is_same(name, items, other):
            continue
        path = origins.of_field(spec, ("clusterDNS",)) if name == "DNSClusterIP" else _PATHS[name]
        computed = name == "DNSClusterIP" and path == "cluster.service_cidr"
        yield Given(f"-{name}", ",".join(items), path, computed), ",".join(other) if name in call else None


def _is_same(name: str, items: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if name == "APIServerEndpoint":
        return [item.rstrip("/") for item in items] == [item.rstrip("/") for item in other]
    return is_same("cluster-dns", items, other) if name == "DNSClusterIP" else items == other
