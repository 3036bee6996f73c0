#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Upgrades the providers of Cluster API in a cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: clusterctl_upgrade
short_description: Upgrade Cluster API in a cluster
version_added: 0.1.0
description:
  - Runs C(clusterctl upgrade apply) for the providers that have other versions, and C(clusterctl init) for missing ones. Then it waits
    until all Deployments of the providers are available. cert-manager is upgraded, too.
  - An upgrade that was interrupted is completed. Older versions than the installed ones are refused.
  - The machines of clusters do not change.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.anywhere
  - nodebootstrap.eks.anywhere.clusterctl
options:
  cert_manager_version:
    description:
      - The version of cert-manager with its C(v), as O(config) has it.
      - Without it, C(clusterctl upgrade plan) says whether cert-manager changes.
    type: str
attributes:
  check_mode:
    description: Returns what would be upgraded.
    support: full
  diff_mode:
    description: Shows the providers before and after.
    support: full
seealso:
  - module: nodebootstrap.eks.clusterctl_init
"""

EXAMPLES = r"""
- name: Upgrade Cluster API with the provider Docker
  nodebootstrap.eks.clusterctl_upgrade:
    work_dir: ~/eks-anywhere/dev
    kubeconfig: ~/eks-anywhere/dev/dev-eks-a-cluster.kubeconfig
    providers:
      - {name: cluster-api, type: CoreProvider, version: v1.14.0}
      - {name: kubeadm, type: BootstrapProvider, version: v1.14.0}
      - {name: kubeadm, type: ControlPlaneProvider, version: v1.14.0}
      - {name: docker, type: InfrastructureProvider, version: v1.14.0}
"""

RETURN = r"""
to_upgrade:
  description: The providers that had another version.
  returned: success
  type: list
  elements: str
  sample: [CoreProvider cluster-api v1.14.0]
to_install:
  description: The providers that were missing.
  returned: success
  type: list
  elements: str
  sample: []
cert_manager:
  description: The new version of cert-manager, V(newer) if only clusterctl knows it, or an empty text if it does not change.
  returned: success
  type: str
  sample: v1.20.2
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._anywhere import cluster_upgrade, module_call


def main() -> None:
    """Entry point."""
    specification = {
        "kubeconfig": {"type": "path", "required": True},
        "providers": dict(module_call.PROVIDERS, required=True),
        "cert_manager_version": {"type": "str"},
        "config": {"type": "str", "default": ""},
        "timeout": {"type": "float", "default": 1800.0},
        **module_call.ENVIRONMENT,
        **module_call.WORK_DIR,
    }
    module = AnsibleModule(specification, supports_check_mode=True)
    module_call.run_module(module, cluster_upgrade.upgrade_providers, ("clusterctl", "kubectl"))


if __name__ == "__main__":
    main()
