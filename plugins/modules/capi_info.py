#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads everything that is true of a cluster on the admin machine and in both clusters."""

from __future__ import annotations

DOCUMENTATION = r"""
module: capi_info
short_description: Get the state of a cluster on both sides of a move
version_added: 0.1.0
description:
  - Reads the bootstrap cluster, the cluster itself and the machines. Tells which side has which objects, what is installed, and what the
    cluster waits for.
  - What cannot be read is null, which is not the same as empty.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.anywhere
  - nodebootstrap.eks.reading
options:
  name:
    description: The name of the cluster.
    type: str
    required: true
  namespace:
    description: The namespace of its objects.
    type: str
    default: eksa-system
  bootstrap_name:
    description: The name of the bootstrap cluster of kind.
    type: str
    required: true
  bootstrap_kubeconfig:
    description: The path of the kubeconfig of the bootstrap cluster.
    type: path
    required: true
  kubeconfig:
    description: The path of the kubeconfig of the cluster itself.
    type: path
    required: true
  providers:
    description: The providers that both clusters need.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: The name, such as V(kubeadm).
        type: str
        required: true
      type:
        description: The type.
        type: str
        required: true
        choices: [CoreProvider, BootstrapProvider, ControlPlaneProvider, InfrastructureProvider]
      version:
        description: The version with its C(v).
        type: str
        required: true
  objects:
    description: The objects of the cluster. RV(is_applied) tells whether they are there, as they would be after an apply.
    type: list
    elements: dict
    default: []
  network:
    description: The objects of the network of the cluster, for RV(has_network).
    type: list
    elements: dict
    default: []
  machines_from:
    description:
      - V(docker) lists the machines of the provider Docker. V(machines) lists the objects C(Machine) of both sides, for providers whose
        machines cannot be seen from here. With V(none), RV(machines) is null.
    type: str
    choices: [docker, machines, none]
    default: none
seealso:
  - module: nodebootstrap.eks.capi_move
  - module: nodebootstrap.eks.capi_wait
"""

EXAMPLES = r"""
- name: See where the objects of the cluster are
  nodebootstrap.eks.capi_info:
    name: dev
    bootstrap_name: dev-eks-a-cluster
    bootstrap_kubeconfig: ~/eks-anywhere/dev/dev.kind.kubeconfig
    kubeconfig: ~/eks-anywhere/dev/dev-eks-a-cluster.kubeconfig
  register: dev

- name: Show them
  ansible.builtin.debug:
    msg: "{{ dev.target_side.objects | default([]) }}"
"""

RETURN = r"""
bootstrap:
  description: V(absent), V(debris) (the container exists without an answer of its API server) or V(running).
  returned: success
  type: str
  sample: running
bootstrap_side:
  description: The C(objects) of the cluster in the bootstrap cluster, their C(owners), and C(paused) of its object C(Cluster).
  returned: success
  type: dict
  sample: {objects: [Cluster/eksa-system/dev], owners: {}, paused: false}
bootstrap_providers:
  description: V(missing), V(partial), V(old) or V(ready).
  returned: success
  type: str
  sample: ready
target_side:
  description: The same as RV(bootstrap_side) in the cluster itself.
  returned: success
  type: dict
  sample: {objects: [], owners: {}, paused: null}
target_providers:
  description: The same as RV(bootstrap_providers) in the cluster itself.
  returned: success
  type: str
  sample: missing
machines:
  description: The names of the machines, or null if they are not known.
  returned: success
  type: list
  elements: str
  sample: [dev-abc]
has_kubeconfig:
  description: Whether the kubeconfig of the cluster is on disk.
  returned: success
  type: bool
  sample: true
is_initialized:
  description: Whether the API server of the cluster has answered once.
  returned: success
  type: bool
  sample: true
is_available:
  description: Whether the cluster is available with all machines.
  returned: success
  type: bool
  sample: true
is_applied:
  description: Whether O(objects) are applied.
  returned: success
  type: bool
  sample: true
differs:
  description: The objects of O(objects) that an apply would change, or null if the API server cannot say it.
  returned: success
  type: list
  elements: str
  sample: []
is_deleting:
  description: Whether the cluster is being deleted.
  returned: success
  type: bool
  sample: false
has_network:
  description: Whether O(network) is applied in the cluster.
  returned: success
  type: bool
  sample: true
problems:
  description: Why a side could not be read.
  returned: success
  type: list
  elements: str
  sample: []
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

from ..module_utils._anywhere import module_call
from ..module_utils._anywhere.observe import observe


def main() -> None:
    """Entry point."""
    specification = {
        **module_call.OBSERVED,
        **module_call.WORK_DIR,
    }
    module = AnsibleModule(specification, supports_check_mode=True)
    module_call.run_module(module, observe, ("docker", "kind", "kubectl"), only_reads=True)


if __name__ == "__main__":
    main()
