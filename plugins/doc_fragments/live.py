# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation shared by the plugins for live nodes."""

from __future__ import annotations


class ModuleDocFragment:
    """C(live): options of every module that changes a node. C(live.input): the input, and how long to wait for the node.

    C(live.linux): options of the modules for Linux nodes. C(live.refused): the same options in the other modules.
    """

    DOCUMENTATION = r"""
options:
  state:
    description:
      - V(present) applies the node group to the node.
      - V(absent) stops kubelet, removes the files of this module, and restores the files that it replaced. Data of the container runtime
        stays on the node.
    type: str
    choices: [present, absent]
    default: present
  restart:
    description:
      - V(when_changed) restarts a service if its effective configuration changed.
      - V(never) writes files and restarts nothing. Pending restarts are recorded on the node. The next run that allows restarts performs
        them.
    type: str
    choices: [when_changed, never]
    default: when_changed
  take_over:
    description: Whether to move a node from another cluster to this cluster. Otherwise such a node is refused and stays unchanged.
    type: bool
    default: false
  reconcile:
    description:
      - Whether to accept changed labels and taints for a registered node. Kubelet sets labels and taints only when it registers the node.
      - The result contains the changes that the Node object needs, in RV(node_patches) and RV(node_taints).
      - Without this option such a change is refused, and the node stays unchanged.
    type: bool
    default: false
  phases:
    description:
      - The phases to run. The checks of V(preflight) always run.
      - By default the tags of the run select the phases. If no tag names a phase, all phases run. Skipped tags skip their phases.
    type: list
    elements: str
    choices: [preflight, configure, validate, start, verify]
"""

    REFUSED = r"""
options:
  drift:
    description: Refused, because this module always compares the node with the node group. Only M(nodebootstrap.eks.apply) supports it.
    type: str
    choices: [repair, report, ignore]
  lock_timeout:
    description: Refused, because a run does not wait for another run on the same node. Only M(nodebootstrap.eks.apply) supports it.
    type: int
"""

    INPUT = r"""
options:
  cluster:
    description:
      - The cluster that the node joins, with fields such as C(name), C(endpoint), C(certificate_authority) and C(service_cidr).
    type: raw
    required: true
  node_group:
    description:
      - The node group of the node.
      - With C(max_pods=auto) the module reads the instance type from the node. C(reserved) uses this type, too.
      - C(mode=managed) is refused, because EKS configures such nodes when they boot.
    type: raw
    required: true
  files_dir:
    description: The directory on the controller where relative paths in C(user_data_files) of the node group start.
    type: path
    default: .
  wait_for:
    description:
      - The state to wait for in the phase V(verify).
      - V(healthy) means that the health endpoint of kubelet answers C(ok).
      - V(registered) and V(ready) are refused, because this module cannot ask the cluster about the node.
    type: str
    choices: [healthy, registered, ready]
    default: healthy
  wait_timeout:
    description:
      - Seconds to wait for O(wait_for), in total.
      - V(0) checks once.
    type: int
    default: 300
attributes:
  action:
    description: Renders on the controller, and runs a module on the node.
    support: full
  idempotent:
    description: A second run with the same input changes nothing and restarts nothing.
    support: full
  platform:
    description: The platform of the node.
    support: full
    platforms: posix
"""

    LINUX = r"""
options:
  drift:
    description:
      - What to do about drift, which is a value that a program of the image (C(bootstrap.sh), nodeadm or the snap) set in the last verified
        run, and that was changed since.
      - V(repair) runs the program of the image again. Check mode and C(--diff) show both values.
      - V(report) only warns. V(ignore) does not look for drift.
      - If another program undoes a repair, the task fails and names that program if it can be found.
    type: str
    choices: [repair, report, ignore]
    default: repair
  lock_timeout:
    description:
      - Seconds to wait for another run on the same node, or for the recovery of an interrupted run.
      - V(0) fails at once.
    type: int
    default: 30
"""
