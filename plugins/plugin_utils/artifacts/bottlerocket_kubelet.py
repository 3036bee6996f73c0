# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubelet configuration and flags as the settings that Bottlerocket has for them.

Bottlerocket writes kubelet's configuration from its own settings and takes no other: what has no setting is refused.
Settings: Bottlerocket's Kubernetes settings model and documentation, releases 1.19 to 1.63.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .. import data
from ..errors import Problems, joined
from ..model.spec import NodeSpec
from ..quantities import parse_bool
from .settings_tree import Setting, leaves

CONFIG = "node_group.kubelet.config"
FLAGS = "node_group.kubelet.flags"

_SETTINGS = {
    "allowedUnsafeSysctls": "allowed-unsafe-sysctls",
    "clusterDomain": "cluster-domain",
    "containerLogMaxFiles": "container-log-max-files",
    "containerLogMaxSize": "container-log-max-size",
    "containerLogMaxWorkers": "container-log-max-workers",
    "containerLogMonitorInterval": "container-log-monitor-interval",
    "cpuCFSQuota": "cpu-cfs-quota-enforced",
    "cpuManagerPolicy": "cpu-manager-policy",
    "cpuManagerReconcilePeriod": "cpu-manager-reconcile-period",
    "eventBurst": "event-burst",
    "eventRecordQPS": "event-qps",
    "evictionHard": "eviction-hard",
    "evictionMaxPodGracePeriod": "eviction-max-pod-grace-period",
    "evictionSoft": "eviction-soft",
    "evictionSoftGracePeriod": "eviction-soft-grace-period",
    "imageGCHighThresholdPercent": "image-gc-high-threshold-percent",
    "imageGCLowThresholdPercent": "image-gc-low-threshold-percent",
    "imageMaximumGCAge": "image-maximum-gc-age",
    "imageMinimumGCAge": "image-minimum-gc-age",
    "kubeAPIBurst": "kube-api-burst",
    "kubeAPIQPS": "kube-api-qps",
    "maxParallelImagePulls": "max-parallel-image-pulls",
    "memoryManagerPolicy": "memory-manager-policy",
    "podPidsLimit": "pod-pids-limit",
    "providerID": "provider-id",
    "registryBurst": "registry-burst",
    "registryPullQPS": "registry-qps",
    "reservedSystemCPUs": "reserved-cpus",
    "seccompDefault": "seccomp-default",
    "serverTLSBootstrap": "server-tls-bootstrap",
    "shutdownGracePeriod": "shutdown-grace-period",
    "shutdownGracePeriodCriticalPods": "shutdown-grace-period-for-critical-pods",
    "singleProcessOOMKill": "single-process-oom-kill",
    "topologyManagerPolicy": "topology-manager-policy",
    "topologyManagerScope": "topology-manager-scope",
}
"""KubeletConfiguration field → the setting below C(settings.kubernetes) with the same value."""

_INSIDE = {"logging": {"verbosity": "log-level"}, "userNamespaces": {"idsPerPod": "ids-per-pod"}}
"""Fields of which Bottlerocket sets a part."""

_INSTEAD = {
    "authentication": "bottlerocket.settings.kubernetes.authentication-mode",
    "resolvConf": "bottlerocket.settings.dns",
    "staticPodPath": "bottlerocket.settings.kubernetes.static-pods",
    "staticPodURL": "bottlerocket.settings.kubernetes.static-pods",
    "tlsCertFile": "bottlerocket.settings.kubernetes.server-certificate",
    "tlsPrivateKeyFile": "bottlerocket.settings.kubernetes.server-key",
    "containerRuntimeEndpoint": "bottlerocket.settings.container-runtime",
}
"""Fields without a setting of the same meaning, and the settings that serve the same end."""

_FLAGS_ONLY: Mapping[str, tuple[str, str]] = {
    "cloud-provider": ("cloud-provider", "string"),
    "hostname-override": ("hostname-override", "string"),
    "node-ip": ("node-ip", "string"),
    "seccomp-default": ("seccomp-default", "bool"),
    "v": ("log-level", "int"),
}
"""Flags that are no configuration field: the setting and how to read the value."""

_SAYS = "has no setting on Bottlerocket, which generates kubelet's configuration from its settings"


def kubelet_settings(spec: NodeSpec, problems: Problems) -> Iterator[Setting]:
    """The settings for C(spec.kubelet_config) and C(spec.kubelet_flags); what has none is reported."""
    for name, value in spec.kubelet_config.items():
        origin = joined(CONFIG, name)
        # JSON's null leaves a field as it is; and what is wrong already needs no second complaint.
        if value is not None and not problems.touches(origin):
            yield from _field(name, value, origin, problems)
    flags = data.kubelet_flags()["flags"]
    for name, values in spec.kubelet_flags.items():
        origin = joined(FLAGS, name)
        if not problems.touches(origin):
            yield from _flag(name, values, flags.get(name, {}), origin, problems)


def setting_of_flag(name: str) -> str | None:
    """The setting below C(settings.kubernetes) that a flag becomes, or None if there is none."""
    if name in _FLAGS_ONLY:
        return _FLAGS_ONLY[name][0]
    return _SETTINGS.get(data.kubelet_flags()["flags"].get(name, {}).get("config", ""))


