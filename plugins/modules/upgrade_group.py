#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin upgrade_group."""

from __future__ import annotations

DOCUMENTATION = r"""
module: upgrade_group
short_description: Replace the nodes of a group by nodes of another version
version_added: 0.1.0
description:
  - Reports first what would keep pods from leaving the nodes, or from running elsewhere. A finding with the severity V(blocks) fails the
    task, and nothing is changed.
  - Replaces the instances of an Auto Scaling group. New nodes become Ready first. Then each old node is cordoned and drained by the
    eviction API, taken out of external load balancers, and its instance is terminated in the group.
  - Never takes more nodes away than O(max_unavailable) allows. The number is read again before each node.
  - The first node that does not become Ready, and the first pod that does not leave, stop the upgrade. The group then gets its launch
    template version and its sizes back, and nodes that still run are uncordoned.
  - If the task is interrupted, the next run continues. The state is in annotations of the nodes and tags of the Auto Scaling group.
    A Lease in the namespace C(kube-system) keeps a second run out.
  - For a managed node group, makes the same report, and then starts and watches the update of EKS.
  - The role P(nodebootstrap.eks.eks_node_upgrade#role) runs it.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
requirements:
  - boto3
  - kubernetes
options:
  cluster:
    description:
      - The cluster. C(name) and C(endpoint) are used, and C(region) if O(region) is not set. Without a kubeconfig, C(certificate_authority)
        is needed, too.
      - A kubeconfig that leads to another endpoint is refused.
    type: dict
    required: true
  node_group:
    description: The node group. Only C(mode) is used. V(karpenter) is refused, because Karpenter replaces its nodes itself.
    type: dict
    default: {}
  auto_scaling_group:
    description: The name of the Auto Scaling group. Exactly one of O(auto_scaling_group) and O(managed_node_group) is required.
    type: str
  managed_node_group:
    description: The name of the managed node group, which EKS upgrades.
    type: str
  state:
    description:
      - V(present) upgrades the group, or continues an interrupted upgrade.
      - V(resumed) only continues an interrupted upgrade.
      - V(aborted) puts the group back. Nodes that were replaced already stay.
    type: str
    choices: [present, resumed, aborted]
    default: present
  launch_template_version:
    description:
      - The version of the launch template that the nodes get. V(latest), V(default) or a number. The default is V(latest), or the version
        of an interrupted upgrade.
      - For a managed node group, the default is the Amazon EKS optimized AMI of O(release_version).
    type: str
  kubernetes_version:
    description:
      - The version of kubelet that new nodes must have, for example V(1.36) or V(1.36.1). Without it, any version is accepted.
      - For a managed node group, the version to which EKS upgrades. The default is that of the cluster.
    type: raw
  release_version:
    description: The release of the AMI of a managed node group. The default is the latest one.
    type: str
  max_unavailable:
    description:
      - How many nodes may be unavailable, as a number or a percentage of the desired capacity. A percentage is rounded down, and is at
        least 1.
      - A node is unavailable if it is not Ready, or if pods cannot be scheduled to it. If more nodes are unavailable already, nothing
        is changed.
      - The default is V(1). EKS reads it from the update configuration of a managed node group, so a different value is refused there.
    type: raw
  surge:
    description:
      - Whether new nodes become Ready before old ones are drained. C(MaxSize) of the group is raised for that, and restored.
      - If it is V(false), nodes are terminated first. Until the new nodes are Ready, evicted pods can stay Pending.
    type: bool
    default: true
  delete_after_timeout:
    description:
      - Whether pods that have not left after O(drain_timeout) are deleted, which ignores PodDisruptionBudgets.
      - For a managed node group, this is C(force) of EKS.
    type: bool
    default: false
  load_balancer_wait:
    description:
      - The time between the label that takes a drained node out of external load balancers and the end of its instance.
      - It is a duration such as V(60s), or a number of seconds.
    type: str
    default: 60s
  node_timeout:
    description:
      - The time that a new node has to become Ready.
      - It is a duration such as V(15m), or a number of seconds.
    type: str
    default: 15m
extends_documentation_fragment:
  - nodebootstrap.eks.kubernetes
  - nodebootstrap.eks.upgrade
  - nodebootstrap.eks.aws
attributes:
  action:
    description: Runs on the controller.
    support: full
  check_mode:
    description: Makes the report and the plan, also as a file, and changes nothing else.
    support: full
  diff_mode:
    description: Reports no differences. The plan shows what would be changed.
    support: none
  idempotent:
    description: If all nodes have the version, nothing is changed.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
seealso:
  - module: nodebootstrap.eks.doctor_report
"""

