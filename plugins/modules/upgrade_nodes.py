#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin upgrade_nodes."""

from __future__ import annotations

DOCUMENTATION = r"""
module: upgrade_nodes
short_description: Cordon, drain and uncordon nodes around tasks that upgrade them
version_added: 0.1.0
description:
  - The steps of an upgrade in place. The tasks that upgrade a node run between O(state=drained) and O(state=ready).
  - O(state=planned) reports first what would keep pods from leaving the nodes. A finding with the severity V(blocks) fails the task, and
    nothing is changed.
  - A node is cordoned only if O(max_unavailable) allows it. Its state is in an annotation, so that the next run continues after an
    interruption. A Lease in the namespace C(kube-system) keeps a second run out.
  - The role P(nodebootstrap.eks.eks_node_upgrade#role) and the playbook C(upgrade) run it.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
requirements:
  - boto3
  - kubernetes
options:
  cluster:
    description:
      - The cluster. C(endpoint) is used. Without a kubeconfig, C(name), C(certificate_authority) and a region are needed, too.
      - A kubeconfig that leads to another endpoint is refused.
    type: dict
    required: true
  state:
    description:
      - V(planned) makes the report and the plan for O(hosts), takes the lease, and records that the upgrade has begun.
      - V(resumed) does the same if an upgrade was interrupted, and otherwise nothing.
      - V(reserved) waits until the nodes can spare O(node), and cordons it.
      - V(drained) evicts its pods, and takes it out of external load balancers.
      - V(ready) waits until it is Ready, and uncordons it.
      - V(put_back) uncordons it after a failure, if it is Ready.
      - V(ended) removes what is left of the upgrade on O(nodes).
      - V(aborted) puts all nodes of O(hosts) back.
    type: str
    choices: [planned, resumed, reserved, drained, ready, put_back, ended, aborted]
    required: true
  group:
    description: A name for the nodes. Runs for the same name exclude each other.
    type: str
    default: nodes
  hosts:
    description: The names of the hosts in the inventory.
    type: list
    elements: str
  nodes:
    description: The names of all nodes of the upgrade, as O(state=planned) returns them.
    type: list
    elements: str
  node:
    description: The name of the node of this step.
    type: str
  tasks:
    description: What the tasks do, for the plan.
    type: str
    default: the tasks of the play run on the node
  kubernetes_version:
    description: The version of kubelet that upgraded nodes must have, for example V(1.36). Nodes that have it are not upgraded.
    type: raw
  max_unavailable:
    description:
      - How many nodes may be unavailable, as a number or a percentage of the nodes. A percentage is rounded down, and at least 1.
      - A node is unavailable if it is not Ready, or if pods cannot be scheduled to it. The default is V(1).
    type: raw
  load_balancer_wait:
    description:
      - The time between the label that takes a drained node out of external load balancers and its upgrade.
      - It is a duration such as V(60s), or a number of seconds.
    type: str
    default: 60s
  node_timeout:
    description:
      - The time that an upgraded node has to become Ready.
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
    description: O(state=planned) makes the report and the plan, and changes nothing. The other states need a run that has begun.
    support: partial
  diff_mode:
    description: Reports no differences. The plan shows what would be changed.
    support: none
  idempotent:
    description: A step that is done changes nothing.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
seealso:
  - module: nodebootstrap.eks.upgrade_group
"""

EXAMPLES = r"""
- name: Plan the upgrade of all hosts
  nodebootstrap.eks.upgrade_nodes:
    state: planned
    cluster: "{{ eks_node_cluster }}"
    hosts: "{{ groups.all }}"
    kubernetes_version: "1.36"
  register: upgrade

- name: Cordon the node of the first host as soon as the group can spare it
  nodebootstrap.eks.upgrade_nodes:
    state: reserved
    cluster: "{{ eks_node_cluster }}"
    node: "{{ upgrade.order[0].node }}"
    nodes: "{{ upgrade.nodes }}"
"""

RETURN = r"""
order:
  description: The hosts in the order in which they are upgraded, each with its node.
  returned: with O(state=planned)
  type: list
  elements: dict
  sample: [{host: web-1, node: ip-10-0-0-1.ec2.internal}]
batches:
  description: The sizes of the batches.
  returned: with O(state=planned)
  type: list
  elements: int
  sample: [1, 2, 2]
nodes:
  description: The names of all nodes.
  returned: with O(state=planned)
  type: list
  elements: str
  sample: [ip-10-0-0-1.ec2.internal]
plan:
  description: The plan, as M(nodebootstrap.eks.upgrade_group) returns it.
  returned: with O(state=planned)
  type: dict
  sample: {group: workers, way: in_place, current: v1.35.1, target: '1.36', max_unavailable: 1}
findings:
  description: What blocks or affects the upgrade, as M(nodebootstrap.eks.upgrade_group) returns it.
  returned: with O(state=planned)
  type: list
  elements: dict
  sample: []
outcome:
  description: V(done), or the cause for which the step failed, for example V(PodEvictionFailure) or V(node_not_ready).
  returned: with the other states
  type: str
  sample: done
is_restored:
  description: Whether nothing is left to put back after the step failed.
  returned: when the step failed
  type: bool
  sample: false
"""
