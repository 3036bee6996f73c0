#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Examines a node."""

from __future__ import annotations

DOCUMENTATION = r"""
module: doctor_info
short_description: Examine a node
version_added: 0.1.0
description:
  - Runs on a Linux node, no matter what set it up. One call returns whether the node has joined its cluster and why not, the files of this
    collection that changed, what M(nodebootstrap.eks.image_verify) finds, the certificates, the clock, disks, memory and pressure, failed
    units, the image, the user data and the NodeConfigs.
  - M(nodebootstrap.eks.doctor_report) makes a report from the results of all nodes. The role P(nodebootstrap.eks.eks_node_doctor#role) runs
    both modules.
  - Only reads. It runs the programs that M(nodebootstrap.eks.node_info), M(nodebootstrap.eks.join_check) and
    M(nodebootstrap.eks.image_verify) run, C(systemctl list-units) and C(timedatectl status).
  - Does not fail if a part cannot be examined. The part is then null, and RV(node.problems) contains the reason.
  - Returns no secrets and no keys. In texts, it replaces whatever has the form or the name of a secret by asterisks.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.reading
options:
  only_user_data:
    description: Whether to return only what a check of the user data needs. The module then does not check the join, and sends no requests.
    type: bool
    default: false
  kubernetes_version:
    description: The Kubernetes version of the cluster. It is returned, and rules that depend on it use it.
    type: str
  timeout:
    description: Seconds until one program or one request times out, more than 0 and at most 60.
    type: float
    default: 10.0
requirements:
  - Python 3.7 or newer on the node
notes:
  - The module requires root, and fails without it.
seealso:
  - module: nodebootstrap.eks.doctor_report
  - module: nodebootstrap.eks.node_info
  - module: nodebootstrap.eks.join_check
  - module: nodebootstrap.eks.image_verify
"""

EXAMPLES = r"""
- name: Examine the node
  nodebootstrap.eks.doctor_info:
    kubernetes_version: "1.33"
  register: examination
  become: true

- name: Show why the node does not join
  ansible.builtin.debug:
    msg: "{{ examination.node.join.message }}: {{ examination.node.join.fix }}"
  when: examination.node.join.cause is not none
"""

RETURN = r"""
node:
  description: The examination of the node.
  returned: success
  type: dict
  contains:
    certificates:
      description:
        - The certificates that kubelet uses, each file with its C(path), its C(use) (V(client), V(serving) or V(authority)) and its
          certificates in C(pem). Keys are never returned.
      type: list
      elements: dict
      returned: without O(only_user_data)
      sample: [{"use": "authority", "path": "/etc/kubernetes/pki/ca.crt", "pem": "-----BEGIN CERTIFICATE-----..."}]
    clock:
      description:
        - C(skew) is the number of seconds by which the clock of the node is ahead of the clock of the API server. C(synchronized) is
          whether the clock follows a time source. Each is null if it is unknown.
      type: dict
      returned: without O(only_user_data)
      sample: {"skew": 0.3, "synchronized": true}
    disks:
      description: The free space and the inodes of the file systems of C(/), C(/var/lib/kubelet) and C(/var/lib/containerd).
      type: list
      elements: dict
      returned: without O(only_user_data)
      sample: [{"path": "/", "free_bytes": 64424509440, "bytes": 85899345920, "free_inodes": 41000000, "inodes": 41943040}]
    failures:
      description:
        - The failed units, and the units of a node that systemd restarted, each with C(unit), C(failed) (whether it is failed now),
          C(time), C(reason), C(restarts) and the last C(lines) of its log, without secrets.
      type: list
      elements: dict
      returned: without O(only_user_data)
      sample: []
    family:
      description: V(al2), V(al2023) (also for other systems that boot with nodeadm) or V(ubuntu). Empty for another system.
      type: str
      returned: always
      sample: al2023
    findings:
      description: The findings of M(nodebootstrap.eks.image_verify) with the profile V(live).
      type: list
      elements: dict
      returned: without O(only_user_data)
      sample: []
    image:
      description:
        - C(release) contains the fields of C(/etc/eks/release), C(provenance) what the role P(nodebootstrap.eks.eks_node_image#role)
          recorded. C(ami), C(instance) and C(instance_type) are the IDs and the type that cloud-init recorded.
      type: dict
      returned: always
      sample:
        release: {"BASE_AMI_ID": "ami-0123456789abcdef0", "ARCH": "x86_64"}
        provenance: null
        ami: ami-0123456789abcdef1
        instance: i-0123456789abcdef0
        instance_type: m7i.large
    info:
      description:
        - The facts that M(nodebootstrap.eks.node_info) returns, without the problems.
      type: dict
      returned: always
      sample: {"hostname": "ip-10-0-0-5.eu-central-1.compute.internal"}
    join:
      description:
        - The result of one check by M(nodebootstrap.eks.join_check). C(kubelet_settings) contains the settings of a kubelet that rejects
          them, without secrets.
      type: dict
      returned: without O(only_user_data)
      sample: {"node": "ip-10-0-0-5.eu-central-1.compute.internal", "registered": true, "ready": true, "cause": null}
    kubernetes_version:
      description: The Kubernetes version of the cluster, as in O(kubernetes_version).
      type: str
      returned: without O(only_user_data)
      sample: "1.33"
    memory:
      description: The C(total) memory, the C(available) memory and the C(swap) space in bytes.
      type: dict
      returned: without O(only_user_data)
      sample: {"total": 8589934592, "available": 6442450944, "swap": 0}
    pressure:
      description:
        - The percentage of the last five minutes in which C(some) or all (C(full)) processes waited for C(cpu), C(memory) or C(io). Empty
          on Amazon Linux 2.
      type: dict
      returned: without O(only_user_data)
      sample: {"memory": {"some": 0.0, "full": 0.0}}
    node_configs:
      description:
        - The documents in C(/etc/eks/nodeadm.d), which nodeadm merges with the user data, in its order. Each has a C(path), a C(text) and
          C(redacted), like RV(node.user_data).
      type: list
      elements: dict
      returned: always
      sample: []
    problems:
      description: The values that could not be determined, with the reasons.
      type: list
      elements: str
      returned: always
      sample: []
    user_data:
      description:
        - The C(path) and the C(text) of the user data that cloud-init stored, and whether values in it are C(redacted) because they may be
          secrets. Null without user data.
      type: dict
      returned: always
      sample: null
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._doctor.collect import collect, collect_user_data
from ..module_utils._image.model import minor_of
from ..module_utils._node.host import Host


def main():
    """Return the examination of the node."""
    options = {
        "kubernetes_version": {"type": "str"},
        "only_user_data": {"type": "bool", "default": False},
        "timeout": {"type": "float", "default": 10.0},
    }
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    timeout, version = module.params["timeout"], module.params["kubernetes_version"]
    if not 0 < timeout <= 60:
        module.fail_json(msg=f"timeout {timeout} is out of range: more than 0 and at most 60 seconds")
    if version and minor_of(version) is None:
        module.fail_json(msg=f"kubernetes_version {version} is not a version of Kubernetes, such as 1.34")
    if os.geteuid() != 0:
        module.fail_json(msg="root is required to examine a node: set become: true")
    host = Host(timeout)
    module.exit_json(changed=False, node=collect_user_data(host) if module.params["only_user_data"] else collect(host, version or None))


if __name__ == "__main__":
    main()
