# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A second, independent set of rules: what the first validation of EKS Anywhere refuses, written from its documentation and its record.

It reads plain data, stops at the first reason as EKS Anywhere does, and shares no code with the library. The record holds it to EKS
Anywhere, and variations of the rows hold the library to it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Any

SPEC = {
    "bundlesRef", "clusterNetwork", "controlPlaneConfiguration", "datacenterRef", "eksaVersion", "etcdEncryption",
    "externalEtcdConfiguration", "gitOpsRef", "identityProviderRefs", "kubernetesVersion", "licenseToken", "machineHealthCheck",
    "managementCluster", "packages", "podIamConfig", "proxyConfiguration", "registryMirrorConfiguration", "workerNodeGroupConfigurations",
}  # fmt: skip
DOCKER, BARE_METAL = "DockerDatacenterConfig", "TinkerbellDatacenterConfig"
CURATED = re.compile(r"783794618700\.dkr\.ecr\..*\.amazonaws\.com")
_QUALIFIED = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)")
_DNS = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SAN = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9][a-z0-9-]{0,61}[a-z0-9]")
_SEMVER = re.compile(r"v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


def refused(cluster: Mapping[str, Any]) -> str | None:
    """The first reason why EKS Anywhere refuses a Cluster, or None if it accepts it at this point."""
    spec = cluster.get("spec") or {}
    form = _form(cluster, spec)
    if form is not None:
        return form
    checks: list[Callable[[str, Mapping[str, Any]], str | None]] = [
        _name, _plane, _endpoint, _machines, _workers, _network, _git_ops, _etcd, _identity, _proxy, _mirror, _pod_iam, _rollout, _packages,
        _release, _kubelet,
    ]  # fmt: skip
    name = (cluster.get("metadata") or {}).get("name") or ""
    return next((reason for reason in (check(name, spec) for check in checks) if reason is not None), None)


def _form(cluster: Mapping[str, Any], spec: Mapping[str, Any]) -> str | None:
    """Unknown fields and wrong types, as far as the variations have them."""
    if set(spec) - SPEC:
        return "unknown field"
    if set(spec.get("bundlesRef") or {}) - {"apiVersion", "name", "namespace"}:
        return "unknown field"
    for group in [spec.get("controlPlaneConfiguration") or {}, *(spec.get("workerNodeGroupConfigurations") or [])]:
        count = group.get("count")
        if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
            return "wrong type"
        if any(not isinstance(value, str) for value in (group.get("labels") or {}).values()):
            return "wrong type"
    return None if isinstance(cluster.get("metadata") or {}, dict) else "wrong type"


def _name(name: str, _spec: Mapping[str, Any]) -> str | None:
    if not re.fullmatch(r"[a-zA-Z][a-zA-Z0-9-]+", name, re.ASCII):
        return "name"
    return "name too long" if len(name) > 35 else None


def _plane(_name: str, spec: Mapping[str, Any]) -> str | None:
    plane = spec.get("controlPlaneConfiguration") or {}
    count = plane.get("count") or 0
    if count <= 0:
        return "count"
    if spec.get("externalEtcdConfiguration") is None and count % 2 == 0:
        return "even count"
    if not all(_label(key, value) for key, value in (plane.get("labels") or {}).items()):
        return "labels"
    if plane.get("apiServerExtraArgs"):
        return "extra arguments"
    sans = plane.get("certSans") or []
    return None if all(_SAN.search(one) or _ip(one) for one in sans) else "certificate names"


def _endpoint(_name: str, spec: Mapping[str, Any]) -> str | None:
    host = ((spec.get("controlPlaneConfiguration") or {}).get("endpoint") or {}).get("host")
    return "endpoint" if _provider(spec) != DOCKER and not host else None


def _machines(_name: str, spec: Mapping[str, Any]) -> str | None:
    return "etcd on Bare Metal" if _provider(spec) == BARE_METAL and spec.get("externalEtcdConfiguration") is not None else None


def _workers(name: str, spec: Mapping[str, Any]) -> str | None:
    groups = spec.get("workerNodeGroupConfigurations") or []
    if not groups and _provider(spec) != BARE_METAL:
        return "no workers"
    names = [group.get("name") or ("md-0" if index == 0 else "") for index, group in enumerate(groups)]
    if not all(names) or len(set(names)) < len(names):
        return "names of groups"
    for group in groups:
        scaling = group.get("autoscalingConfiguration")
        count = group.get("count")
        if scaling is None and (count or 0) < 0:
            return "count of workers"
        if scaling is not None:
            low, high = scaling.get("minCount") or 0, scaling.get("maxCount") or 0
            count = low if count is None else count
            if low < 0 or low > high or not low <= count <= high:
                return "autoscaling"
        if not all(_label(key, value) for key, value in (group.get("labels") or {}).items()):
            return "labels"
    away = [any(taint.get("effect") in ("NoExecute", "NoSchedule") for taint in group.get("taints") or []) for group in groups]
    manager = (spec.get("managementCluster") or {}).get("name") or name
    if groups and all(away) and manager == name:
        return "all tainted"
    return "tainted control plane" if not groups and (spec.get("controlPlaneConfiguration") or {}).get("taints") else None


def _network(_name: str, spec: Mapping[str, Any]) -> str | None:
    network = spec.get("clusterNetwork") or {}
    blocks = [((network.get(part) or {}).get("cidrBlocks") or []) for part in ("pods", "services")]
    config = network.get("cniConfig")
    if _provider(spec) != DOCKER and (network.get("cni") == "kindnetd" or "kindnetd" in (config or {})):
        return "kindnetd"
    if any(len(one) != 1 or "/" not in one[0] for one in blocks):
        return "networks"
    try:
        pods, _services = (ipaddress.ip_interface(one[0]).network for one in blocks)
    except ValueError:
        return "networks"
    mask = (network.get("nodes") or {}).get("cidrMaskSize")
    mask = 24 if mask is None else mask
    if pods.prefixlen >= mask or mask - pods.prefixlen > 16:
        return "mask"
    if network.get("cni"):
        return "both CNIs" if config is not None else None
    if config is None or len(config) != 1:
        return "CNI"
    cilium = config.get("cilium") or {}
    mode = cilium.get("policyEnforcementMode") or ""
    if mode not in ("", "default", "always", "never"):
        return "mode of Cilium"
    others = [key for key, value in cilium.items() if key != "skipUpgrade" and value]
    if cilium.get("skipUpgrade") and others:
        return "skipUpgrade"
    return "direct routing" if cilium.get("routingMode") == "direct" and not cilium.get("ipv4NativeRoutingCIDR") else None


def _git_ops(_name: str, spec: Mapping[str, Any]) -> str | None:
    reference = spec.get("gitOpsRef")
    if reference is None:
        return None
    return None if reference.get("kind") in ("FluxConfig", "GitOpsConfig") and reference.get("name") else "GitOps"


def _etcd(_name: str, spec: Mapping[str, Any]) -> str | None:
    etcd = spec.get("externalEtcdConfiguration")
    if etcd is None:
        return None
    count = etcd.get("count") or 0
    return "count of etcd" if count <= 0 or count % 2 == 0 else None


def _identity(_name: str, spec: Mapping[str, Any]) -> str | None:
    for one in spec.get("identityProviderRefs") or []:
        if one.get("kind") not in ("AWSIamConfig", "OIDCConfig") or not one.get("name"):
            return "identity provider"
    return None


def _proxy(_name: str, spec: Mapping[str, Any]) -> str | None:
    proxy = spec.get("proxyConfiguration")
    if proxy is None:
        return None
    for name in ("httpProxy", "httpsProxy"):
        text = proxy.get(name) or ""
        if text.startswith("http"):
            match = re.fullmatch(r"https?://([^/?#]*)(?:[/?#].*)?", text)
            text = match[1].rpartition("@")[2] if match else ""
        match = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^:@\[\]\s]+):(\d+)", text)
        if match is None or not 1 <= int(match[2]) <= 65535:
            return "proxy"
    return None


