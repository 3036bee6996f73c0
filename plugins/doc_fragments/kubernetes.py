# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the options of modules that call the Kubernetes API from the controller."""

from __future__ import annotations


class ModuleDocFragment:
    """The options that C(module_utils/_kubernetes/client.py) reads.

    C(kubernetes.cluster): a cluster that is not required. C(kubernetes.drain): how nodes are drained.
    """

    DOCUMENTATION = r"""
options:
  kubeconfig:
    description:
      - The path of a kubeconfig. The default is E(KUBECONFIG), then C(~/.kube/config). Credential programs in it are run.
      - If there is no such file, a token is made from AWS credentials, as C(aws eks get-token) does it. Then O(cluster) needs C(name),
        C(endpoint) and C(certificate_authority). No program is needed for this.
    type: path
  context:
    description: The context of the kubeconfig. The default is its current context.
    type: str
"""

    CLUSTER = r"""
options:
  cluster:
    description:
      - The cluster, as for M(nodebootstrap.eks.render), or the result of M(nodebootstrap.eks.cluster_info).
      - If it has an C(endpoint), a kubeconfig that leads to another API is refused.
    type: dict
    default: {}
"""

    DRAIN = r"""
options:
  timeout:
    description: How long the drain of one node may take, as V(15m) or V(900s).
    type: str
    default: 15m
  delete_after_timeout:
    description:
      - Whether to delete pods that are still there after O(timeout), in spite of their PodDisruptionBudgets. They keep their grace period.
    type: bool
    default: false
  delete_unmanaged_pods:
    description: Whether to remove pods that no controller creates again. Otherwise the node is not drained.
    type: bool
    default: false
  delete_emptydir_data:
    description: Whether to remove pods with data in C(emptyDir) volumes. Otherwise the node is not drained.
    type: bool
    default: false
"""
