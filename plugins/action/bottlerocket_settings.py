# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings the settings of a live Bottlerocket node to what its node group says; documented in the module of the same name."""

from __future__ import annotations

import time
import uuid
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.module_utils import _aws, _ssm
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.border import call, untagged
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import bottlerocket, phases


class ActionModule(ActionBase):
    """Runs on the controller, which calls AWS Systems Manager; no connection to the node is made."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        variables: dict[str, Any] = {}
        self._compute_environment_string(variables)
        try:
            with _aws.environment(untagged(variables)):
                _unused, options = self.validate_argument_spec({**bottlerocket.OPTIONS, **_aws.OPTIONS}, **_aws.RULES)
                return result | call("bottlerocket_settings", AnsibleError, self._apply, untagged(options), task_vars or {})
        except (AnsibleError, _aws.Refused) as error:
            # Raised on, ansible-core 2.16 would show a traceback with it, and newer ones another text.
            return result | {"failed": True, "msg": getattr(error, "message", f"bottlerocket_settings: {error}")}

    def _apply(self, options: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
        name, say = str(facts.get("inventory_hostname", "node")), Display().display
        runner = _ssm.Runner(options, lambda line: say(f"{name}: {line}"))
        instance = bottlerocket.Instance(
            name=name,
            run=lambda *script: bottlerocket.Answer(*runner.run(*script)),
            transaction=f"nodebootstrap-{uuid.uuid4().hex[:12]}",
            say=say,
            clock=time.monotonic,
            check_mode=self._task.check_mode,
            diff=self._task.diff,
        )
        tags = [untagged(facts.get(f"ansible_{kind}_tags", [])) for kind in ("run", "skip")]
        return bottlerocket.apply(instance, options, phases.chosen(options["phases"], *tags))
