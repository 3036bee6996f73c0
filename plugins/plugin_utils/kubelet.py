# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What EKS's Linux images give kubelet and containerd on every node, whether AL2's script writes it, nodeadm or we; kubelet's health URL.

Source: amazon-eks-ami, al2 branch of December 2025 and nodeadm of July 2026, which agree in all of it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

API_VERSION = "kubelet.config.k8s.io/v1beta1"
KIND = "KubeletConfiguration"

CA_FILE = "/etc/kubernetes/pki/ca.crt"
KUBECONFIG = "/var/lib/kubelet/kubeconfig"
CONTAINERD_CONFIG = "/etc/containerd/config.toml"
RUNTIME_ENDPOINT = "unix:///run/containerd/containerd.sock"

CONFIG: Mapping[str, Any] = {
    "apiVersion": API_VERSION,
    "kind": KIND,
    "address": "0.0.0.0",
    "authentication": {
        "anonymous": {"enabled": False},
        "webhook": {"cacheTTL": "2m0s", "enabled": True},
        "x509": {"clientCAFile": CA_FILE},
    },
    "authorization": {"mode": "Webhook", "webhook": {"cacheAuthorizedTTL": "5m0s", "cacheUnauthorizedTTL": "30s"}},
    "cgroupDriver": "systemd",
    "cgroupRoot": "/",
    "clusterDomain": "cluster.local",
    "evictionHard": {"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"},
    "featureGates": {"RotateKubeletServerCertificate": True},
    "hairpinMode": "hairpin-veth",
    "readOnlyPort": 0,
    "serializeImagePulls": False,
    "serverTLSBootstrap": True,
    "tlsCipherSuites": [
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        "TLS_RSA_WITH_AES_256_GCM_SHA384",
        "TLS_RSA_WITH_AES_128_GCM_SHA256",
    ],
}
"""The part of kubelet's configuration that no node changes. Look, do not touch: C(deep_merge) makes a new one."""

AMAZON_LINUX: Mapping[str, Any] = {"protectKernelDefaults": True}
"""Beside C(CONFIG) on Amazon Linux, whose images set the kernel's parameters that it insists on."""

RESERVED_CGROUPS = {"kubeReservedCgroup": "/runtime", "systemReservedCgroup": "/system"}

_NODEADM_GATES = {"DynamicResourceAllocation": (1, 33), "MutableCSINodeAllocatableCount": (1, 34)}


def nodeadm_config(version: tuple[int, int]) -> dict[str, Any]:
    """What nodeadm writes on every node of a version (amazon-eks-ami, July 2026)."""
    config = deep_merge(CONFIG, AMAZON_LINUX) | RESERVED_CGROUPS
    config |= {
        "containerRuntimeEndpoint": RUNTIME_ENDPOINT,
        "featureGates": {**CONFIG["featureGates"], **{name: True for name, since in _NODEADM_GATES.items() if version >= since}},
        "logging": {"verbosity": 2},
        "tlsCipherSuites": sorted(CONFIG["tlsCipherSuites"]),
    }
    if version >= (1, 34):
        config |= {"shutdownGracePeriod": "2m30s", "shutdownGracePeriodCriticalPods": "30s"}
    return config


CRI = "io.containerd.grpc.v1.cri"
"""The section of containerd's configuration, version 2, that kubelet's requests go by."""


def deep_merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """C(base) with C(over) on top: mappings are merged, everything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        result[key] = deep_merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else copy.deepcopy(value)
    return result


def provider_id(availability_zone: str, instance_id: str) -> str:
    """What the cloud provider knows an instance by; both may be variables of a script."""
    return f"aws:///{availability_zone}/{instance_id}"


def kubeconfig(server: str, command: str, args: Sequence[str]) -> dict[str, Any]:
    """kubelet's way to the API server C(server), a URL: with a token that C(command) makes each time it is needed."""
    exec_plugin = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": command, "args": list(args)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "kubernetes", "cluster": {"certificate-authority": CA_FILE, "server": server}}],
        "contexts": [{"name": "kubelet", "context": {"cluster": "kubernetes", "user": "kubelet"}}],
        "current-context": "kubelet",
        "users": [{"name": "kubelet", "user": {"exec": exec_plugin}}],
    }


def containerd_config(pause_image: str) -> dict[str, Any]:
    """containerd's configuration in version 2, which containerd 1.x and 2.x read."""
    runc = {"runtime_type": "io.containerd.runc.v2", "options": {"SystemdCgroup": True}}
    return {
        "version": 2,
        "root": "/var/lib/containerd",
        "state": "/run/containerd",
        "grpc": {"address": "/run/containerd/containerd.sock"},
        "plugins": {
            CRI: {
                "sandbox_image": pause_image,
                "cni": {"bin_dir": "/opt/cni/bin", "conf_dir": "/etc/cni/net.d"},
                "containerd": {"default_runtime_name": "runc", "discard_unpacked_layers": True, "runtimes": {"runc": runc}},
                "registry": {"config_path": "/etc/containerd/certs.d:/etc/docker/certs.d"},
            }
        },
    }


def healthz(config: Mapping[str, Any], flags: Mapping[str, tuple[str, ...]]) -> str | None:
    """The URL of kubelet's health, by its configuration and flags (name → values). None when the endpoint is turned off."""
    said = {name: values[-1] for name, values in flags.items() if values}
    port = said.get("healthz-port", config.get("healthzPort", 10248))
    address = str(said.get("healthz-bind-address", config.get("healthzBindAddress")) or "127.0.0.1")
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)
    if str(port) == "0":
        return None
    return f"http://[{here}]:{port}/healthz" if ":" in here else f"http://{here}:{port}/healthz"
