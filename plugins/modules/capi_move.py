#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin capi_move."""

from __future__ import annotations

DOCUMENTATION = r"""
module: capi_move
short_description: Move a cluster of Cluster API, or finish a move that was interrupted
version_added: 0.1.0
description:
  - Moves the objects of a cluster from one management cluster to another with C(clusterctl move), after a backup.
  - A move that was interrupted is completed, or rolled back with O(roll_back=true). C(clusterctl move) refuses to run again then, and to
    unpause an incomplete source makes its controllers create machines a second time. The module compares the objects of both sides, and
    never unpauses a side that is not complete.
  - If the two sides do not fit together, the module stops, and says how a person can go on.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.anywhere
options:
  from_kubeconfig:
    description: The path of the kubeconfig of the source on the admin machine.
    type: str
    required: true
  to_kubeconfig:
    description: The path of the kubeconfig of the destination on the admin machine.
    type: str
    required: true
  name:
    description: The name of the cluster.
    type: str
    required: true
  namespace:
    description: The namespace of its objects. C(clusterctl move) moves everything in it, so it must belong to this cluster alone.
    type: str
    default: eksa-system
  backup_dir:
    description: A folder on the admin machine for the backup. It gets mode 0700, because the backup contains private keys.
    type: str
    required: true
  roll_back:
    description: Whether to undo the move. This is possible as long as the source is complete.
    type: bool
    default: false
  timeout:
    description: Seconds that C(clusterctl) may take.
    type: float
    default: 1800.0
attributes:
  action:
    description: Decides on the controller, and runs the steps on the admin machine.
    support: full
  check_mode:
    description: Returns the next step.
    support: full
  diff_mode:
    description: The steps say what is changed.
    support: none
  idempotent:
    description: A second run changes nothing.
    support: full
seealso:
  - module: nodebootstrap.eks.capi_info
  - module: nodebootstrap.eks.clusterctl_init
"""

EXAMPLES = r"""
- name: Move the management into the cluster
  nodebootstrap.eks.capi_move:
    from_kubeconfig: ~/eks-anywhere/dev/dev.kind.kubeconfig
    to_kubeconfig: ~/eks-anywhere/dev/dev-eks-a-cluster.kubeconfig
    name: dev
    work_dir: ~/eks-anywhere/dev
    backup_dir: ~/eks-anywhere/dev/backup
"""

RETURN = r"""
steps:
  description: The steps that were taken. In check mode, only the next one.
  returned: always
  type: list
  elements: str
  sample: ["save a backup, and move"]
objects:
  description: The number of objects on each side, C(source) and C(destination), before the last step.
  returned: always
  type: dict
  sample: {source: 0, destination: 24}
"""
