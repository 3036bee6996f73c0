#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin image_fetch."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_fetch
short_description: Fill the folder of an image's inputs on the controller
version_added: 0.1.0
description:
  - Fetches every package file and download of an C(inputs.lock), which M(nodebootstrap.eks.image_lock) makes, to C(packages/FILE) and
    C(downloads/FILE) in O(folder). Copies the lock to C(inputs.lock) in O(folder).
  - A file gets its name only after its size and its SHA-256 digest were checked. Files that are correct are not fetched again, so the next
    run continues where an interrupted one stopped.
  - Removes files of the lock that was fetched before, if O(lock) does not contain them. Never removes other files, and returns them in
    RV(foreign).
  - Reports the problems of all files at once. Prints one line for each fetched file.
  - Fetches with the proxies of the controller's environment (C(http_proxy), C(https_proxy), C(no_proxy)), from http, https and file URLs.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  lock:
    description: The path of the lock on the controller.
    type: path
    required: true
  folder:
    description: The folder on the controller. The module creates it if it does not exist.
    type: path
    required: true
  plan:
    description: The plan of the image. If the lock does not have its packages and files, the module fails and changes nothing.
    type: dict
  builder:
    description:
      - C(id), C(version_id) and C(architecture) of the machine on which the image is built. If the lock was made on another system, the
        module fails and changes nothing.
    type: dict
  download:
    description: Whether to fetch files. With V(false), the module only checks that the folder has every file of the lock.
    type: bool
    default: true
  timeout:
    description: Seconds without data until a transfer is given up.
    type: int
    default: 60
attributes:
  action:
    description: Runs on the controller.
    support: full
  check_mode:
    description: Reports the files that would be fetched and removed, without network and without changes.
    support: full
  diff_mode:
    description: The files are binary, so there is no difference to show.
    support: none
  idempotent:
    description: A second run with the same lock fetches nothing.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
seealso:
  - module: nodebootstrap.eks.image_verify
"""

EXAMPLES = r"""
- name: Fetch the inputs of the image
  nodebootstrap.eks.image_fetch:
    lock: inputs.lock
    folder: inputs

- name: Check before a bake that nothing is missing
  nodebootstrap.eks.image_fetch:
    lock: inputs.lock
    folder: inputs
    builder:
      id: ubuntu
      version_id: "24.04"
      architecture: x86_64
    download: false
"""

RETURN = r"""
fetched:
  description: The files that were fetched, below the folder.
  returned: success
  type: list
  elements: str
  sample: [packages/jq_1.7.1-3build1_amd64.deb]
removed:
  description: The files of the previous lock that were removed, below the folder.
  returned: success
  type: list
  elements: str
  sample: []
foreign:
  description: Files in the directories of the folder that no lock contains. They are kept, and not installed.
  returned: success
  type: list
  elements: str
  sample: []
files:
  description: Every file of the lock, with C(place) below the folder and the absolute C(path) on the controller.
  returned: success
  type: list
  elements: dict
  sample:
    - place: downloads/kubelet
      path: /home/me/inputs/downloads/kubelet
lock:
  description: The content of the lock.
  returned: success
  type: dict
  sample:
    system:
      id: ubuntu
      version_id: "24.04"
      architecture: x86_64
    requested: []
    packages: []
    downloads: []
problems:
  description: The problems with which the module failed. Each has C(rule), C(path), C(message) and C(fix).
  returned: failure
  type: list
  elements: dict
  sample: []
"""
