#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin access_entry."""

from __future__ import annotations

DOCUMENTATION = r"""
module: access_entry
short_description: Manage an access entry of an EKS cluster
version_added: 0.1.0
description:
  - Creates, changes or removes the access entry of one IAM principal. For the roles of nodes, M(nodebootstrap.eks.cluster_access) finds the
    right entries itself.
  - New entries have the tag C(nodebootstrap.eks/managed). O(state=absent) refuses an entry without this tag, unless O(force) is set.
  - An entry that another tool created is changed as described, and does not get the tag.
  - Never removes your own access. A change that would remove the entry of the credentials, or take permissions from it, is refused.
  - Runs on the controller. It needs the permissions C(eks:DescribeCluster), C(eks:DescribeAccessEntry),
    C(eks:ListAssociatedAccessPolicies), and those of the change, C(eks:CreateAccessEntry), C(eks:UpdateAccessEntry),
    C(eks:DeleteAccessEntry), C(eks:AssociateAccessPolicy), C(eks:DisassociateAccessPolicy), C(eks:TagResource) and C(eks:UntagResource).
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.aws
requirements:
  - boto3 >= 1.34
options:
  cluster:
    description: The name of the cluster. Its authentication mode must be C(API) or C(API_AND_CONFIG_MAP).
    type: str
    required: true
  principal_arn:
    description: The ARN of the IAM role or user, with its path. It cannot be the ARN of a session.
    type: str
    required: true
  type:
    description: The type of the entry. V(STANDARD) is for people and programs, the others are for nodes. It cannot be changed later.
    type: str
    choices: [STANDARD, EC2, EC2_LINUX, EC2_WINDOWS, FARGATE_LINUX, HYBRID_LINUX, HYPERPOD_LINUX]
    default: STANDARD
  kubernetes_groups:
    description: The groups of Kubernetes, exactly these. Without it, they are not changed. Only for O(type=STANDARD).
    type: list
    elements: str
  username:
    description: The user name of Kubernetes. Without it, EKS chooses it, or it is not changed. Only for O(type=STANDARD).
    type: str
  access_policies:
    description:
      - The access policies, exactly these. Without it, they are not changed.
      - Each is a mapping with C(policy), the name or the ARN, and optionally C(namespaces), a list of namespaces or patterns such as
        V(dev-*). Without C(namespaces), the policy applies to the whole cluster.
    type: list
    elements: raw
  tags:
    description: Tags of the entry. Other tags stay, unless O(purge_tags) is set.
    type: dict
  purge_tags:
    description: Whether tags that are not in O(tags) are removed. The tag of this collection stays.
    type: bool
    default: false
  state:
    description: Whether the entry exists.
    type: str
    choices: [present, absent]
    default: present
  force:
    description:
      - With O(state=absent), also remove an entry that another tool created.
      - With O(state=present), give the entry the tag of this collection.
    type: bool
    default: false
  recreate:
    description: Whether an entry of another type is deleted and created again. If it cannot be created, the old one is restored.
    type: bool
    default: false
attributes:
  action:
    description: Runs on the controller.
    support: full
  check_mode:
    description: Says what would be changed.
    support: full
  diff_mode:
    description: Shows the entry before and after the change.
    support: full
  idempotent:
    description: A second run with the same options changes nothing.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
seealso:
  - module: nodebootstrap.eks.access_entry_info
  - module: nodebootstrap.eks.cluster_access
"""

EXAMPLES = r"""
- name: Let developers read two namespaces
  nodebootstrap.eks.access_entry:
    cluster: demo
    region: eu-west-1
    principal_arn: arn:aws:iam::111122223333:role/developers
    access_policies:
      - policy: AmazonEKSViewPolicy
        namespaces: [web, batch]

- name: Remove the entry
  nodebootstrap.eks.access_entry:
    cluster: demo
    region: eu-west-1
    principal_arn: arn:aws:iam::111122223333:role/developers
    state: absent
"""

RETURN = r"""
entry:
  description: The entry after the task, or null if there is none. In check mode, without what EKS chooses.
  returned: success
  type: dict
  contains:
    principal_arn:
      description: The ARN of the principal.
      type: str
      returned: always
      sample: arn:aws:iam::111122223333:role/developers
    access_entry_arn:
      description: The ARN of the entry. Null if it does not exist yet.
      type: str
      returned: always
      sample: arn:aws:eks:eu-west-1:111122223333:access-entry/demo/role/111122223333/developers/0123
    type:
      description: The type of the entry.
      type: str
      returned: always
      sample: STANDARD
    username:
      description: The user name of Kubernetes.
      type: str
      returned: always
      sample: arn:aws:sts::111122223333:assumed-role/developers/{{SessionName}}
    kubernetes_groups:
      description: The groups of Kubernetes.
      type: list
      elements: str
      returned: always
      sample: [developers]
    access_policies:
      description: The access policies, each with C(policy), its ARN, and C(namespaces), which is empty for the whole cluster.
      type: list
      elements: dict
      returned: always
      sample: [{policy: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy", namespaces: [web]}]
    tags:
      description: The tags.
      type: dict
      returned: always
      sample: {"nodebootstrap.eks/managed": "true"}
    managed:
      description: Whether the entry has the tag of this collection.
      type: bool
      returned: always
      sample: true
"""
