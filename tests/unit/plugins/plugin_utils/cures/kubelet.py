# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cures for kubelet, its capacity and reservations, containerd, and the NodeConfig of al2023."""

from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import capacity, data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubelet_fields import kubelet_config_problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig.schema import document_problems
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.fields import (
    AL2,
    AL2023,
    BOTTLEROCKET,
    LARGE,
    STATIC,
    UBUNTU,
    WINDOWS,
)
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.row import REMOVED, Cure, call, group, reports

CONFIG, FLAGS = "node_group.kubelet.config", "node_group.kubelet.flags"
NODE_CONFIG = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig"}
PAUSE = "602401143452.dkr.ecr.{}.amazonaws.com/eks/pause:3.10"


def flags(**values: Any) -> dict[str, Any]:
    """The field kubelet with flags; underscores stand for dashes."""
    return {"kubelet": {"flags": {name.replace("_", "-"): value for name, value in values.items()}}}


def config(**values: Any) -> dict[str, Any]:
    """The field kubelet with configuration."""
    return {"kubelet": {"config": values}}


def _document(rule: str, before: Any, after: Any) -> Cure:
    """The spec of a NodeConfig."""
    return reports(rule, document_problems, (NODE_CONFIG | {"spec": before}, "user_data"), (NODE_CONFIG | {"spec": after}, "user_data"))


def nested(levels: int) -> Any:
    """A mapping within a mapping, C(levels) deep."""
    tree: Any = "x"
    for _unused in range(levels):
        tree = {"a": tree}
    return tree


