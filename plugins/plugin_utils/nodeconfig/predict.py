# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that the config phase of C(nodeadm init) writes on a node (nodeadm of amazon-eks-ami, July 2026; kubelet 1.28 and newer).

Does not predict what the NVIDIA packages of the image add to the configuration of containerd and to the labels of kubelet,
because this does not depend on user data.
"""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import kubelet
from ..capacity import InstanceShape, kube_reserved, max_pods
from ..formats import json
from ..kubernetes import parse_version
from ..network import cidr_problem
from . import containerd_files, read
from .expression_values import ExpressionError, UnsupportedExpression
from .expressions import pods
from .read import NodeConfigError

CONFIG_FILE = "/etc/kubernetes/kubelet/config.json"
DROP_INS = "/etc/kubernetes/kubelet/config.json.d"
DROP_IN = f"{DROP_INS}/40-nodeadm.conf"
BOOTSTRAP_KUBECONFIG = "/var/lib/kubelet/bootstrap-kubeconfig"
ENVIRONMENT = "/etc/eks/kubelet/environment"
CREDENTIAL_PROVIDERS = "/etc/eks/image-credential-provider"
RESOLVED = "/run/systemd/resolved.conf.d/40-eks.conf"
HOSTS = "/etc/hosts"

PODS_OF_UNKNOWN_TYPES = 110
_SOCI_FROM_VCPUS, _SOCI_FROM_MIB = 4, 7 * 1024

_IMAGES_OF_ECR = (
    "*.dkr.ecr.*.amazonaws.com",
    "*.dkr-ecr.*.on.aws",
    "*.dkr.ecr.*.amazonaws.com.cn",
    "*.dkr-ecr.*.on.amazonwebservices.com.cn",
    "*.dkr.ecr-fips.*.amazonaws.com",
    "*.dkr-ecr-fips.*.on.aws",
    "*.dkr.ecr.*.c2s.ic.gov",
    "*.dkr.ecr.*.sc2s.sgov.gov",
    "*.dkr.ecr.*.cloud.adc-e.uk",
    "*.dkr.ecr.*.csp.hci.ic.gov",
    "*.dkr.ecr.*.amazonaws.eu",
    "public.ecr.aws",
)
_IMAGES_OF_ECR_FROM_1_32 = ("ecr-public.aws.com",)


@dataclass(frozen=True)
class Node:
    """Facts that nodeadm reads from the instance, EC2 and the image.

    shape: network interfaces of the instance type; None if neither the table of nodeadm nor EC2 has them.
    vcpus: of the machine. memory_mib: of the machine, in MiB; None if unknown.
    ipv6: the address of the first interface; needed only in an IPv6 cluster.
    kubelet_version, containerd_version: such as C(1.36.3) and C(2.1.5).
    """

    instance_id: str
    private_dns_name: str
    region: str
    availability_zone: str
    ipv4: str
    kubelet_version: str
    containerd_version: str
    vcpus: int
    shape: InstanceShape | None
    ipv6: str | None = None
    memory_mib: int | None = None

    @property
    def minor(self) -> tuple[int, int]:
        """kubelet's (major, minor). Raises C(NodeConfigError) for an invalid version."""
        version = parse_version(self.kubelet_version)
        if version is None:
            raise NodeConfigError(f"the version of kubelet is {self.kubelet_version!r:.40}", fatal=True)
        return version


@dataclass(frozen=True)
class Prediction:
    """The result of C(nodeadm init).

    files: path → text, equivalent to the files of nodeadm. The order and layout of JSON, YAML and TOML can differ. The flags of kubelet,
    which nodeadm writes in random order, are sorted. All files have the mode 0644.
    warnings: messages that nodeadm only logs.
    unknown: path → the reason why the content of this file cannot be predicted. Such a path is not in C(files).
    config: the fields in kubelet's own file, without those in C(unknown_fields). unknown_fields: field → the reason.
    flags: of kubelet from nodeadm, as words. Those of the user follow.
    """

    files: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    unknown_fields: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()


def predict(spec: Mapping[str, Any], node: Node) -> Prediction:
    """The files of a merged C(spec) (C(envelope.effective), C(merge.merge)) on C(node).

    Raises a fatal C(NodeConfigError) if nodeadm stops.
    """
    reason = read.missing(spec)
    if reason is not None:
        raise NodeConfigError(reason, fatal=True)
    work = _Work(spec, node)
    work.environments()
    work.resolved()
    work.containerd()
    work.kubelet()
    files = {path: text for path, text in sorted(work.files.items()) if path not in work.unknown}
    config = {name: value for name, value in work.config.items() if name not in work.unknown_fields}
    unknown = dict(sorted(work.unknown.items()))
    return Prediction(files, tuple(work.warnings), unknown, config, work.unknown_fields, tuple(work.flags))


