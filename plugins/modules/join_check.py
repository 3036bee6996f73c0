#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells whether a node has joined its cluster, and why not."""

from __future__ import annotations

DOCUMENTATION = r"""
module: join_check
short_description: Tell whether a node has joined its cluster, and why not
version_added: 0.1.0
description:
  - Runs on a Linux node, whoever set it up, and asks the API server for the node's own Node object in the way kubelet does, with the
    address, the certificate authority, the credentials and the proxy that kubelet uses.
  - Fails when the node is not what O(wait_for) says. The message then names the cause, the fix, and what shows it.
  - Only reads. It starts C(systemctl show), C(journalctl), C(containerd config dump) and the program that gets kubelet's credentials.
  - Shows no secrets. The token goes to the API server alone, and only when its certificate is the one that kubelet trusts.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  wait_for:
    description:
      - With V(ready), that kubelet runs and the cluster says that the node is Ready, since this kubelet was started.
      - With V(registered), that kubelet runs and the cluster knows the node. It may still lack its network plugin.
    type: str
    choices: [ready, registered]
    default: ready
  wait_timeout:
    description:
      - Seconds to wait for it, at most 3600. With 0 the module looks once.
      - A cause that nothing changes by itself, such as a wrong certificate authority, ends the wait when it has stood for 4 seconds. The
        wait may last that much longer than this, and then until the look that is under way ends. One look may take up to about 28 seconds,
        where the program that gets credentials and the API server do not answer.
    type: float
    default: 0.0
extends_documentation_fragment:
  - nodebootstrap.eks.reading
requirements:
  - Python 3.7 or newer on the node
  - systemd, and root
notes:
  - It is meant for Amazon Linux 2, Amazon Linux 2023 and Ubuntu. Bottlerocket and Windows have no Python for it.
seealso:
  - module: nodebootstrap.eks.apply
  - module: nodebootstrap.eks.node_info
"""

EXAMPLES = r"""
- name: Wait until the node is Ready, or say why it is not
  nodebootstrap.eks.join_check:
    wait_timeout: 180
  become: true

- name: Look once whether the cluster knows the node
  nodebootstrap.eks.join_check:
    wait_for: registered
  become: true

- name: Decide about the cause
  nodebootstrap.eks.join_check:
    wait_timeout: 60
  register: joined
  become: true
  failed_when: joined.cause not in [none, "no_network_plugin"]
"""

RETURN = r"""
cause:
  description:
    - A word for why the node is not what it should be. The
      L(guide to joining,https://github.com/nodebootstrap/eks/blob/main/docs/joining.md) lists them all.
    - Null when it is, and when nothing that lasts speaks against it.
  returned: always
  type: str
  sample: unauthorized
evidence:
  description:
    - Lines that show it, each with where it comes from. Without secrets.
    - Without a cause it is empty, or warns that kubelet still has no serving certificate a minute after its start.
  returned: always
  type: list
  elements: str
  sample: ["https://ABCDEF0123456789.gr7.eu-central-1.eks.amazonaws.com answers 401: Unauthorized"]
final:
  description: Whether nothing changes the cause by itself, so that waiting is of no use.
  returned: always
  type: bool
  sample: true
fix:
  description: What to do about the cause. Null without a cause.
  returned: always
  type: str
  sample: give the role an access entry of the type EC2_LINUX
message:
  description: What is wrong, in one sentence. Null without a cause.
  returned: always
  type: str
  sample: the API server does not know this node's identity
node:
  description: The name of the Node object. Null when it cannot be told, because no kubelet runs.
  returned: always
  type: str
  sample: ip-10-0-0-5.eu-central-1.compute.internal
ready:
  description: Whether kubelet runs and the cluster says that the node is Ready.
  returned: always
  type: bool
  sample: false
registered:
  description: Whether the cluster has a Node object of this name.
  returned: always
  type: bool
  sample: false
waited:
  description: Seconds that this took.
  returned: always
  type: float
  sample: 4.2
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._join import wait
from ..module_utils._join.model import format_failure

LONGEST = 3600


def main():
    """Look, and answer with what was found."""
    options = {
        "wait_for": {"type": "str", "choices": list(wait.WAIT_FOR), "default": "ready"},
        "wait_timeout": {"type": "float", "default": 0.0},
    }
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    timeout = module.params["wait_timeout"]
    if not 0 <= timeout <= LONGEST:
        module.fail_json(msg=f"wait_timeout {timeout} is out of range: 0 to {LONGEST} seconds")
    if os.geteuid() != 0:
        module.fail_json(msg="only root can see what kubelet uses: set become: true")
    result = wait.wait(wait.Options(module.params["wait_for"], timeout))
    if result["cause"] is not None:
        module.fail_json(msg=format_failure(result), **result)
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
