#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs the packages of an image, from a folder of locked files or from repositories."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_packages
short_description: Install the packages of an image
version_added: 0.1.0
description:
  - Runs on the machine on which an image is built. Installs packages, without recommended packages, and holds some at their version.
  - With O(lock), installs exactly the packages of the lock, from the files in O(folder) and from nothing else. Every file is checked before
    anything is installed. If the lock was made on another system, a file is missing or damaged, or a package needs something that is
    neither installed nor in the lock, the module fails.
  - Without O(lock), installs from the repositories of the machine. It reads their indexes only if a package is missing.
  - Uses C(apt-get), C(dnf) or C(yum) themselves, so that the machine needs no Python library of a package manager. An installation with
    C(apt-get) that was interrupted is finished first.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  family:
    description: The family of the image. V(ubuntu) uses C(apt-get), V(al2023) C(dnf), and V(al2) C(yum).
    type: str
    choices: [al2, al2023, ubuntu]
    required: true
  packages:
    description: Names, and names with versions (C(NAME=VERSION) for C(apt-get), C(NAME-VERSION) for C(dnf) and C(yum)).
    type: list
    elements: str
    required: true
  held:
    description: Names of packages that keep their version (C(apt-mark hold), or the plugin C(versionlock)).
    type: list
    elements: str
    default: []
  lock:
    description: The content of a lock, as M(nodebootstrap.eks.image_fetch) returns it.
    type: dict
  folder:
    description: The directory on the machine that contains the files of the lock in C(packages).
    type: path
  timeout:
    description: Seconds until one run of a package manager times out.
    type: int
    default: 1800
attributes:
  check_mode:
    description:
      - Reports the packages that would be installed and held. Without O(lock), and if the indexes of the repositories were never read,
        these are the names in O(packages).
    support: full
  diff_mode:
    description: The result lists the packages.
    support: none
  idempotent:
    description: A second run with the same options changes nothing, and uses no network.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
requirements:
  - Python 3.7 or newer on the machine
  - root
seealso:
  - module: nodebootstrap.eks.image_lock
  - module: nodebootstrap.eks.image_fetch
"""

EXAMPLES = r"""
- name: Install packages from the repositories, and hold the container runtime
  nodebootstrap.eks.image_packages:
    family: ubuntu
    packages:
      - containerd
      - jq=1.7.1-3build1
    held:
      - containerd
      - jq
  become: true

- name: See whether the folder has every file of the lock
  nodebootstrap.eks.image_fetch:
    lock: inputs.lock
    folder: inputs
    download: false
  register: inputs

- name: Install exactly the packages of the lock
  nodebootstrap.eks.image_packages:
    family: ubuntu
    packages: "{{ inputs.lock.requested }}"
    lock: "{{ inputs.lock }}"
    folder: /var/cache/eks-node-image
  become: true
"""

RETURN = r"""
installed:
  description: The packages that were installed, each with its version and architecture.
  returned: success
  type: list
  elements: str
  sample: [jq 1.7.1-3build1 amd64, libjq1 1.7.1-3build1 amd64]
missing:
  description: The files of the lock whose packages were not installed before, below the folder.
  returned: success
  type: list
  elements: str
  sample: [packages/jq_1.7.1-3build1_amd64.deb]
held:
  description: The packages that were not held before.
  returned: success
  type: list
  elements: str
  sample: [jq]
"""

import os
import tempfile

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._image import package_files, packages
from ..module_utils._node.errors import ApplyRefused
from ..module_utils._node.host import Host, read_system


def main():
    """Install and hold packages."""
    module = AnsibleModule(
        argument_spec={
            "family": {"type": "str", "choices": ["al2", "al2023", "ubuntu"], "required": True},
            "packages": {"type": "list", "elements": "str", "required": True},
            "held": {"type": "list", "elements": "str", "default": []},
            "lock": {"type": "dict"},
            "folder": {"type": "path"},
            "timeout": {"type": "int", "default": 1800},
        },
        required_together=[("lock", "folder")],
        supports_check_mode=True,
    )
    given = module.params
    manager = packages.manager_of(given["family"], package_files.runner(given["timeout"], os.environ))
    request = packages.Request(given["packages"], given["held"], given["lock"], given["folder"] or "")
    try:
        with tempfile.TemporaryDirectory(dir=module.tmpdir) as scratch:
            outcome = packages.apply(manager, request, read_system(Host()), scratch, module.check_mode)
    except ApplyRefused as error:
        module.fail_json(msg=str(error))
    module.exit_json(**outcome._asdict())


if __name__ == "__main__":
    main()
