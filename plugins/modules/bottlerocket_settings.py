#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin bottlerocket_settings."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bottlerocket_settings
short_description: Bring the settings of a live Bottlerocket node to what its node group says
version_added: 0.1.0
description:
  - Compares the settings of a running Bottlerocket node with those that its node group means, and changes what differs in one transaction
    of Bottlerocket's API. Only settings that the node group means are looked at. A second run changes nothing.
  - Runs on the controller, which lets AWS Systems Manager run C(apiclient) in the control container of the node. Nobody logs in, and no
    connection to the host is made.
  - Renders everything first. An input with a problem fails with all its problems, and nobody is contacted.
  - When Bottlerocket does not take the transaction, it is deleted, and the settings are the old ones.
  - Settings that may be secrets, such as registry credentials, are neither read nor sent, because Systems Manager keeps commands and their
    output. A warning names them.
  - Never reboots a node. What takes effect at the next boot is said.
  - It has never been executed against AWS or Bottlerocket. See the
    L(guide to Bottlerocket nodes,https://github.com/nodebootstrap/eks/blob/main/docs/bottlerocket-nodes.md) for what has been tested
    instead.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.live
  - nodebootstrap.eks.live.input
  - nodebootstrap.eks.fields
  - nodebootstrap.eks.fields.node_group
  - nodebootstrap.eks.aws
requirements:
  - boto3 >= 1.26, for the Python that runs Ansible
  - the permissions C(ssm:SendCommand) for the instance and the document C(AWS-RunShellScript), C(ssm:GetCommandInvocation),
    and C(ssm:CancelCommand) for commands that take too long
options:
  node_group:
    description:
      - The node group that the node belongs to, of the family V(bottlerocket).
      - In C(mode=managed) the settings that EKS writes are left alone, among them labels and taints.
  instance_id:
    description: ID of the instance. It must be connected with Systems Manager.
    type: str
    required: true
  state:
    description:
      - V(present) gives the settings the values that the node group means.
      - V(absent) is refused with the reason. Bottlerocket's API cannot unset a setting.
  restart:
    description:
      - V(when_changed) lets Bottlerocket apply the changed settings and restart what they concern.
      - V(never) stores them only. They take effect when the node boots, and no later run applies them.
  command_timeout:
    description: For how many seconds one command of Systems Manager is waited for, 30 at least.
    type: int
    default: 120
  phases:
    description:
      - The phases to go through. What V(preflight) checks is always checked.
      - V(configure) without V(start) does what O(restart=never) does.
      - V(validate) without V(configure) lets Bottlerocket read the settings in a transaction that is then deleted.
      - Without it the tags of the run choose. Those that are names of phases choose these, and a run that names none means all.
  region:
    description:
      - AWS region of the instance.
      - Without it, E(AWS_REGION), E(AWS_DEFAULT_REGION), C(region) of the cluster and the configuration of the profile are asked, in this
        order.
attributes:
  action:
    description: Runs on the controller.
  check_mode:
    description: Reads and compares, reports what would be set, and does nothing.
    support: full
  diff_mode:
    description: Shows the changed settings as TOML, with long values shortened.
    support: full
seealso:
  - module: nodebootstrap.eks.cluster_info
  - module: nodebootstrap.eks.apply
"""

EXAMPLES = r"""
- name: Give the nodes more pods
  nodebootstrap.eks.bottlerocket_settings:
    instance_id: i-0123456789abcdef0
    cluster:
      name: demo
      region: eu-west-1
      endpoint: https://ABC.gr7.eu-west-1.eks.amazonaws.com
      certificate_authority: "{{ lookup('ansible.builtin.file', 'ca.pem') | b64encode }}"
      service_cidr: 10.100.0.0/16
    node_group:
      name: workers
      family: bottlerocket
      max_pods: 58

- name: Set a kernel parameter on every node of a dynamic inventory
  nodebootstrap.eks.bottlerocket_settings:
    instance_id: "{{ instance_id }}"
    cluster: "{{ cluster }}"
    node_group:
      name: workers
      family: bottlerocket
      mode: managed
      bottlerocket:
        settings:
          kernel:
            sysctl:
              vm.max_map_count: "262144"
"""

RETURN = r"""
actions:
  description: What was done, in order, or would be done in check mode.
  returned: success
  type: list
  elements: str
  sample: ["set settings.kubernetes.max-pods", "apply settings"]
changes:
  description: The settings that differed, with long values shortened.
  returned: success
  type: list
  elements: dict
  contains:
    setting:
      description: Path of the setting.
      type: str
      returned: always
      sample: settings.kubernetes.max-pods
    before:
      description: What the node had; null when it had nothing.
      type: raw
      returned: always
      sample: 29
    after:
      description: What it has now.
      type: raw
      returned: always
      sample: 58
needs_reboot:
  description: Those of the changed settings that take effect at the next boot.
  returned: success
  type: list
  elements: str
  sample: ["settings.kernel.lockdown"]
warnings:
  description: What gives reason to look at, settings among it that may be secrets and were left alone.
  returned: success
  type: list
  elements: str
  sample: []
healthy:
  description: Whether kubelet says that it is well; null when nobody could ask.
  returned: success
  type: bool
  sample: true
missing:
  description: What a node that is not healthy still lacks.
  returned: success, or when the node did not become healthy in time
  type: list
  elements: str
  sample: []
os:
  description: What the node runs, as C(variant) and C(version).
  returned: success
  type: dict
  sample: {"variant": "aws-k8s-1.33", "version": "1.44.0"}
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
    - They change labels.
  returned: success
  type: list
  elements: dict
  sample: [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "ip-10-0-0-5.ec2.internal", "labels": {"role": "worker"}}}]
node_taints:
  description:
    - With O(reconcile=true), changes of taints of the Node object, each with the options C(name), C(state) and C(taints) of
      C(kubernetes.core.k8s_taint).
  returned: success
  type: list
  elements: dict
  sample: [{"name": "ip-10-0-0-5.ec2.internal", "state": "absent", "taints": [{"key": "dedicated", "effect": "NoSchedule"}]}]
"""
