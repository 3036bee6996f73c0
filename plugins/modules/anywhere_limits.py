#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Raises the limits of inotify."""

from __future__ import annotations

DOCUMENTATION = r"""
module: anywhere_limits
short_description: Raise the limits of inotify of an admin machine
version_added: 0.1.0
description:
  - Sets limits of inotify in the running kernel if they are lower. Never lowers a limit, so that other programs keep theirs.
  - Writes no file. After the next boot, the files below C(/etc/sysctl.d) decide.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  max_user_watches:
    description: The watches that one user may have.
    type: int
    required: true
  max_user_instances:
    description: The instances of inotify that one user may have.
    type: int
    required: true
attributes:
  check_mode:
    description: Reports the limits that would be raised.
    support: full
  diff_mode:
    description: Shows the limits before and after.
    support: full
  idempotent:
    description: A limit that is high enough is not changed.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
requirements:
  - Python 3.7 or newer on the machine
  - root, if a limit is lower
seealso:
  - module: nodebootstrap.eks.anywhere_machine_info
"""

EXAMPLES = r"""
- name: Raise the limits of inotify
  nodebootstrap.eks.anywhere_limits:
    max_user_watches: 524288
    max_user_instances: 512
  become: true
"""

RETURN = r"""
limits:
  description: The limits that are in force after the task.
  returned: success
  type: dict
  sample: {"max_user_watches": 524288, "max_user_instances": 512}
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._anywhere_admin import limits
from ..module_utils._node.errors import ApplyRefused

OPTIONS = {name: {"type": "int", "required": True} for name in limits.NAMES}


def main():
    """Raise the limits."""
    module = AnsibleModule(argument_spec=OPTIONS, supports_check_mode=True)
    wanted = {name: module.params[name] for name in limits.NAMES}
    try:
        before = limits.read()
        after = limits.raised(before, wanted)
        if not module.check_mode:
            limits.write(before, after)
    except ApplyRefused as error:
        module.fail_json(msg=str(error))
    diff = {"before": limits.text(before), "after": limits.text(after)}
    module.exit_json(changed=before != after, limits=after, diff=diff)


if __name__ == "__main__":
    main()
