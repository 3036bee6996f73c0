# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings the settings of a live Bottlerocket node to what its node group says; documented in the module of the same name."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client, ssm
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import run_live_action
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import bottlerocket


class ActionModule(ActionBase):
    """Runs on the controller, which calls AWS Systems Manager; no connection to the node is made."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        facts, options = task_vars or {}, {**bottlerocket.OPTIONS, **client.OPTIONS}
        name = str(facts.get("inventory_hostname", "node"))
        work = partial(run_live_action, self, facts, options, partial(self._apply, name), **client.RULES)
        return result | client.run_action(self, work)

    def _apply(self, name: str, options: dict[str, Any], phases: Sequence[str]) -> dict[str, Any]:
        say = Display().display
        runner = ssm.Runner(options, lambda line: say(f"{name}: {line}"))
        instance = bottlerocket.Instance(
            name=name,
            run=lambda *script: bottlerocket.Answer(*runner.run(*script)),
            transaction=f"nodebootstrap-{uuid.uuid4().hex[:12]}",
            say=say,
            clock=time.monotonic,
            check_mode=self._task.check_mode,
            diff=self._task.diff,
        )
        return bottlerocket.apply(instance, options, phases)
