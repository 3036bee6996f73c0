#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The half of the action plugin image_lock that runs on the machine: resolves the packages of an image."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_lock
short_description: Lock the inputs of an image
version_added: 0.1.0
description:
  - Makes the content of an C(inputs.lock) with every package file and download of an image, each with its URL, SHA-256 digest and size.
  - Resolves the packages on the machine on which the image will be built, with everything that they need and the machine lacks. Packages
    that are installed already are not part of the lock, so make it on a fresh machine.
  - The digests of packages for C(apt-get) are those of the indexes of the repositories, which are signed. For C(dnf) and C(yum), the
    packages are fetched to the machine, and their signatures are checked as for an installation.
  - Reads the downloads and container images on the controller, and compares them with the digests of the plan.
  - The machine does not change, apart from keys of repositories that C(dnf) or C(yum) import. Everything else is in a temporary directory.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  plan:
    description: The plan of the image, the result of the filter P(nodebootstrap.eks.image_plan#filter) without the argument C(inputs).
    type: dict
    required: true
  folder:
    description:
      - The folder on the controller that M(nodebootstrap.eks.image_fetch) will fill. Downloads are stored there, so that they are not
        fetched twice.
    type: path
  timeout:
    description: Seconds until one run of a package manager times out, and seconds without data until a download is given up.
    type: int
    default: 600
attributes:
  action:
    description: Runs on the controller and on the machine.
    support: full
  check_mode:
    description: Returns the same result, and stores no downloads.
    support: full
  diff_mode:
    description: Writes no lock, so there is no difference to show.
    support: none
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
requirements:
  - Python 3.7 or newer on the machine
  - root on the machine
  - the program C(repoquery) on Amazon Linux 2 (package C(yum-utils))
seealso:
  - module: nodebootstrap.eks.image_fetch
  - module: nodebootstrap.eks.image_packages
  - plugin: nodebootstrap.eks.image_plan
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Read the machine
  nodebootstrap.eks.image_verify:
    profile: image
  register: builder
  become: true

- name: Lock the inputs
  nodebootstrap.eks.image_lock:
    plan: "{{ image | nodebootstrap.eks.image_plan(builder.system) }}"
  vars:
    image:
      family: ubuntu
      kubernetes_version: "1.32"
  register: inputs
  become: true

- name: Show the lock
  ansible.builtin.debug:
    msg: "{{ inputs.lock }}"
"""

RETURN = r"""
content:
  description: The text of the lock. The same inputs give the same text.
  returned: success
  type: str
  sample: '{"format": 1}'
lock:
  description: The lock as data.
  returned: success
  type: dict
  sample:
    requested: [jq]
packages:
  description: The package files, with name, version and architecture of the package.
  returned: success
  type: list
  elements: dict
  sample:
    - name: jq
      version: 1.7.1-3build1
      architecture: amd64
      file: jq_1.7.1-3build1_amd64.deb
      url: http://archive.ubuntu.com/ubuntu/pool/main/j/jq/jq_1.7.1-3build1_amd64.deb
      sha256: 73c1eb1e0a0d2d1b2c2e5a1a34c6e0d1f0fd1b0d9dfd1c2d3e4f5061728394a5
      size: 65536
system:
  description: The system of the machine.
  returned: success
  type: dict
  sample:
    id: ubuntu
    version_id: "24.04"
    architecture: x86_64
problems:
  description: The problems with which the module failed. Each has C(rule), C(path), C(message) and C(fix).
  returned: failure
  type: list
  elements: dict
  sample: []
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
    """Return the package files and the system. The action adds the downloads."""
    module = AnsibleModule(
        argument_spec={
            "plan": {"type": "dict", "required": True},
            "folder": {"type": "path"},
            "timeout": {"type": "int", "default": 600},
        },
        supports_check_mode=True,
    )
    plan = module.params["plan"]
    manager = packages.manager_of(plan["family"], package_files.runner(module.params["timeout"], os.environ))
    try:
        with tempfile.TemporaryDirectory(dir=module.tmpdir) as scratch:
            found = packages.lock(manager, plan["packages"], plan["repositories"], scratch)
    except ApplyRefused as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, packages=found, system=read_system(Host()))


if __name__ == "__main__":
    main()
