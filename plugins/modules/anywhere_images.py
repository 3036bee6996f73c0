#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The half of the action plugin anywhere_images that runs on the admin machine: asks clusterctl."""

from __future__ import annotations

DOCUMENTATION = r"""
module: anywhere_images
short_description: List the images that the creation of an EKS Anywhere cluster needs
version_added: 0.1.0
description:
  - Merges the images of Cluster API and cert-manager, as C(clusterctl init list-images) prints them on the admin machine, the image of the
    bootstrap cluster, and the images of manifests, such as those of the CNI.
  - Prints each image once, with its whole name, and with its name in the registry mirror of the cluster.
  - Fails if the registry mirror does not have a registry of the list, and for images without a tag and a digest.
  - Pulls and copies nothing.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  cluster_file:
    description: Path of the YAML file of the cluster on the controller.
    type: path
    required: true
  cluster_api_version:
    description:
      - The version of Cluster API and its Docker provider, for example V(v1.14.0).
      - Without it, clusterctl asks the internet for the newest one.
    type: str
  clusterctl_arguments:
    description: The arguments of C(clusterctl init list-images) instead of the arguments that follow from the provider and the version.
    type: list
    elements: str
  clusterctl_config:
    description: The path of the configuration of clusterctl on the admin machine, for example with a provider repository in a folder.
    type: str
  bootstrap_image:
    description: The image of the bootstrap cluster, for example V(kindest/node:v1.36.3).
    type: str
  images:
    description: More images, for example those of the machines and of the load balancer of the Docker provider.
    type: list
    elements: str
    default: []
  manifests:
    description: Paths of manifests on the controller whose images are listed, for example those of the CNI.
    type: list
    elements: path
    default: []
  output:
    description: The path of a file on the controller for the list. Each line has an image and, after a space, its name in the mirror.
    type: path
  timeout:
    description: Seconds until clusterctl times out, more than 0 and at most 600.
    type: float
    default: 60.0
attributes:
  action:
    description: Runs on the controller and on the admin machine.
    support: full
  check_mode:
    description: Returns the list without writing it.
    support: full
  diff_mode:
    description: Reports no differences.
    support: none
  idempotent:
    description: A second run with the same providers changes nothing.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
requirements:
  - Python 3.7 or newer and clusterctl on the admin machine
seealso:
  - module: nodebootstrap.eks.anywhere_preflight
"""

EXAMPLES = r"""
- name: List the images of a cluster
  nodebootstrap.eks.anywhere_images:
    cluster_file: dev.yaml
    cluster_api_version: v1.14.0
    bootstrap_image: kindest/node:v1.36.3
    images: [kindest/haproxy:v20230606-42a2262b]
    output: images.txt
"""

RETURN = r"""
images:
  description: The images, sorted by name.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The whole name.
      type: str
      returned: always
      sample: registry.k8s.io/cluster-api/cluster-api-controller:v1.14.0
    mirror:
      description: The name in the registry mirror of the cluster, or null without a mirror.
      type: str
      returned: always
      sample: registry.lan:5000/cluster-api/cluster-api-controller:v1.14.0
    sources:
      description: Where the image is named. V(clusterctl), V(kind), V(options), or V(manifests[0]) for the first manifest.
      type: list
      elements: str
      returned: always
      sample: [clusterctl]
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._anywhere_admin.tools import Tools, last_line

OPTIONS = {
    "cluster_file": {"type": "path", "required": True},
    "cluster_api_version": {"type": "str"},
    "clusterctl_arguments": {"type": "list", "elements": "str"},
    "clusterctl_config": {"type": "str"},
    "bootstrap_image": {"type": "str"},
    "images": {"type": "list", "elements": "str", "default": []},
    "manifests": {"type": "list", "elements": "path", "default": []},
    "output": {"type": "path"},
    "timeout": {"type": "float", "default": 60.0},
}


def main():
    """Return the lines that clusterctl prints. The action makes the list."""
    module = AnsibleModule(argument_spec=OPTIONS, supports_check_mode=True)
    given = module.params
    if not 0 < given["timeout"] <= 600:
        module.fail_json(msg=f"timeout {given['timeout']} is out of range: more than 0 and at most 600 seconds")
    config = ["--config", given["clusterctl_config"]] if given["clusterctl_config"] else []
    argv = ["clusterctl", "init", "list-images", *(given["clusterctl_arguments"] or ()), *config]
    result = Tools(given["timeout"]).run(argv)
    if result.status:
        module.fail_json(msg=f"clusterctl init list-images failed ({result.status}): {last_line(result)}")
    module.exit_json(changed=False, lines=result.output.splitlines())


if __name__ == "__main__":
    main()
