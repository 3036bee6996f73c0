# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The specification as plain data: complete, normalised, and valid input again."""

from __future__ import annotations

from typing import Any

from ..families.registry import resolve
from ..model.registries import plain_mirror
from ..model.spec import Cluster, NodeSpec


def node_spec(cluster: Any, node_group: Any) -> dict[str, Any]:
    """C({cluster, node_group, dns_ips, left_to_eks, warnings, unchecked}). Raises C(SpecError).

    C(cluster) and C(node_group) are input again: their specification is the same one.
    """
    spec, _unused = resolve(cluster, node_group)
    return {
        "cluster": _cluster(spec.cluster),
        "node_group": _node_group(spec),
        "dns_ips": list(spec.dns_ips),
        "left_to_eks": left_to_eks(spec),
        "left_to_karpenter": left_to_karpenter(spec),
        "warnings": [problem.plain() for problem in spec.warnings],
        "unchecked": [problem.plain() for problem in spec.unchecked],
    }


def left_to_eks(spec: NodeSpec) -> dict[str, Any]:
    """Return the labels and taints that EKS sets on the nodes of a managed group, and that are therefore not rendered."""
    if not spec.managed:
        return {}
    return _filled({"labels": dict(spec.labels), "taints": _taints(spec)})


def left_to_karpenter(spec: NodeSpec) -> dict[str, Any]:
    """Return what Karpenter renders or sets itself, and what belongs in its resources (filter C(karpenter_manifests))."""
    if spec.mode != "karpenter":
        return {}
    from ..artifacts import karpenter

    return _filled(
        {
            "labels": dict(spec.labels),
            "taints": _taints(spec),
            "kubelet": karpenter.kubelet(spec),
            "instance_store_policy": karpenter.instance_store_policy(spec),
        }
    )


def _cluster(cluster: Cluster) -> dict[str, Any]:
    version = cluster.kubernetes_version
    return _filled(
        {
            "name": cluster.name,
            "endpoint": cluster.endpoint,
            "certificate_authority": cluster.certificate_authority,
            "service_cidr": cluster.service_cidr,
            "dns_ips": list(cluster.dns_ips),
            "region": cluster.region,
            "kubernetes_version": f"{version[0]}.{version[1]}" if version else None,
            "id": cluster.id,
            "outpost": cluster.outpost or None,
        }
    )


def _taints(spec: NodeSpec) -> list[dict[str, str]]:
    return [_filled({"key": taint.key, "value": taint.value, "effect": taint.effect}) for taint in spec.taints]


def _node_group(spec: NodeSpec) -> dict[str, Any]:
    """Return the node group in the input with defaults, resolved aliases and computed values."""
    group = {key: value for key, value in spec.given.items() if key not in ("reserved", "user_data_files")}
    # Computed values are explicit in the result, so that rendering the result gives the same values.
    reserved = _filled({"kube": dict(spec.kube_reserved), "system": dict(spec.system_reserved)})
    group |= {
        "family": spec.family,
        "mode": spec.mode,
        "strategy": spec.strategy,
        "labels": dict(spec.labels),
        "taints": _taints(spec),
        "max_pods": spec.max_pods,
        "reserved": reserved,
        "kubelet": _filled(
            {
                "config": spec.kubelet_document() | ({"clusterDNS": list(spec.dns_ips)} if spec.dns_of_group else {}),
                "flags": {name: values[0] if len(values) == 1 else list(values) for name, values in spec.kubelet_flags.items()},
            }
        ),
        "containerd": _containerd(spec),
        "nodeadm": dict(spec.nodeadm),
        "bottlerocket": _filled({"settings": dict(spec.bottlerocket)}),
        "windows": _filled(
            {
                "version": spec.windows.version,
                "edition": spec.windows.edition,
                "excluded_snat_cidrs": list(spec.windows.excluded_snat_cidrs),
                "kube_proxy_extra_args": list(spec.windows.kube_proxy_extra_args),
                "container_runtime": spec.windows.container_runtime,
                "eks_endpoint": spec.windows.eks_endpoint,
                "persist": spec.windows.persist or None,
            }
        ),
        "ubuntu": _filled({"release": spec.ubuntu_release, "kubelet": spec.ubuntu_kubelet if spec.ubuntu_kubelet != "snap" else None}),
        "user_data": list(spec.user_data),
    }
    config = group["kubelet"].get("config", {})
    for name in ("kubeReserved", "systemReserved"):
        config.pop(name, None)
    if not config:
        group["kubelet"].pop("config", None)
    return dict(sorted(_filled(group).items()))


def _containerd(spec: NodeSpec) -> dict[str, Any]:
    mirrors = {host: [plain_mirror(mirror) for mirror in listed] for host, listed in spec.containerd.registry_mirrors.items()}
    given = spec.given.get("containerd", {})
    return _filled({**given, "registry_mirrors": mirrors})


def _filled(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None and value != {} and value != [] and value != ""}
