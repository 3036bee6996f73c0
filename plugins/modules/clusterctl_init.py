#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs the providers of Cluster API in a cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: clusterctl_init
short_description: Install Cluster API in a cluster
version_added: 0.1.0
description:
  - Runs C(clusterctl init) if a provider is missing, and waits until all Deployments of the providers are available.
  - An installation that was interrupted is completed. Other versions than the installed ones are refused.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.anywhere
  - nodebootstrap.eks.anywhere.clusterctl
attributes:
  check_mode:
    description: Returns whether a provider would be installed.
    support: full
  diff_mode:
    description: Shows the providers before and after.
    support: full
seealso:
  - module: nodebootstrap.eks.kind_cluster
  - module: nodebootstrap.eks.capi_move
"""

EXAMPLES = r"""
- name: Install Cluster API with the provider Docker
  nodebootstrap.eks.clusterctl_init:
    work_dir: ~/eks-anywhere/dev
    kubeconfig: ~/eks-anywhere/dev/dev.kind.kubeconfig
    providers:
      - {name: cluster-api, type: CoreProvider, version: v1.13.4}
      - {name: kubeadm, type: BootstrapProvider, version: v1.13.4}
      - {name: kubeadm, type: ControlPlaneProvider, version: v1.13.4}
      - {name: docker, type: InfrastructureProvider, version: v1.13.4}
"""

RETURN = r"""
state:
  description: V(missing), V(partial), V(old) or V(ready). After a run it is V(ready).
  returned: success
  type: str
  sample: ready
to_install:
  description: The providers that were missing.
  returned: success
  type: list
  elements: str
  sample: [InfrastructureProvider docker v1.13.4]
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._anywhere import module_call, providers


def main() -> None:
    """Entry point."""
    specification = {
        "kubeconfig": {"type": "path", "required": True},
        "providers": dict(module_call.PROVIDERS, required=True),
        "config": {"type": "str", "default": ""},
        "timeout": {"type": "float", "default": 1800.0},
        **module_call.ENVIRONMENT,
        **module_call.WORK_DIR,
    }
    module = AnsibleModule(specification, supports_check_mode=True)
    module_call.run_module(module, providers.init, ("clusterctl", "kubectl"))


if __name__ == "__main__":
    main()
