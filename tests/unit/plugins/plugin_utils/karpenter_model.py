# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A model of how the AWS provider of Karpenter (v1.14.1) makes the user data of a node from an EC2NodeClass and a NodePool.

It imports nothing of the library. The rows of C(test_karpenter.py), derived by hand from the source of Karpenter, hold it.
"""

from __future__ import annotations

import email
import email.policy
import json
import sys
from collections.abc import Mapping
from typing import Any

import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com",
    "certificate_authority": "Y2E=",
    "service_cidr": "10.100.0.0/16",
}
KUBE_DNS = "10.100.0.10"
"""What Karpenter finds in the Service kube-dns, and uses if the EC2NodeClass does not name an address."""

DEFAULT_PODS = 29
"""What Karpenter computes for an m5.large if the EC2NodeClass does not set maxPods."""

UNREGISTERED = {"key": "karpenter.sh/unregistered", "effect": "NoExecute"}

_BOTTLEROCKET = {
    "maxPods": "max-pods",
    "systemReserved": "system-reserved",
    "kubeReserved": "kube-reserved",
    "evictionHard": "eviction-hard",
    "evictionSoft": "eviction-soft",
    "evictionSoftGracePeriod": "eviction-soft-grace-period",
    "evictionMaxPodGracePeriod": "eviction-max-pod-grace-period",
    "imageGCHighThresholdPercent": "image-gc-high-threshold-percent",
    "imageGCLowThresholdPercent": "image-gc-low-threshold-percent",
    "cpuCFSQuota": "cpu-cfs-quota-enforced",
}
_KNOWN = frozenset(
    [
        "api-server",
        "cloud-provider",
        "cluster-certificate",
        "cluster-name",
        "cluster-dns-ip",
        "credential-providers",
        "node-labels",
        "node-taints",
        "max-pods",
        "static-pods",
        "eviction-hard",
        "eviction-soft",
        "eviction-soft-grace-period",
        "eviction-max-pod-grace-period",
        "kube-reserved",
        "system-reserved",
        "allowed-unsafe-sysctls",
        "server-tls-bootstrap",
        "registry-qps",
        "registry-burst",
        "event-qps",
        "event-burst",
        "kube-api-qps",
        "kube-api-burst",
        "container-log-max-size",
        "container-log-max-files",
        "cpu-manager-policy",
        "cpu-manager-policy-options",
        "cpu-manager-reconcile-period",
        "memory-manager-policy",
        "topology-manager-scope",
        "topology-manager-policy",
        "topology-manager-policy-options",
        "image-gc-high-threshold-percent",
        "image-gc-low-threshold-percent",
        "ids-per-pod",
        "cpu-cfs-quota-enforced",
        "shutdown-grace-period",
        "shutdown-grace-period-for-critical-pods",
        "cluster-domain",
        "seccomp-default",
        "pod-pids-limit",
        "device-ownership-from-security-context",
        "single-process-oom-kill",
        "container-log-max-workers",
        "container-log-monitor-interval",
        "hostname-override-source",
        "log-level",
    ]
)
_RESTRICTED = ("kubernetes.io", "k8s.io", "karpenter.sh", "karpenter.k8s.aws", "node-restriction.kubernetes.io")

Part = tuple[dict[str, str], str]
"""The headers of a part, without the ones that say how it is encoded, and its text."""


class Rejected(Exception):
    """Karpenter would not accept the resources."""


def launch(manifests: Mapping[str, Any]) -> Any:
    """The user data of a node: parts (AL2, AL2023), settings (Bottlerocket) or text (Windows, Custom)."""
    spec = manifests["ec2_node_class"]["spec"]
    template = manifests["node_pool"]["spec"]["template"]
    kubelet = {"clusterDNS": [KUBE_DNS], "maxPods": DEFAULT_PODS, **spec.get("kubelet", {})}
    labels = template.get("metadata", {}).get("labels", {})
    labels = {key: value for key, value in labels.items() if not key.rpartition("/")[0].endswith(_RESTRICTED)}
    taints = [*template.get("spec", {}).get("taints", []), UNREGISTERED]
    text, raid = spec.get("userData", ""), spec.get("instanceStorePolicy") == "RAID0"
    family = spec["amiFamily"]
    if family == "AL2023":
        return [*_al2023_parts(text), ({"Content-Type": "application/node.eks.aws"}, _node_config(kubelet, labels, taints, raid))]
    if family == "AL2":
        return [*(_parts(text) if text else []), ({"Content-Type": "text/x-shellscript"}, _al2_script(kubelet, labels, taints, raid))]
    if family == "Bottlerocket":
        return _bottlerocket(text, kubelet, labels, taints, raid)
    if family.startswith("Windows"):
        return _windows(text, kubelet, labels, taints)
    if family == "Custom":
        return text
    raise Rejected(family)


def _parts(text: str) -> list[Part]:
    """A MIME document as Go's mime/multipart reads it: quoted-printable is decoded, other encodings are not."""
    if not text.startswith(("MIME-Version:", "Content-Type:")):
        return [({"Content-Type": "text/x-shellscript"}, text)]
    message = email.message_from_string(text, policy=email.policy.compat32)
    found = []
    for part in message.get_payload():
        headers = dict(part.items())
        decoded = headers.get("Content-Transfer-Encoding", "").lower() == "quoted-printable"
        body = part.get_payload(decode=True).decode() if decoded else part.get_payload()
        if decoded:
            del headers["Content-Transfer-Encoding"]
        found.append((headers, body.replace("\r", "")))
    return found


