# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What EKS Anywhere v0.26.1 said of 330 files (data/eks_anywhere.json), and where this collection is stricter on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "eks_anywhere.json").read_text())["cases"]

STRICTER: dict[str, tuple[str, frozenset[str]]] = {
    "anywhere.address_family": (
        "kubeadm refuses networks of two address families",
        frozenset({"docker: services v6"}),
    ),
    "anywhere.api_version": (
        "the API server has no such version: kubectl apply, which EKS Anywhere runs later, fails",
        frozenset({"file: old api"}),
    ),
    "anywhere.cidr_overlap": (
        "a pod and a service can get the same address",
        frozenset({"docker: same", "tinkerbell: overlap", "tinkerbell: same", "vsphere: overlap", "vsphere: same"}),
    ),
    "anywhere.cilium": (
        "the modes are overlay and direct; another word becomes overlay without a message",
        frozenset({"docker: cilium routing bad"}),
    ),
    "anywhere.endpoint": (
        "300.1.1.1 is not an address, and Bare Metal announces the endpoint as a virtual address, which a name is not",
        frozenset({"tinkerbell: endpoint 300.1.1.1", "tinkerbell: endpoint host.example.com", "vsphere: endpoint 300.1.1.1"}),
    ),
    "anywhere.endpoint_of_docker": (
        "the provider Docker refuses an endpoint in its own validation, after this one",
        frozenset(f"docker: endpoint {host}" for host in ("10.0.0.9", "10.0.0.9:6443", "300.1.1.1", "fd00::1", "host.example.com")),
    ),
    "anywhere.etcd_encryption": (
        "Bare Metal has no encryption of etcd by a KMS provider",
        frozenset({"tinkerbell: etcd encryption"}),
    ),
    "anywhere.health_check": (
        "Cluster API refuses maxUnhealthy that is neither a number nor a percentage",
        frozenset({"tinkerbell: cp mhc bad"}),
    ),
    "anywhere.name": (
        "objects of Kubernetes have names in lower case, which do not end with -",
        frozenset({"docker: name Dev", "docker: name dev-", "tinkerbell: name Dev", "vsphere: name dev-"}),
    ),
    "anywhere.service_network": (
        "kubeadm needs ten addresses for services",
        frozenset({"docker: services /30", "vsphere: services /30"}),
    ),
    "anywhere.taint_effect": (
        "the API server refuses a node with an unknown effect",
        frozenset({"docker: worker taint bad", "tinkerbell: worker taint bad", "vsphere: worker taint bad"}),
    ),
    "anywhere.unknown_provider": (
        "without a provider, nothing can create machines",
        frozenset({"tinkerbell: datacenter kind bad", "tinkerbell: datacenter kind empty"}),
    ),
    "anywhere.version": (
        "EKS Anywhere finds no images for it, and fails after this validation",
        frozenset(
            {
                "docker: version ''",
                "docker: version 'abc'",
                "tinkerbell: version ''",
                "tinkerbell: version 'abc'",
                "tinkerbell: version 'v1.33'",
                "vsphere: version ''",
                "vsphere: version missing",
            }
        ),
    ),
    "anywhere.version_not_text": (
        "1.30 without quotes is 1.3 for kubectl and older releases",
        frozenset({"docker: version 1.3", "tinkerbell: version 1.3", "vsphere: version 1.3", "vsphere: version 1.33"}),
    ),
    "anywhere.version_skew": (
        "kubelet can be up to three minor versions older than the API server, and never newer",
        frozenset(
            {
                "docker: worker version old",
                "tinkerbell: worker version newer",
                "tinkerbell: worker version old",
                "vsphere: worker version old",
            }
        ),
    ),
    "certificates.invalid_pem": (
        "containerd does not start with a certificate authority that is not PEM",
        frozenset({"docker: mirror bad ca", "tinkerbell: mirror bad ca", "vsphere: mirror bad ca"}),
    ),
    "input.wrong_type": (
        "y and true without quotes are booleans; EKS Anywhere takes them for the text true",
        frozenset(
            {"docker: datacenter name other", "tinkerbell: datacenter name other", "tinkerbell: version True", "vsphere: version True"}
        ),
    ),
}
"""Rule → why the collection refuses what EKS Anywhere accepts at this point, and the rows of the record for which it does."""

MEANING = {
    "APIServerExtraArgs": "anywhere.api_server_args",
    "CertSANs": "anywhere.cert_san",
    "CIDR block": "anywhere.cidr",
    "Endpoint.Host is not set": "anywhere.endpoint",
    "GitOpsConfig or FluxConfig": "anywhere.git_ops",
    "Object 'Kind' is missing": "anywhere.kubelet_kind",
    "RegistryMirrorConfiguration.Endpoint": "anywhere.mirror",
    "WorkerNodeGroupConfigs cannot be empty": "anywhere.no_workers",
    "at least one WorkerNodeGroupConfiguration": "anywhere.all_workers_tainted",
    "both old and new formats": "input.conflict",
    "cannot unmarshal": "input.wrong_type",
    "cilium": "anywhere.cilium",
    "cni plugin": "anywhere.cni",
    "control plane node count": "anywhere.replicas",
    "direct routing mode": "anywhere.cilium",
    "does not contain kind Cluster": "anywhere.no_cluster",
    "eksaVersion": "anywhere.release",
    "etcd": "anywhere.external_etcd",
    "httpsProxy": "anywhere.proxy",
    "is not a valid cluster name": "anywhere.name",
    "is not supported": "anywhere.identity_provider",
    "kindnetd": "anywhere.cni",
    "labels for": "labels.",
    "min count": "anywhere.autoscaling",
    "number of characters": "anywhere.name_too_long",
    "pod subnet with mask": "anywhere.node_mask",
    "proxy endpoint": "anywhere.proxy",
    "registry mirror port": "anywhere.mirror",
    "skipUpgrades": "anywhere.cilium",
    "specify a valid name": "input.missing_field",
    "unknown field": "input.unknown_field",
    "upgrade rollout strategy": "anywhere.rollout",
    "maxSurge for control plane": "anywhere.rollout",
    "worker node count": "anywhere.worker_count",
    "worker node group names": "anywhere.worker_name",
    "did not find expected key": "anywhere.version",
    "did not find expected node": "anywhere.not_yaml",
}
"""Words of EKS Anywhere → the rule, or the area of the rules, for the same reason. The first words that occur decide."""


def stricter_rule(row: str) -> str | None:
    """The rule by which the collection refuses a row that EKS Anywhere accepts, or None."""
    return next((rule for rule, (_reason, rows) in STRICTER.items() if row in rows), None)


def rule_of(said: str) -> str:
    """The rule that means what EKS Anywhere said."""
    return next(rule for words, rule in MEANING.items() if words in said)
