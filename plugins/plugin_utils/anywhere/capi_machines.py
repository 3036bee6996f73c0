# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the nodes of a cluster of Docker machines get: files, commands and the configuration of kubeadm (Cluster API v1beta2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..formats import systemd, yaml
from .mirror_files import Credentials, NodeFile, mirror_files
from .model import Cluster, Machines, Taint

_PATCHES = "/etc/kubernetes/patches"
_KUBELET_PATCH = f"{_PATCHES}/kubeletconfiguration0+strategic.yaml"
_PROXY_UNIT = "/etc/systemd/system/containerd.service.d/http-proxy.conf"
_AUDIT_POLICY = "/etc/kubernetes/audit-policy.yaml"
_AUDIT_LOG = "/var/log/kubernetes/api-audit.log"
_AUDIT_FLAGS = {"audit-log-maxage": "30", "audit-log-maxbackup": "10", "audit-log-maxsize": "512"}
ETCD_PLACEHOLDER = "https://placeholder:2379"
"""The endpoint of external etcd that EKS Anywhere writes until etcd runs."""

_ETCD_FILES = {
    "caFile": "/etc/kubernetes/pki/etcd/ca.crt",
    "certFile": "/etc/kubernetes/pki/apiserver-etcd-client.crt",
    "keyFile": "/etc/kubernetes/pki/apiserver-etcd-client.key",
}
_DIRECT = ("localhost", "127.0.0.1", "::1", ".svc", ".cluster.local")
"""What nodes reach without a proxy, beside the networks of the cluster."""

_LOCAL_NAMES = ("localhost", "127.0.0.1", "0.0.0.0", "host.docker.internal")
"""Names by which the admin machine reaches the load balancer of Docker."""


@dataclass(frozen=True)
class NodeImage:
    """The image of the nodes of a minor version. version: the full version, with its C(v)."""

    version: str
    image: str


@dataclass(frozen=True)
class CapiOptions:
    """What the file of a cluster does not say. node_images: by minor version, such as C("1.34").

    registry: the credentials of a mirror with C(authenticate). haproxy_config: the text of another configuration of the load balancer.
    allow_cgroup_v1: whether kubelet starts on a machine with cgroup v1. preload_images: images that Docker has, and that every machine
    gets before it starts. etcd_version: of external etcd. has_etcdadm: does the repository have the providers of external etcd?
    docker_socket: of the Docker that makes the machines, on the machine where Docker runs.
    """

    node_images: Mapping[str, NodeImage]
    registry: Credentials | None = None
    haproxy_config: str | None = None
    allow_cgroup_v1: bool = True
    preload_images: tuple[str, ...] = ()
    etcd_version: str | None = None
    has_etcdadm: bool = False
    docker_socket: str = "/var/run/docker.sock"


def control_plane_config(cluster: Cluster, options: CapiOptions) -> dict[str, Any]:
    """C(kubeadmConfigSpec) of the KubeadmControlPlane."""
    plane = cluster.control_plane
    registration = _registration(plane, cluster, options)
    files = node_files(cluster, plane, options)
    if plane.audit_policy:
        files = (*files, NodeFile(_AUDIT_POLICY, plane.audit_policy))
    # The taint of kubeadm keeps pods away. An own list, also an empty one, replaces it.
    joining = {"nodeRegistration": registration, **_patches(plane)}
    config = {"clusterConfiguration": _cluster_configuration(cluster), "initConfiguration": joining, "joinConfiguration": joining}
    return _with_files(cluster, files, config)


def worker_config(cluster: Cluster, group: Machines, options: CapiOptions) -> dict[str, Any]:
    """The specification of the KubeadmConfigTemplate of a group."""
    joining = {"nodeRegistration": _registration(group, cluster, options), **_patches(group)}
    return _with_files(cluster, node_files(cluster, group, options), {"joinConfiguration": joining})


def node_files(cluster: Cluster, machines: Machines, options: CapiOptions) -> tuple[NodeFile, ...]:
    """The files of the nodes of a group, without the audit policy."""
    files: list[NodeFile] = []
    if cluster.mirror is not None:
        files += mirror_files(cluster.mirror, options.registry)
    if cluster.proxy is not None:
        files.append(NodeFile(_PROXY_UNIT, _proxy_unit(cluster)))
    if machines.kubelet is not None:
        fields = {"apiVersion": "kubelet.config.k8s.io/v1beta1", **machines.kubelet}
        files.append(NodeFile(_KUBELET_PATCH, yaml.dump(fields)))
    return tuple(files)


def secret_key(file: NodeFile) -> str:
    """The key of a file in the Secret of the cluster: its path in the characters that keys can have."""
    return file.path.strip("/").replace("/", "_").replace(":", "_")


