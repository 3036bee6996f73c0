#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin apply."""

from __future__ import annotations

DOCUMENTATION = r"""
module: apply
short_description: Apply a node group to a live Linux node
version_added: 0.1.0
description:
  - Makes a running Amazon Linux 2, Amazon Linux 2023 or Ubuntu machine a node of an EKS cluster, and keeps its configuration up to date.
  - Renders everything on the controller first. If the input has problems, the task reports all of them and does not contact the node.
  - Runs one module on the node. It compares the node with the node group, writes all files, removes files of earlier runs that are not
    needed any more, and restarts only services whose effective configuration changed. A second run changes nothing.
  - Waits until the node has joined the cluster. If the node cannot join, the task fails with the cause, the fix and the evidence.
  - Applies all changes or none. If a step fails, the module restores the previous files and services. An interrupted run is finished or
    rolled back by the next run, or by the node when it boots, before kubelet starts.
  - Never reboots or drains a node.
  - See L(Live nodes,https://github.com/nodebootstrap/eks/blob/main/docs/live-nodes.md).
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.live
  - nodebootstrap.eks.live.input
  - nodebootstrap.eks.live.linux
  - nodebootstrap.eks.fields
  - nodebootstrap.eks.fields.node_group
options:
  wait_for:
    description:
      - The state to wait for in the phase V(verify).
      - V(healthy) means that the services are active and that the health endpoint of kubelet answers C(ok).
      - V(registered) also requires that the cluster has a Node object for this node. V(ready) also requires that this Node object is Ready.
      - If a node cannot join, the task fails early with the cause and the fix, see M(nodebootstrap.eks.join_check). The task also fails if
        the node is Ready but kubelet ignores a field of its configuration, or uses another cgroup driver than containerd.
      - With O(restart=never), and with phases that contain V(configure) but not V(start), the task waits only for V(healthy).
    type: str
    choices: [healthy, registered, ready]
    default: ready
  wait_timeout:
    description:
      - Seconds to wait for O(wait_for), in total. The time starts when the services were started, and includes the time until the node is
        healthy.
      - V(0) checks once. A check for the join can take several seconds.
    type: int
    default: 300
attributes:
  check_mode:
    description: Compares and validates on the node, and reports the changes without making them.
    support: full
  diff_mode:
    description: Shows every file that changes. For files that may contain secrets, it shows only the name.
    support: full
requirements:
  - Python 3.7 or newer on the node, or the version that ansible-core on the controller requires
  - Root on the node, usually with C(become)
seealso:
  - module: nodebootstrap.eks.join_check
  - module: nodebootstrap.eks.cluster_info
  - module: nodebootstrap.eks.imds_info
  - plugin: nodebootstrap.eks.node_files
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Make a machine a node
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

- name: Write the files now and restart later
  nodebootstrap.eks.apply:
    cluster: "{{ cluster }}"
    node_group: "{{ node_group }}"
    restart: never
  become: true

- name: Remove the configuration from a node
  nodebootstrap.eks.apply:
    cluster: "{{ cluster }}"
    node_group: "{{ node_group }}"
    state: absent
  become: true
"""

RETURN = r"""
actions:
  description: The actions, in order. In check mode, the actions that a run would perform.
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
  description: Whether the services are active and kubelet is healthy. Null if this was not checked.
  returned: success
  type: bool
  sample: true
join:
  description:
    - The state of the node in the cluster, and the cause if the node did not join. The same fields as M(nodebootstrap.eks.join_check).
    - Null if this was not checked.
  returned: success, or when the node did not join
  type: dict
  sample: {"node": "ip-10-0-0-5.ec2.internal", "registered": true, "ready": true, "cause": null, "message": null, "fix": null,
    "evidence": [], "final": false, "waited": 0.9}
missing:
  description: The reasons why the node is not healthy.
  returned: success, or when the node did not become healthy in time
  type: list
  elements: str
  sample: ["kubelet.service is activating"]
evidence:
  description: If a unit fails again and again, how its process exits, how often systemd restarted it, and its last lines.
  returned: success, or when the node did not become healthy in time
  type: list
  elements: str
  sample: ["kubelet.service: its process exits with status 1/FAILURE, and systemd has restarted it 12 times"]
recovered:
  description: V(finished) or V(undone) if the module finished or rolled back an interrupted run. Otherwise null.
  returned: success
  type: str
  sample: null
phases:
  description: The phases of this run.
  returned: success
  type: list
  elements: str
  sample: ["preflight", "configure", "validate", "start", "verify"]
drift:
  description: The values that programs of the image set and that were changed since. With O(drift=repair), they are repaired.
  returned: success
  type: list
  elements: dict
  contains:
    source:
      description: The path of the file, or C(snap) and the name of the snap.
      type: str
      returned: always
      sample: /etc/kubernetes/kubelet/kubelet-config.json
    name:
      description: The setting in the file. Empty if the file itself was added or removed.
      type: str
      returned: always
      sample: maxPods
    recorded:
      description: The value after the last verified run. Null for no value.
      type: raw
      returned: always
      sample: 29
    found:
      description: The value now. Null for no value.
      type: raw
      returned: always
      sample: 110
  sample: [{"source": "/etc/kubernetes/kubelet/kubelet-config.json", "name": "maxPods", "recorded": 29, "found": 110}]
facts:
  description: Facts about the node, for example C(hostname).
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
