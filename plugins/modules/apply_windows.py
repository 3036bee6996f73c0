#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin apply_windows."""

from __future__ import annotations

DOCUMENTATION = r"""
module: apply_windows
short_description: Apply a node group to a live Windows node
version_added: 0.1.0
description:
  - Makes a running machine with an EKS optimized Windows AMI a node of an EKS cluster, and keeps its configuration up to date.
  - Renders everything on the controller first. If the input has problems, the task reports all of them and does not contact the node.
  - Runs C(ansible.windows.win_powershell) once on the node. The script compares the node with the node group and writes files below
    C(C:\ProgramData\nodebootstrap), which only administrators can read. It runs C(Start-EKSBootstrap.ps1) of the image once. Later runs
    change only the values that differ, and restart a service only if its configuration changed.
  - If a step fails, the script restores the previous files and services. The next run rolls back an interrupted run.
  - This module has not been executed on Windows. The calls and their options are tested with a recording connection, and every line of
    PowerShell with a parser.
  - Never reboots or drains a node.
  - See L(Windows nodes in detail,https://github.com/nodebootstrap/eks/blob/main/docs/windows-reference.md).
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.live
  - nodebootstrap.eks.live.input
  - nodebootstrap.eks.live.refused
  - nodebootstrap.eks.fields
  - nodebootstrap.eks.fields.node_group
options:
  state:
    description:
      - V(present) applies the node group to the node.
      - V(absent) stops kubelet and kube-proxy, removes the files of this module, and restores what they replaced.
  restart:
    description:
      - V(when_changed) restarts a service if its effective configuration changed.
      - V(never) restarts no running service. Pending restarts are recorded on the node. The next run that allows restarts performs them.
  wait_for:
    description:
      - The state to wait for in the phase V(verify).
      - V(healthy) means that the services run and that the health endpoint of kubelet answers C(ok).
      - V(registered) and V(ready) are refused, because this module cannot ask the cluster about the node.
  wait_timeout:
    description:
      - Seconds to wait for O(wait_for), in total. A first bootstrap can take several minutes.
      - V(0) checks once.
attributes:
  check_mode:
    description: Compares on the node, and reports the changes without making them.
    support: full
  diff_mode:
    description: Shows the files that change in one text. For scripts that may contain secrets, it shows only the name.
    support: full
  platform:
    platforms: windows
requirements:
  - The collection C(ansible.windows)
  - Windows PowerShell 5.1 on the node, and a login with administrator rights
seealso:
  - module: nodebootstrap.eks.apply
  - module: nodebootstrap.eks.cluster_info
"""

EXAMPLES = r"""
- name: Make a Windows machine a node
  nodebootstrap.eks.apply_windows:
    cluster:
      name: demo
      endpoint: https://ABC.gr7.eu-west-1.eks.amazonaws.com
      certificate_authority: "{{ lookup('ansible.builtin.file', 'ca.pem') | b64encode }}"
      service_cidr: 10.100.0.0/16
      kubernetes_version: "1.32"
    node_group:
      name: workers
      family: windows
      max_pods: auto
      labels:
        role: worker
      windows:
        version: "2022"
    wait_timeout: 600

- name: Remove the configuration from a node
  nodebootstrap.eks.apply_windows:
    cluster: "{{ cluster }}"
    node_group: "{{ node_group }}"
    state: absent
"""

RETURN = r"""
actions:
  description: The actions, in order. In check mode, the actions that a run would perform.
  returned: success
  type: list
  elements: str
  sample: ["write C:\\ProgramData\\nodebootstrap\\bootstrap.psd1", "set the arguments of kubelet", "restart kubelet"]
restarted:
  description: The services that were restarted.
  returned: success
  type: list
  elements: str
  sample: ["kubelet"]
healthy:
  description: Whether the services run and kubelet is healthy. Null if this was not checked.
  returned: success
  type: bool
  sample: true
missing:
  description: The reasons why the node is not healthy.
  returned: success, or when the node did not become healthy in time
  type: list
  elements: str
  sample: ["the service kubelet is stopped"]
recovered:
  description: V(undone) if the module rolled back an interrupted run. Otherwise null.
  returned: success
  type: str
  sample: null
phases:
  description: The phases of this run.
  returned: success
  type: list
  elements: str
  sample: ["preflight", "configure", "validate", "start", "verify"]
problems:
  description:
    - Every problem of the input, sorted by path. The message of the task has the same problems as text; with C(-v) it also shows the rules.
    - Each has C(rule), an ID of the L(catalogue,https://github.com/nodebootstrap/eks/blob/main/docs/rules.md), C(path), C(message), and
      if known C(allowed), C(nearest), C(fix) and C(group), the name of the node group. Values are left out, because they may be secret.
  returned: if the input has problems
  type: list
  elements: dict
  sample:
    - rule: kubelet.unknown_flag
      path: node_group.kubelet.flags.node-labls
      message: kubelet does not have this flag
      nearest: node-labels
      fix: rename it to node-labels
unchecked:
  description: Checks of the input that were skipped, each with C(rule), C(path), C(message) and C(fix), which names the missing field.
  returned: success
  type: list
  elements: dict
  sample: []
node_patches:
  description:
    - With O(reconcile=true), merge patches that change the labels of the Node object. Each is a definition for C(kubernetes.core.k8s) with
      C(state=patched).
    - A label that is null is removed.
  returned: success
  type: list
  elements: dict
  sample: [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "ip-10-0-0-5.ec2.internal", "labels": {"role": "worker"}}}]
node_taints:
  description:
    - With O(reconcile=true), changes to the taints of the Node object, with the options C(name), C(state) and C(taints) of
      C(kubernetes.core.k8s_taint).
    - A merge patch would replace the whole list, including taints that other tools set.
  returned: success
  type: list
  elements: dict
  sample: [{"name": "ip-10-0-0-5.ec2.internal", "state": "absent", "taints": [{"key": "dedicated", "effect": "NoSchedule"}]}]
"""
