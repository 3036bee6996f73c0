#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The half of the action plugin doctor_logs that runs on the node: makes the archive."""

from __future__ import annotations

DOCUMENTATION = r"""
module: doctor_logs
short_description: Collect the logs of a node in an archive on the controller
version_added: 0.1.0
description:
  - Collects the journals, logs and settings that show why a node does not work, and the output of programs such as C(ip route) and
    C(crictl ps). That is about what the log collector of AWS gathers.
  - Writes them to C(HOST.tar.gz) in O(folder) on the controller, where C(HOST) is the name of the host in the inventory.
  - Only reads on the node, and writes no file there.
  - Replaces whatever has the form or the name of a secret by asterisks, on the node. The archive contains neither the user data nor the
    environments of processes. Logs can contain secrets that have no known form, so only the owner can read the archive.
  - The archive contains an C(index.json), which lists each entry, whether it was cut, and the reason if a file or program is missing.
  - An entry has at most 1 MiB, and all entries together have at most 16 MiB before they are compressed. Of longer logs, the end is kept.
    After two minutes, nothing more is collected.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  folder:
    description: The folder on the controller. The module creates it if it does not exist.
    type: path
    required: true
  timeout:
    description: Seconds until one program times out, more than 0 and at most 60.
    type: float
    default: 10.0
attributes:
  action:
    description: Runs on the controller and on the node.
    support: full
  check_mode:
    description: Returns the path. Collects nothing and writes nothing.
    support: full
  diff_mode:
    description: The archive is binary, so there is no difference to show.
    support: none
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
requirements:
  - Python 3.7 or newer on the node
notes:
  - The module requires root, and fails without it.
seealso:
  - module: nodebootstrap.eks.doctor_info
  - module: nodebootstrap.eks.doctor_report
"""

EXAMPLES = r"""
- name: Collect the logs of the node
  nodebootstrap.eks.doctor_logs:
    folder: doctor-logs
  become: true
"""

RETURN = r"""
bytes:
  description: The size of the archive.
  returned: success, and not in check mode
  type: int
  sample: 412345
entries:
  description: The number of files in the archive.
  returned: success, and not in check mode
  type: int
  sample: 58
path:
  description: The absolute path of the archive on the controller.
  returned: success
  type: str
  sample: /home/me/doctor-logs/node-1.tar.gz
"""

import base64
import os

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._doctor.logs import LogCollector
from ..module_utils._node.host import Host


def main():
    """Return the archive as base64. The action writes it."""
    options = {"folder": {"type": "path", "required": True}, "timeout": {"type": "float", "default": 10.0}}
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    timeout = module.params["timeout"]
    if not 0 < timeout <= 60:
        module.fail_json(msg=f"timeout {timeout} is out of range: more than 0 and at most 60 seconds")
    if os.geteuid() != 0:
        module.fail_json(msg="root is required to collect the logs of a node: set become: true")
    archive, entries = LogCollector(Host(timeout)).collect()
    module.exit_json(changed=False, archive=base64.b64encode(archive).decode("ascii"), entries=entries)


if __name__ == "__main__":
    main()
