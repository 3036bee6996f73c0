#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin drain_report."""

from __future__ import annotations

DOCUMENTATION = r"""
module: drain_report
short_description: Report on everything that blocks a drain of nodes
version_added: 0.1.0
description:
  - Reads a cluster, and reports before a drain or an upgrade which pods would not leave their nodes, which would not start elsewhere, and
    which data would be lost, each with the reason and the fix.
  - Reads pods, nodes, PodDisruptionBudgets, DaemonSets, volumes and admission webhooks in pages of 500, and never one request for each pod.
    Asks the API server with a dry run about one pod of each PodDisruptionBudget that refuses evictions. Changes nothing.
  - C(docs/rules.md) lists the rules. What the credentials do not allow to read is reported as V(drain.not_checked).
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
  nodes:
    description: The names of the nodes to drain, in this order. The default is all nodes.
    type: list
    elements: str
    default: []
  labels:
    description: The nodes with all of these labels, for example C(eks.amazonaws.com/nodegroup).
    type: dict
    default: {}
  surge:
    description: Whether a new node like the drained one is added before each drain, so that its pods have room.
    type: bool
    default: false
  target_version:
    description: The version of kubelet after an upgrade, for example V("1.36"). It is compared with the version of the API server.
    type: raw
  dry_run_evictions:
    description:
      - Whether to ask the API server with a dry run of an eviction, for one pod of each PodDisruptionBudget that refuses evictions. If an
        admission webhook decides about evictions, for one pod of every budget.
      - It needs the permission to create C(pods/eviction).
    type: bool
    default: true
  format:
    description: The format of the report. V(text) is for people, V(json) for programs, and V(html) is one page for a browser. By default
      V(html) if the name of O(report) ends with C(.html), and otherwise V(text).
    type: str
    choices: [text, json, html]
  report:
    description: The path of the report. Without it, the report is printed.
    type: path
attributes:
  action:
    description: Runs on the controller.
    support: full
  check_mode:
    description: Makes the report without writing it.
    support: full
  diff_mode:
    description: Reports no differences.
    support: none
  idempotent:
    description: A second run changes the report only if the cluster has changed.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
seealso:
  - module: nodebootstrap.eks.node_drain
"""

EXAMPLES = r"""
- name: Report on a node group
  nodebootstrap.eks.drain_report:
    labels:
      eks.amazonaws.com/nodegroup: web
    target_version: "1.36"
  register: drain

- name: Stop if a node cannot be drained
  ansible.builtin.assert:
    that: not drain.blocked
"""

RETURN = r"""
findings:
  description: The findings, worst first.
  returned: success
  type: list
  elements: dict
  contains:
    id:
      description: The ID of the rule.
      type: str
      returned: always
      sample: drain.budget_exhausted
    severity:
      description: V(blocks), V(loses_data) or V(notice). Only V(blocks) stops an upgrade.
      type: str
      returned: always
      sample: blocks
    pod:
      description: The namespace and the name of the pod. Empty for a finding on a node or the cluster.
      type: str
      returned: always
      sample: web/web-7d9f-x2x4k
    node:
      description: The name of the node. Empty for a finding on the cluster.
      type: str
      returned: always
      sample: ip-10-0-0-5.eu-central-1.compute.internal
    reason:
      description: Why the pod will not leave, will not start elsewhere, or loses data.
      type: str
      returned: always
      sample: the PodDisruptionBudget web/web allows no disruption now
    fix:
      description: What to do.
      type: str
      returned: always
      sample: raise the replicas of Deployment web/web
counts:
  description: The number of findings by severity.
  returned: success
  type: dict
  sample: {blocks: 1, loses_data: 0, notice: 6}
blocked:
  description: Whether a finding has the severity V(blocks).
  returned: success
  type: bool
nodes:
  description: The nodes in the order of the drain, and how many pods the drain evicts from each.
  returned: success
  type: list
  elements: dict
  sample: [{name: ip-10-0-0-5.eu-central-1.compute.internal, pods: 12}]
"""
