# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all plugins say alike that bring a live node to what its node group says."""

from __future__ import annotations


class ModuleDocFragment:
    """C(live): what the plan of a node is carried out with. C(live.input): what the plan is made from, and how long a node may take."""

    DOCUMENTATION = r"""
options:
  state:
    description:
      - V(present) sets the node up.
      - V(absent) stops kubelet, removes what was written, and puts back what was replaced. Data of the container runtime stay.
    type: str
    choices: [present, absent]
    default: present
  restart:
    description:
      - V(when_changed) restarts what has to be restarted.
      - V(never) writes files only. What is then due is kept on the node, and done by the next run that may.
    type: str
    choices: [when_changed, never]
    default: when_changed
  take_over:
    description: Whether a node may be changed that belongs to another cluster.
    type: bool
    default: false
  reconcile:
    description:
      - Whether other labels and taints are accepted for a node that is registered already, which kubelet cannot change by itself.
      - The result then says in RV(node_patches) and RV(node_taints) what has to be changed in the Node object.
      - Without it such a change is refused before anything is touched.
    type: bool
    default: false
  phases:
    description:
      - The phases to go through. What V(preflight) checks is always checked.
      - Without it the tags of the run choose. Those that are names of phases choose these, and a run that names none means all.
    type: list
    elements: str
    choices: [preflight, configure, validate, start, verify]
"""

    INPUT = r"""
options:
  cluster:
    description:
      - What a node must know of its cluster, for example C(name), C(endpoint), C(certificate_authority) and C(service_cidr).
    type: raw
    required: true
  node_group:
    description:
      - The node group that the node belongs to.
      - C(max_pods) may be V(auto) here. The node is then asked for its instance type, which also serves to compute C(reserved).
      - C(mode) must not be V(managed), as EKS sets up such nodes when they boot.
    type: raw
    required: true
  verify_timeout:
    description:
      - For how many seconds the node is waited for, until its services run and kubelet says that it is well.
      - V(0) looks once.
    type: int
    default: 60
attributes:
  action:
    description: Renders on the controller, and calls a module on the node.
    support: full
  idempotent:
    description: The same input changes nothing a second time and restarts nothing.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
"""
