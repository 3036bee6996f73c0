#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks whether an image is clean and complete, and whether a node is set up so that it can join."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_verify
short_description: Check an image before it is saved, or a node
version_added: 0.1.0
description:
  - Runs on the machine on which an image is built, or on a node, of any Linux family. You can check images that you did not build with this
    collection.
  - Reports what the machine must not pass on to the nodes of an image (keys, IDs, logs, and files of a cluster), and what keeps a node from
    joining (kernel settings, missing programs, versions that do not fit, units, cloud-init, mounts, disk space, and labels of SELinux).
  - The rules about leftovers follow C(validate.sh) of the EKS AMIs and the hygiene checks of image-builder, but are not a copy of them.
  - Only reads. It runs C(systemctl show), C(kubelet --version), C(containerd --version) and C(matchpathcon -V).
  - Does not fail if there are findings. The role C(nodebootstrap.eks.eks_node_image) does, and writes a report.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.reading
options:
  profile:
    description:
      - V(image) checks a machine that is saved as an image. Kernel settings are those of the files that the next boot reads.
      - V(live) checks a running node. Kernel settings are those of the kernel. Rules that concern only images are left out, for example
        about host keys and logs.
    type: str
    choices: [image, live]
    required: true
  kubernetes_version:
    description:
      - The version of Kubernetes of the cluster, for example V(1.34). If you omit it, the version of kubelet is used, and
        C(image.kubelet_version) is not checked.
    type: str
  ignore:
    description: IDs of rules that are not checked, for example V(image.package_history).
    type: list
    elements: str
    default: []
  timeout:
    description: Seconds until one program times out, more than 0 and at most 60.
    type: float
    default: 10.0
requirements:
  - Python 3.7 or newer on the node
notes:
  - Run the module as root. Other users cannot read most of the files.
  - In a container, files that the container engine mounts, such as C(/etc/resolv.conf), are not part of the image and are not checked.
seealso:
  - module: nodebootstrap.eks.node_info
  - module: nodebootstrap.eks.join_check
"""

EXAMPLES = r"""
- name: Check the image for a cluster with Kubernetes 1.34
  nodebootstrap.eks.image_verify:
    profile: image
    kubernetes_version: "1.34"
    ignore:
      - image.package_history
  register: verification
  become: true

- name: Show the findings
  ansible.builtin.debug:
    msg: "{{ item.rule }}: {{ item.path }}: {{ item.message }}. {{ item.fix }}"
  loop: "{{ verification.findings }}"
  loop_control:
    label: "{{ item.rule }}"

- name: Check a node
  nodebootstrap.eks.image_verify:
    profile: live
  become: true
"""

RETURN = r"""
family:
  description: V(al2), V(al2023) (also for other systems that boot with nodeadm) or V(ubuntu). Empty for another system.
  returned: success
  type: str
  sample: al2023
findings:
  description:
    - The findings, errors first.
    - Each has C(rule), an ID of the L(catalogue,https://github.com/nodebootstrap/eks/blob/main/docs/rules.md), C(severity) (V(error) or
      V(warning)), C(path), C(message) and C(fix).
  returned: success
  type: list
  elements: dict
  sample:
    - rule: image.machine_id
      severity: error
      path: /etc/machine-id
      message: all nodes of the image would have the same machine ID, and with DHCP possibly the same address
      fix: "empty the file (truncate -s 0 /etc/machine-id): systemd writes a new ID at the first boot"
problems:
  description: What could not be read or checked, with the reasons.
  returned: success
  type: list
  elements: str
  sample: []
rules:
  description: The IDs of the rules that were checked.
  returned: success
  type: list
  elements: str
  sample: [image.hostname, image.machine_id]
system:
  description:
    - The C(id) and the C(version_id) of the operating system, and the C(architecture) of the machine. The filter
      P(nodebootstrap.eks.image_plan#filter) takes them as C(builder).
  returned: success
  type: dict
  sample: {"id": "amzn", "version_id": "2023", "architecture": "x86_64"}
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._image.model import PROFILES, minor_of
from ..module_utils._image.verify import unknown_rules, verify
from ..module_utils._node.host import Host


def main():
    """Return the findings."""
    module = AnsibleModule(
        argument_spec={
            "profile": {"type": "str", "choices": list(PROFILES), "required": True},
            "kubernetes_version": {"type": "str"},
            "ignore": {"type": "list", "elements": "str", "default": []},
            "timeout": {"type": "float", "default": 10.0},
        },
        supports_check_mode=True,
    )
    given = module.params
    if not 0 < given["timeout"] <= 60:
        module.fail_json(msg=f"timeout {given['timeout']} is out of range: more than 0 and at most 60 seconds")
    if given["kubernetes_version"] and minor_of(given["kubernetes_version"]) is None:
        module.fail_json(msg=f"kubernetes_version {given['kubernetes_version']} is not a version of Kubernetes, such as 1.34")
    unknown = unknown_rules(given["ignore"])
    if unknown:
        module.fail_json(msg=f"ignore: {'; '.join(unknown)}")
    result = verify(Host(given["timeout"]), given["profile"], given["kubernetes_version"], given["ignore"])
    module.exit_json(changed=False, **result._asdict())


if __name__ == "__main__":
    main()
