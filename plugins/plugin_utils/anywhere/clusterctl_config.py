# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of clusterctl: where the providers of Cluster API come from, and from which registry their images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..formats import yaml

_CERT_MANAGER_TIMEOUT = "30m"


@dataclass(frozen=True)
class Provider:
    """A provider in a local repository. kind: such as C(CoreProvider). components: the name of its file."""

    name: str
    kind: str
    label: str
    components: str


CORE = Provider("cluster-api", "CoreProvider", "cluster-api", "core-components.yaml")
BOOTSTRAP = Provider("kubeadm", "BootstrapProvider", "bootstrap-kubeadm", "bootstrap-components.yaml")
CONTROL_PLANE = Provider("kubeadm", "ControlPlaneProvider", "control-plane-kubeadm", "control-plane-components.yaml")
DOCKER = Provider("docker", "InfrastructureProvider", "infrastructure-docker", "infrastructure-components-development.yaml")
PROVIDERS = (CORE, BOOTSTRAP, CONTROL_PLANE, DOCKER)
"""What a cluster of Docker machines needs."""


@dataclass(frozen=True)
class Versions:
    """The versions of Cluster API and of cert-manager, each with its C(v)."""

    cluster_api: str
    cert_manager: str


def clusterctl_config(repository: str, versions: Versions, image_repository: str | None = None) -> str:
    """The configuration as YAML. repository: the absolute path of a folder LABEL/VERSION/FILE, such as clusterctl itself writes it.

    image_repository: a registry with a namespace that replaces those of all images of the providers. Without it, they keep their names.
    """
    config: dict[str, Any] = {
        "providers": [
            {"name": one.name, "type": one.kind, "url": f"{repository}/{one.label}/{versions.cluster_api}/{one.components}"}
            for one in PROVIDERS
        ],
        "cert-manager": {
            "url": f"{repository}/cert-manager/{versions.cert_manager}/cert-manager.yaml",
            "version": versions.cert_manager,
            "timeout": _CERT_MANAGER_TIMEOUT,
        },
        # clusterctl asks the internet for a newer version of itself otherwise, which takes minutes without a network.
        "CLUSTERCTL_DISABLE_VERSIONCHECK": "true",
    }
    if image_repository is not None:
        config["images"] = {"all": {"repository": image_repository}}
    return yaml.dump(config)


def wanted(versions: Versions) -> list[dict[str, str]]:
    """Every provider with its version, as the module C(clusterctl_init) takes it."""
    return [{"name": one.name, "type": one.kind, "version": versions.cluster_api} for one in PROVIDERS]


def init_arguments(versions: Versions) -> tuple[str, ...]:
    """The arguments of C(clusterctl init) that name every provider with its version."""
    flags = {"CoreProvider": "core", "BootstrapProvider": "bootstrap", "ControlPlaneProvider": "control-plane"}
    words = [(flags.get(one.kind, "infrastructure"), f"{one.name}:{versions.cluster_api}") for one in PROVIDERS]
    return tuple(word for flag, value in words for word in (f"--{flag}", value))
