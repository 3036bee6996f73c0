# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the frozen model of a cluster from the checked document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import joined
from .documents import Document
from .model import Cluster, ControlPlane, Etcd, HealthCheck, Mirror, Network, Proxy, Reference, Rollout, Taint, WorkerGroup

FIRST_GROUP = "md-0"
"""The name that EKS Anywhere gives the first group of workers without one."""

_EXTRA = ("bundlesRef", "etcdEncryption", "licenseToken", "packages", "podIamConfig")


def cluster_of(document: Document) -> Cluster:
    """The cluster of a document whose fields have the right types."""
    spec = document.spec
    path = joined(document.path, "spec")
    datacenter = reference(spec.get("datacenterRef")) or Reference("", "")
    etcd = spec.get("externalEtcdConfiguration")
    management = (spec.get("managementCluster") or {}).get("name") or document.name
    return Cluster(
        path=document.path,
        name=document.name,
        namespace=document.namespace,
        provider=datacenter.kind,
        datacenter=datacenter,
        version=spec.get("kubernetesVersion"),
        eksa_version=spec.get("eksaVersion"),
        management=management,
        control_plane=_control_plane(spec.get("controlPlaneConfiguration") or {}, joined(path, "controlPlaneConfiguration")),
        workers=tuple(_worker(row, index, path) for index, row in enumerate(spec.get("workerNodeGroupConfigurations") or ())),
        etcd=None if etcd is None else _etcd(etcd, joined(path, "externalEtcdConfiguration")),
        network=_network(spec.get("clusterNetwork") or {}, joined(path, "clusterNetwork")),
        mirror=_mirror(spec.get("registryMirrorConfiguration"), joined(path, "registryMirrorConfiguration")),
        proxy=_proxy(spec.get("proxyConfiguration"), joined(path, "proxyConfiguration")),
        health_check=_health_check(spec.get("machineHealthCheck")),
        identity_providers=tuple(reference(one) or Reference("", "") for one in spec.get("identityProviderRefs") or ()),
        git_ops=reference(spec.get("gitOpsRef")),
        extra={name: spec[name] for name in _EXTRA if name in spec},
    )


def reference(value: Any) -> Reference | None:
    """A reference of a checked document; None if there is none."""
    return None if value is None else Reference(value.get("kind") or "", value.get("name") or "")


def _shared(value: Mapping[str, Any], path: str) -> dict[str, Any]:
    return {
        "path": path,
        "count": value.get("count"),
        "machine": reference(value.get("machineGroupRef")),
        "taints": tuple(Taint(one.get("key") or "", one.get("value") or "", one.get("effect") or "") for one in value.get("taints") or ()),
        "labels": value.get("labels") or {},
        "rollout": _rollout(value.get("upgradeRolloutStrategy")),
        "health_check": _health_check(value.get("machineHealthCheck")),
        "kubelet": value.get("kubeletConfiguration"),
    }


def _control_plane(value: Mapping[str, Any], path: str) -> ControlPlane:
    return ControlPlane(
        **_shared(value, path),
        endpoint=(value.get("endpoint") or {}).get("host") or "",
        cert_sans=tuple(value.get("certSans") or ()),
        api_server_args=value.get("apiServerExtraArgs"),
        audit_policy=value.get("auditPolicyContent"),
        skip_load_balancer=bool(value.get("skipLoadBalancerDeployment")),
        skip_admission=bool(value.get("skipAdmissionForSystemResources")),
    )


def _worker(value: Mapping[str, Any], index: int, path: str) -> WorkerGroup:
    scaling = value.get("autoscalingConfiguration")
    return WorkerGroup(
        **_shared(value, joined(joined(path, "workerNodeGroupConfigurations"), index)),
        name=value.get("name") or (FIRST_GROUP if index == 0 else ""),
        minimum=None if scaling is None else scaling.get("minCount", 0),
        maximum=None if scaling is None else scaling.get("maxCount", 0),
        version=value.get("kubernetesVersion"),
        failure_domains=tuple(value.get("failureDomains") or ()),
    )


def _rollout(value: Mapping[str, Any] | None) -> Rollout | None:
    if value is None:
        return None
    numbers = value.get("rollingUpdate")
    surge, unavailable = ((numbers or {}).get(name) for name in ("maxSurge", "maxUnavailable"))
    return Rollout(value.get("type") or "", numbers is not None, surge, unavailable)


def _health_check(value: Mapping[str, Any] | None) -> HealthCheck | None:
    if value is None:
        return None
    return HealthCheck(value.get("nodeStartupTimeout"), value.get("unhealthyMachineTimeout"), value.get("maxUnhealthy"))


def _etcd(value: Mapping[str, Any], path: str) -> Etcd:
    return Etcd(path, value.get("count"), reference(value.get("machineGroupRef")))


def _network(value: Mapping[str, Any], path: str) -> Network:
    return Network(
        path=path,
        pods=tuple((value.get("pods") or {}).get("cidrBlocks") or ()),
        services=tuple((value.get("services") or {}).get("cidrBlocks") or ()),
        old_cni=value.get("cni"),
        cni=value.get("cniConfig"),
        node_mask=(value.get("nodes") or {}).get("cidrMaskSize"),
        resolv_conf=((value.get("dns") or {}).get("resolvConf") or {}).get("path"),
    )


def _mirror(value: Mapping[str, Any] | None, path: str) -> Mirror | None:
    if value is None:
        return None
    return Mirror(
        path=path,
        endpoint=value.get("endpoint") or "",
        port=value.get("port") or "443",
        namespaces=tuple((one.get("registry") or "", one.get("namespace")) for one in value.get("ociNamespaces") or ()),
        ca=value.get("caCertContent") or "",
        authenticate=bool(value.get("authenticate")),
        skip_verify=bool(value.get("insecureSkipVerify")),
    )


def _proxy(value: Mapping[str, Any] | None, path: str) -> Proxy | None:
    if value is None:
        return None
    return Proxy(path, value.get("httpProxy") or "", value.get("httpsProxy") or "", tuple(value.get("noProxy") or ()))
