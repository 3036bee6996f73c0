#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin bottlerocket_settings."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bottlerocket_settings
short_description: Apply a node group to the settings of a live Bottlerocket node
version_added: 0.1.0
description:
  - Compares the settings of a running Bottlerocket node with its node group, and changes the settings that differ in one transaction of the
    Bottlerocket API. The module ignores settings that the node group does not define. A second run changes nothing.
  - Runs on the controller, which uses AWS Systems Manager to run C(apiclient) in the control container of the node. The module does not log
    in to the node, and does not use the connection of the host.
  - Renders everything first. If the input has problems, the task reports all of them and contacts neither AWS nor the node.
  - If Bottlerocket rejects the transaction, the module deletes it, and the settings stay unchanged.
  - Does not read or send settings that may be secrets, such as registry credentials, because Systems Manager stores commands and their
    output. A warning names these settings.
  - Never reboots a node. The result lists the settings that take effect at the next boot.
  - This module has not been executed against AWS or Bottlerocket. See
    L(Bottlerocket nodes,https://github.com/nodebootstrap/eks/blob/main/docs/bottlerocket-nodes.md) for how it was tested.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.live
  - nodebootstrap.eks.live.input
  - nodebootstrap.eks.live.refused
  - nodebootstrap.eks.fields
  - nodebootstrap.eks.fields.node_group
  - nodebootstrap.eks.aws
requirements:
  - boto3 >= 1.26, for the Python that runs Ansible
  - The permissions C(ssm:SendCommand) for the instance and the document C(AWS-RunShellScript), C(ssm:GetCommandInvocation),
    and C(ssm:CancelCommand) for commands that take too long
options:
  node_group:
    description:
      - The node group of the node, with the family V(bottlerocket).
      - With C(mode=managed) the module does not change the settings that EKS writes, such as labels and taints.
  instance_id:
    description: The ID of the instance. It must be connected to Systems Manager.
    type: str
    required: true
  state:
    description:
      - V(present) sets the settings to the values of the node group.
      - V(absent) is refused, because the Bottlerocket API cannot unset a setting.
  restart:
    description:
      - V(when_changed) lets Bottlerocket apply the changed settings and restart the services that they affect.
      - V(never) only stores the settings. They take effect when the node boots. A later run does not apply them.
  command_timeout:
    description: Seconds to wait for one command of Systems Manager, at least 30.
    type: int
    default: 120
  phases:
    description:
      - The phases to run. The checks of V(preflight) always run.
      - V(configure) without V(start) has the effect of O(restart=never).
      - V(validate) without V(configure) lets Bottlerocket check the settings in a transaction that the module then deletes.
      - By default the tags of the run select the phases. If no tag names a phase, all phases run. Skipped tags skip their phases.
  region:
    description:
      - The AWS region of the instance.
      - The default is the first of these that is set. E(AWS_REGION), E(AWS_DEFAULT_REGION), C(region) of the cluster, and the region of the
        profile.
attributes:
  action:
    description: Runs on the controller.
  check_mode:
    description: Reads and compares the settings, and reports the changes without making them.
    support: full
  diff_mode:
    description: Shows the changed settings as TOML. Long values are shortened.
    support: full
seealso:
  - module: nodebootstrap.eks.cluster_info
  - module: nodebootstrap.eks.apply
"""

EXAMPLES = r"""
- name: Increase the maximum number of pods
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
  description: The actions, in order. In check mode, the actions that a run would perform.
  returned: success
  type: list
  elements: str
  sample: ["set settings.kubernetes.max-pods", "apply settings"]
changes:
  description: The settings that differ. Long values are shortened.
  returned: success
  type: list
  elements: dict
  contains:
    setting:
      description: The path of the setting.
      type: str
      returned: always
      sample: settings.kubernetes.max-pods
    before:
      description: The value before the run. Null if the setting was not set.
      type: raw
      returned: always
      sample: 29
    after:
      description: The new value.
      type: raw
      returned: always
      sample: 58
needs_reboot:
  description: The changed settings that take effect at the next boot.
  returned: success
  type: list
  elements: str
  sample: ["settings.kernel.lockdown"]
warnings:
  description: Warnings, for example about settings that may be secrets and that the module did not change.
  returned: success
  type: list
  elements: str
  sample: []
healthy:
  description: Whether kubelet is healthy. Null if this could not be checked.
  returned: success
  type: bool
  sample: true
missing:
  description: The reasons why the node is not healthy.
  returned: success, or when the node did not become healthy in time
  type: list
  elements: str
  sample: []
os:
  description: The C(variant) and the C(version) of the operating system.
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
  returned: success
  type: list
  elements: dict
  sample: [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "ip-10-0-0-5.ec2.internal", "labels": {"role": "worker"}}}]
node_taints:
  description:
    - With O(reconcile=true), changes to the taints of the Node object, with the options C(name), C(state) and C(taints) of
      C(kubernetes.core.k8s_taint).
  returned: success
  type: list
  elements: dict
  sample: [{"name": "ip-10-0-0-5.ec2.internal", "state": "absent", "taints": [{"key": "dedicated", "effect": "NoSchedule"}]}]
"""
