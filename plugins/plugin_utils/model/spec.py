# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The specification of a node group in a cluster: frozen, complete and checked. Families read nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import Problem
from ..network import ip_family


@dataclass(frozen=True)
class Cluster:
    """The facts of the cluster that a node needs. Missing facts are None; C(mode: managed) needs no facts."""

    name: str | None = None
    endpoint: str | None = None
    certificate_authority: str | None = None
    service_cidr: str | None = None
    dns_ips: tuple[str, ...] = ()
    """The addresses in the input. C(NodeSpec.dns_ips) are the addresses that the node uses."""
    region: str | None = None
    kubernetes_version: tuple[int, int] | None = None
    id: str | None = None
    outpost: bool = False

    @property
    def ip_family(self) -> str:
        """C(ipv4) or C(ipv6): the family of the service CIDR, which is the family of the cluster."""
        return ip_family(self.service_cidr) if self.service_cidr else "ipv4"


@dataclass(frozen=True)
class Taint:
    """A Kubernetes taint. C(value) is empty if the taint has no value."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True)
class Mirror:
    """A mirror of a container registry. C(ca): certificates as PEM, or paths on the node."""

    url: str
    override_path: bool = False
    """Whether the path of the URL is the root of the API. Otherwise containerd appends C(/v2), unless the path ends with it."""
    ca: tuple[str, ...] = ()
    skip_verify: bool = False
    capabilities: tuple[str, ...] = ("pull", "resolve")
    dial_timeout: str | None = None


@dataclass(frozen=True)
class Containerd:
    """Container runtime settings: a config document, mirrors by registry host, the pause image."""

    config: Mapping[str, Any] = field(default_factory=dict)
    registry_mirrors: Mapping[str, tuple[Mirror, ...]] = field(default_factory=dict)
    pause_image: str | None = None


@dataclass(frozen=True)
class Proxy:
    """Proxy for outgoing requests. C(no_proxy) contains the entries of the user and the entries that every node needs."""

    http: str | None
    https: str | None
    no_proxy: tuple[str, ...]

    def variables(self) -> dict[str, str]:
        """The environment variables of the proxy, in upper case, as Go and Python programs read them."""
        pairs = {"HTTP_PROXY": self.http, "HTTPS_PROXY": self.https, "NO_PROXY": ",".join(self.no_proxy)}
        return {name: value for name, value in pairs.items() if value}

    def variables_for_commands(self) -> dict[str, str]:
        """The same in both cases: curl reads http_proxy only in lower case, wget all of them."""
        found = self.variables()
        return {**found, **{name.lower(): value for name, value in found.items()}}


@dataclass(frozen=True)
class LocalStorage:
    """Use of the instance store disks: C(raid0), C(raid10) or C(mount), and the directory where they are mounted."""

    strategy: str
    mount_path: str | None = None


@dataclass(frozen=True)
class Windows:
    """Settings of Windows."""

    version: str | None = None
    edition: str | None = None
    excluded_snat_cidrs: tuple[str, ...] = ()
    kube_proxy_extra_args: tuple[str, ...] = ()
    container_runtime: str | None = None
    eks_endpoint: str | None = None
    persist: bool = False


@dataclass(frozen=True)
class PostCommand:
    """Commands that run after kubelet has started."""

    run: str
    when: str = "healthy"
    """What they wait for: C(healthy) is kubelet, C(ready) is the Node."""
    timeout: int = 900
    """Seconds to wait. Then the commands fail without having run."""


@dataclass(frozen=True)
class NodeSpec:
    """A normalised node group: with defaults, with merged fields and with computed values."""

    cluster: Cluster
    family: str
    name: str | None = None
    mode: str = "self_managed"
    strategy: str | None = None
    """C(bootstrap_script) or C(static) for al2 and ubuntu, else None."""
    instance_types: tuple[str, ...] = ()
    hostname_type: str = "ip_name"
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    max_pods: int | None = None
    """The final number. If it is None, the image decides."""
    dns_ips: tuple[str, ...] = ()
    """Name servers of the pods: the addresses in the input, or else host 10 of the service CIDR."""
    dns_of_group: bool = False
    """Whether the name servers come from the node group."""
    dns_of_eks: bool = True
    """Whether the name servers are the ones that EKS gives to a managed group, as far as the input shows."""
    kube_reserved: Mapping[str, str] = field(default_factory=dict)
    system_reserved: Mapping[str, str] = field(default_factory=dict)
    kubelet_config: Mapping[str, Any] = field(default_factory=dict)
    """KubeletConfiguration fields without maxPods, clusterDNS, kubeReserved and systemReserved, which have attributes above."""
    kubelet_flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    containerd: Containerd = Containerd()
    trust: tuple[str, ...] = ()
    """Certificates of own certificate authorities, each as PEM."""
    local_storage: LocalStorage | None = None
    proxy: Proxy | None = None
    commands_pre: tuple[str, ...] = ()
    commands_post: tuple[PostCommand, ...] = ()
    override: str | None = None
    user_data: tuple[str, ...] = ()
    """Existing user data as text, decoded from base64 and gzip."""
    user_data_paths: tuple[str, ...] = ()
    """The place of each text of C(user_data) in the user's input."""
    user_data_precedence: str | None = None
    """Which value wins if C(user_data) and the fields disagree: C(ours) or C(theirs). With None, a disagreement is an error."""
    allow_secrets: bool = False
    nodeadm: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the NodeConfig C(spec) (al2023) that have no field in the node group."""
    bottlerocket: Mapping[str, Any] = field(default_factory=dict)
    """Bottlerocket C(settings)."""
    windows: Windows = Windows()
    ubuntu_release: str | None = None
    ubuntu_kubelet: str = "snap"
    """C(snap), or C(unit) on images of the role eks_node_image."""
    warnings: tuple[Problem, ...] = ()
    unchecked: tuple[Problem, ...] = ()
    """Checks that were skipped, each with the field that it needs."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """The node group in the input, as plain data. Error paths and left_to_eks refer to it."""

    @property
    def managed(self) -> bool:
        """Whether EKS adds its own part to the user data."""
        return self.mode == "managed"

    @property
    def completed(self) -> bool:
        """Whether EKS or Karpenter adds the part of the user data that joins the cluster."""
        return self.managed or (self.mode == "karpenter" and self.family != "ubuntu")

    def kubelet_document(self, *names: str) -> dict[str, Any]:
        """Return the KubeletConfiguration fields to write: the fields in the input, reservations, and C(names) (maxPods, clusterDNS)."""
        document = dict(self.kubelet_config)
        if self.kube_reserved:
            document["kubeReserved"] = dict(self.kube_reserved)
        if self.system_reserved:
            document["systemReserved"] = dict(self.system_reserved)
        if "maxPods" in names and self.max_pods is not None:
            document["maxPods"] = self.max_pods
        if "clusterDNS" in names and self.dns_ips:
            document["clusterDNS"] = list(self.dns_ips)
        return document
