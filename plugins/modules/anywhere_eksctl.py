#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts and watches eksctl anywhere on the admin machine."""

from __future__ import annotations

DOCUMENTATION = r"""
module: anywhere_eksctl
short_description: Internal part of anywhere_cluster, not for direct use
version_added: 0.1.0
description:
  - This module is internal. M(nodebootstrap.eks.anywhere_cluster) runs it on the admin machine for the engine V(eksctl). The options can
    change in any release.
  - Starts C(eksctl anywhere) in the background, so that it does not end with the playbook, and reads its log.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.anywhere
options:
  operation:
    description: What to do.
    type: str
    required: true
    choices: [observe, start, watch]
  name:
    description: The name of the cluster.
    type: str
    required: true
  command:
    description: The words of the command.
    type: list
    elements: str
    default: []
  command_name:
    description: The name of the command in the record.
    type: str
    choices: [create, upgrade, delete]
  digest:
    description: The digest of the inputs.
    type: str
    default: ""
  files:
    description: The files that the command reads, by name. Their mode is 0600.
    type: dict
    default: {}
  environment:
    description: Variables of the command.
    type: dict
    default: {}
  offset:
    description: The number of bytes of the log that were read before.
    type: int
    default: 0
  wait:
    description: Seconds to wait for new lines.
    type: float
    default: 15.0
attributes:
  check_mode:
    description: Nothing is started.
    support: full
  diff_mode:
    description: The action shows the steps.
    support: none
seealso:
  - module: nodebootstrap.eks.anywhere_cluster
"""

EXAMPLES = r"""
- name: Read what the last command left
  nodebootstrap.eks.anywhere_eksctl:
    work_dir: ~/eks-anywhere/dev
    operation: observe
    name: dev
"""

RETURN = r"""
rows:
  description: New lines of the log, each with C(kind) (V(task), V(problem) or V(message)) and C(text).
  returned: if O(operation=watch)
  type: list
  elements: dict
  sample:
    - {kind: task, text: bootstrap-cluster-init}
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._anywhere import module_call
from ..module_utils._anywhere.eksctl import OPERATIONS, eksctl


def main() -> None:
    """Entry point."""
    specification = {
        "operation": {"type": "str", "required": True, "choices": list(OPERATIONS)},
        "name": {"type": "str", "required": True},
        "command": {"type": "list", "elements": "str", "default": []},
        "command_name": {"type": "str", "choices": ["create", "upgrade", "delete"]},
        "digest": {"type": "str", "default": ""},
        "files": {"type": "dict", "default": {}, "no_log": True},
        **module_call.ENVIRONMENT,
        "offset": {"type": "int", "default": 0},
        "wait": {"type": "float", "default": 15.0},
        **module_call.WORK_DIR,
    }
    module = AnsibleModule(specification, supports_check_mode=True)
    # The operation itself tells all programs that are missing, with the plug-in.
    module_call.run_module(module, eksctl, (), module.params["operation"] == "observe")


if __name__ == "__main__":
    main()