def _field(name: str, value: Any, origin: str, problems: Problems) -> Iterable[Setting]:
    if name in _SETTINGS:
        return leaves(("kubernetes", _SETTINGS[name]), value, origin)
    if name in _INSIDE and isinstance(value, Mapping):
        return _inside(_INSIDE[name], value, origin, problems)
    if name in _SHAPES:
        return _SHAPES[name](value, origin, problems)
    _refuse(name, origin, problems)
    return ()


def _refuse(name: str, origin: str, problems: Problems) -> None:
    instead = _INSTEAD.get(name)
    problems.add("bottlerocket.no_setting", origin, _SAYS, fix=f"use {instead}" if instead else "remove it")


def _inside(known: Mapping[str, str], value: Mapping[str, Any], origin: str, problems: Problems) -> Iterator[Setting]:
    for key, item in value.items():
        if key in known:
            yield Setting(("kubernetes", known[key]), item, joined(origin, key))
        else:
            problems.add("bottlerocket.no_setting", joined(origin, key), _SAYS, fix="remove it")


def _cpu_manager_options(value: Any, origin: str, problems: Problems) -> Iterator[Setting]:
    """The list of enabled options. Every other option is off, which is kubelet's default."""
    chosen = [key for key, item in _switches(value, origin, problems).items() if item]
    if chosen:
        yield Setting(("kubernetes", "cpu-manager-policy-options"), sorted(chosen), origin)


def _topology_manager_options(value: Any, origin: str, problems: Problems) -> Iterator[Setting]:
    place = ("kubernetes", "topology-manager-policy-options")
    numbers = {key: item for key, item in value.items() if key.startswith("max-")} if isinstance(value, Mapping) else {}
    for key, item in numbers.items():
        yield Setting((*place, key), int(item) if str(item).isdecimal() and len(str(item)) < 10 else item, joined(origin, key))
    rest = {key: item for key, item in value.items() if key not in numbers} if isinstance(value, Mapping) else value
    for key, switch in _switches(rest, origin, problems).items():
        yield Setting((*place, key), switch, joined(origin, key))


def _switches(value: Any, origin: str, problems: Problems) -> dict[str, bool]:
    """Options that kubelet writes as text, C("true") or C("false")."""
    found = {}
    for key, item in value.items() if isinstance(value, Mapping) else ():
        switch = parse_bool(item)
        if switch is not None:
            found[key] = switch
        else:
            problems.add("bottlerocket.invalid_switch", joined(origin, key), "is not on or off", value=item, allowed='"true" or "false"')
    return found


def _reserved_memory(value: Any, origin: str, problems: Problems) -> Iterator[Setting]:
    """A list by NUMA node in kubelet's configuration, a table by NUMA node in Bottlerocket's."""
    for index, item in enumerate(value if isinstance(value, list) else ()):
        path = joined(origin, index)
        node = item.get("numaNode", 0) if isinstance(item, Mapping) else None
        limits = item.get("limits") if isinstance(item, Mapping) else None
        if node is None or not isinstance(limits, Mapping):
            problems.add(
                "bottlerocket.invalid_reserved_memory",
                path,
                "does not name a node and its limits",
                value=item,
                allowed="{numaNode: 0, limits: {memory: 1Gi}}",
            )
            continue
        place = ("kubernetes", "memory-manager-reserved-memory", str(node))
        yield from leaves(place, {"enabled": True}, path)
        yield from leaves(place, {key: str(quantity) for key, quantity in limits.items()}, f"{path}.limits")


_SHAPES: Mapping[str, Callable[[Any, str, Problems], Iterable[Setting]]] = {
    "cpuManagerPolicyOptions": _cpu_manager_options,
    "topologyManagerPolicyOptions": _topology_manager_options,
    "reservedMemory": _reserved_memory,
}
"""Fields that Bottlerocket spells in another shape."""


def _flag(name: str, values: tuple[str, ...], row: Mapping[str, Any], origin: str, problems: Problems) -> Iterable[Setting]:
    """A flag is the text form of a configuration field: it is read as kubelet reads it, and goes the field's way."""
    text = ",".join(values)
    try:
        if name in _FLAGS_ONLY:
            setting, kind = _FLAGS_ONLY[name]
            return (Setting(("kubernetes", setting), _read(text, kind), origin),)
        config = row.get("config", "")
        if config in _SETTINGS or (config in _SHAPES and config != "reservedMemory"):
            return list(_field(config, _read(text, row["type"]), origin, problems))
    except ValueError:
        problems.add("bottlerocket.unreadable_flag", origin, "cannot be read as kubelet would read it", value=text)
        return ()
    if config in _INSTEAD or config == "reservedMemory":
        problems.add(
            "bottlerocket.no_setting",
            origin,
            "has no setting of this form on Bottlerocket",
            fix=f"use {_INSTEAD.get(config, 'kubelet.config.reservedMemory')}",
        )
    else:
        problems.add(
            "bottlerocket.no_setting",
            origin,
            "cannot be set: Bottlerocket starts kubelet itself and has no setting for this flag",
            fix="remove it",
        )
    return ()


def _read(text: str, kind: str) -> Any:
    """The value of a flag. Raises C(ValueError) if the text is not a valid value."""
    if kind == "bool":
        switch = parse_bool(text)
        return text if switch is None else switch
    if kind == "int":
        return int(text) if len(text) <= 20 else text
    if kind == "list":
        return [word for word in text.split(",") if word]
    if kind in ("map", "thresholds"):
        sign = "<" if kind == "thresholds" else "="
        pairs = [word.split(sign, 1) for word in text.split(",") if word]
        return {key.strip(): value.strip() for key, value in pairs}
    return text
