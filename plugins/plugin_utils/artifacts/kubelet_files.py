# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finished files for kubelet and containerd, as the images' scripts would have left them."""

from __future__ import annotations

import base64
import copy
from collections.abc import Mapping
from typing import Any

from ..errors import Problems, SpecError
from ..formats import json
from ..spec.model import NodeSpec

CA_FILE = "/etc/kubernetes/pki/ca.crt"
CONFIG_FILE = "/etc/kubernetes/kubelet/kubelet-config.json"
KUBECONFIG = "/var/lib/kubelet/kubeconfig"
CONTAINERD_CONFIG = "/etc/containerd/config.toml"
PAUSE_PLACEHOLDER = "SANDBOX_IMAGE"
"""What the AL2 image's script replaces by the pause image, in whatever containerd configuration it is given."""

_CRI = "io.containerd.grpc.v1.cri"
_CRI_VERSION_3 = ("io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime")

_BASE: Mapping[str, Any] = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "kind": "KubeletConfiguration",
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
"""What the images set on every node with containerd (amazon-eks-ami, al2 branch, December 2025)."""

_RESERVED_CGROUPS = {"kubeReservedCgroup": "/runtime", "systemReservedCgroup": "/system"}
_OF_FAMILY: Mapping[str, Mapping[str, Any]] = {
    "al2": {"protectKernelDefaults": True},
    # Canonical's images set neither the kernel's parameters that protectKernelDefaults insists on, nor the reserved cgroups;
    # and /etc/resolv.conf there names systemd-resolved's own address, which no pod reaches.
    "ubuntu": {"resolvConf": "/run/systemd/resolve/resolv.conf"},
}


def deep_merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """C(base) with C(over) on top: mappings are merged, everything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        result[key] = deep_merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else copy.deepcopy(value)
    return result


def kubelet_config(spec: NodeSpec) -> str:
    """The complete KubeletConfiguration as JSON: what the image sets, then what is computed, then the user's fields."""
    base = deep_merge(_BASE, _OF_FAMILY[spec.family])
    version = spec.cluster.kubernetes_version
    if version is not None and (1, 22) <= version < (1, 27):
        base |= {"kubeAPIQPS": 10, "kubeAPIBurst": 20}
    if spec.family == "al2" and "reservedSystemCPUs" not in spec.kubelet_config and "reserved-cpus" not in spec.kubelet_flags:
        base |= _RESERVED_CGROUPS
    computed = {key: value for key, value in spec.kubelet_document("maxPods", "clusterDNS").items() if key not in spec.kubelet_config}
    return json.dump(_without_nulls(deep_merge(deep_merge(base, computed), spec.kubelet_config)), indent=1)


def _without_nulls(config: Mapping[str, Any]) -> dict[str, Any]:
    """Null takes a field away, as in kubelet's drop-ins; in a finished file kubelet's decoder would refuse it as a duration."""
    return {key: _without_nulls(value) if isinstance(value, Mapping) else value for key, value in config.items() if value is not None}


def kubeconfig(spec: NodeSpec, authenticator: str) -> str:
    """kubelet's way to the API server: a token of the instance's role, made by C(authenticator) each time it is needed."""
    from ..formats import yaml

    cluster = spec.cluster
    command = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": authenticator,
        "args": ["token", "-i", cluster.name, "--region", cluster.region],
    }
    return yaml.dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "kubernetes", "cluster": {"certificate-authority": CA_FILE, "server": cluster.endpoint}}],
            "contexts": [{"name": "kubelet", "context": {"cluster": "kubernetes", "user": "kubelet"}}],
            "current-context": "kubelet",
            "users": [{"name": "kubelet", "user": {"exec": command}}],
        }
    )


def certificate_authority(spec: NodeSpec) -> str:
    """The cluster's CA certificates as PEM."""
    return base64.b64decode(spec.cluster.certificate_authority or "").decode("ascii", "replace")


def containerd_config(spec: NodeSpec, pause_image: str) -> str:
    """A complete containerd configuration in version 2, which containerd 1.x and 2.x read, with the user's mapping on top.

    The images find the pause image in it as a line that begins with C(sandbox_image).
    """
    from ..formats import toml

    merged = deep_merge(_containerd_base(pause_image), spec.containerd.config)
    return toml.dump(merged, "node_group.containerd.config", quoted_headers=True)


def _containerd_base(pause_image: str) -> dict[str, Any]:
    runc = {"runtime_type": "io.containerd.runc.v2", "options": {"SystemdCgroup": True}}
    return {
        "version": 2,
        "root": "/var/lib/containerd",
        "state": "/run/containerd",
        "imports": ["/etc/containerd/config.d/*.toml"],
        "grpc": {"address": "/run/containerd/containerd.sock"},
        "plugins": {
            _CRI: {
                "sandbox_image": pause_image,
                "cni": {"bin_dir": "/opt/cni/bin", "conf_dir": "/etc/cni/net.d"},
                "containerd": {"default_runtime_name": "runc", "discard_unpacked_layers": True, "runtimes": {"runc": runc}},
                "registry": {"config_path": "/etc/containerd/certs.d:/etc/docker/certs.d"},
            }
        },
    }


def check_containerd_config(spec: NodeSpec, problems: Problems) -> None:
    """Report a containerd mapping that TOML cannot carry or that is not of version 2."""
    config, path = spec.containerd.config, "node_group.containerd.config"
    if not config:
        return
    from ..formats import toml

    plugins = config.get("plugins")
    newer = [name for name in _CRI_VERSION_3 if isinstance(plugins, Mapping) and name in plugins]
    if config.get("version", 2) != 2 or newer:
        where = f"{path}.plugins" if newer else f"{path}.version"
        problems.add(where, f"is not of version 2, which {spec.family} reads", fix=f'write version 2: plugins."{_CRI}"')
    try:
        toml.dump(config, path)
    except SpecError as error:
        problems.extend(error.problems)
