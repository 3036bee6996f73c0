# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is rendered for some clusters of Docker machines: the texts of the golden files in C(tests/golden/anywhere)."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import (
    bootstrap_config,
    capi_manifests,
    clusterctl_config,
    mirror_files,
)
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.bootstrap_config import BootstrapOptions
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.capi_machines import CapiOptions, NodeImage
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.clusterctl_config import Versions
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.mirror_files import Credentials
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.model import Cluster
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.validate import validate
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.clusters import Change

GOLDEN = Path(__file__).resolve().parents[4] / "golden" / "anywhere"
PASSWORD = "password-of-registry"
IMAGES = {
    minor: NodeImage(f"v{minor}.{patch}", f"kindest/node:v{minor}.{patch}") for minor, patch in (("1.33", 6), ("1.34", 2), ("1.36", 3))
}
OPTIONS = CapiOptions(IMAGES, Credentials("robot", PASSWORD), etcd_version="3.5.21", has_etcdadm=True)
VERSIONS = Versions("v1.13.4", "v1.20.2")
C = "Cluster"
PLANE, WORKERS = "spec.controlPlaneConfiguration", "spec.workerNodeGroupConfigurations"
TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
MIRROR = {
    "endpoint": "registry.lan",
    "port": "5000",
    "caCertContent": clusters.CA,
    "ociNamespaces": [{"registry": "public.ecr.aws", "namespace": "eks-anywhere"}, {"registry": "registry.k8s.io", "namespace": ""}],
}

CASES: dict[str, list[Change]] = {
    "plain": [],
    "everything": [
        (C, f"{PLANE}.labels", {"example.com/tier": "control", "a": "b"}),
        (C, f"{PLANE}.taints", [TAINT]),
        (C, f"{PLANE}.certSans", ["api.example.com"]),
        (C, f"{PLANE}.kubeletConfiguration", {"kind": "KubeletConfiguration", "maxPods": 80}),
        (C, f"{PLANE}.upgradeRolloutStrategy", {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}),
        (C, f"{PLANE}.machineHealthCheck", {"unhealthyMachineTimeout": "90s", "maxUnhealthy": 1}),
        (C, f"{PLANE}.auditPolicyContent", "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n"),
        (C, f"{WORKERS}.0.autoscalingConfiguration", {"minCount": 1, "maxCount": 3}),
        (
            C,
            f"{WORKERS}.1",
            {
                "name": "old",
                "count": 0,
                "kubernetesVersion": "1.33",
                "taints": [TAINT],
                "labels": {"role": "batch"},
                "kubeletConfiguration": {"kind": "KubeletConfiguration", "cpuManagerPolicy": "none"},
                "upgradeRolloutStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
            },
        ),
        (C, "spec.machineHealthCheck", {"nodeStartupTimeout": "20m", "maxUnhealthy": "60%"}),
        (C, "spec.clusterNetwork.nodes", {"cidrMaskSize": 25}),
        (C, "spec.clusterNetwork.dns", {"resolvConf": {"path": "/etc/resolv-cluster.conf"}}),
        (C, "spec.proxyConfiguration", {"httpProxy": "http://proxy.lan:3128", "httpsProxy": "proxy.lan:3128", "noProxy": ["10.0.0.0/8"]}),
        (C, "spec.podIamConfig", {"serviceAccountIssuer": "https://issuer.example.com"}),
    ],
    "external-etcd": [(C, "spec.externalEtcdConfiguration", {"count": 3})],
    "mirror": [(C, "spec.registryMirrorConfiguration", MIRROR)],
    "mirror-with-password": [(C, "spec.registryMirrorConfiguration", {**MIRROR, "authenticate": True})],
    "mirror-not-verified": [(C, "spec.registryMirrorConfiguration", {"endpoint": "10.0.0.5", "insecureSkipVerify": True})],
}


def cluster(*changes: Change) -> Cluster:
    """A valid cluster of Docker machines."""
    found = validate(clusters.file("docker", *changes))
    assert not found.errors and found.cluster, found.errors
    return found.cluster


def texts(name: str) -> dict[str, str]:
    """File name → text, of one case."""
    one = cluster(*CASES[name])
    certs = "/srv/clusters/dev/generated/certs.d" if one.mirror else None
    found = {
        "kind.yaml": bootstrap_config.kind_config(one, BootstrapOptions("kindest/node:v1.36.3", certs)),
        "clusterctl.yaml": clusterctl_config.clusterctl_config("/repository", VERSIONS),
        "manifests.yaml": capi_manifests.manifests(one, OPTIONS),
    }
    for file in mirror_files.mirror_files(one.mirror, OPTIONS.registry) if one.mirror else ():
        found[file.path.strip("/").replace(":", "_")] = f"# {file.path} {file.mode}\n{file.content}"
    return found


def write() -> None:
    """Write the golden files anew. Review the difference."""
    for name in CASES:
        for file, text in texts(name).items():
            path = GOLDEN / name / f"{file}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            # A heading and .txt keep tools for YAML from taking these for files of the project.
            path.write_text(f"# rendered\n{text}", encoding="utf-8")
