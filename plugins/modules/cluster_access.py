#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin cluster_access."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_access
short_description: Let the nodes of node groups join an EKS cluster
version_added: 0.1.0
description:
  - Maps the IAM roles of nodes in the cluster, as its authentication mode needs it.
  - In the modes C(API) and C(API_AND_CONFIG_MAP), creates an access entry of the right type for each role, with the tag
    C(nodebootstrap.eks/managed).
  - In the mode C(CONFIG_MAP), adds the roles to C(mapRoles) of the ConfigMap C(kube-system/aws-auth). The text of other items, comments and
    their order stay as they are, byte for byte. The annotation C(nodebootstrap.eks/managed) lists the items of this collection. If another
    program changes the ConfigMap at the same time, it is read again.
  - In the mode C(API_AND_CONFIG_MAP), RV(leaving) says what is needed to stop using C(aws-auth).
  - For Windows nodes, sets C(enable-windows-ipam) in the ConfigMap C(kube-system/amazon-vpc-cni), and checks that there is a Linux node,
    and that the role of the cluster has the policy C(AmazonEKSVPCResourceController).
  - Never changes the authentication mode. Never removes what another tool wrote, what a managed node group or a Fargate profile uses, or
    your own access.
  - If C(mapRoles) is not valid YAML, it is copied to a ConfigMap C(aws-auth-backup-DIGEST) and not changed. In the mode C(CONFIG_MAP), the
    task fails.
  - With a problem that prevents a change, the task fails with all problems, and changes nothing.
  - Runs on the controller and contacts no node. It needs the permissions C(eks:DescribeCluster), C(eks:ListNodegroups),
    C(eks:DescribeNodegroup), C(eks:ListFargateProfiles) and C(eks:DescribeFargateProfile). For access entries, it also needs
    C(eks:ListAccessEntries), C(eks:DescribeAccessEntry), C(eks:ListAssociatedAccessPolicies), C(eks:CreateAccessEntry) and
    C(eks:TagResource), and C(eks:DeleteAccessEntry) for O(purge) and O(recreate). For C(aws-auth), it needs the verbs C(get), C(create) and
    C(patch) for ConfigMaps in C(kube-system). For Windows nodes, it also needs C(iam:ListAttachedRolePolicies), and the verb C(list) for
    nodes.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.kubernetes
  - nodebootstrap.eks.aws
requirements:
  - boto3 >= 1.34
  - kubernetes >= 31, for a kubeconfig
options:
  cluster:
    description:
      - The cluster, as for M(nodebootstrap.eks.render). Only C(name) is required. C(region) is used if O(region) is not set.
      - If C(endpoint) is set, it must be that of the cluster of this name.
      - A kubeconfig that leads to another API server than the endpoint of the cluster is refused.
    type: raw
    required: true
  node_groups:
    description:
      - Node groups, as for M(nodebootstrap.eks.render), each with C(role_arn), the role in the instance profile of its nodes. Only C(name),
        C(family), C(mode) and C(role_arn) are read.
      - Groups with C(mode=managed) or C(mode=managed_custom_ami) need no C(role_arn), because EKS maps their roles.
    type: raw
  roles:
    description:
      - More roles, for example of the nodes of Karpenter. A list of mappings with C(role_arn), and with C(family) or C(type).
      - C(type) is the type of the access entry. V(EC2_LINUX), V(EC2_WINDOWS), V(EC2) for EKS Auto Mode, V(HYBRID_LINUX) or
        V(HYPERPOD_LINUX).
    type: raw
  purge:
    description:
      - Whether access entries and items of C(aws-auth) are removed that this collection created, and that are not described any more.
      - In the mode C(API_AND_CONFIG_MAP), items of this collection in C(aws-auth) are removed if the role has an access entry for nodes.
    type: bool
    default: false
  recreate:
    description:
      - Whether an access entry of a wrong type is deleted and created again. The type of an access entry cannot be changed.
      - While it does not exist, nodes of this role get no new credentials. If it cannot be created, the old one is restored.
    type: bool
    default: false
  force:
    description: Whether an item of C(aws-auth) that another tool wrote is corrected if it maps a described role wrongly.
    type: bool
    default: false
attributes:
  action:
    description: Runs on the controller.
    support: full
  check_mode:
    description: Prints the plan, and changes nothing.
    support: full
  diff_mode:
    description: Shows the changed access entries and ConfigMaps.
    support: full
  idempotent:
    description: A second run with the same input changes nothing.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