ROWS = (
    # Flags.
    group("kubelet.flag_not_in_version", AL2023 | flags(container_runtime="remote"), {f"{FLAGS}.container-runtime": REMOVED}),
    group("kubelet.unknown_flag", AL2023 | flags(evnt_burst=5), {f"{FLAGS}.evnt-burst": REMOVED, f"{FLAGS}.event-burst": 5}),
    group("kubelet.unknown_flag", AL2023 | flags(colour="blue"), {f"{FLAGS}.colour": REMOVED}),
    group("kubelet.invalid_flag_name", AL2023 | {"kubelet": {"flags": {"--v": 2}}}, {f"{FLAGS}.--v": REMOVED, f"{FLAGS}.v": 2}),
    group("kubelet.repeated_flag", AL2023 | flags(v=[1, 2]), {f"{FLAGS}.v": 2}),
    group("kubelet.set_by_image", AL2023 | flags(config="/x"), {f"{FLAGS}.config": REMOVED}),
    group("kubelet.unsafe_flag_value", AL2 | flags(root_dir="a'b"), {f"{FLAGS}.root-dir": "/x"}),
    group("kubelet.unsafe_flag_value", AL2 | flags(resolv_conf="/a'b"), {f"{FLAGS}": REMOVED, f"{CONFIG}.resolvConf": "/a'b"}),
    # Configuration.
    group(
        "kubelet.field_not_in_version",
        AL2023 | config(imageMaximumGCAge="1h"),
        {f"{CONFIG}.imageMaximumGCAge": REMOVED},
        {"kubernetes_version": "1.28"},
    ),
    group(
        "kubelet.flag_overrides_config",
        AL2 | config(containerRuntimeEndpoint="unix:///x"),
        {f"{CONFIG}.containerRuntimeEndpoint": REMOVED, f"{FLAGS}.container-runtime-endpoint": "unix:///x"},
    ),
    group(
        "kubelet.inconsistent_fields",
        AL2023 | config(imageGCHighThresholdPercent=50, imageGCLowThresholdPercent=60),
        {f"{CONFIG}.imageGCLowThresholdPercent": 40},
    ),
    group("kubelet.invalid_value", AL2023 | flags(node_ip="eth0"), {f"{FLAGS}.node-ip": "10.0.0.1"}),
    group("kubelet.invalid_value", AL2 | flags(node_ip="10.0.0.1,10.0.0.2"), {f"{FLAGS}.node-ip": "10.0.0.1,fd00::1"}),
    group("kubelet.invalid_value", UBUNTU | flags(node_ip="0.0.0.0,::"), {f"{FLAGS}.node-ip": "::"}),
    group("kubelet.invalid_value", AL2023 | config(syncFrequency="1 hour"), {f"{CONFIG}.syncFrequency": "1h"}),
    group("kubelet.invalid_value", AL2023 | config(healthzBindAddress="localhost"), {f"{CONFIG}.healthzBindAddress": "127.0.0.1"}),
    group("kubelet.invalid_value", AL2023 | config(cgroupRoot="/system.slice"), {f"{CONFIG}.cgroupRoot": "/system"}),
    group("kubelet.unknown_cgroup_root", AL2023 | config(cgroupRoot="/system"), {f"{CONFIG}.cgroupRoot": REMOVED}),
    reports(
        "kubelet.missing_field",
        kubelet_config_problems,
        ({"registerWithTaints": [{"key": "a"}]}, (1, 32), "config"),
        ({"registerWithTaints": [{"key": "a", "effect": "NoSchedule"}]}, (1, 32), "config"),
    ),
    group(
        "kubelet.no_config_drop_in",
        AL2 | config(podPidsLimit=100),
        {f"{CONFIG}": REMOVED, f"{FLAGS}.pod-max-pids": 100},
        {"kubernetes_version": "1.27"},
    ),
    group(
        "kubelet.no_config_drop_in",
        AL2 | config(podPidsLimit=100) | {"max_pods": 29, "instance": LARGE},
        {"node_group.strategy": "static"},
        {"kubernetes_version": "1.27"},
    ),
    group(
        "kubelet.no_config_drop_in", AL2 | config(podPidsLimit=100), {"cluster.kubernetes_version": "1.30"}, {"kubernetes_version": None}
    ),
    group("kubelet.out_of_range", AL2023 | config(imageGCHighThresholdPercent=101), {f"{CONFIG}.imageGCHighThresholdPercent": 100}),
    group(
        "kubelet.reserved_cpus_conflict",
        AL2 | config(reservedSystemCPUs="0"),
        {f"{CONFIG}.systemReservedCgroup": "", f"{CONFIG}.kubeReservedCgroup": ""},
    ),
    group("kubelet.cgroup_driver", AL2023 | config(cgroupDriver="cgroupfs"), {f"{CONFIG}.cgroupDriver": REMOVED}),
    group("kubelet.cgroup_version", AL2 | config(failCgroupV1=True), {f"{CONFIG}.failCgroupV1": REMOVED}, {"kubernetes_version": "1.32"}),
    group(
        "kubelet.cpu_manager",
        AL2023 | config(cpuManagerPolicyOptions={"full-pcpus-only": "true"}),
        {f"{CONFIG}.cpuManagerPolicy": "static"},
    ),
    group(
        "kubelet.locked_feature_gate",
        AL2023 | config(featureGates={"DynamicResourceAllocation": False}),
        {f"{CONFIG}.featureGates.DynamicResourceAllocation": REMOVED},
        {"kubernetes_version": "1.36"},
    ),
    group(
        "kubelet.drop_in_with_defaults",
        AL2023 | config(podPidsLimit=100),
        {"cluster.kubernetes_version": "1.29"},
        {"kubernetes_version": "1.28"},
    ),
    group("kubelet.many_pods", AL2023 | {"max_pods": 1001}, {"node_group.max_pods": 1000}),
    group(
        "kubelet.memory_manager",
        AL2023 | config(memoryManagerPolicy="Static") | {"instance": LARGE},
        {f"{CONFIG}.reservedMemory": [{"numaNode": 0, "limits": {"memory": "674Mi"}}]},
    ),
    group(
        "kubelet.missing_feature_gate",
        AL2023 | config(memoryReservationPolicy="TieredReservation"),
        {f"{CONFIG}.featureGates.MemoryQoS": True},
        {"kubernetes_version": "1.36"},
    ),
    group(
        "kubelet.reserved_cpus_range",
        AL2023 | config(reservedSystemCPUs="7", systemReservedCgroup="", kubeReservedCgroup="") | {"instance": LARGE},
        {f"{CONFIG}.reservedSystemCPUs": "1"},
    ),
    group(
        "kubelet.topology_manager",
        AL2023 | config(topologyManagerPolicy="restricted", topologyManagerPolicyOptions={"prefer-closest": "true"}),
        {
            f"{CONFIG}.topologyManagerPolicyOptions.prefer-closest": REMOVED,
            f"{CONFIG}.topologyManagerPolicyOptions.prefer-closest-numa-nodes": "true",
        },
    ),
    group(
        "kubelet.unknown_feature_gate",
        AL2023 | config(featureGates={"NodeSwop": True}),
        {f"{CONFIG}.featureGates.NodeSwop": REMOVED, f"{CONFIG}.featureGates.NodeSwap": True},
    ),
    group("kubelet.unknown_field", AL2023 | config(podPidLimit=10), {f"{CONFIG}.podPidLimit": REMOVED, f"{CONFIG}.podPidsLimit": 10}),
    group("kubelet.unknown_field", AL2023 | config(colour="blue"), {f"{CONFIG}.colour": REMOVED}),
    group("kubelet.unknown_value", AL2023 | config(cpuManagerPolicy="statick"), {f"{CONFIG}.cpuManagerPolicy": "none"}),
    group("kubelet.written_by_collection", AL2023 | config(kind="Node"), {f"{CONFIG}.kind": REMOVED}),
    group("kubelet.wrong_type", AL2023 | config(failSwapOn="no"), {f"{CONFIG}.failSwapOn": False}),
    group("kubelet.wrong_type", AL2023 | config(clusterDomain=5), {f"{CONFIG}.clusterDomain": "5"}),
    # Max pods and reservations.
    group("capacity.auto_without_node", AL2023 | {"max_pods": "auto"}, {"node_group.max_pods": 20}),
    group(
        "capacity.auto_without_node", AL2023 | {"max_pods": "auto"}, {"node_group.max_pods": {"mode": "eni"}, "node_group.instance": LARGE}
    ),
    group(
        "capacity.auto_without_node",
        WINDOWS | {"max_pods": "auto"},
        {"node_group.max_pods": {"mode": "windows_secondary_ip"}, "node_group.instance": LARGE},
    ),
    call("capacity.invalid_count", lambda count: capacity.kube_reserved(count, 2), 0, 1),
    group(
        "capacity.above_recommendation", AL2023 | {"max_pods": {"mode": "prefix"}, "instance": LARGE}, {"node_group.max_pods.ceiling": True}
    ),
    group(
        "capacity.above_recommendation",
        AL2023 | {"max_pods": {"mode": "prefix"}, "instance": LARGE},
        {"node_group.max_pods.ceiling": False},
    ),
    group("capacity.wrong_architecture", WINDOWS | {"instance": {"type": "m7g.large"}}, {"node_group.instance.type": "m7i.large"}),
    group("capacity.wrong_architecture", WINDOWS | {"instance": {"type": "m7g.large"}}, {"node_group.family": "al2023"}),
    group(
        "capacity.wrong_architecture",
        {"family": "AL2023_x86_64_STANDARD", "instance": {"type": "m7g.large"}},
        {"node_group.family": "AL2023_ARM_64_STANDARD"},
    ),
    group(
        "capacity.wrong_architecture",
        {"family": "AL2023_x86_64_NEURON", "instance": {"type": "m7g.large"}},
        {"node_group.family": "al2023"},
    ),
    group("capacity.missing_instance", AL2023 | {"max_pods": {"mode": "eni"}}, {"node_group.instance": LARGE}),
    group(
        "capacity.missing_instance",
        AL2023 | {"max_pods": {"mode": "eni"}},
        {"node_group.instance": {"max_enis": 3, "ips_per_eni": 10}},
    ),
    group(
        "capacity.missing_vcpus",
        AL2023 | {"max_pods": {"mode": "eni", "ceiling": True}, "instance": {"max_enis": 3, "ips_per_eni": 10}},
        {"node_group.instance.vcpus": 2},
    ),
    group(
        "capacity.no_addresses",
        WINDOWS | {"max_pods": {"mode": "windows_secondary_ip"}, "instance": {"max_enis": 1, "ips_per_eni": 1}},
        {"node_group.instance": LARGE},
    ),
    group(
        "capacity.no_interface_left",
        AL2023 | {"max_pods": {"mode": "eni", "reserved_enis": 3}, "instance": LARGE},
        {"node_group.max_pods.reserved_enis": 2},
    ),
    group(
        "capacity.not_nitro",
        AL2023 | {"max_pods": {"mode": "prefix"}, "instance": {"type": "m4.large"}},
        {"node_group.max_pods.mode": "eni"},
    ),
    group(
        "capacity.unknown_instance_type",
        AL2023 | {"max_pods": {"mode": "eni"}, "instance": {"type": "m5.lage"}},
        {"node_group.instance.type": "m5.large"},
    ),
    group(
        "capacity.unknown_instance_type",
        AL2023 | {"max_pods": {"mode": "eni"}, "instance": {"type": "m99.lage"}},
        {"node_group.instance.max_enis": 3, "node_group.instance.ips_per_eni": 10, "node_group.instance.vcpus": 2},
    ),
    group(
        "capacity.unsupported_mode",
        AL2023 | {"max_pods": {"mode": "windows_prefix"}, "instance": LARGE},
        {"node_group.max_pods.mode": "eni"},
    ),
    group(
        "capacity.unsupported_on_windows",
        WINDOWS | {"max_pods": {"mode": "windows_prefix", "reserved_enis": 1}, "instance": LARGE},
        {"node_group.max_pods.reserved_enis": REMOVED},
    ),
    group("capacity.zero_max_pods", AL2023 | {"max_pods": 0}, {"node_group.max_pods": REMOVED}),
    group(
        "reserved.exceeds_capacity",
        AL2023 | {"reserved": {"kube": {"memory": "16Gi"}}, "instance": LARGE},
        {"node_group.reserved.kube.memory": "1Gi"},
    ),
    group(
        "reserved.exceeds_capacity",
        AL2023 | {"reserved": {"kube": {"cpu": "100"}}, "instance": LARGE},
        {"node_group.instance.type": "u7i-12tb.224xlarge"},
    ),
    group("reserved.sized_for_other_max_pods", AL2023 | {"max_pods": 110, "instance": LARGE}, {"node_group.reserved.kube": "auto"}),
    group("reserved.unknown_capacity", AL2023 | {"reserved": {"kube": "auto"}, "max_pods": 50}, {"node_group.instance.vcpus": 2}),
    group("reserved.unknown_capacity", AL2023 | {"reserved": {"kube": "auto"}, "max_pods": 50}, {"node_group.instance.type": "m5.large"}),
    group(
        "reserved.unknown_capacity", AL2023 | {"reserved": {"kube": "auto"}, "max_pods": 50}, {"node_group.reserved.kube": {"cpu": "70m"}}
    ),
    group("reserved.unknown_resource", AL2023 | config(kubeReserved={"gpu": "1"}), {f"{CONFIG}.kubeReserved.gpu": REMOVED}),
    group("reserved.unsupported_auto", AL2023 | {"reserved": {"system": {"cpu": "auto"}}}, {"node_group.reserved.system.cpu": "100m"}),
    # containerd.
    group(
        "containerd.invalid_pause_image",
        AL2 | {"containerd": {"pause_image": "a b"}},
        {"node_group.containerd.pause_image": PAUSE.format("eu-west-1")},
    ),
    group(
        "containerd.pause_image_not_ecr",
        AL2 | {"containerd": {"pause_image": "r.example.com/pause:3.10"}, "max_pods": 29, "instance": LARGE},
        {"node_group.strategy": "static"},
    ),
    group(
        "containerd.pause_image_other_region",
        AL2 | {"containerd": {"pause_image": PAUSE.format("us-east-1")}, "max_pods": 29, "instance": LARGE},
        {"node_group.strategy": "static"},
    ),
    group(
        "containerd.unknown_region",
        AL2 | STATIC,
        {"node_group.containerd.pause_image": "r.example.com/pause:3.10"},
        {"region": "eusc-de-east-1"},
    ),
    call("containerd.unknown_region", data.ecr_host, "eusc-de-east-1", "us-east-1"),
    group("containerd.wrong_config_version", AL2 | {"containerd": {"config": {"version": 3}}}, {"node_group.containerd.config.version": 2}),
    # NodeConfig.
    group(
        "nodeadm.cluster_field",
        AL2023 | {"nodeadm": {"cluster": {"name": "x"}}},
        {"node_group.nodeadm.cluster": REMOVED, "cluster.name": "x"},
    ),
    group("nodeadm.invalid_flag", AL2023 | {"nodeadm": {"kubelet": {"flags": ["v=2"]}}}, {"node_group.nodeadm.kubelet.flags[0]": "--v=2"}),
    group(
        "nodeconfig.unknown_feature_gate",
        AL2023 | {"nodeadm": {"featureGates": {"InstanceIdNodeNam": True}}},
        {"node_group.nodeadm.featureGates": {"InstanceIdNodeName": True}},
    ),
    group("nodeconfig.unknown_field", AL2023 | {"nodeadm": {"kublet": {"flags": []}}}, {"node_group.nodeadm": {"kubelet": {"flags": []}}}),
    group(
        "nodeconfig.unknown_value",
        AL2023 | {"nodeadm": {"instance": {"localStorage": {"strategy": "RAID5"}}}},
        {"node_group.nodeadm.instance.localStorage.strategy": "RAID0"},
    ),
    group(
        "nodeconfig.invalid_expression",
        AL2023 | {"nodeadm": {"kubelet": {"maxPodsExpression": "enis * 2"}}},
        {"node_group.nodeadm.kubelet.maxPodsExpression": "default_enis * 2"},
    ),
    group("nodeconfig.wrong_type", AL2023 | {"nodeadm": {"instance": []}}, {"node_group.nodeadm.instance": {}}),
    group(
        "nodeconfig.wrong_type",
        AL2023 | {"nodeadm": {"instance": {"environment": {"HTTP_PROXY": "x"}}}},
        {"node_group.nodeadm.instance.environment": {"default": {"HTTP_PROXY": "x"}}},
    ),
    group(
        "nodeconfig.unreadable",
        AL2023 | {"user_data": "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {\n"},
        {"node_group.user_data": "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n"},
    ),
    group(
        "nodeconfig.wrong_document",
        AL2023 | {"override": "#!/bin/bash\ntrue\n"},
        {"node_group.override": REMOVED, "node_group.commands.pre": ["#!/bin/bash\ntrue\n"]},
    ),
    _document("nodeconfig.empty", {"kubelet": {"maxPodsExpression": ""}}, {"kubelet": {}}),
    _document("nodeconfig.invalid_flag", {"kubelet": {"flags": ["--v=2 --x"]}}, {"kubelet": {"flags": ["--v=2", "--x"]}}),
    _document(
        "nodeconfig.invalid_name",
        {"instance": {"environment": {"kubelet.service": {"A": "b"}}}},
        {"instance": {"environment": {"kubelet": {"A": "b"}}}},
    ),
    _document("nodeconfig.invalid_value", {"cluster": {"apiServerEndpoint": "http://x"}}, {"cluster": {"apiServerEndpoint": "https://x"}}),
    _document("nodeconfig.replaces_nodeadm", {"kubelet": {"config": {"kind": "Other"}}}, {"kubelet": {"config": {}}}),
    _document("nodeconfig.too_deep", {"kubelet": {"config": nested(120)}}, {"kubelet": {"config": {}}}),
    _document("nodeconfig.unsafe_text", {"kubelet": {"flags": ["--v=a\nb"]}}, {"kubelet": {"flags": ["--v=ab"]}}),
    reports(
        "nodeconfig.missing_field", document_problems, ({"apiVersion": "node.eks.aws/v1alpha1"}, "user_data"), (NODE_CONFIG, "user_data")
    ),
    # Families that write kubelet's configuration themselves.
    group("bottlerocket.no_setting", BOTTLEROCKET | config(nodeStatusMaxImages=10), {f"{CONFIG}.nodeStatusMaxImages": REMOVED}),
    group(
        "bottlerocket.no_setting",
        BOTTLEROCKET | config(resolvConf="/x"),
        {f"{CONFIG}.resolvConf": REMOVED, "node_group.bottlerocket.settings.dns.name-servers": ["10.0.0.2"]},
    ),
    group("windows.kubelet_config", WINDOWS | config(podPidsLimit=100), {CONFIG: REMOVED, f"{FLAGS}.pod-max-pids": 100}),
    group("windows.kubelet_config", WINDOWS | config(memorySwap={"swapBehavior": "NoSwap"}), {f"{CONFIG}.memorySwap": REMOVED}),
    # Ubuntu runs the snap.
    group("kubelet.unsafe_flag_value", UBUNTU | flags(root_dir="a b"), {f"{FLAGS}.root-dir": "/x"}),
)
