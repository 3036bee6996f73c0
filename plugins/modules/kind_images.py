#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Loads archives of images into Docker, or into the nodes of a cluster of kind."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kind_images
short_description: Load archives of images into Docker or a cluster of kind
version_added: 0.1.0
description:
  - Loads every archive of a folder (C(.tar), C(.tar.gz) or C(.tgz)) whose images are missing, for machines that reach no registry.
  - Reads the names of the images from the archives of C(docker save) or of the Open Container Initiative. An archive without names is
    loaded every time.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.anywhere
options:
  images_dir:
    description: The folder on the machine where the module runs.
    type: path
    required: true
  name:
    description: The name of the cluster whose nodes get the images. Without it, Docker gets them.
    type: str
  timeout:
    description: Seconds for each archive.
    type: float
    default: 900.0
attributes:
  check_mode:
    description: Returns the archives that would be loaded.
    support: full
  diff_mode:
    description: The list of the archives says what is changed.
    support: none
seealso:
  - module: nodebootstrap.eks.kind_cluster
  - module: nodebootstrap.eks.anywhere_images
"""

EXAMPLES = r"""
- name: Load the images into Docker
  nodebootstrap.eks.kind_images:
    images_dir: ~/images

- name: Load them into the bootstrap cluster
  nodebootstrap.eks.kind_images:
    images_dir: ~/images
    name: dev-eks-a-cluster
"""

RETURN = r"""
archives:
  description: The archives that were loaded, or would be.
  returned: success
  type: list
  elements: str
  sample: [providers.tar]
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._anywhere import image_archives, module_call


def main() -> None:
    """Entry point."""
    specification = {
        "images_dir": {"type": "path", "required": True},
        "name": {"type": "str"},
        "timeout": {"type": "float", "default": 900.0},
        **module_call.WORK_DIR,
    }
    module = AnsibleModule(specification, supports_check_mode=True)
    module_call.run_module(module, image_archives.load, ("docker", "kind"))


if __name__ == "__main__":
    main()
