# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The size limit, many groups at once, encodings, and eksctl's files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.map_roles import aws_auth_map_roles
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.importers.eksctl import from_eksctl
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import folder, manifest
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.batch import Source, render_groups, render_sources
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.inventory import Host, sources_of
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.karpenter import karpenter_manifests
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_config import node_config
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_plan import node_plan
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render, render_text
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.row import Row, group
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

AL2023 = {"family": "al2023"}
LONG = "#!/bin/bash\n" + "# a comment that gzip makes short\n" * 500
NOISE = "".join(hashlib.sha256(bytes([number % 256, number // 256])).hexdigest() for number in range(800))
"""Text that gzip cannot halve often enough: always the same, and never twice the same line."""

HEAD = {"apiVersion": "eksctl.io/v1alpha5", "kind": "ClusterConfig", "metadata": {"name": "demo", "region": "eu-west-1"}}


def _eksctl(what: str, config: Any, cluster: Mapping[str, Any] | None = None) -> Row:
    return Row(f"eksctl: {what}", lambda: from_eksctl(config, cluster))


def _file(what: str, change: Mapping[str, Any], cluster: Mapping[str, Any] | None = None) -> Row:
    return _eksctl(what, HEAD | change, cluster)


def _self_managed(what: str, item: Any) -> Row:
    return _file(what, {"nodeGroups": [{"name": "ng"} | item if isinstance(item, dict) else item]})


def _managed(what: str, item: Any) -> Row:
    return _file(what, {"managedNodeGroups": [{"name": "ng"} | item]})


def _would_change() -> None:
    changes = (folder.Change("new", None, b""), folder.Change("old", b"", None), folder.Change("other", b"a", b"b"))
    raise SpecError(folder.refusals(folder.Changes("out", changes, ())))


KARPENTER_CONFIG = """apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: x}
  kubelet:
    config: {maxPods: 5, registerWithTaints: []}
    flags: [--node-labels=a=b, --kube-reserved=cpu=1]
"""
CARRIAGE_RETURNS = """MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="B"

--B
Content-Type: text/x-shellscript
Content-Transfer-Encoding: quoted-printable

#!/bin/sh=0D
--B--
"""
KARPENTER_SETTINGS = {"eviction-hard": {"memory.available": "5%"}, "node-ip": "10.0.0.1"}


def _karpenter(what: str, fields: Any, family: str = "al2023", *, encoding: str = "plain", plan: bool = False) -> Row:
    group = {"name": "web", "family": family, "mode": "karpenter", **fields}
    return Row(f"karpenter: {what}", lambda: node_plan(COMPLETE, group) if plan else render(COMPLETE, group, encoding))


ROWS = (
    # EC2's limit.
    group("too long, gzip helps: al2023", AL2023 | {"commands": {"pre": LONG}, "max_pods": 20}),
    group("too long, gzip helps: al2", {"family": "al2", "commands": {"pre": LONG}}),
    group("too long, gzip helps: ubuntu", {"family": "ubuntu", "user_data": [LONG, "#!/bin/sh\n"], "commands": {"pre": [LONG, "true"]}}),
    group("too long, gzip does not help", AL2023 | {"commands": {"pre": NOISE}}),
    group("too long although gzip", AL2023 | {"commands": {"pre": NOISE}}, encoding="gzip_base64"),
    group("too long, gzip helps: bottlerocket", {"family": "bottlerocket", "bottlerocket": {"settings": {"motd": "x" * 17000}}}),
    group("too long: windows", {"family": "windows", "commands": {"pre": "# x\n" * 4500}}),
    group("too long: managed", AL2023 | {"mode": "managed", "commands": {"pre": "#!/bin/bash\n" + "# comment\n" * 1400}}),
    # Many groups.
    Row("groups that are not a list", lambda: render_groups(COMPLETE, {"a": AL2023})),
    Row("groups without names", lambda: render_groups(COMPLETE, [AL2023, AL2023 | {"max_pods": 0}])),
    Row(
        "a message that names another field of a group in a list",
        lambda: render_groups(COMPLETE, [AL2023 | {"name": "a", "max_pods": 4, "kubelet": {"config": {"maxPods": 3}}}]),
    ),
    Row(
        "a message that names another field of a group in a source",
        lambda: render_sources(
            [Source(COMPLETE), Source(COMPLETE, [AL2023 | {"name": "a", "max_pods": 4, "kubelet": {"config": {"maxPods": 3}}}])]
        ),
    ),
    Row("two groups of one name", lambda: render_sources([Source(COMPLETE, [AL2023 | {"name": "a"}, AL2023 | {"name": "a"}])])),
    Row(
        "two groups of names that differ in case",
        lambda: render_sources([Source(COMPLETE, [AL2023 | {"name": "a"}, AL2023 | {"name": "A"}])]),
    ),
    Row("inventory without groups", lambda: sources_of([Host("bastion", None, None)])),
    Row("host without a cluster", lambda: sources_of([Host("web-1", None, AL2023 | {"name": "web"})])),
    Row(
        "hosts that disagree",
        lambda: sources_of([Host(f"web-{pods}", COMPLETE, AL2023 | {"name": "web", "max_pods": pods}) for pods in (1, 2)]),
    ),
    Row("manifest of something else", lambda: manifest.load(b"{}", "out/manifest.json")),
    Row("prune with a limit", lambda: folder.check_prune(True, "web")),
    Row("files that would change", _would_change),
    Row("several sources", lambda: render_sources([Source(COMPLETE, [{"name": "a"}]), Source({}, [{"name": "b", "family": "al2023"}])])),
    Row("raw gzip in a filter", lambda: render_text(COMPLETE, AL2023, "gzip")),
    Row("encoding that is not text", lambda: render_text(COMPLETE, AL2023, 7)),
    Row("NodeConfig of another family", lambda: node_config(COMPLETE, {"family": "al2"})),
    Row("files of a wrong group", lambda: node_files(COMPLETE, AL2023 | {"max_pods": 0})),
    # Karpenter.
    Row("karpenter: another mode", lambda: karpenter_manifests(COMPLETE, AL2023)),
    Row("karpenter: a name", lambda: karpenter_manifests({}, AL2023 | {"mode": "karpenter", "name": "Web_1"})),
    _karpenter("encoding", {}, encoding="base64"),
    _karpenter("plan", {}, plan=True),
    _karpenter("fields", {"commands": {"post": ["true"]}, "override": "kind: NodeConfig"}),
    _karpenter("fields of al2", {"commands": {"post": ["true"]}, "proxy": {"https": "http://p:1"}, "strategy": "static"}, "al2"),
    _karpenter("kubelet of al2", {"kubelet": {"config": {"podPidsLimit": 1}}, "local_storage": {"strategy": "raid10"}}, "al2"),
    _karpenter("flags", {"kubelet": {"flags": {"eviction-hard": "memory.available<5%", "v": 3}}}),
    _karpenter("labels", {"labels": {"kubelet.kubernetes.io/a": "b", "karpenter.sh/nodepool": "c", "x": "{instance_id}"}}),
    _karpenter(
        "evictions", {"kubelet": {"config": {"evictionHard": {"containerfs.available": "5%"}, "evictionSoft": {"pid.available": "5%"}}}}
    ),
    _karpenter("NodeConfig", {"user_data": KARPENTER_CONFIG}),
    _karpenter("headers", {"user_data": "#cloud-config\npackages: [htop]\n", "commands": {"pre": ["true"]}}),
    _karpenter("text", {"commands": {"pre": ["cat <<X\n--//\nX\n"]}}, "al2"),
    _karpenter("carriage returns", {"user_data": CARRIAGE_RETURNS}, "al2"),
    _karpenter("maxPodsExpression", {"nodeadm": {"kubelet": {"maxPodsExpression": "max_pods"}}}),
    _karpenter("settings", {"bottlerocket": {"settings": {"kubernetes": KARPENTER_SETTINGS}}}, "bottlerocket"),
    _karpenter("pods per core", {"kubelet": {"config": {"podsPerCore": 2}}}, "bottlerocket"),
    _karpenter("windows", {"kubelet": {"flags": {"v": 3}}}, "windows"),
    _karpenter("addresses", {"kubelet": {"config": {"clusterDNS": ["10.0.0.1", "10.0.0.2"]}}}, "al2"),
    # Live nodes.
    Row("plan of a managed group", lambda: node_plan(COMPLETE, AL2023 | {"mode": "managed"})),
    Row("plan of Windows", lambda: node_plan(COMPLETE, {"family": "windows"})),
    Row("plan of Bottlerocket", lambda: node_plan(COMPLETE, {"family": "bottlerocket"})),
    Row("plan with a cloud-config", lambda: node_plan(COMPLETE, AL2023 | {"user_data": ["#cloud-config\npackages: []\n", LONG]})),
    Row("plan for an unknown type", lambda: node_plan(COMPLETE, AL2023 | {"max_pods": "auto"}, {"instance_type": "m99.large"})),
    Row("plan without the type that auto asks for", lambda: node_plan(COMPLETE, AL2023 | {"max_pods": "auto"})),
    Row("invalid role", lambda: aws_auth_map_roles([{"role_arn": "arn:aws:iam::1:role/x", "family": "linux"}])),
    # eksctl's files.
    _eksctl("no YAML", "a: [\n"),
    _eksctl("nothing", ""),
    _eksctl("a list of strings", ["x"]),
    _eksctl("another kind", HEAD | {"kind": "ClusterConfg"}),
    _eksctl("another version", HEAD | {"apiVersion": "eksctl.io/v1alpha4"}),
    _file("unknown field", {"managedNodeGroup": []}),
    _file("groups that are not a list", {"nodeGroups": {"ng": {}}}),
    _file("no name of the cluster", {"metadata": {"region": "eu-west-1"}}),
    _file("another region than the caller's", {}, {"region": "us-east-1"}),
    _file("wrong CIDR in the status", {"status": {"kubernetesNetworkConfig": {"serviceIPv4CIDR": "10.100.0.1/16"}}}),
    _file("unknown IP family", {"kubernetesNetworkConfig": {"ipFamily": "IPv5"}}),
    _file("IPv6 with an IPv4 range", {"kubernetesNetworkConfig": {"ipFamily": "IPv6"}}, {"service_cidr": "10.100.0.0/16"}),
    _file("version as number", {"metadata": {"name": "demo", "region": "eu-west-1", "version": 1.3}}),
    _file("two groups of one name", {"nodeGroups": [{"name": "a"}], "managedNodeGroups": [{"name": "a"}]}),
    _file("facts of the caller", {"nodeGroups": [{"name": "a"}]}, {"endpoint": "http://x"}),
    _self_managed("a group that is text", "ng"),
    _self_managed("unknown field of a group", {"maxPodPerNode": 10}),
    _self_managed("field of managed groups only", {"instanceTypes": ["m5.large"], "spot": True}),
    _self_managed("unknown family", {"amiFamily": "AmazonLinux3"}),
    _self_managed("removed family", {"amiFamily": "WindowsServer2004CoreContainer"}),
    _self_managed("types twice", {"instanceType": "m5.large", "instancesDistribution": {"instanceTypes": ["m5.large"]}}),
    _self_managed("eksctl's own label", {"labels": {"alpha.eksctl.io/cluster-name": "other"}}),
    _self_managed("label that kubelet rejects", {"labels": {"kubernetes.io/role": "x"}}),
    _self_managed("taint in an invalid form", {"taints": {"a": "b:c:NoSchedule"}}),
    _self_managed("taint of no effect", {"taints": {"a": "b:Never"}}),
    _self_managed("negative pods", {"maxPodsPerNode": -1}),
    _self_managed("pods as text", {"maxPodsPerNode": "10"}),
    _self_managed("kubelet field eksctl refuses", {"kubeletExtraConfig": {"authentication": {}, "clusterDomain": "x"}}),
    _self_managed("kubelet configuration on Bottlerocket", {"amiFamily": "Bottlerocket", "kubeletExtraConfig": {"maxPods": 5}}),
    _self_managed(
        "kubelet configuration on Windows", {"amiFamily": "WindowsServer2022CoreContainer", "kubeletExtraConfig": {"maxPods": 5}}
    ),
    _self_managed("DNS twice", {"clusterDNS": "10.100.0.11", "kubeletExtraConfig": {"clusterDNS": ["10.100.0.12"]}}),
    _self_managed("bottlerocket block elsewhere", {"bottlerocket": {"settings": {}}}),
    _self_managed(
        "admin container twice",
        {
            "amiFamily": "Bottlerocket",
            "bottlerocket": {"enableAdminContainer": True, "settings": {"host-containers": {"admin": {"enabled": False}}}},
        },
    ),
    _self_managed("removed runtime", {"containerRuntime": "dockerd"}),
    _self_managed("invalid runtime", {"containerRuntime": "cri-o"}),
    _self_managed("misspelt field that is not imported", {"ssh": {"alow": True}}),
    _self_managed("override on AL2023 that is a script", {"overrideBootstrapCommand": "#!/bin/bash\ntrue\n"}),
    _managed("override on a managed group", {"amiFamily": "AmazonLinux2", "overrideBootstrapCommand": "true"}),
    _managed("taints as mapping", {"taints": {"a": "b:NoSchedule"}}),
    _managed("field of self-managed groups only", {"kubeletExtraConfig": {}, "clusterDNS": "10.0.0.10", "cpuCredits": "x"}),
    _managed("max pods where EKS decides", {"amiFamily": "AmazonLinux2", "maxPodsPerNode": 20}),
)
