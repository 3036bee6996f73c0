# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The field names of eksctl's C(ClusterConfig) v1alpha5, and why some of them have no place in node bootstrap.

Names: eksctl's published JSON schema, 2026 (0.231), and names that older releases accepted.
"""

from __future__ import annotations

from collections.abc import Mapping

_ASG = "belongs to the Auto Scaling group"
_TEMPLATE = "belongs to the launch template"
_NETWORK = "belongs to the network the nodes are placed in"
_VOLUMES = "describes volumes, which the launch template attaches; formatting and mounting them is local_storage or commands.pre"
_CLUSTER = "belongs to the cluster, not to its nodes"
_ACCESS = "belongs to access control in the cluster and in IAM"

CLUSTER_NOT_OURS: Mapping[str, str] = {
    "accessConfig": _ACCESS,
    "addons": "names add-ons, which EKS installs in the cluster",
    "addonsConfig": "configures add-ons, which EKS installs in the cluster",
    "autoModeConfig": "configures EKS Auto Mode, whose nodes are not bootstrapped",
    "autonomousModeConfig": "configures EKS Auto Mode (its older name), whose nodes are not bootstrapped",
    "availabilityZones": _NETWORK,
    "capabilities": _CLUSTER,
    "cloudWatch": "configures the logs of the control plane",
    "controlPlaneScalingConfig": "sizes the control plane",
    "fargateProfiles": "describes Fargate, whose nodes are not bootstrapped",
    "git": "configured Flux v1, which eksctl itself no longer has",
    "gitops": "configures Flux in the cluster",
    "iam": _ACCESS,
    "iamIdentityMappings": f"{_ACCESS}; node roles go through the filter aws_auth_map_roles",
    "identityProviders": _ACCESS,
    "karpenter": "installs Karpenter, which renders user data itself",
    "localZones": _NETWORK,
    "privateCluster": "builds VPC endpoints; nodes need no switch for it, because endpoint and CA are always passed to them",
    "remoteNetworkConfig": "configures EKS hybrid nodes",
    "secretsEncryption": _CLUSTER,
    "upgradePolicy": _CLUSTER,
    "vpc": _NETWORK,
    "zonalShiftConfig": _CLUSTER,
}

CLUSTER_OURS = ("apiVersion", "kind", "kubernetesNetworkConfig", "managedNodeGroups", "metadata", "nodeGroups", "outpost", "status")

METADATA_OURS = ("name", "region", "version")
METADATA_NOT_OURS: Mapping[str, str] = {
    "accountID": _CLUSTER,
    "annotations": _CLUSTER,
    "forceUpdateVersion": _CLUSTER,
    "tags": "tags AWS resources",
}

NETWORK_OURS = ("ipFamily", "serviceIPv4CIDR", "serviceIPv6CIDR")

STATUS_OURS = ("certificateAuthorityData", "endpoint", "id", "kubernetesNetworkConfig")
STATUS_NOT_OURS: Mapping[str, str] = {"arn": _CLUSTER, "eksVersion": _CLUSTER, "stackName": _CLUSTER}

OUTPOST_OURS = ("controlPlaneOutpostARN",)
OUTPOST_NOT_OURS: Mapping[str, str] = {
    "controlPlaneInstanceType": "sizes the control plane",
    "controlPlanePlacement": "places the control plane",
}

_GROUP_NOT_OURS: Mapping[str, str] = {
    "additionalVolumes": _VOLUMES,
    "asgSuspendProcesses": _ASG,
    "availabilityZones": _NETWORK,
    "capacityReservation": _TEMPLATE,
    "desiredCapacity": _ASG,
    "disableIMDSv1": f"{_TEMPLATE} (metadata options); everything rendered here uses IMDSv2",
    "disablePodIMDS": f"{_TEMPLATE} (metadata options, hop limit 1); nodes are not affected",
    "ebsOptimized": _TEMPLATE,
    "efaEnabled": f"{_TEMPLATE} (EFA network interfaces); the driver is part of the accelerated AMIs",
    "enableDetailedMonitoring": _TEMPLATE,
    "iam": _ACCESS,
    "instanceMarketOptions": _TEMPLATE,
    "instanceName": "names the instances in EC2",
    "instancePrefix": "names the instances in EC2",
    "instanceSelector": "chooses instance types when the group is created; set node_group.instance if other values are computed from them",
    "maxSize": _ASG,
    "minSize": _ASG,
    "outpostARN": "places the group on an Outpost; a local cluster is cluster.outpost",
    "placement": _TEMPLATE,
    "privateNetworking": _NETWORK,
    "propagateASGTags": "tags the Auto Scaling group",
    "securityGroups": _TEMPLATE,
    "ssh": "opens port 22 and names an EC2 key pair, both in the launch template",
    "subnets": _NETWORK,
    "tags": "tags AWS resources",
    "updateConfig": _ASG,
    "volumeEncrypted": _VOLUMES,
    "volumeIOPS": _VOLUMES,
    "volumeKmsKeyID": _VOLUMES,
    "volumeName": _VOLUMES,
    "volumeSize": _VOLUMES,
    "volumeThroughput": _VOLUMES,
    "volumeType": _VOLUMES,
}

_GROUP_OURS = (
    "ami",
    "amiFamily",
    "bottlerocket",
    "instanceType",
    "labels",
    "maxPodsPerNode",
    "name",
    "overrideBootstrapCommand",
    "preBootstrapCommands",
    "taints",
)

SELF_MANAGED_OURS = (*_GROUP_OURS, "clusterDNS", "containerRuntime", "instancesDistribution", "kubeletExtraConfig")
SELF_MANAGED_NOT_OURS: Mapping[str, str] = {
    **_GROUP_NOT_OURS,
    "asgMetricsCollection": _ASG,
    "classicLoadBalancerNames": _ASG,
    "cpuCredits": _TEMPLATE,
    "enclaveEnabled": f"{_TEMPLATE} (enclave options); the allocator on the node is commands.pre",
    "localZones": _NETWORK,
    "maxInstanceLifetime": _ASG,
    "targetGroupARNs": _ASG,
}

MANAGED_OURS = (*_GROUP_OURS, "instanceTypes")
MANAGED_NOT_OURS: Mapping[str, str] = {
    **_GROUP_NOT_OURS,
    "launchTemplate": "is your own launch template, which eksctl uses unchanged: put the rendered user data there",
    "nodeRepairConfig": "configures EKS node repair",
    "releaseVersion": "chooses the AMI",
    "spot": "chooses the capacity type",
}

SELF_MANAGED_ONLY: Mapping[str, str] = {
    "clusterDNS": "add kubelet.config.clusterDNS to the imported node group, if its mode and family support it",
    "containerRuntime": "remove it: containerd is the only runtime",
    "instancesDistribution": "write instanceTypes",
    "kubeletExtraConfig": "add kubelet.config to the imported node group, if its family supports it (al2023 in every mode)",
    **dict.fromkeys((name for name in SELF_MANAGED_NOT_OURS if name not in _GROUP_NOT_OURS), "remove it"),
}
"""Fields that eksctl has for C(nodeGroups) only, and what to do under C(managedNodeGroups)."""

MANAGED_ONLY: Mapping[str, str] = {
    "instanceTypes": "write instancesDistribution.instanceTypes",
    **dict.fromkeys((name for name in MANAGED_NOT_OURS if name not in _GROUP_NOT_OURS), "remove it"),
}
"""Fields that eksctl has for C(managedNodeGroups) only, and what to do under C(nodeGroups)."""

BOTTLEROCKET = ("enableAdminContainer", "settings")

SSH = ("allow", "enableSsm", "publicKey", "publicKeyName", "publicKeyPath", "sourceSecurityGroupIds")

DISTRIBUTION_NOT_OURS: Mapping[str, str] = dict.fromkeys(
    (
        "capacityRebalance",
        "maxPrice",
        "onDemandBaseCapacity",
        "onDemandPercentageAboveBaseCapacity",
        "spotAllocationStrategy",
        "spotInstancePools",
    ),
    _ASG,
)

NESTED: Mapping[str, tuple[str, ...]] = {
    "iam": (
        "attachPolicy",
        "attachPolicyARNs",
        "instanceProfileARN",
        "instanceRoleARN",
        "instanceRoleName",
        "instanceRolePermissionsBoundary",
        "withAddonPolicies",
    ),
    "launchTemplate": ("id", "version"),
    "nodeRepairConfig": (
        "enabled",
        "maxParallelNodesRepairedCount",
        "maxParallelNodesRepairedPercentage",
        "maxUnhealthyNodeThresholdCount",
        "maxUnhealthyNodeThresholdPercentage",
        "nodeRepairConfigOverrides",
    ),
    "placement": ("groupName",),
    "securityGroups": ("attachIDs", "withLocal", "withShared"),
    "ssh": SSH,
    "updateConfig": ("maxUnavailable", "maxUnavailablePercentage", "updateStrategy"),
}
"""The fields inside a node group's mappings that are not ours: a misspelt one is still an error, as in eksctl."""

FORBIDDEN_KUBELET_FIELDS: Mapping[str, str] = {
    "address": "the image decides where kubelet listens",
    "apiVersion": "the head of the document is written by the collection",
    "authentication": "EKS decides how kubelet authenticates callers",
    "authorization": "EKS decides how kubelet authorises callers",
    "clusterDomain": "EKS clusters are cluster.local",
    "kind": "the head of the document is written by the collection",
    "serverTLSBootstrap": "EKS signs the serving certificate",
}
"""The top-level fields that eksctl refuses in C(kubeletExtraConfig)."""

DEPRECATED_FAMILIES: Mapping[str, str] = {
    "windowsserver2004corecontainer": "Microsoft ended Windows Server version 2004 in December 2021",
    "windowsserver20h2corecontainer": "Microsoft ended Windows Server version 20H2 in August 2022",
    "windowsserver1909corecontainer": "Microsoft ended Windows Server version 1909 in May 2021",
    "ubuntu1804": "Ubuntu 18.04 has no image for a supported Kubernetes version",
}
"""Families that were, in lower case."""
