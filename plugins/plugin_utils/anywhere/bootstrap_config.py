# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of kind for the temporary bootstrap cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..formats import toml, yaml
from . import names
from .mirror_files import CERTS_DIR, Credentials, mirror_files
from .model import DOCKER, Cluster

CERTS_FOLDER = "certs.d"
"""The folder with the files of the registry mirror, in the work folder."""

_PLUGINS = {2: "io.containerd.grpc.v1.cri", 3: "io.containerd.cri.v1.images"}
"""Version of containerd's configuration → the plugin that reads certs.d. kind ignores the patch of the other version."""


@dataclass(frozen=True)
class BootstrapOptions:
    """What the admin machine adds. image: of the node of kind. certs_dir: the folder with the files of the registry mirror, if any. A path
    that is not absolute is in the work folder, see C(in_folder).

    docker_socket: of the Docker that makes the machines of the provider Docker. allow_cgroup_v1: whether kubelet starts on a machine with
    cgroup v1.
    """

    image: str
    certs_dir: str | None = None
    docker_socket: str = "/var/run/docker.sock"
    allow_cgroup_v1: bool = True


def kind_config(cluster: Cluster, options: BootstrapOptions) -> str:
    """The configuration as YAML: one node, the networks of the cluster, and what the provider and the mirror need."""
    mounts: list[dict[str, Any]] = []
    if cluster.provider == DOCKER:
        mounts.append({"hostPath": options.docker_socket, "containerPath": "/var/run/docker.sock"})
    if options.certs_dir is not None:
        mounts.append({"hostPath": options.certs_dir, "containerPath": CERTS_DIR, "readOnly": True})
    node: dict[str, Any] = {"role": "control-plane", "image": options.image}
    if mounts:
        node["extraMounts"] = mounts
    if options.allow_cgroup_v1:
        node["kubeadmConfigPatches"] = [_kubelet_patch(kind) for kind in ("InitConfiguration", "JoinConfiguration")]
    config: dict[str, Any] = {
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "kind": "Cluster",
        "name": names.bootstrap_cluster(cluster.name),
        "networking": {"podSubnet": cluster.network.pods[0], "serviceSubnet": cluster.network.services[0]},
        "nodes": [node],
    }
    if options.certs_dir is not None:
        config["containerdConfigPatches"] = [_containerd_patch(version) for version in _PLUGINS]
    return yaml.dump(config)


def _kubelet_patch(kind: str) -> str:
    """A strategic merge patch of kubeadm's older configuration, in which flags are a mapping. kind converts it if needed."""
    return yaml.dump({"kind": kind, "nodeRegistration": {"kubeletExtraArgs": {"fail-cgroupv1": "false"}}})


def _containerd_patch(version: int) -> str:
    return toml.dump({"version": version, "plugins": {_PLUGINS[version]: {"registry": {"config_path": CERTS_DIR}}}}, quoted_headers=True)


def mirror_of(cluster: Cluster, credentials: Credentials | None) -> dict[str, str]:
    """The files of the registry mirror of the cluster by their paths in the work folder. They can contain a password."""
    if cluster.mirror is None:
        return {}
    found = mirror_files(cluster.mirror, credentials)
    return {CERTS_FOLDER + file.path.removeprefix(CERTS_DIR): file.content for file in found}


def in_folder(config: str, folder: str) -> str:
    """The configuration with absolute host paths. folder: the work folder, which is known when the admin machine has been asked."""
    found = yaml.load(config)
    mounts = [mount for node in found["nodes"] for mount in node.get("extraMounts", ())]
    relative = [mount for mount in mounts if not mount["hostPath"].startswith("/")]
    for mount in relative:
        mount["hostPath"] = f"{folder}/{mount['hostPath']}"
    return yaml.dump(found) if relative else config
