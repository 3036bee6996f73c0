#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin apply_windows."""

from __future__ import annotations

DOCUMENTATION = r"""
module: apply_windows
short_description: Bring a live Windows node to what its node group says
version_added: 0.1.0
description:
  - Makes a running machine with an EKS optimized Windows AMI a node of an EKS cluster, and keeps it what its node group says.
  - Renders everything on the controller first. An input with a problem fails with all its problems, and no machine is contacted.
  - Then one call of C(ansible.windows.win_powershell) on the node compares, writes the files of C(C:\ProgramData\nodebootstrap), which
    only administrators can read, and runs C(Start-EKSBootstrap.ps1) of the image once. When values change, it changes what has become
    stale.
    A service is restarted only when what it reads has changed.
  - When something fails, the files and services that were there before come back. A run that was cut off is undone by the next one.
  - It has never been executed on Windows. The calls and their options are tested with a recorder in the place of the connection, and
    every line of PowerShell with a parser of its grammar.
  - Never reboots a node and never drains it.
  - See the L(guide to Windows nodes,https://github.com/nodebootstrap/eks/blob/main/docs/windows-nodes.md).
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.live
  - nodebootstrap.eks.live.input
  - nodebootstrap.eks.fields
  - nodebootstrap.eks.fields.node_group
options:
  state:
    description:
      - V(present) sets the node up.
      - V(absent) stops kubelet and kube-proxy, removes what the run before laid down, and puts back what was there before.
  restart:
    description:
      - V(when_changed) restarts what has to be restarted.
      - V(never) restarts no service that runs. What is then due is kept on the node, and done by the next run that may.
  verify_timeout:
    description:
      - For how many seconds the node is waited for, until its services run and kubelet says that it is well.
      - A node that bootstraps for the first time often needs several minutes, so give it more than the default then.
      - V(0) looks once.
attributes:
  check_mode:
    description: Compares on the node, reports what would be done, and does nothing.
    support: full
  diff_mode:
    description: Shows the files that change in one text. Scripts that may hold secrets are named only.
    support: full
  platform:
    platforms: windows
requirements:
  - the collection C(ansible.windows)
  - Windows PowerShell 5.1 on the node, and a login that is an administrator there
seealso:
  - module: nodebootstrap.eks.apply
  - module: nodebootstrap.eks.cluster_info
"""

EXAMPLES = r"""
- name: Set up a Windows node
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
    verify_timeout: 600

- name: Take a node out
  nodebootstrap.eks.apply_windows:
    cluster: "{{ cluster }}"
    node_group: "{{ node_group }}"
    state: absent
"""

RETURN = r"""
actions:
  description: What was done, in order, or would be done in check mode.
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
  description: Whether the services run and kubelet says that it is well; null when nobody looked.
  returned: success
  type: bool
  sample: true
missing:
  description: What a node that is not healthy still lacks.
  returned: success, or when the node did not become healthy in time
  type: list
  elements: str
  sample: ["the service kubelet is stopped"]
recovered:
  description: What was done about a run that had been cut off, V(undone); null when there was none.
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
      message: kubelet has no such flag
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
    - With O(reconcile=true), merge patches for the Node object, each a definition that C(kubernetes.core.k8s) takes with C(state=patched).
    - They change labels. A label that is null goes away.
  returned: success
  type: list
  elements: dict
  sample: [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "ip-10-0-0-5.ec2.internal", "labels": {"role": "worker"}}}]
node_taints:
  description:
    - With O(reconcile=true), changes of taints of the Node object, each with the options C(name), C(state) and C(taints) of
      C(kubernetes.core.k8s_taint).
    - A merge patch would replace the whole list, and with it the taints that others have set.
  returned: success
  type: list
  elements: dict
  sample: [{"name": "ip-10-0-0-5.ec2.internal", "state": "absent", "taints": [{"key": "dedicated", "effect": "NoSchedule"}]}]
"""
