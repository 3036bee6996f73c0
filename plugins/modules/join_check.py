#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks whether a node has joined its cluster, and finds out why not."""

from __future__ import annotations

DOCUMENTATION = r"""
module: join_check
short_description: Check whether a node has joined its cluster, and find out why not
version_added: 0.1.0
description:
  - Runs on a Linux node, no matter what set it up, and requests the Node object of this node from the API server as kubelet does, with the
    address, certificate authority, credentials and proxy of kubelet.
  - Fails if the node is not in the state of O(wait_for). The message names the cause, the fix and the evidence.
  - Prints a line when the reason for waiting changes, and at least every ten seconds, except with C(async).
  - If kubelet rejects its settings, the fix names the files that set them, and what the rules of kubelet allow.
  - If the cluster does not accept the credentials of the node, and there are AWS credentials on the controller, reads the access entry of
    its role from there, and C(aws-auth) if the cluster uses it, and says what is missing. Not with C(async).
  - Only reads. It runs C(systemctl show), C(journalctl), C(containerd config dump), C(kubelet --version) and the program that gets the
    credentials of kubelet.
  - Shows no secrets. It sends the token only to the API server, and only if kubelet trusts the certificate of the API server.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  wait_for:
    description:
      - With V(ready), wait until kubelet runs and has reported to the cluster, since its start, that the Node is Ready.
      - With V(registered), wait until kubelet runs and the cluster has its Node object. The Node may still lack a network plugin.
    type: str
    choices: [ready, registered]
    default: ready
  wait_timeout:
    description:
      - Seconds to wait, at most 3600. With 0 the module checks once.
      - A final cause, such as a wrong certificate authority, ends the wait when it has stayed the same for 4 seconds. The wait can exceed
        O(wait_timeout) by that time and by the duration of one check. A check takes up to about 28 seconds if neither the program that gets
        credentials nor the API server answers.
    type: float
    default: 0.0
extends_documentation_fragment:
  - nodebootstrap.eks.reading
requirements:
  - Python 3.7 or newer on the node
  - systemd, and root
notes:
  - Supports Amazon Linux 2, Amazon Linux 2023 and Ubuntu. Bottlerocket and Windows have no Python for it.
seealso:
  - module: nodebootstrap.eks.apply
  - module: nodebootstrap.eks.node_info
"""

EXAMPLES = r"""
- name: Wait until the node is Ready, or report why it is not
  nodebootstrap.eks.join_check:
    wait_timeout: 180
  become: true

- name: Check once whether the cluster has the node
  nodebootstrap.eks.join_check:
    wait_for: registered
  become: true

- name: Accept a node that lacks only the network plugin
  nodebootstrap.eks.join_check:
    wait_timeout: 60
  register: joined
  become: true
  failed_when: joined.cause not in [none, "no_network_plugin"]
"""

RETURN = r"""
cause:
  description:
    - Why the node is not in the wanted state. The
      L(list of causes,https://github.com/nodebootstrap/eks/blob/main/docs/join-causes.md) describes them. In the catalogue of rules, the id
      of a cause is C(join.) with this name, for example C(join.unauthorized).
    - Null if the node is in the wanted state and has no final problem.
  returned: always
  type: str
  sample: unauthorized
evidence:
  description:
    - Lines that show the cause, each with its source. They contain no secrets.
    - Without a cause, the list is empty, or has a warning that kubelet still has no serving certificate one minute after its start.
  returned: always
  type: list
  elements: str
  sample: ["https://ABCDEF0123456789.gr7.eu-central-1.eks.amazonaws.com answers 401: Unauthorized"]
final:
  description: Whether the cause does not go away by itself, so that waiting does not help.
  returned: always
  type: bool
  sample: true
fix:
  description: How to fix the cause. Null without a cause.
  returned: always
  type: str
  sample: map the role node-role to nodes in the cluster
message:
  description: What is wrong, in one line. Null without a cause.
  returned: always
  type: str
  sample: the API server does not know the identity of this node, the role node-role
node:
  description: The name of the Node object. Null if it is not known, because kubelet does not run.
  returned: always
  type: str
  sample: ip-10-0-0-5.eu-central-1.compute.internal
problems:
  description:
    - What the rules of kubelet find in the settings of a kubelet that rejects them. Otherwise empty.
    - With C(async), the key is missing, and C(kubelet_settings) has the settings, without secrets, and C(identity) the role of the node.
  returned: always
  type: list
  elements: dict
  contains:
    rule:
      description: The id of the rule in the catalogue of rules.
      type: str
      returned: always
      sample: kubelet.inconsistent_fields
    path:
      description: The field of the kubelet configuration, or the flag with its dashes.
      type: str
      returned: always
      sample: imageGCHighThresholdPercent
    message:
      description: What is wrong with it.
      type: str
      returned: always
      sample: is not above imageGCLowThresholdPercent
    allowed:
      description: What would be correct.
      type: str
      returned: if it is known
      sample: more than 80
    nearest:
      description: The allowed word that is most similar.
      type: str
      returned: if there is one
      sample: LimitedSwap
    fix:
      description: What to do.
      type: str
      returned: if RV(problems[].allowed) does not say it
      sample: remove it
ready:
  description: Whether kubelet runs and the Node is Ready.
  returned: always
  type: bool
  sample: false
registered:
  description: Whether kubelet runs and the cluster has its Node object.
  returned: always
  type: bool
  sample: false
waited:
  description: Seconds that the module took.
  returned: always
  type: float
  sample: 4.2
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._join import wait
from ..module_utils._join.model import format_failure

MAX_WAIT_SECONDS = 3600


def main() -> None:
    """Run the module."""
    options = {
        "wait_for": {"type": "str", "choices": list(wait.WAIT_FOR), "default": "ready"},
        "wait_timeout": {"type": "float", "default": 0.0},
    }
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    timeout = module.params["wait_timeout"]
    if not 0 <= timeout <= MAX_WAIT_SECONDS:
        module.fail_json(msg=f"wait_timeout {timeout} is out of range: 0 to {MAX_WAIT_SECONDS} seconds")
    if os.geteuid() != 0:
        module.fail_json(msg="root is required to read what kubelet uses: set become: true")
    result = wait.wait(wait.Options(module.params["wait_for"], timeout))
    plain = result.plain()
    if result.finding is not None:
        module.fail_json(msg=format_failure(plain), **plain)
    module.exit_json(changed=False, **plain)


if __name__ == "__main__":
    main()
