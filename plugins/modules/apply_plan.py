#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries out a plan on the node where it runs, all of it or nothing."""

from __future__ import annotations

DOCUMENTATION = r"""
module: apply_plan
short_description: Internal part of apply, not for direct use
version_added: 0.1.0
description:
  - This module is internal. Use M(nodebootstrap.eks.apply), which renders the plan and runs this module on the node. The options can
    change in any release.
  - Compares the node with the plan, writes and removes files, and restarts only services whose effective configuration changed.
  - Applies all changes or none. It stages new files next to their targets, syncs them, and commits the change with one rename. If a step
    fails, it restores the previous files and services. The next run, or a unit at the next boot, finishes or rolls back an interrupted run.
  - C(/var/lib/nodebootstrap/manifest.json), which only root can read, lists the files and settings of this module.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.live
  - nodebootstrap.eks.live.linux
options:
  plan:
    description: The plan in the encoding of the action, base64 of compressed JSON.
    type: str
    required: true
  phases:
    description:
      - The phases to run. The checks of V(preflight) only read and always run.
      - V(validate) checks the new files with the programs of the node, before V(configure) writes them. V(start) enables, starts and
        restarts units. V(verify) waits for O(wait_for).
      - Without V(start), pending restarts are recorded on the node. A later call with V(start) performs them.
    default: [preflight, configure, validate, start, verify]
  state:
    description:
      - V(present) applies the plan to the node.
      - V(absent) stops kubelet, disables the units that the module enabled, removes the files in the manifest, and restores the files that
        they replaced. Data of the container runtime stays on the node. The plan only identifies the cluster.
  restart:
    description: With V(never), the module does not start or restart services. Pending restarts are recorded on the node.
  reconcile:
    description:
      - Whether to accept changed labels and taints for a registered node.
      - RV(registration) then contains the changes that the Node object needs.
  wait_for:
    description:
      - The state to wait for in the phase V(verify). V(healthy) checks only the units and the health endpoint of kubelet.
      - V(registered) and V(ready) also ask the API server about the node, as M(nodebootstrap.eks.join_check) does.
    type: str
    choices: [healthy, registered, ready]
    default: healthy
  wait_timeout:
    description:
      - Seconds to wait for O(wait_for) in this call. The call returns as soon as the node is in this state.
      - A final cause must stay the same for 4 seconds, so the call can take up to 4 seconds more.
    type: float
    default: 5.0
  lock_timeout:
    type: float
    default: 30.0
attributes:
  check_mode:
    description: Compares and validates. Writes the new files only to a private directory below C(/run), and removes it afterwards.
    support: full
  diff_mode:
    description: Shows every file and every snap setting that changes. For files that may contain secrets, it shows only the name.
    support: full
  platform:
    description: The platform of the node.
    support: full
    platforms: posix
requirements:
  - Python 3.7 or newer on the node
  - systemd, and root on the node
seealso:
  - module: nodebootstrap.eks.apply
"""

EXAMPLES = r"""
- name: Check again whether a node is healthy, as the action apply does while it waits
  nodebootstrap.eks.apply_plan:
    plan: "{{ plan }}"
    phases: [verify]
  become: true
"""