EXAMPLES = r"""
- name: Replace the nodes of an Auto Scaling group
  nodebootstrap.eks.upgrade_group:
    cluster: "{{ eks_node_cluster }}"
    auto_scaling_group: demo-workers
    launch_template_version: latest
    max_unavailable: 33%

- name: Put an interrupted upgrade back
  nodebootstrap.eks.upgrade_group:
    cluster: "{{ eks_node_cluster }}"
    auto_scaling_group: demo-workers
    state: aborted
"""

RETURN = r"""
plan:
  description: The plan, as the JSON report shows it.
  returned: when the group could be read
  type: dict
  contains:
    group:
      description: The name of the group.
      type: str
      returned: always
      sample: demo-workers
    way:
      description: V(replace) or V(managed).
      type: str
      returned: always
      sample: replace
    current:
      description: The versions of the nodes that are not upgraded.
      type: str
      returned: always
      sample: '7'
    target:
      description: The version to which they are upgraded.
      type: str
      returned: always
      sample: '8'
    desired:
      description: The desired capacity, without nodes that an interrupted upgrade added.
      type: int
      returned: always
      sample: 3
    unavailable:
      description: The number of unavailable nodes, less than 0 if there are more nodes than desired.
      type: int
      returned: always
      sample: 0
    max_unavailable:
      description: The number of nodes that may be unavailable.
      type: int
      returned: always
      sample: 1
    steps:
      description: What the upgrade does, in sentences.
      type: list
      elements: str
      returned: always
      sample: [AZRebalance is suspended until the end.]
    rows:
      description: The nodes in the order in which they are upgraded.
      type: list
      elements: dict
      returned: always
      sample:
        - batch: 1
          node: ip-10-0-0-1.ec2.internal
          instance: i-0123456789abcdef0
          zone: us-east-1a
          kubelet: v1.35.1
          version: '7'
          pods: 12
          state: waiting
    upgraded:
      description: The number of nodes that have the version already.
      type: int
      returned: always
      sample: 0
    is_interrupted:
      description: Whether an interrupted upgrade continues.
      type: bool
      returned: always
      sample: false
    unavailable_nodes:
      description: The nodes that are unavailable before the upgrade begins, each with the reason.
      type: list
      elements: str
      returned: always
      sample: [ip-10-0-0-1.ec2.internal (cordoned)]
    obstacle:
      description: Why the upgrade in place does not begin, empty if it does.
      type: str
      returned: always
      sample: ''
findings:
  description: What blocks or affects the upgrade, worst first.
  returned: when the group could be read
  type: list
  elements: dict
  contains:
    id:
      description: The ID of the rule.
      type: str
      returned: always
      sample: drain.budget_exhausted
    severity:
      description: V(blocks), V(loses_data) or V(notice).
      type: str
      returned: always
      sample: blocks
    pod:
      description: Namespace and name of the pod, empty for a finding on a node or the cluster.
      type: str
      returned: always
      sample: default/web-0
    node:
      description: The name of the node, empty for a finding on the cluster.
      type: str
      returned: always
      sample: ip-10-0-0-1.ec2.internal
    reason:
      description: Why the pod does not leave, or does not come back.
      type: str
      returned: always
      sample: the PodDisruptionBudget default/web allows no disruption now
    fix:
      description: What to do.
      type: str
      returned: always
      sample: wait until more pods of Deployment default/web are ready
outcome:
  description: V(done), or the cause for which the upgrade stopped, for example V(PodEvictionFailure) or V(node_not_ready).
  returned: when the upgrade began
  type: str
  sample: done
is_restored:
  description: Whether nothing is left to put back after the upgrade stopped.
  returned: when the upgrade stopped
  type: bool
  sample: true
"""