def _al2023_parts(text: str) -> list[Part]:
    if not text:
        return []
    if text.strip().startswith(("MIME-Version:", "Content-Type:")):
        return [({"Content-Type": headers.get("Content-Type", "")}, body) for headers, body in _parts(text)]
    try:
        is_mapping = isinstance(yaml.safe_load(text), (dict, type(None)))
    except yaml.YAMLError:
        is_mapping = False
    return [({"Content-Type": "application/node.eks.aws" if is_mapping else "text/x-shellscript"}, text)]


def _node_config(kubelet: Mapping[str, Any], labels: Mapping[str, str], taints: list[dict[str, str]], raid: bool) -> str:
    cluster = {
        "name": CLUSTER["name"],
        "apiServerEndpoint": CLUSTER["endpoint"],
        "certificateAuthority": CLUSTER["certificate_authority"],
        "cidr": CLUSTER["service_cidr"],
    }
    section: dict[str, Any] = {"config": {**kubelet, "registerWithTaints": taints}}
    if labels:
        section["flags"] = [f'--node-labels="{",".join(f"{key}={labels[key]}" for key in sorted(labels))}"']
    instance = {"localStorage": {"strategy": "RAID0"}} if raid else {}
    return json.dumps(
        {
            "apiVersion": "node.eks.aws/v1alpha1",
            "kind": "NodeConfig",
            "spec": {"cluster": cluster, "instance": instance, "kubelet": section},
        }
    )


def kubelet_arguments(kubelet: Mapping[str, Any], labels: Mapping[str, str], taints: list[dict[str, str]]) -> list[str]:
    """What Karpenter passes to kubelet where it cannot merge a configuration."""
    words = [f'--node-labels="{",".join(f"{key}={labels[key]}" for key in sorted(labels))}"'] if labels else []
    words.append('--register-with-taints="{}"'.format(",".join(_taint(taint) for taint in taints)))
    for field, flag, join in (
        ("maxPods", "max-pods", ""),
        ("podsPerCore", "pods-per-core", ""),
        ("systemReserved", "system-reserved", "="),
        ("kubeReserved", "kube-reserved", "="),
        ("evictionHard", "eviction-hard", "<"),
        ("evictionSoft", "eviction-soft", "<"),
        ("evictionSoftGracePeriod", "eviction-soft-grace-period", "="),
        ("evictionMaxPodGracePeriod", "eviction-max-pod-grace-period", ""),
        ("imageGCHighThresholdPercent", "image-gc-high-threshold", ""),
        ("imageGCLowThresholdPercent", "image-gc-low-threshold", ""),
        ("cpuCFSQuota", "cpu-cfs-quota", ""),
    ):
        value = kubelet.get(field)
        if isinstance(value, dict):
            words.append(f'--{flag}="{",".join(f"{key}{join}{item}" for key, item in value.items())}"')
        elif value is not None:
            words.append(f"--{flag}={str(value).lower()}")
    return words


