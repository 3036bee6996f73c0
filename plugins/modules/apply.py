#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin apply."""

from __future__ import annotations

DOCUMENTATION = r"""
module: apply
short_description: Bring a live node to what its node group says
version_added: 0.1.0
description:
  - Makes a running machine of Amazon Linux 2, Amazon Linux 2023 or Ubuntu a node of an EKS cluster, and keeps it what its node group says.
  - Renders everything on the controller first. An input with a problem fails with all its problems, and no machine is contacted.
  - Then one call of a module on the node compares, writes all files, removes what an earlier run wrote and no longer belongs, and restarts
    only those services whose configuration changed in effect. A second run changes nothing.
  - Then it waits until the node has joined the cluster. One that cannot ends with the cause, what shows it, and the fix.
  - All or nothing. When a step fails, the old files and services come back. A run that was cut off is finished or undone
    by the next one, and by the node itself when it boots, before kubelet starts.
  - Never reboots a node and never drains it.
  - See the L(guide to live nodes,https://github.com/nodebootstrap/eks/blob/main/docs/live-nodes.md).
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.live
  - nodebootstrap.eks.live.input
  - nodebootstrap.eks.fields
  - nodebootstrap.eks.fields.node_group
options:
  wait_for:
    description:
      - What the node is waited for in the phase V(verify).
      - V(healthy) means that its units are active and kubelet says that it is well. Nobody asks the cluster.
      - V(registered) means that the cluster has its Node object, too, and V(ready) that the cluster says it is Ready.
      - A node that cannot join fails at once, with the cause and the fix, see M(nodebootstrap.eks.join_check). So does one that is Ready
        while its kubelet ignores a field of its configuration, or disagrees with containerd about cgroups.
      - With O(restart=never), and in phases that write without V(start), only V(healthy) is waited for.
    type: str
    choices: [healthy, registered, ready]
    default: ready
  join_timeout:
    description:
      - For how many seconds a healthy node is waited for, until it is what O(wait_for) says.
      - V(0) adds nothing to the first call, which waits for 5 seconds at most.
    type: int
    default: 180
attributes:
  check_mode:
    description: Compares and validates on the node, reports what would be done, and does nothing.
    support: full
  diff_mode:
    description: Shows every file that changes. Files that may hold secrets are named only.
    support: full
requirements:
  - Python 3.7 or newer on the node, or what ansible-core on the controller asks for
  - root on the node, so usually C(become)
seealso:
  - module: nodebootstrap.eks.join_check
  - module: nodebootstrap.eks.cluster_info
  - module: nodebootstrap.eks.imds_info
  - plugin: nodebootstrap.eks.node_files
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Set up a node
  nodebootstrap.eks.apply:
    cluster:
      name: demo
      endpoint: https://ABC.gr7.eu-west-1.eks.amazonaws.com
      certificate_authority: "{{ lookup('ansible.builtin.file', 'ca.pem') | b64encode }}"
      service_cidr: 10.100.0.0/16
      region: eu-west-1
      kubernetes_version: "1.32"
    node_group:
      name: workers
      family: al2023
      max_pods: auto
      labels:
        role: worker
  become: true

- name: Write the files now, and restart later
  nodebootstrap.eks.apply:
    cluster: "{{ cluster }}"
    node_group: "{{ node_group }}"
    restart: never
  become: true

- name: Take a node out
  nodebootstrap.eks.apply:
    cluster: "{{ cluster }}"
    node_group: "{{ node_group }}"
    state: absent
  become: true
"""

RETURN = r"""
actions:
  description: What was done, in order, or would be done in check mode.
  returned: success
  type: list
  elements: str
  sample: ["write /etc/eks/nodeadm.d/50-nodebootstrap.yaml", "reload systemd", "restart nodeadm-config.service nodeadm-run.service"]
restarted:
  description: The units that were restarted.
  returned: success
  type: list
  elements: str
  sample: ["kubelet.service"]
healthy:
  description: Whether the units are active and kubelet says that it is well; null when nobody looked.
  returned: success
  type: bool
  sample: true
join:
  description:
    - What the cluster says of the node, and why it has not joined, as M(nodebootstrap.eks.join_check) returns it.
    - Null when nobody looked.
  returned: success, or when the node did not join
  type: dict
  sample: {"node": "ip-10-0-0-5.ec2.internal", "registered": true, "ready": true, "cause": null, "message": null, "fix": null,
    "evidence": [], "final": false, "waited": 0.9}
missing:
  description: What a node that is not healthy still lacks.
  returned: success, or when the node did not become healthy in time
  type: list
  elements: str
  sample: ["kubelet.service is activating"]
recovered:
  description: What was done about a run that had been cut off, V(finished) or V(undone); null when there was none.
  returned: success
  type: str
  sample: null
phases:
  description: The phases of this run.
  returned: success
  type: list
  elements: str
  sample: ["preflight", "configure", "validate", "start", "verify"]
facts:
  description: What the module found out about the node on its way, for example C(hostname).
  returned: success
  type: dict
  sample: {"hostname": "ip-10-0-0-5.eu-west-1.compute.internal"}
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
