# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster as its file describes it: frozen, with the defaults of EKS Anywhere. Rendering and the steps read nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import data

DOCKER = "DockerDatacenterConfig"
VSPHERE = "VSphereDatacenterConfig"
TINKERBELL = "TinkerbellDatacenterConfig"
NUTANIX = "NutanixDatacenterConfig"
CLOUDSTACK = "CloudStackDatacenterConfig"
SNOW = "SnowDatacenterConfig"

CILIUM, KINDNETD = "cilium", "kindnetd"


@dataclass(frozen=True)
class Reference:
    """A reference to another document, by kind and name."""

    kind: str
    name: str


@dataclass(frozen=True)
class Taint:
    """A taint of the nodes of a group."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True)
class Rollout:
    """How machines are replaced in an upgrade. The numbers are None if C(rollingUpdate) does not set them."""

    kind: str
    has_numbers: bool
    max_surge: int | None
    max_unavailable: int | None


@dataclass(frozen=True)
class HealthCheck:
    """When an unhealthy machine is replaced. None: the default of EKS Anywhere."""

    node_startup_timeout: str | None = None
    unhealthy_timeout: str | None = None
    max_unhealthy: str | int | None = None


@dataclass(frozen=True)
class Machines:
    """What the control plane and the groups of workers have in common. path: its place in the file."""

    path: str
    count: int | None
    machine: Reference | None
    taints: tuple[Taint, ...]
    labels: Mapping[str, str]
    rollout: Rollout | None
    health_check: HealthCheck | None
    kubelet: Mapping[str, Any] | None


@dataclass(frozen=True)
class ControlPlane(Machines):
    """The control plane. endpoint: the host of the API server, C('') if there is none."""

    endpoint: str = ""
    cert_sans: tuple[str, ...] = ()
    api_server_args: Mapping[str, str] | None = None
    audit_policy: str | None = None
    skip_load_balancer: bool = False
    skip_admission: bool = False


@dataclass(frozen=True)
class WorkerGroup(Machines):
    """A group of workers. minimum, maximum: of the autoscaler, None without one. version: None if it is that of the cluster."""

    name: str = ""
    minimum: int | None = None
    maximum: int | None = None
    version: str | None = None
    failure_domains: tuple[str, ...] = ()

    @property
    def replicas(self) -> int:
        """The number of nodes: the count, or the smallest number of the autoscaler, or one."""
        if self.count is not None:
            return self.count
        return 1 if self.minimum is None else self.minimum


@dataclass(frozen=True)
class Etcd:
    """etcd on machines of its own."""

    path: str
    count: int | None
    machine: Reference | None


@dataclass(frozen=True)
class Network:
    """The addresses and the CNI of a cluster. node_mask: the prefix length of the pods of one node."""

    path: str
    pods: tuple[str, ...]
    services: tuple[str, ...]
    old_cni: str | None
    cni: Mapping[str, Any] | None
    node_mask: int | None
    resolv_conf: str | None

    @property
    def plugin(self) -> str | None:
        """The name of the CNI, or None if there is none or more than one."""
        named = [name for name in (CILIUM, KINDNETD) if self.cni is not None and name in self.cni]
        if self.cni is None and self.old_cni:
            named = [KINDNETD] if self.old_cni == KINDNETD else [CILIUM]
        return named[0] if len(named) == 1 else None


@dataclass(frozen=True)
class Mirror:
    """A registry that has copies of the images. namespaces: registry and its namespace in the mirror, None if it is missing."""

    path: str
    endpoint: str
    port: str
    namespaces: tuple[tuple[str, str | None], ...]
    ca: str
    authenticate: bool
    skip_verify: bool


@dataclass(frozen=True)
class Proxy:
    """The proxy of the nodes."""

    path: str
    http: str
    https: str
    no_proxy: tuple[str, ...]


@dataclass(frozen=True)
class Cluster:
    """A cluster. management: the name of the cluster that manages it, its own name if it manages itself. extra: fields without a rule."""

    path: str
    name: str
    namespace: str
    provider: str
    datacenter: Reference
    version: str | None
    eksa_version: str | None
    management: str
    control_plane: ControlPlane
    workers: tuple[WorkerGroup, ...]
    etcd: Etcd | None
    network: Network
    mirror: Mirror | None
    proxy: Proxy | None
    health_check: HealthCheck | None
    identity_providers: tuple[Reference, ...]
    git_ops: Reference | None
    extra: Mapping[str, Any]

    @property
    def is_self_managed(self) -> bool:
        """Does the cluster manage itself? Only such a cluster needs a bootstrap cluster."""
        return self.management == self.name

    @property
    def has_known_provider(self) -> bool:
        """Is the kind of the datacenter one of EKS Anywhere?"""
        return self.provider in data.eks_anywhere()["providers"]

    @property
    def provider_name(self) -> str:
        """The name of the provider for messages."""
        row = data.eks_anywhere()["providers"].get(self.provider)
        return str(row["name"]) if row else self.provider

    @property
    def machine_kind(self) -> str | None:
        """The kind of the documents that describe machines, None if the provider has no such documents or is not known."""
        row = data.eks_anywhere()["providers"].get(self.provider)
        return row["machines"] if row else None
