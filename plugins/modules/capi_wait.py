#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits for a cluster of Cluster API, and says what it waits for."""

from __future__ import annotations

DOCUMENTATION = r"""
module: capi_wait
short_description: Wait for a cluster of Cluster API
version_added: 0.1.0
description:
  - Waits until a cluster is in a state. If it takes too long, the message lists the objects that are not ready, each with its condition and
    its last events.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.anywhere
  - nodebootstrap.eks.anywhere.cluster
options:
  wait_for:
    description:
      - V(control_plane) waits until the API server of the cluster has answered once.
      - V(control_plane_ready) waits until all machines of the control plane have the wanted version and are ready.
      - V(available) waits until the cluster is available and all machines are up to date and ready.
      - V(deleted) waits until the objects of the cluster are gone, except Secrets without an owner, which nothing deletes.
    type: str
    choices: [available, control_plane, control_plane_ready, deleted]
    default: available
  timeout:
    description: Seconds to wait.
    type: float
    default: 3600.0
  fail:
    description: Whether the module fails after O(timeout). Otherwise it returns RV(reached) V(false).
    type: bool
    default: true
  pods_from:
    description: Paths of kubeconfigs. Pods and Deployments of their clusters that are not ready are a part of RV(evidence).
    type: list
    elements: path
    default: []
attributes:
  check_mode:
    description: Looks once, and does not fail.
    support: full
  diff_mode:
    description: Changes nothing, so there is no difference to show.
    support: none
seealso:
  - module: nodebootstrap.eks.capi_info
"""

EXAMPLES = r"""
- name: Wait for the machines
  nodebootstrap.eks.capi_wait:
    kubeconfig: ~/eks-anywhere/dev/dev.kind.kubeconfig
    name: dev
    wait_for: available
"""

RETURN = r"""
reached:
  description: Whether the cluster is in the state.
  returned: success
  type: bool
  sample: true
lines:
  description: RV(waits_for) as one line for each object.
  returned: if the state is not reached
  type: list
  elements: str
  sample: ["Machine dev-md-0-abc: Ready is False (NotReady): Waiting for the node"]
evidence:
  description:
    - What the cause is found from. These are the objects of the cluster, pods and Deployments that are not ready, and events, without what
      does not say what is wrong.
  returned: if the state is not reached
  type: list
  elements: dict
  sample: [{kind: Machine, metadata: {name: dev-md-0-abc}, status: {conditions: []}}]
waits_for:
  description: The objects that are not as they should be, the nearest to the cause first.
  returned: success
  type: list
  elements: dict
  contains:
    kind:
      description: The kind of the object.
      type: str
      returned: always
      sample: Machine
    name:
      description: Its name.
      type: str
      returned: always
      sample: dev-md-0-abc
    condition:
      description: The condition that is not true.
      type: str
      returned: always
      sample: Ready
    status:
      description: The status of the condition.
      type: str
      returned: always
      sample: "False"
    reason:
      description: The reason of the condition.
      type: str
      returned: always
      sample: NotReady
    message:
      description: The message of the condition.
      type: str
      returned: always
      sample: "NodeHealthy: Waiting for the node"
    events:
      description: The last events of the object, the newest first.
      type: list
      elements: str
      returned: always
      sample: ["FailedCreate: no space left on device"]
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._anywhere import blockers, module_call


def main() -> None:
    """Entry point."""
    specification = {
        "wait_for": {"type": "str", "choices": list(blockers.WAIT_STATES), "default": "available"},
        "timeout": {"type": "float", "default": 3600.0},
        "fail": {"type": "bool", "default": True},
        "pods_from": {"type": "list", "elements": "path", "default": []},
        **module_call.CLUSTER,
        **module_call.WORK_DIR,
    }
    module = AnsibleModule(specification, supports_check_mode=True)
    module_call.run_module(module, blockers.wait, ("kubectl",), only_reads=True)


if __name__ == "__main__":
    main()
