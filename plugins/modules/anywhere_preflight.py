#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin anywhere_preflight."""

from __future__ import annotations

DOCUMENTATION = r"""
module: anywhere_preflight
short_description: Check an admin machine before an EKS Anywhere cluster is created
version_added: 0.1.0
description:
  - Checks what stops a creation after minutes or half an hour otherwise. Tools, Docker and its group, disk, memory, limits of inotify,
    cgroups, the clock, leftovers of earlier runs, ports, free addresses, and registries through the proxy or the mirror of the cluster.
  - Prints a table with the result of each check, and what to do. C(docs/eks-anywhere.md) lists the checks.
  - Each check has a name, and can be skipped by it.
  - Observes the machine with M(nodebootstrap.eks.anywhere_machine_info), and changes nothing.
  - Fails if a check failed that was not skipped. Warnings do not fail the task. If the file of the cluster has errors, fails before any
    check.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.anywhere.checks
options:
  cluster_file:
    description: Path of the YAML file of the cluster on the controller.
    type: path
    required: true
  engine:
    description:
      - The engine that is going to create the cluster.
      - V(capi) needs kind, clusterctl, kubectl, and helm for Cilium. V(eksctl) needs C(eksctl anywhere) and kubectl. Both need Docker.
    type: str
    choices: [capi, eksctl]
    default: capi
  work_dir:
    description: The folder on the admin machine for the files of clusters. It does not have to exist.
    type: str
    required: true
  timeout:
    description: Seconds until one tool or one registry times out, more than 0 and at most 60.
    type: float
    default: 10.0
attributes:
  action:
    description: Runs on the controller and on the admin machine.
    support: full
  check_mode:
    description: Returns the same result.
    support: full
  diff_mode:
    description: Changes nothing, so there is no difference to show.
    support: none
  idempotent:
    description: Changes nothing.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
requirements:
  - Python 3.7 or newer on the admin machine
seealso:
  - module: nodebootstrap.eks.anywhere_machine_info
  - module: nodebootstrap.eks.anywhere_validate
"""

EXAMPLES = r"""
- name: Check the admin machine
  nodebootstrap.eks.anywhere_preflight:
    cluster_file: dev.yaml
    work_dir: clusters
    skip_checks: [clock]
"""

RETURN = r"""
checks:
  description: All checks in the order of the table.
  returned: if the machine was observed
  type: list
  elements: dict
  contains:
    name:
      description: The name, by which the check can be skipped.
      type: str
      returned: always
      sample: inotify
    result:
      description: V(ok), V(warning), V(failed) or V(skipped).
      type: str
      returned: always
      sample: failed
    found:
      description: What was observed.
      type: str
      returned: always
      sample: max_user_watches 8192, max_user_instances 128
    cure:
      description: What to do, empty if nothing is to be done.
      type: str
      returned: always
      sample: sudo sysctl -w fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512, and the same in a file of /etc/sysctl.d
counts:
  description: The number of checks with each result.
  returned: if the machine was observed
  type: dict
  sample: {failed: 1, warning: 0, skipped: 2, ok: 17}
failed_checks:
  description: The names of the checks that failed.
  returned: if the machine was observed
  type: list
  elements: str
  sample: [inotify]
"""
