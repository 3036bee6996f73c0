# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports on the nodes that doctor_info examined; documented in the module of the same name."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import host_variables, run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor import task
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.intent import Described
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import inventory


class ActionModule(ActionBase):
    """Make the report on the controller; no connection is made."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        facts = task_vars or {}
        return super().run(tmp, task_vars) | run_action(self, facts, partial(self._report, facts))

    def _report(self, facts: dict[str, Any]) -> dict[str, Any]:
        _unused, validated = self.validate_argument_spec(task.OPTIONS)
        hosts = host_variables(facts, inventory.HOST_VARIABLES, self._loader)
        described = {name: Described(*(values[one] for one in inventory.HOST_VARIABLES)) for name, values in hosts}
        options, check_mode = to_plain(validated), self._task.check_mode
        return task.doctor_task(options, described, now=time.time(), check_mode=check_mode, say=Display().display)
