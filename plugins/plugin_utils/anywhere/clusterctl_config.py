# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of clusterctl: where the providers of Cluster API come from, and from which registry their images."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Problems, joined
from ..formats import yaml

_CERT_MANAGER_TIMEOUT = "30m"


@dataclass(frozen=True)
class Provider:
    """A provider in a local repository. kind: such as C(CoreProvider). components: the name of its file."""

    name: str
    kind: str
    label: str
    components: str


@dataclass(frozen=True)
class Release:
    """A provider in a version with its C(v)."""

    provider: Provider
    version: str

    @property
    def folder(self) -> str:
        """The folder of its files in a repository."""
        return f"{self.provider.label}/{self.version}"


CORE = Provider("cluster-api", "CoreProvider", "cluster-api", "core-components.yaml")
BOOTSTRAP = Provider("kubeadm", "BootstrapProvider", "bootstrap-kubeadm", "bootstrap-components.yaml")
CONTROL_PLANE = Provider("kubeadm", "ControlPlaneProvider", "control-plane-kubeadm", "control-plane-components.yaml")
DOCKER = Provider("docker", "InfrastructureProvider", "infrastructure-docker", "infrastructure-components-development.yaml")
PROVIDERS = (CORE, BOOTSTRAP, CONTROL_PLANE, DOCKER)
"""What a cluster of Docker machines needs."""

ETCDADM = ("etcdadm-bootstrap", "etcdadm-controller")
"""The providers of external etcd, both of the type BootstrapProvider. They belong to EKS Anywhere and not to upstream Cluster API."""

_LABELS = {"BootstrapProvider": "bootstrap-", "ControlPlaneProvider": "control-plane-", "InfrastructureProvider": "infrastructure-"}
_PATTERN = re.compile(r"v[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?", re.ASCII)
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", re.ASCII)


@dataclass(frozen=True)
class Versions:
    """The versions of Cluster API and of cert-manager, each with its C(v)."""

    cluster_api: str
    cert_manager: str


def releases(versions: Versions, more: Sequence[Release] = (), infrastructure: Provider | None = DOCKER) -> tuple[Release, ...]:
    """Every provider with its version: those of Cluster API, and others. One of the others replaces a provider with its type and name."""
    own = [Release(one, versions.cluster_api) for one in (CORE, BOOTSTRAP, CONTROL_PLANE, infrastructure) if one is not None]
    by_key = {(one.provider.kind, one.provider.name): one for one in (*own, *more)}
    return tuple(by_key.values())


def read_releases(rows: Sequence[Mapping[str, Any]], option: str, problems: Problems) -> tuple[Release, ...]:
    """The providers that the user names, with C(name), C(type), C(version) and, if its file has another name, C(components)."""
    found = []
    for index, row in enumerate(rows):
        place, kind, name = joined(option, index), row["type"], row["name"]
        core = kind == CORE.kind
        if not _NAME.fullmatch(name) or (core and name != CORE.name):
            problems.add("input.invalid_text", f"{place}.name", "is not the name of a provider", value=name,
                         allowed=CORE.name if core else "lower-case letters, digits, - and .")  # fmt: skip
        if not _PATTERN.fullmatch(row["version"]):
            problems.add("input.invalid_text", f"{place}.version", "is not a version", value=row["version"], allowed="such as v1.13.4")
        known = next((one for one in PROVIDERS if (one.kind, one.name) == (kind, name)), None)
        label = CORE.label if core else _LABELS[kind] + name
        components = row.get("components") or (known.components if known else f"{_LABELS.get(kind, '').rstrip('-')}-components.yaml")
        if "/" in components:
            problems.add("input.invalid_text", f"{place}.components", "is not the name of a file", value=components)
        found.append(Release(Provider(name, kind, label, components), row["version"]))
    return tuple(found)


def clusterctl_config(
    repository: str, versions: Versions, image_repository: str | None = None, providers: Sequence[Release] | None = None
) -> str:
    """The configuration as YAML. repository: the absolute path of a folder LABEL/VERSION/FILE, such as clusterctl itself writes it.

    image_repository: a registry with a namespace that replaces those of all images of the providers. Without it, they keep their names.
    providers: of C(releases), those of Docker machines without it.
    """
    config: dict[str, Any] = {
        "providers": [
            {"name": one.provider.name, "type": one.provider.kind, "url": f"{repository}/{one.folder}/{one.provider.components}"}
            for one in (releases(versions) if providers is None else providers)
        ],
        "cert-manager": {
            "url": f"{repository}/{_cert_manager(versions)}",
            "version": versions.cert_manager,
            "timeout": _CERT_MANAGER_TIMEOUT,
        },
        # clusterctl asks the internet for a newer version of itself otherwise, which takes minutes without a network.
        "CLUSTERCTL_DISABLE_VERSIONCHECK": "true",
    }
    if image_repository is not None:
        config["images"] = {"all": {"repository": image_repository}}
    return yaml.dump(config)


def _cert_manager(versions: Versions) -> str:
    return f"cert-manager/{versions.cert_manager}/cert-manager.yaml"


def files(repository: str, versions: Versions, providers: Sequence[Release]) -> tuple[str, ...]:
    """The files that the repository must have."""
    names = [f"{one.folder}/{name}" for one in providers for name in (one.provider.components, "metadata.yaml")]
    return tuple(f"{repository}/{name}" for name in (*names, _cert_manager(versions)))


def wanted(versions: Versions, providers: Sequence[Release] | None = None) -> list[dict[str, str]]:
    """Every provider with its version, as the module C(clusterctl_init) takes it."""
    rows = releases(versions) if providers is None else providers
    return [{"name": one.provider.name, "type": one.provider.kind, "version": one.version} for one in rows]


def init_arguments(versions: Versions) -> tuple[str, ...]:
    """The arguments of C(clusterctl init) that name every provider with its version."""
    flags = {"CoreProvider": "core", "BootstrapProvider": "bootstrap", "ControlPlaneProvider": "control-plane"}
    words = [(flags.get(one.kind, "infrastructure"), f"{one.name}:{versions.cluster_api}") for one in PROVIDERS]
    return tuple(word for flag, value in words for word in (f"--{flag}", value))
