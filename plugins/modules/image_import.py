#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports container images from archives into containerd."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_import
short_description: Import container images from archives into containerd
version_added: 0.1.0
description:
  - Imports container images into the namespace C(k8s.io) of containerd, where kubelet finds them. Nodes of a machine image with such images
    do not pull them.
  - Checks the SHA-256 checksum of an archive, and that it contains the image, before it imports anything.
  - Labels an image with C(io.cri-containerd.pinned), so that kubelet does not remove it when the disk is full, and with the checksum of its
    archive. An image without these labels, or from another archive, is imported again.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  images:
    description: The images.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the image with its registry, as in the archive, for example V(registry.k8s.io/pause:3.10).
        type: str
        required: true
      file:
        description: Name of the archive in O(folder), made by C(docker save) or C(ctr images export).
        type: str
        required: true
      sha256:
        description: SHA-256 checksum of the archive.
        type: str
        required: true
      url:
        description: Not used. You can pass the images of the filter P(nodebootstrap.eks.image_plan#filter) as they are.
        type: str
      path:
        description: Not used, as O(images[].url).
        type: str
      pinned:
        description: Whether kubelet never removes the image.
        type: bool
        default: true
  folder:
    description: Directory of the archives. An image that is imported does not need its archive any more.
    type: path
    required: true
  import:
    description:
      - V(now) imports the images that are missing.
      - V(boot) imports nothing, and checks the archives. The role C(nodebootstrap.eks.eks_node_image) has a unit that imports them when a
        node boots.
    type: str
    choices: [now, boot]
    default: now
  snapshotter:
    description:
      - Snapshotter of containerd that unpacks the layers during the import. With an empty value, layers are unpacked when the first
        container of the image starts.
    type: str
    default: overlayfs
  address:
    description: Socket of containerd.
    type: path
    default: /run/containerd/containerd.sock
requirements:
  - Python 3.7 or newer on the machine
  - C(ctr) of containerd 1.6 or newer
seealso:
  - module: nodebootstrap.eks.image_seal
attributes:
  check_mode:
    description: Can run in check mode and return changed status without importing anything. In check mode, archives need not exist.
    support: full
  diff_mode:
    description: Shows no difference.
    support: none
"""

EXAMPLES = r"""
- name: Import the pause image
  nodebootstrap.eks.image_import:
    images:
      - name: registry.k8s.io/pause:3.10
        file: pause-3.10.tar
        sha256: 0b2f4d1f2d4a3c9d3e5c6b7a8f9e0d1c2b3a4f5e6d7c8b9a0f1e2d3c4b5a6978
    folder: /var/cache/eks-node-image/downloads
  become: true
"""

RETURN = r"""
missing:
  description: Names of the images that were missing, and are now imported, except in check mode.
  returned: success
  type: list
  elements: str
  sample: ["registry.k8s.io/pause:3.10"]
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._image.container_images import Containerd, ContainerImage, check_archive, import_image, missing
from ..module_utils._node.errors import ApplyRefused

IMAGE = {
    "name": {"type": "str", "required": True},
    "file": {"type": "str", "required": True},
    "sha256": {"type": "str", "required": True},
    "url": {"type": "str"},
    "path": {"type": "str"},
    "pinned": {"type": "bool", "default": True},
}


def main():
    """Import the images."""
    module = AnsibleModule(
        argument_spec={
            "images": {"type": "list", "elements": "dict", "required": True, "options": IMAGE},
            "folder": {"type": "path", "required": True},
            "import": {"type": "str", "choices": ["now", "boot"], "default": "now"},
            "snapshotter": {"type": "str", "default": "overlayfs"},
            "address": {"type": "path", "default": "/run/containerd/containerd.sock"},
        },
        supports_check_mode=True,
    )
    given = module.params
    images = [ContainerImage(**{name: image[name] for name in ContainerImage._fields}) for image in given["images"]]
    try:
        absent = [] if given["import"] == "boot" else _missing(module, images)
        if not module.check_mode:
            checked = images if given["import"] == "boot" else absent
            for image in checked:
                check_archive(given["folder"], image)
            for image in absent:
                import_image(_containerd(given), given["folder"], image)
    except ApplyRefused as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=bool(absent), missing=[image.name for image in absent])


def _containerd(given):
    return Containerd(given["address"], given["snapshotter"])


def _missing(module, images):
    """The missing images. Before the first run, containerd may not be installed."""
    containerd = _containerd(module.params)
    if module.check_mode and not containerd.is_running():
        return images
    return missing(containerd, images)


if __name__ == "__main__":
    main()