def _taint(taint: Mapping[str, str]) -> str:
    value = taint.get("value")
    return f"{taint['key']}={value}:{taint['effect']}" if value else f"{taint['key']}:{taint['effect']}"


def _al2_script(kubelet: Mapping[str, Any], labels: Mapping[str, str], taints: list[dict[str, str]], raid: bool) -> str:
    words = [
        f"/etc/eks/bootstrap.sh '{CLUSTER['name']}' --apiserver-endpoint '{CLUSTER['endpoint']}'",
        f"--b64-cluster-ca '{CLUSTER['certificate_authority']}'",
        *(["--ip-family ipv6"] if ":" in kubelet["clusterDNS"][0] else []),
        f"--dns-cluster-ip '{kubelet['clusterDNS'][0]}'",
        "--use-max-pods false",
        f"--kubelet-extra-args '{' '.join(kubelet_arguments(kubelet, labels, taints))}'",
        *(["--local-disks raid0"] if raid else []),
    ]
    return "#!/bin/bash -xe\n" + " ".join(words)


def _bottlerocket(text: str, kubelet: Mapping[str, Any], labels: Mapping[str, str], taints: list[dict[str, str]], raid: bool) -> Any:
    settings: dict[str, Any] = tomllib.loads(text).get("settings", {})
    own = {key: value for key, value in settings.get("kubernetes", {}).items() if key in _KNOWN}
    if not isinstance(own.get("cluster-dns-ip", ""), str):
        raise Rejected("cluster-dns-ip")
    own |= {
        "cluster-name": CLUSTER["name"],
        "api-server": CLUSTER["endpoint"],
        "cluster-certificate": CLUSTER["certificate_authority"],
        "node-labels": own.get("node-labels", {}) | dict(labels),
        "cluster-dns-ip": kubelet["clusterDNS"][0],
        "node-taints": {},
    }
    for field, name in _BOTTLEROCKET.items():
        if kubelet.get(field) is not None:
            own[name] = str(kubelet[field]) if field.startswith("imageGC") else kubelet[field]
    for taint in taints:
        own["node-taints"].setdefault(taint["key"], []).append(f"{taint.get('value', '')}:{taint['effect']}")
    settings["kubernetes"] = own
    if raid:
        init = ["apiclient", "ephemeral-storage", "init"]
        bind = ["apiclient", "ephemeral-storage", "bind"]
        command = {"commands": [init, bind], "essential": True, "mode": "always"}
        settings["bootstrap-commands"] = settings.get("bootstrap-commands", {}) | {"000-mount-instance-storage": command}
    return settings


def _windows(text: str, kubelet: Mapping[str, Any], labels: Mapping[str, str], taints: list[dict[str, str]]) -> str:
    call = (
        f"& $EKSBootstrapScriptFile -EKSClusterName '{CLUSTER['name']}' -APIServerEndpoint '{CLUSTER['endpoint']}'"
        f" -Base64ClusterCA '{CLUSTER['certificate_authority']}'"
        f" -KubeletExtraArgs '{' '.join(kubelet_arguments(kubelet, labels, taints))}' -DNSClusterIP '{kubelet['clusterDNS'][0]}'"
    )
    script = r'[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1"'
    return "\n".join(["<powershell>", *([text] if text else []), script, call, "</powershell>"])
