#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies objects to a management cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: capi_apply
short_description: Apply objects of Cluster API
version_added: 0.1.0
description:
  - Applies objects on the server, and takes over fields of other managers. Compares them with the live objects first, so that a second run
    changes nothing.
  - Errors of webhooks and connections that pass while a cluster starts are retried.
  - Values of Secrets are not shown.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.anywhere
options:
  kubeconfig:
    description: The path of the kubeconfig of the cluster.
    type: path
    required: true
  namespace:
    description: The namespace of objects that do not name one.
    type: str
    default: eksa-system
  objects:
    description: The objects, each owner before what it owns.
    type: list
    elements: dict
    required: true
  timeout:
    description: Seconds for which errors that pass are retried.
    type: float
    default: 150.0
attributes:
  check_mode:
    description: Lets the API server compare the objects, and changes nothing.
    support: full
  diff_mode:
    description: Shows every object that differs.
    support: full
seealso:
  - module: nodebootstrap.eks.capi_wait
  - module: nodebootstrap.eks.capi_delete
"""

EXAMPLES = r"""
- name: Apply the namespace of the objects
  nodebootstrap.eks.capi_apply:
    kubeconfig: ~/eks-anywhere/dev/dev.kind.kubeconfig
    objects:
      - apiVersion: v1
        kind: Namespace
        metadata: {name: eksa-system}
"""

RETURN = r"""
changed:
  description: Whether an object was created or changed.
  returned: always
  type: bool
  sample: true
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._anywhere import cluster_changes, module_call


def main() -> None:
    """Entry point."""
    specification = {
        "kubeconfig": {"type": "path", "required": True},
        "namespace": {"type": "str", "default": "eksa-system"},
        "objects": {"type": "list", "elements": "dict", "required": True},
        "timeout": {"type": "float", "default": 150.0},
        **module_call.WORK_DIR,
    }
    module = AnsibleModule(specification, supports_check_mode=True)
    module_call.run_module(module, cluster_changes.apply, ("kubectl",))


if __name__ == "__main__":
    main()