def standard_max_pods(node: Node) -> int:
    """The number of pods for which an instance has addresses, as nodeadm computes it."""
    return PODS_OF_UNKNOWN_TYPES if node.shape is None else max_pods(node.shape)


def cluster_dns(cidr: str) -> str:
    """The address of the cluster DNS as nodeadm computes it: as text, so it can be outside of a small range.

    C(network.cluster_dns_ips) computes the correct one. Raises a fatal C(NodeConfigError) for an invalid CIDR.
    """
    address = cidr.partition("/")[0]
    return f"{address}a" if _is_ipv6(cidr) else f"{address.rpartition('.')[0]}.10"


def _is_ipv6(cidr: str) -> bool:
    """nodeadm accepts host bits."""
    try:
        network = ipaddress.ip_network(cidr, strict=False)
    except ValueError:
        network = None
    length = cidr.rpartition("/")[2]
    if network is None or cidr_problem(f"{network.network_address}/{length}"):
        raise NodeConfigError(f"{cidr!r:.60} is not a CIDR", fatal=True)
    return network.version == 6


class _Work:
    """Collects the files of one node."""

    def __init__(self, spec: Mapping[str, Any], node: Node) -> None:
        self._spec = spec
        self._node = node
        self._cluster: Mapping[str, Any] = spec["cluster"]
        self._ipv6 = _is_ipv6(self._cluster["cidr"])
        self._gates: Mapping[str, bool] = spec.get("featureGates", {})
        self.files: dict[str, str] = {}
        self.warnings: list[str] = []
        self.unknown: dict[str, str] = {}
        self.config: dict[str, Any] = {}
        self.unknown_fields: dict[str, str] = {}
        self.flags: list[str] = []

    def environments(self) -> None:
        """systemd's drop-ins for C(instance.environment)."""
        for service, variables in self._spec.get("instance", {}).get("environment", {}).items():
            everybody = service == "default"
            key, section = ("DefaultEnvironment", "Manager") if everybody else ("Environment", "Service")
            folder = "system.conf.d" if everybody else f"system/{service}.service.d"
            lines = [f"{key}={_quoted(f'{name}={value}')}" for name, value in sorted(variables.items())]
            if lines:
                self.files[f"/etc/systemd/{folder}/environment.conf"] = "\n".join([f"[{section}]", *lines, ""])

    def resolved(self) -> None:
        """systemd-resolved's drop-in for C(instance.network)."""
        network = self._spec.get("instance", {}).get("network", {})
        found = {"DNS": network.get("nameservers"), "Domains": network.get("domains")}
        lines = [f"{key}={' '.join(values)}" for key, values in found.items() if values]
        if lines:
            self.files[RESOLVED] = "\n".join(["[Resolve]", *lines, ""])

    def containerd(self) -> None:
        """containerd's configuration. Raises C(NodeConfigError)."""
        settings = self._spec.get("containerd", {})
        self.unknown[containerd_files.RUNTIME_SPEC] = "the image has a specification, into which containerd.baseRuntimeSpec is merged"
        config = settings.get("config", "")
        if containerd_files.migrates(config, self._node.containerd_version):
            self.unknown[kubelet.CONTAINERD_CONFIG] = "`containerd config migrate` of the node turns version 2 into version 3"
        self.files[kubelet.CONTAINERD_CONFIG] = containerd_files.config(
            config, self._node.containerd_version, cdi=self._node.minor >= (1, 32)
        )
        if self._pulls_with_soci():
            for path in containerd_files.OF_SOCI:
                self.unknown[path] = "FastImagePull: the SOCI snapshotter's settings come with the image"

    def _pulls_with_soci(self) -> bool:
        large = self._node.vcpus >= _SOCI_FROM_VCPUS and (self._node.memory_mib or _SOCI_FROM_MIB) >= _SOCI_FROM_MIB
        return self._gates.get("FastImagePull", False) and large

    def kubelet(self) -> None:
        """Configuration, kubeconfig, registry credentials and command line of kubelet."""
        own = self._spec.get("kubelet", {}).get("config", {})
        self._base_config()
        if own:
            head = {"apiVersion": kubelet.API_VERSION, "kind": kubelet.KIND}
            self.files[DROP_IN] = json.dump({**head, **own}, indent=4)
        self._kubeconfig()
        self.files[f"{CREDENTIAL_PROVIDERS}/config.json"] = json.dump(_credential_providers(self._node.minor), indent=4)
        self.files[kubelet.CA_FILE] = base64.b64decode(self._cluster["certificateAuthority"]).decode("utf-8", "replace")
        self.flags = self._own_flags()
        lines = ["NODEADM_KUBELET_ARGS=" + " ".join([*self.flags, *self._spec.get("kubelet", {}).get("flags", [])])]
        if own and self._node.minor < (1, 30):
            lines.append("KUBELET_CONFIG_DROPIN_DIR_ALPHA=on")
        self.files[ENVIRONMENT] = "\n".join(lines)

    def _base_config(self) -> None:
        try:
            most = self._max_pods()
        except UnsupportedExpression as beyond:
            most = standard_max_pods(self._node)
            self.unknown_fields |= dict.fromkeys(("kubeReserved", "maxPods"), f"kubelet.maxPodsExpression: {beyond}")
        if self._pulls_with_soci():
            self.unknown_fields["imageServiceEndpoint"] = "FastImagePull: kubelet pulls through the SOCI snapshotter"
        if self.unknown_fields:
            self.unknown[CONFIG_FILE] = next(reversed(self.unknown_fields.values()))
        self.config = kubelet.nodeadm_config(self._node.minor) | {
            "clusterDNS": [cluster_dns(self._cluster["cidr"])],
            "kubeReserved": kube_reserved(most, self._node.vcpus),
            "maxPods": most,
            "providerID": kubelet.provider_id(self._node.availability_zone, self._node.instance_id),
        }
        self.files[CONFIG_FILE] = json.dump(self.config, indent=4)

    def _max_pods(self) -> int:
        expression = self._spec.get("kubelet", {}).get("maxPodsExpression")
        shape, standard = self._node.shape, standard_max_pods(self._node)
        if shape is None:
            self.warnings.append(f"the network interfaces of this instance type are unknown: nodeadm uses {standard} pods")
            return standard
        if not expression:
            return standard
        try:
            return pods(expression, shape)
        except ExpressionError as error:
            self.warnings.append(f"kubelet.maxPodsExpression is ignored: {error}; nodeadm uses {standard} pods")
            return standard

    def _on_outpost(self) -> bool:
        return bool(self._cluster.get("enableOutpost"))

    def _kubeconfig(self) -> None:
        from ..formats import yaml

        name = self._cluster["id"] if self._on_outpost() else self._cluster["name"]
        words = ["eks", "get-token", "--cluster-name", name, "--region", self._node.region]
        path = BOOTSTRAP_KUBECONFIG if self._on_outpost() else kubelet.KUBECONFIG
        self.files[path] = yaml.dump(kubelet.kubeconfig(self._cluster["apiServerEndpoint"], "aws", words))
        if self._on_outpost():
            self.unknown[HOSTS] = "the addresses of the API server, as the node resolves them, are appended"

    def _own_flags(self) -> list[str]:
        node = self._node
        if self._ipv6 and node.ipv6 is None:
            raise NodeConfigError("the instance has no IPv6 address, and the cluster's cidr is one of IPv6", fatal=True)
        found = {
            "cloud-provider": "external",
            "config": CONFIG_FILE,
            "hostname-override": node.instance_id if self._gates.get("InstanceIdNodeName") else node.private_dns_name,
            "image-credential-provider-bin-dir": CREDENTIAL_PROVIDERS,
            "image-credential-provider-config": f"{CREDENTIAL_PROVIDERS}/config.json",
            "kubeconfig": kubelet.KUBECONFIG,
            "node-ip": node.ipv6 if self._ipv6 else node.ipv4,
            "runtime-cgroups": "/runtime.slice/containerd.service",
        }
        if DROP_IN in self.files:
            found["config-dir"] = DROP_INS
        if self._on_outpost():
            found["bootstrap-kubeconfig"] = BOOTSTRAP_KUBECONFIG
        return [f"--{name}={value}" for name, value in sorted(found.items())]


def _credential_providers(minor: tuple[int, int]) -> dict[str, Any]:
    provider = {
        "name": "ecr-credential-provider",
        "apiVersion": "credentialprovider.kubelet.k8s.io/v1",
        "matchImages": [*_IMAGES_OF_ECR, *(_IMAGES_OF_ECR_FROM_1_32 if minor >= (1, 32) else ())],
        "defaultCacheDuration": "12h0m0s",
    }
    return {"apiVersion": "kubelet.config.k8s.io/v1", "kind": "CredentialProviderConfig", "providers": [provider]}


_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", '"': '\\"', "\\": "\\\\"}


def _quoted(text: str) -> str:
    """The text quoted as in Go, with C(%) doubled for systemd."""
    return '"' + "".join(map(_escaped, text)).replace("%", "%%") + '"'


def _escaped(char: str) -> str:
    code = ord(char)
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