seealso:
  - module: nodebootstrap.eks.access_entry
  - plugin: nodebootstrap.eks.aws_auth_map_roles
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Let the nodes of two groups join
  nodebootstrap.eks.cluster_access:
    cluster:
      name: demo
      region: eu-west-1
    node_groups:
      - name: workers
        family: al2023
        role_arn: arn:aws:iam::111122223333:role/workers
      - name: storage
        family: bottlerocket
        role_arn: arn:aws:iam::111122223333:role/teams/storage

- name: Let nodes of Karpenter and of EKS Auto Mode join
  nodebootstrap.eks.cluster_access:
    cluster:
      name: demo
      region: eu-west-1
    roles:
      - role_arn: arn:aws:iam::111122223333:role/karpenter-nodes
        family: al2023
      - role_arn: arn:aws:iam::111122223333:role/auto-nodes
        type: EC2
"""

RETURN = r"""
authentication_mode:
  description: The authentication mode of the cluster.
  returned: success
  type: str
  sample: API
roles:
  description: What becomes of each role, of access entries and of items of aws-auth.
  returned: success
  type: list
  elements: dict
  contains:
    principal:
      description: The ARN of the role.
      type: str
      returned: always
      sample: arn:aws:iam::111122223333:role/workers
    where:
      description: The type of the access entry, or V(kube-system/aws-auth).
      type: str
      returned: always
      sample: EC2_LINUX
    state:
      description: V(present), V(create), V(replace), V(remove), or V(kept) for what is not described any more.
      type: str
      returned: always
      sample: create
    used_by:
      description: The node groups that use the role, or the places of O(roles).
      type: list
      elements: str
      returned: always
      sample: [node group workers]
    note:
      description: Why it has this state.
      type: str
      returned: always
      sample: another tool created it
windows:
  description: What Windows nodes need of the cluster. Empty without a role of Windows nodes.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: What is needed.
      type: str
      returned: always
      sample: Linux node
    state:
      description: V(ok), V(change), V(missing), or V(unknown) if it could not be checked.
      type: str
      returned: always
      sample: ok
    message:
      description: The result in words.
      type: str
      returned: always
      sample: there is a Linux node for CoreDNS
leaving:
  description: In the mode C(API_AND_CONFIG_MAP), the items of aws-auth with the access entries that replace them.
  returned: success
  type: list
  elements: dict
  contains:
    principal:
      description: The ARN of the item, or an account.
      type: str
      returned: always
      sample: arn:aws:iam::111122223333:role/admin
    state:
      description: V(covered), V(missing), V(differs), or V(impossible) if access entries have no equivalent.
      type: str
      returned: always
      sample: missing
    type:
      description: The type of the access entry.
      type: str
      returned: always
      sample: STANDARD
    kubernetes_groups:
      description: The groups of the access entry.
      type: list
      elements: str
      returned: always
      sample: [admins]
    username:
      description: The user name of the access entry. Empty if EKS chooses it.
      type: str
      returned: always
      sample: admin
    access_policy:
      description: The access policy that replaces the group C(system:masters).
      type: str
      returned: always
      sample: AmazonEKSClusterAdminPolicy
    reason:
      description: Why it has this state.
      type: str
      returned: always
      sample: its access entry has the type STANDARD
findings:
  description: What is not as it should be, but does not prevent the changes.
  returned: success
  type: list
  elements: dict
  contains:
    rule:
      description: The ID of the rule. C(docs/rules.md) lists them.
      type: str
      returned: always
      sample: access.no_linux_node
    severity:
      description: V(error), V(warning) or V(note).
      type: str
      returned: always
      sample: warning
    path:
      description: The place in the input, or in aws-auth.
      type: str
      returned: always
      sample: cluster
    message:
      description: What is wrong.
      type: str
      returned: always
      sample: there is no Linux node, so CoreDNS cannot run
    fix:
      description: What to do.
      type: str
      returned: if the message does not say it
      sample: add a Linux node group, or a Fargate profile for CoreDNS
backup:
  description: The name of the ConfigMap with a copy of a broken aws-auth.
  returned: if mapRoles in aws-auth cannot be read, and the task fails
  type: str
  sample: aws-auth-backup-0123456789ab
"""
