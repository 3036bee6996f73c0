#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings the node it runs on to a plan, all of it or nothing."""

from __future__ import annotations

DOCUMENTATION = r"""
module: apply_plan
short_description: Carry out the plan of a node, on the node
version_added: 0.1.0
description:
  - The part of M(nodebootstrap.eks.apply) that runs on the node. That action renders the plan and sends it, and nobody else needs this
    module. Its options may change with any release.
  - Compares the node with the plan, writes and removes files, and restarts only those services whose configuration changed in effect.
  - All or nothing. New contents are staged beside their targets and synced. One rename decides. A step that fails brings the old files
    and services back, and a run that was cut off is finished or undone by the next one, or by a unit at the next boot.
  - What lies on the node because of this module is listed in C(/var/lib/nodebootstrap/manifest.json), which only root can read.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.live
options:
  plan:
    description: The plan as the action encodes it, base64 of compressed JSON.
    type: str
    required: true
  phases:
    description:
      - What to do. The checks of V(preflight) only read, and are always made.
      - V(configure) writes files. V(validate) lets the programs of the node read them before. V(start) enables, starts and restarts.
        V(verify) waits for O(wait_for).
      - What has to be restarted while V(start) is missing stays noted on the node. A later call with V(start) does it.
    default: [preflight, configure, validate, start, verify]
  state:
    description:
      - V(present) sets the node up.
      - V(absent) stops kubelet, disables what was enabled, removes what the manifest lists and puts back what was replaced. Data of the
        container runtime stay. The plan serves to recognize the cluster.
  restart:
    description: With V(never) nothing is started or restarted. What is due stays noted on the node.
  reconcile:
    description: Whether other labels and taints are accepted for a registered node. RV(registration) then says what to change there.
  wait_for:
    description:
      - What V(verify) waits for. V(healthy) looks at the units and at kubelet's own answer only, and needs no API server.
      - With V(registered) and V(ready) the node then asks the cluster, as M(nodebootstrap.eks.join_check) does.
    type: str
    choices: [healthy, registered, ready]
    default: healthy
  wait_timeout:
    description:
      - Seconds that V(verify) waits in this call. It returns as soon as the node is in the state of O(wait_for).
      - A cause that waiting does not change must hold for 4 seconds, so the call can take up to 4 seconds more.
    type: float
    default: 5.0
attributes:
  check_mode:
    description: Looks, compares and validates. Writes nothing but candidates in a private folder below C(/run), which it removes.
    support: full
  diff_mode:
    description: Shows every file and every setting of a snap that changes. The content of files that may hold secrets is not shown.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
requirements:
  - Python 3.7 or newer on the node
  - systemd, and root
seealso:
  - module: nodebootstrap.eks.apply
"""

EXAMPLES = r"""
- name: Look again whether a node is healthy, as the action apply does while it waits
  nodebootstrap.eks.apply_plan:
    plan: "{{ plan }}"
    phases: [verify]
  become: true
"""

RETURN = r"""
actions:
  description: What was done, in order, or would be done in check mode.
  returned: success
  type: list
  elements: str
  sample: ["write /etc/eks/nodeadm.d/50-nodebootstrap.yaml", "reload systemd", "start nodeadm-config.service nodeadm-run.service"]
restarted:
  description: The units that ran and were restarted.
  returned: success
  type: list
  elements: str
  sample: ["kubelet.service"]
healthy:
  description: Whether the units are active and kubelet says that it is well. Null when nobody looked.
  returned: success
  type: bool
  sample: true
missing:
  description: What a node that is not healthy still lacks.
  returned: success
  type: list
  elements: str
  sample: ["kubelet.service is activating (start-pre)"]
join:
  description:
    - What M(nodebootstrap.eks.join_check) returns, without C(msg). Null when nobody looked.
    - Of a node that is not healthy, what one look says.
  returned: success
  type: dict
  sample: {"node": "ip-10-0-0-5.ec2.internal", "registered": true, "ready": true, "cause": null, "message": null, "fix": null,
    "evidence": [], "final": false, "waited": 0.9}
waited:
  description: Seconds after which V(verify) knew RV(healthy).
  returned: success
  type: float
  sample: 0.2
recovered:
  description: What was done about a run that had been cut off, V(finished) or V(undone). Null when there was none.
  returned: success
  type: str
  sample: null
registration:
  description:
    - With O(reconcile=true), what has to be changed in the Node object of a registered node. Null when nothing.
    - Labels that are null have to go.
  returned: success
  type: dict
  sample: {"node": "ip-10-0-0-5.ec2.internal", "labels": {"role": "worker"}, "taints": {"set": [], "remove": ["dedicated=x:NoSchedule"]}}
facts:
  description: What was found out about the node on the way.
  returned: success
  type: dict
  contains:
    hostname:
      description: Its host name.
      type: str
      returned: always
      sample: ip-10-0-0-5.ec2.internal
foreign:
  description:
    - Texts of what nodeadm reads beside our documents, on Amazon Linux 2023, by path, and the user data as C(user_data).
    - User data may hold secrets. The action does not pass them on.
  returned: success
  type: dict
  sample: {}
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._engine.apply import PHASES, Options, apply
from ..module_utils._engine.plan import decode
from ..module_utils._node.errors import ApplyRefused
from ..module_utils._transaction.store import RecoveryFailed


def main():
    """Carry out the plan, and answer with what was done or with the reason why nothing was."""
    arguments = {
        "plan": {"type": "str", "required": True, "no_log": True},
        "phases": {"type": "list", "elements": "str", "choices": list(PHASES), "default": list(PHASES)},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "restart": {"type": "str", "choices": ["when_changed", "never"], "default": "when_changed"},
        "take_over": {"type": "bool", "default": False},
        "reconcile": {"type": "bool", "default": False},
        "wait_timeout": {"type": "float", "default": 5.0},
        "wait_for": {"type": "str", "choices": ["healthy", "registered", "ready"], "default": "healthy"},
    }
    module = AnsibleModule(argument_spec=arguments, supports_check_mode=True)

    def label(path):
        """The SELinux context that the policy has for a new file, None without SELinux."""
        context = module.selinux_default_context(path) if module.selinux_enabled() else []
        return ":".join(context) if context and all(context) else None

    try:
        given = {name: module.params[name] for name in arguments if name != "plan"}
        options = Options(decode(module.params["plan"]), check_mode=module.check_mode, diff=module._diff, label=label, **given)
        result = apply(options).plain()
    except (ApplyRefused, RecoveryFailed) as problem:
        module.fail_json(msg=str(problem))
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        module.fail_json(
            msg=f"the node could not be changed: {error.strerror or error}{where}. It is in the state it was in; look at the disk's space "
            "and mount options, then run again"
        )
    for warning in result.pop("warnings"):
        module.warn(warning)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