def _mirror(_name: str, spec: Mapping[str, Any]) -> str | None:
    mirror = spec.get("registryMirrorConfiguration")
    if mirror is None:
        return None
    if not mirror.get("endpoint"):
        return "endpoint of the mirror"
    port = str(mirror.get("port") or "443")
    if not port.isdecimal() or not 1 <= int(port) <= 65535:
        return "port of the mirror"
    registries = [one.get("registry") or "" for one in mirror.get("ociNamespaces") or []]
    return "registries" if not all(registries) or sum(bool(CURATED.search(one)) for one in registries) > 1 else None


def _pod_iam(_name: str, spec: Mapping[str, Any]) -> str | None:
    config = spec.get("podIamConfig")
    return "issuer" if config is not None and not config.get("serviceAccountIssuer") else None


def _rollout(_name: str, spec: Mapping[str, Any]) -> str | None:
    plane = (spec.get("controlPlaneConfiguration") or {}).get("upgradeRolloutStrategy")
    groups = [group.get("upgradeRolloutStrategy") for group in spec.get("workerNodeGroupConfigurations") or []]
    for strategy in (plane, *groups):
        if strategy is None:
            continue
        kind, numbers = strategy.get("type"), strategy.get("rollingUpdate")
        if kind not in ("InPlace", "RollingUpdate"):
            return "strategy"
        if kind == "InPlace":
            if _provider(spec) != BARE_METAL:
                return "in place"
            continue
        surge, gone = ((numbers or {}).get(name) or 0 for name in ("maxSurge", "maxUnavailable"))
        if surge < 0 or gone < 0 or (strategy is plane and surge > 1) or (strategy is not plane and not surge and not gone):
            return "numbers of the strategy"
    return None


def _packages(name: str, spec: Mapping[str, Any]) -> str | None:
    packages = spec.get("packages") or {}
    manager = (spec.get("managementCluster") or {}).get("name") or name
    return "packages" if manager != name and (packages.get("controller") or packages.get("cronjob")) else None


def _release(_name: str, spec: Mapping[str, Any]) -> str | None:
    release = spec.get("eksaVersion")
    return None if release is None or _SEMVER.fullmatch(release) else "release"


def _kubelet(_name: str, spec: Mapping[str, Any]) -> str | None:
    for group in [spec.get("controlPlaneConfiguration") or {}, *(spec.get("workerNodeGroupConfigurations") or [])]:
        config = group.get("kubeletConfiguration")
        if config is not None and not config.get("kind"):
            return "kind of kubelet"
    return None


def _provider(spec: Mapping[str, Any]) -> str:
    return (spec.get("datacenterRef") or {}).get("kind") or ""


def _label(key: str, value: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    is_key = bool(_QUALIFIED.fullmatch(name)) and len(name) <= 63 and (not slash or (bool(_DNS.fullmatch(prefix)) and len(prefix) <= 253))
    return is_key and (value == "" or (bool(_QUALIFIED.fullmatch(value)) and len(value) <= 63))


def _ip(text: str) -> bool:
    try:
        return bool(ipaddress.ip_address(text))
    except ValueError:
        return False