def secret_name(cluster: Cluster) -> str:
    """The name of the Secret with the files that contain a password."""
    return f"{cluster.name}-node-files"


def _with_files(cluster: Cluster, files: tuple[NodeFile, ...], config: dict[str, Any]) -> dict[str, Any]:
    result = dict(config)
    if files:
        result["files"] = [_file(cluster, file) for file in files]
    if any(file.path == _PROXY_UNIT for file in files):
        result["preKubeadmCommands"] = ["systemctl daemon-reload", "systemctl restart containerd"]
    return result


def _file(cluster: Cluster, file: NodeFile) -> dict[str, Any]:
    row: dict[str, Any] = {"path": file.path, "owner": "root:root", "permissions": file.mode}
    if file.is_secret:
        # The objects of Cluster API are not secret. Who can read them could read the password.
        return {**row, "contentFrom": {"secret": {"name": secret_name(cluster), "key": secret_key(file)}}}
    return {**row, "content": file.content}


def _patches(machines: Machines) -> dict[str, Any]:
    return {"patches": {"directory": _PATCHES}} if machines.kubelet is not None else {}


def _registration(machines: Machines, cluster: Cluster, options: CapiOptions) -> dict[str, Any]:
    flags: dict[str, str] = {}
    if options.allow_cgroup_v1:
        flags["fail-cgroupv1"] = "false"
    if machines.labels:
        flags["node-labels"] = ",".join(f"{key}={machines.labels[key]}" for key in sorted(machines.labels))
    if cluster.network.resolv_conf and "resolvConf" not in (machines.kubelet or {}):
        flags["resolv-conf"] = cluster.network.resolv_conf
    registration: dict[str, Any] = {}
    if flags:
        registration["kubeletExtraArgs"] = arguments(flags)
    if machines.taints:
        registration["taints"] = [_taint(one) for one in machines.taints]
    return registration


def _taint(taint: Taint) -> dict[str, str]:
    return {"key": taint.key, "effect": taint.effect, **({"value": taint.value} if taint.value else {})}


def arguments(flags: Mapping[str, str]) -> list[dict[str, str]]:
    """Flags as kubeadm takes them since v1beta4: a list, sorted by name."""
    return [{"name": name, "value": flags[name]} for name in sorted(flags)]


def _cluster_configuration(cluster: Cluster) -> dict[str, Any]:
    plane = cluster.control_plane
    flags = dict(plane.api_server_args or {})
    if cluster.extra.get("podIamConfig"):
        flags.setdefault("service-account-issuer", cluster.extra["podIamConfig"]["serviceAccountIssuer"])
    server: dict[str, Any] = {"certSANs": list(dict.fromkeys([*_LOCAL_NAMES, *plane.cert_sans]))}
    if plane.audit_policy:
        flags |= {"audit-policy-file": _AUDIT_POLICY, "audit-log-path": _AUDIT_LOG, **_AUDIT_FLAGS}
        server["extraVolumes"] = [
            {"name": "audit-policy", "hostPath": _AUDIT_POLICY, "mountPath": _AUDIT_POLICY, "pathType": "File", "readOnly": True},
            {"name": "audit-log", "hostPath": "/var/log/kubernetes", "mountPath": "/var/log/kubernetes", "pathType": "DirectoryOrCreate"},
        ]
    if flags:
        server["extraArgs"] = arguments(flags)
    config: dict[str, Any] = {"apiServer": server}
    if cluster.etcd is not None:
        # The API needs one endpoint, and the controllers write the real ones when etcd runs. An apply keeps those.
        config["etcd"] = {"external": {"endpoints": [ETCD_PLACEHOLDER], **_ETCD_FILES}}
    if cluster.network.node_mask is not None:
        config["controllerManager"] = {"extraArgs": arguments({"node-cidr-mask-size": str(cluster.network.node_mask)})}
    return config


def proxy_variables(cluster: Cluster) -> dict[str, str]:
    """The environment of programs that use the proxy of the cluster, empty without one. What is near is reached without it."""
    proxy = cluster.proxy
    if proxy is None:
        return {}
    direct = [*proxy.no_proxy, *_DIRECT, *cluster.network.pods, *cluster.network.services, cluster.control_plane.endpoint]
    return {"HTTP_PROXY": proxy.http, "HTTPS_PROXY": proxy.https, "NO_PROXY": ",".join(dict.fromkeys(filter(None, direct)))}


def _proxy_unit(cluster: Cluster) -> str:
    values = proxy_variables(cluster)
    return systemd.unit({"Service": [("Environment", systemd.environment_assignment(name, text)) for name, text in values.items()]})
