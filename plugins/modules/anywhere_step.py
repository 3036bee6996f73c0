#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One operation of a run on the admin machine."""

from __future__ import annotations

DOCUMENTATION = r"""
module: anywhere_step
short_description: Internal part of anywhere_cluster and capi_move, not for direct use
version_added: 0.1.0
description:
  - This module is internal. M(nodebootstrap.eks.anywhere_cluster) and M(nodebootstrap.eks.capi_move) run it on the admin machine. The
    options can change in any release.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.anywhere
options:
  operation:
    description: What to do.
    type: str
    required: true
    choices:
      - back_up
      - lock
      - move
      - nodes
      - observe
      - open
      - pause
      - remove
      - remove_backup
      - remove_objects
      - restore
      - resume
      - settle
      - sides
      - write
  values:
    description: The input of the operation.
    type: dict
    default: {}
attributes:
  check_mode:
    description: Operations that write do nothing.
    support: full
  diff_mode:
    description: The actions show the differences.
    support: none
seealso:
  - module: nodebootstrap.eks.anywhere_cluster
"""

EXAMPLES = r"""
- name: Read the work folder
  nodebootstrap.eks.anywhere_step:
    work_dir: ~/eks-anywhere/dev
    operation: open
    values: {name: dev, files: []}
"""

RETURN = r"""
changed:
  description: Whether something was written.
  returned: always
  type: bool
  sample: true
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._anywhere import module_call
from ..module_utils._anywhere.admin_steps import OPERATIONS, READS, admin_step


def main() -> None:
    """Entry point."""
    specification = {
        "operation": {"type": "str", "required": True, "choices": list(OPERATIONS)},
        "values": {"type": "dict", "default": {}},
        **module_call.WORK_DIR,
    }
    module = AnsibleModule(specification, supports_check_mode=True)
    module_call.run_module(module, admin_step, (), module.params["operation"] in READS)


if __name__ == "__main__":
    main()