RETURN = r"""
actions:
  description: The actions, in order. In check mode, the actions that a run would perform.
  returned: success
  type: list
  elements: str
  sample: ["write /etc/eks/nodeadm.d/50-nodebootstrap.yaml", "reload systemd", "start nodeadm-config.service nodeadm-run.service"]
restarted:
  description: The running units that were restarted.
  returned: success
  type: list
  elements: str
  sample: ["kubelet.service"]
healthy:
  description: Whether the units are active and kubelet is healthy. Null if this was not checked.
  returned: success
  type: bool
  sample: true
missing:
  description: The reasons why the node is not healthy.
  returned: success
  type: list
  elements: str
  sample: ["kubelet.service is activating (start-pre)"]
join:
  description:
    - The result of M(nodebootstrap.eks.join_check), without C(msg). Null if the join was not checked.
    - If the node is not healthy, the result of a single check.
  returned: success
  type: dict
  sample: {"node": "ip-10-0-0-5.ec2.internal", "registered": true, "ready": true, "cause": null, "message": null, "fix": null,
    "evidence": [], "final": false, "waited": 0.9}
evidence:
  description: If a unit fails again and again, how its process exits, how often systemd restarted it, and its last lines.
  returned: success
  type: list
  elements: str
  sample: ["kubelet.service: its process exits with status 1/FAILURE, and systemd has restarted it 12 times"]
waited:
  description: The seconds until RV(healthy) was known.
  returned: success
  type: float
  sample: 0.2
recovered:
  description: V(finished) or V(undone) if the module finished or rolled back an interrupted run. Otherwise null.
  returned: success
  type: str
  sample: null
registration:
  description:
    - With O(reconcile=true), the changes that the Node object of a registered node needs. Null if there are none.
    - A label that is null must be removed.
  returned: success
  type: dict
  sample: {"node": "ip-10-0-0-5.ec2.internal", "labels": {"role": "worker"}, "taints": {"set": [], "remove": ["dedicated=x:NoSchedule"]}}
drift:
  description: As in RV(nodebootstrap.eks.apply#module:drift).
  returned: success
  type: list
  elements: dict
  sample: []
facts:
  description: Facts about the node.
  returned: success
  type: dict
  contains:
    hostname:
      description: The host name of the node.
      type: str
      returned: always
      sample: ip-10-0-0-5.ec2.internal
foreign:
  description:
    - On Amazon Linux 2023, documents that nodeadm reads in addition to the documents of the plan, by path. The key C(user_data) contains
      the user data.
    - The action does not return these documents, because user data can contain secrets.
  returned: success
  type: dict
  sample: {}
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._engine.apply import apply
from ..module_utils._engine.apply_run import PHASES, Options
from ..module_utils._engine.plan import decode
from ..module_utils._node.errors import ApplyRefused
from ..module_utils._transaction.store import RecoveryFailed

ARGUMENTS: dict[str, Any] = {
    "plan": {"type": "str", "required": True, "no_log": True},
    "phases": {"type": "list", "elements": "str", "choices": list(PHASES), "default": list(PHASES)},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "restart": {"type": "str", "choices": ["when_changed", "never"], "default": "when_changed"},
    "take_over": {"type": "bool", "default": False},
    "reconcile": {"type": "bool", "default": False},
    "wait_timeout": {"type": "float", "default": 5.0},
    "drift": {"type": "str", "choices": ["repair", "report", "ignore"], "default": "repair"},
    "lock_timeout": {"type": "float", "default": 30.0},
    "wait_for": {"type": "str", "choices": ["healthy", "registered", "ready"], "default": "healthy"},
}


def main() -> None:
    """Carry out the plan. The module returns what was done, or fails with the reason why the node was not changed."""
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)

    def label(path: str) -> str | None:
        """The SELinux context that the policy has for a new file; None without SELinux."""
        context = module.selinux_default_context(path) if module.selinux_enabled() else []
        return ":".join(context) if context and all(context) else None

    parameters = {name: module.params[name] for name in ARGUMENTS if name != "plan"}
    try:
        plan = decode(module.params["plan"])
        result = apply(Options(plan, check_mode=module.check_mode, diff=module._diff, label=label, **parameters))
    except (ApplyRefused, RecoveryFailed) as error:
        module.fail_json(msg=str(error))
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        refused = ApplyRefused(
            f"the node could not be changed: {error.strerror or error}{where}. It is in the state it was in",
            "check its disk space and mount options, then run again",
        )
        module.fail_json(msg=str(refused))
    for warning in result.warnings:
        module.warn(warning)
    module.exit_json(**result.plain())


if __name__ == "__main__":
    main()
