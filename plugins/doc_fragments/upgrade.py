# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the options of the modules that upgrade nodes."""

from __future__ import annotations


class ModuleDocFragment:
    """The order of the nodes, how they are drained, and the report."""

    DOCUMENTATION = r"""
options:
  by_zone:
    description: Whether the nodes of one zone are upgraded before those of the next.
    type: bool
    default: false
  canary:
    description: The number of nodes that are upgraded one by one before O(max_unavailable) applies.
    type: int
    default: 1
  drain_timeout:
    description:
      - The time that the pods of a node have to leave.
      - It is a duration such as V(15m), or a number of seconds.
    type: str
    default: 15m
  delete_after_timeout:
    description:
      - Whether pods that have not left after O(drain_timeout) are deleted, which ignores PodDisruptionBudgets.
    type: bool
    default: false
  delete_unmanaged_pods:
    description: Whether pods without a controller are evicted. Nothing creates them again.
    type: bool
    default: false
  delete_emptydir_data:
    description: Whether pods with emptyDir volumes are evicted. The data in these volumes is lost.
    type: bool
    default: false
  poll_interval:
    description: Seconds between two looks at the nodes and the group, from 0.1 to 60.
    type: float
    default: 5.0
  format:
    description: The format of the report and the plan. By default V(html) if the name of O(report) ends with C(.html), and otherwise
      V(text).
    type: str
    choices: [text, json, html]
  report:
    description: The path of the file for the report and the plan. Without it, they are printed.
    type: path
"""
