#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Begins to delete a cluster with its machines."""

from __future__ import annotations

DOCUMENTATION = r"""
module: capi_delete
short_description: Delete a cluster of Cluster API
version_added: 0.1.0
description:
  - Deletes the object C(Cluster), upon which its controllers delete the machines. Use M(nodebootstrap.eks.capi_wait) to wait for them.
  - Refuses a paused cluster, because its controllers would not delete the machines.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.anywhere
  - nodebootstrap.eks.anywhere.cluster
attributes:
  check_mode:
    description: Returns whether the cluster would be deleted.
    support: full
  diff_mode:
    description: Shows the objects that are deleted.
    support: full
seealso:
  - module: nodebootstrap.eks.capi_wait
  - module: nodebootstrap.eks.capi_move
"""

EXAMPLES = r"""
- name: Delete the cluster
  nodebootstrap.eks.capi_delete:
    kubeconfig: ~/eks-anywhere/dev/dev.kind.kubeconfig
    name: dev

- name: Wait until its machines are gone
  nodebootstrap.eks.capi_wait:
    kubeconfig: ~/eks-anywhere/dev/dev.kind.kubeconfig
    name: dev
    wait_for: deleted
"""

RETURN = r"""
changed:
  description: Whether the deletion was begun.
  returned: always
  type: bool
  sample: true
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._anywhere import cluster_changes, module_call


def main() -> None:
    """Entry point."""
    specification = {
        **module_call.CLUSTER,
        **module_call.WORK_DIR,
    }
    module = AnsibleModule(specification, supports_check_mode=True)
    module_call.run_module(module, cluster_changes.delete, ("kubectl",))


if __name__ == "__main__":
    main()
