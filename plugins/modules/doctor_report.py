#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin doctor_report."""

from __future__ import annotations

DOCUMENTATION = r"""
module: doctor_report
short_description: Report on the health of nodes
version_added: 0.1.0
description:
  - Makes one report from the results of M(nodebootstrap.eks.doctor_info) on all nodes, which are grouped by the cause of their problems.
  - Adds the rules of kubelet for rejected settings, the findings of P(nodebootstrap.eks.lint_user_data#filter) in the user data on the
    nodes, the support by EKS, and the end of certificates. C(docs/rules.md) lists the rules with their severities.
  - Compares the settings of kubelet on each node with the variables C(eks_node_cluster) and C(eks_node_group) of the host. A host without
    C(eks_node_group) is compared with its user data.
  - Prints the report, or writes it to O(report) and prints a summary. Contacts no node.
  - The role P(nodebootstrap.eks.eks_node_doctor#role) runs both modules.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  results:
    description:
      - The registered result of M(nodebootstrap.eks.doctor_info) for each host. Results of unreachable hosts and of failed tasks are
        reported with their reason. A host with an empty result is reported as failed.
    type: dict
    required: true
  format:
    description: The format of the report. V(text) is a table of the nodes and a list of the causes. V(json) is for programs.
      V(html) is one page for a browser. By default V(html) if the name of O(report) ends with C(.html), and otherwise V(text).
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
    description: A second run on the same day with the same results changes nothing.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
seealso:
  - module: nodebootstrap.eks.doctor_info
"""

EXAMPLES = r"""
- name: Examine the node
  nodebootstrap.eks.doctor_info:
  register: examination
  failed_when: false
  ignore_unreachable: true
  become: true

- name: Report on all nodes
  nodebootstrap.eks.doctor_report:
    results: "{{ dict(ansible_play_hosts_all | zip(ansible_play_hosts_all | map('extract', hostvars, 'examination'))) }}"
    format: json
    report: doctor.json
  run_once: true
  delegate_to: localhost
  become: false
"""

RETURN = r"""
causes:
  description: The causes, worst and most frequent first.
  returned: success
  type: list
  elements: dict
  contains:
    rule:
      description: The ID of the rule.
      type: str
      returned: always
      sample: join.unauthorized
    severity:
      description: V(error), V(warning) or V(note).
      type: str
      returned: always
      sample: error
    message:
      description: What is wrong. If the nodes have different values in it, words in capitals replace them.
      type: str
      returned: always
      sample: the API server does not know the identity of this node, the role node-role
    why:
      description: Why it matters.
      type: str
      returned: always
      sample: The cluster name is wrong, or the node's role is not mapped in the cluster.
    fix:
      description: What to do. It is the fix of the first node.
      type: str
      returned: always
      sample: map the role node-role to nodes in the cluster
    nodes:
      description: The hosts that have it.
      type: list
      elements: str
      returned: always
      sample: [web-1, web-2]
counts:
  description: The number of findings on all nodes by severity.
  returned: success
  type: dict
  sample: {error: 2, warning: 0, note: 0}
states:
  description:
    - The state of each host, worst first. V(unreachable), V(failed) (the module could not run), V(not joined), V(not ready) or V(ready).
  returned: success
  type: dict
  sample: {web-1: not joined, web-2: not joined, web-3: ready}
"""
