#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs a package in a cluster with helm."""

from __future__ import annotations

DOCUMENTATION = r"""
module: capi_package
short_description: Install a package in a cluster with helm
version_added: 0.1.0
description:
  - Compares the release of helm with the wanted chart, version and values. Runs C(helm upgrade --install) only if they differ, so that a
    second run changes nothing.
  - What an interrupted helm left is ended first. An installation is removed and made again, and an upgrade is rolled back.
  - The values are given to helm in a file with mode 0600, which is removed afterwards, and are not shown.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.anywhere
options:
  kubeconfig:
    description: The path of the kubeconfig of the cluster.
    type: path
    required: true
  name:
    description: The name of the release.
    type: str
    required: true
  chart:
    description: The path of a folder or an archive with the chart on the machine where the module runs, or C(oci://REGISTRY/CHART).
    type: str
    required: true
  version:
    description: The version of the chart. It is required for a chart in a registry.
    type: str
  namespace:
    description: The namespace of the release. It is created if it does not exist.
    type: str
    default: eksa-packages
  chart_values:
    description: The values of the chart.
    type: dict
    default: {}
  timeout:
    description: Seconds until the objects of the release must be ready.
    type: float
    default: 600.0
attributes:
  check_mode:
    description: Returns whether the release would be changed.
    support: full
  diff_mode:
    description: Shows the chart and the status. Values can be secret and are not shown.
    support: full
seealso:
  - module: nodebootstrap.eks.anywhere_cluster
"""

EXAMPLES = r"""
- name: Install a package from a folder
  nodebootstrap.eks.capi_package:
    kubeconfig: ~/eks-anywhere/dev/dev-eks-a-cluster.kubeconfig
    work_dir: ~/eks-anywhere/dev
    name: harbor
    chart: /srv/charts/harbor
    chart_values:
      expose: {type: clusterIP}
"""

RETURN = r"""
status:
  description: The status of the release, such as V(deployed), or V(absent).
  returned: success
  type: str
  sample: deployed
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._anywhere import module_call, packages


def main() -> None:
    """Entry point."""
    specification = {
        "kubeconfig": {"type": "path", "required": True},
        "name": {"type": "str", "required": True},
        "chart": {"type": "str", "required": True},
        "version": {"type": "str"},
        "namespace": {"type": "str", "default": "eksa-packages"},
        "chart_values": {"type": "dict", "default": {}, "no_log": True},
        "timeout": {"type": "float", "default": 600.0},
        **module_call.WORK_DIR,
    }
    module = AnsibleModule(specification, supports_check_mode=True)
    module_call.run_module(module, packages.install, ("helm",))


if __name__ == "__main__":
    main()
