# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Completes a move of Cluster API, or rolls it back; documented in the module of the same name."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import tasks
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import node_runner, run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import move_task


class ActionModule(ActionBase):
    """Decide on the controller, and run the steps on the admin machine."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        facts = task_vars or {}

        def work() -> dict[str, Any]:
            _unused, validated = self.validate_argument_spec(move_task.OPTIONS)
            call = tasks.until_end(node_runner(self, facts))
            return move_task.move_task(to_plain(validated), call, Display().display, check_mode=self._task.check_mode)

        return super().run(tmp, task_vars) | run_action(self, facts, work)
