#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes what the build leaves on a machine that becomes an image."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_seal
short_description: Remove what the build leaves in an image
version_added: 0.1.0
description:
  - Runs on the machine on which an image was built, as the last step before the image is saved.
  - Removes everything that the rules of M(nodebootstrap.eks.image_verify) about leftovers report, and the rest of the logs and caches.
    L(The table,https://github.com/nodebootstrap/eks/blob/main/docs/sealing.md) lists all paths with the reasons.
  - Refuses a machine that the role C(nodebootstrap.eks.eks_node_image) did not set up (without C(/etc/eks/image-provenance.json)), on
    which kubelet is running, or on which C(/etc/eks/bootstrap.sh) has written a kubeconfig. On such a machine, nothing is removed.
  - If there is a journal on disk, lets journald write only to memory until the next boot (systemd 243 and newer).
  - Never follows symbolic links, and does not enter other file systems. Files that a container engine mounts over those of the image stay.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  root:
    description:
      - The directory with the files of the image. V(/) is the machine itself. There is no default, because the module removes files.
    type: path
    required: true
  ignore:
    description:
      - IDs of rules whose paths stay, for example V(image.authorized_keys). Pass the same list to M(nodebootstrap.eks.image_verify).
      - IDs of rules that are not about leftovers have no effect.
    type: list
    elements: str
    default: []
  mount_points:
    description:
      - Mount points of file systems that belong to the image, for example V(/var/log). Without this, files on them stay, and
        M(nodebootstrap.eks.image_verify) reports them.
    type: list
    elements: path
    default: []
requirements:
  - Python 3.7 or newer on the machine
notes:
  - Run the module as root.
  - The SSH host keys and authorized keys are removed, so that no new SSH connection is possible. Ansible keeps its connection open for the
    tasks that follow (C(ControlPersist)).
  - A second run changes nothing, if no program has written new files in the meantime. Files in C(/tmp) and C(/var/tmp) that a running
    process uses stay. Files of logs that a program keeps open are removed, and what it writes later is lost.
seealso:
  - module: nodebootstrap.eks.image_verify
attributes:
  check_mode:
    description: Can run in check mode and return changed status without changing the machine.
    support: full
  diff_mode:
    description: Returns the paths as a diff, if diff mode is on.
    support: full
"""

EXAMPLES = r"""
- name: See what would be removed
  nodebootstrap.eks.image_seal:
    root: /
  check_mode: true
  register: leftovers
  become: true

- name: Seal the image
  nodebootstrap.eks.image_seal:
    root: /
    ignore:
      - image.package_history
  become: true

- name: Seal an image that is mounted in a directory, with /var on a volume of its own
  nodebootstrap.eks.image_seal:
    root: /mnt/image
    mount_points:
      - /var
  become: true
"""

RETURN = r"""
removed:
  description:
    - What was removed, or would be in check mode, sorted by path.
    - Each has C(rule), an ID of the L(catalogue,https://github.com/nodebootstrap/eks/blob/main/docs/rules.md), C(path), and C(action),
      which is V(remove), V(empty) (only the content is removed) or V(link) (replaced with a link to C(/etc/machine-id)).
  returned: success
  type: list
  elements: dict
  sample:
    - rule: image.machine_id
      path: /etc/machine-id
      action: empty
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._image import verify
from ..module_utils._image.seal import seal
from ..module_utils._image.tree import real_root
from ..module_utils._node.errors import ApplyRefused


def main():
    """Seal the machine."""
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "required": True},
            "ignore": {"type": "list", "elements": "str", "default": []},
            "mount_points": {"type": "list", "elements": "path", "default": []},
        },
        supports_check_mode=True,
    )
    unknown = verify.unknown_rules(module.params["ignore"])
    if unknown:
        module.fail_json(msg=f"ignore: {'; '.join(unknown)}")
    try:
        result = seal(real_root(module.params["root"]), module.params["ignore"], module.params["mount_points"], module.check_mode)
    except ApplyRefused as error:
        module.fail_json(msg=str(error))
    removed = [removal._asdict() for removal in result.removed]
    lines = "".join(f"{removal.path}\n" for removal in result.removed)
    output = {"changed": bool(removed), "removed": removed, "diff": {"before": lines, "after": ""}}
    if result.problems:
        module.fail_json(msg="\n".join(["not everything could be removed:", *result.problems]), **output)
    module.exit_json(**output)


if __name__ == "__main__":
    main()
