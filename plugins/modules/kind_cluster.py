#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Creates, starts or deletes a bootstrap cluster with kind."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kind_cluster
short_description: Manage a bootstrap cluster of kind
version_added: 0.1.0
description:
  - Creates a cluster of kind with one node, starts it after a reboot, or deletes it.
  - Never deletes a cluster that owns objects C(Cluster) or C(Machine) of Cluster API, because the machines would run on without a manager.
  - Finds the cluster by the exact name of its container. C(kind get clusters) also lists clusters of Docker machines, so the module does
    not use it.
  - Keeps the node of a creation that failed, so that its logs say why.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.anywhere
options:
  name:
    description: The name of the cluster.
    type: str
    required: true
  state:
    description:
      - V(present) creates the cluster if it does not exist. A container whose API server does not answer is refused.
      - V(started) also starts the container of an existing cluster, and waits for the API server.
      - V(absent) deletes the cluster and the file O(kubeconfig).
    type: str
    choices: [present, started, absent]
    default: present
  kubeconfig:
    description: The path of the kubeconfig that kind writes. Its mode is 0600.
    type: path
    required: true
  config:
    description: The configuration of kind as YAML. It is needed to create a cluster.
    type: str
    default: ""
  files:
    description:
      - Files that the configuration mounts into the node, as their paths in O(work_dir) and their texts, such as C(hosts.toml) of a
        registry mirror. Their mode is 0600, and V(absent) removes them.
    type: dict
    default: {}
  environment:
    description: Variables for kind, such as C(HTTPS_PROXY). kind gives the proxy to its node.
    type: dict
    default: {}
  unreachable_is_empty:
    description: Whether V(absent) may delete a cluster whose API server does not answer. Only set it if the cluster owns no machines.
    type: bool
    default: false
  timeout:
    description: Seconds that kind, and the API server after a start, may take.
    type: float
    default: 900.0
attributes:
  check_mode:
    description: Returns whether the cluster would be created, started or deleted.
    support: full
  diff_mode:
    description: Shows the state before and after.
    support: full
seealso:
  - module: nodebootstrap.eks.clusterctl_init
"""

EXAMPLES = r"""
- name: Create a bootstrap cluster
  nodebootstrap.eks.kind_cluster:
    name: dev-eks-a-cluster
    work_dir: ~/eks-anywhere/dev
    kubeconfig: ~/eks-anywhere/dev/dev.kind.kubeconfig
    config: |
      kind: Cluster
      apiVersion: kind.x-k8s.io/v1alpha4

- name: Delete it, if it owns no machines any more
  nodebootstrap.eks.kind_cluster:
    name: dev-eks-a-cluster
    work_dir: ~/eks-anywhere/dev
    kubeconfig: ~/eks-anywhere/dev/dev.kind.kubeconfig
    state: absent
"""

RETURN = r"""
state:
  description: V(absent), V(debris) (the container exists without an answer of its API server) or V(running).
  returned: success
  type: str
  sample: running
kubeconfig:
  description: The path of the kubeconfig.
  returned: success
  type: str
  sample: /home/me/eks-anywhere/dev/dev.kind.kubeconfig
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._anywhere import module_call
from ..module_utils._anywhere.bootstrap_cluster import kind_cluster


def main() -> None:
    """Entry point."""
    specification = {
        "name": {"type": "str", "required": True},
        "state": {"type": "str", "choices": ["present", "started", "absent"], "default": "present"},
        "kubeconfig": {"type": "path", "required": True},
        "config": {"type": "str", "default": ""},
        "files": {"type": "dict", "default": {}, "no_log": True},
        **module_call.ENVIRONMENT,
        "unreachable_is_empty": {"type": "bool", "default": False},
        "timeout": {"type": "float", "default": 900.0},
        **module_call.WORK_DIR,
    }
    module = AnsibleModule(specification, supports_check_mode=True)
    module_call.run_module(module, kind_cluster, ("kind", "docker", "kubectl"))


if __name__ == "__main__":
    main()
