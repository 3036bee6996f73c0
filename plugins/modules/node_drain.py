#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin node_drain."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_drain
short_description: Drain, cordon or uncordon a node
version_added: 0.1.0
description:
  - Drains a node by the eviction API, so that PodDisruptionBudgets are honored. The node is cordoned first.
  - An eviction that a budget refuses is tried again until O(timeout). If several budgets select a pod, the API server always refuses, and
    the drain fails without waiting.
  - Prints which pods are still there, and what blocks each. Fails with C(PodEvictionFailure) and their names.
  - Static pods and pods of DaemonSets stay on the node. Pods that return to the node because they tolerate its taint are recognized.
  - A drain that fails or is interrupted uncordons the node, unless it was cordoned before.
  - Every eviction and deletion names the UID of the pod, so that another pod of the same name is never removed.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
requirements:
  - kubernetes >= 28.1 for a kubeconfig
  - boto3 >= 1.26 and urllib3 for credentials of AWS
extends_documentation_fragment:
  - nodebootstrap.eks.kubernetes
  - nodebootstrap.eks.kubernetes.cluster
  - nodebootstrap.eks.kubernetes.drain
  - nodebootstrap.eks.aws
options:
  name:
    description: The name of the node in the cluster.
    type: str
    required: true
  state:
    description:
      - V(drained) cordons the node and evicts its pods.
      - V(cordoned) only keeps new pods from the node.
      - V(uncordoned) lets the node run new pods again.
    type: str
    choices: [drained, cordoned, uncordoned]
    default: drained
attributes:
  action:
    description: Runs on the controller.
    support: full
  check_mode:
    description: Prints the report of M(nodebootstrap.eks.drain_report) for the node, and returns the pods that would be evicted.
    support: full
  diff_mode:
    description: Shows whether the node is cordoned.
    support: full
  idempotent:
    description: A drained node has no pods to evict, so a second run changes nothing.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
seealso:
  - module: nodebootstrap.eks.drain_report
"""

EXAMPLES = r"""
- name: Drain the node before its kernel is updated
  nodebootstrap.eks.node_drain:
    name: "{{ inventory_hostname }}"
    timeout: 10m
    delete_emptydir_data: true

- name: Let it run pods again
  nodebootstrap.eks.node_drain:
    name: "{{ inventory_hostname }}"
    state: uncordoned
"""

RETURN = r"""
evicted:
  description: The namespaces and names of the pods that left the node. In check mode, the pods that would be evicted.
  returned: if O(state=drained)
  type: list
  elements: str
  sample: [web/web-7d9f-x2x4k]
left:
  description: The pods that are still on the node, or that the options do not allow to remove.
  returned: if O(state=drained)
  type: list
  elements: dict
  contains:
    pod:
      description: The namespace and the name.
      type: str
      returned: always
      sample: web/web-7d9f-x2x4k
    reason:
      description: Why it is still there.
      type: str
      returned: always
      sample: The disruption budget web needs 2 healthy pods and has 2 currently
error:
  description: V(PodEvictionFailure), as EKS names it.
  returned: if pods are left
  type: str
  sample: PodEvictionFailure
cordoned:
  description: Whether the node is cordoned now.
  returned: success
  type: bool
report:
  description: The report of M(nodebootstrap.eks.drain_report).
  returned: in check mode, if O(state=drained)
  type: dict
"""
