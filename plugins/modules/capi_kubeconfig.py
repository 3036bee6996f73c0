#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Saves the kubeconfig of a cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: capi_kubeconfig
short_description: Save the kubeconfig of a cluster of Cluster API
version_added: 0.1.0
description:
  - Writes the kubeconfig from the Secret of Cluster API with mode 0600. The file is replaced as a whole, and only by a complete kubeconfig.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.anywhere
  - nodebootstrap.eks.anywhere.cluster
options:
  dest:
    description: The path of the file. Its folder must exist.
    type: path
    required: true
attributes:
  check_mode:
    description: Returns whether the file would change.
    support: full
  diff_mode:
    description: The file contains a private key, so no difference is shown.
    support: none
seealso:
  - module: nodebootstrap.eks.capi_wait
"""

EXAMPLES = r"""
- name: Save the kubeconfig of the cluster
  nodebootstrap.eks.capi_kubeconfig:
    kubeconfig: ~/eks-anywhere/dev/dev.kind.kubeconfig
    name: dev
    dest: ~/eks-anywhere/dev/dev-eks-a-cluster.kubeconfig
"""

RETURN = r"""
dest:
  description: The path of the file.
  returned: success
  type: str
  sample: /home/me/eks-anywhere/dev/dev-eks-a-cluster.kubeconfig
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._anywhere import cluster_changes, module_call


def main() -> None:
    """Entry point."""
    specification = {
        "dest": {"type": "path", "required": True},
        **module_call.CLUSTER,
        **module_call.WORK_DIR,
    }
    module = AnsibleModule(specification, supports_check_mode=True)
    module_call.run_module(module, cluster_changes.save_kubeconfig, ("kubectl",))


if __name__ == "__main__":
    main()
