# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes user data files on the controller; documented in the module of the same name."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import failure, host_variables, run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import folder, inventory, render_task


class ActionModule(ActionBase):
    """Render on the controller; no connection is made."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        facts = task_vars or {}
        return super().run(tmp, task_vars) | run_action(self, facts, partial(self._render, facts))

    def _render(self, facts: dict[str, Any]) -> dict[str, Any]:
        given = to_plain(self._task.args)
        folder.check_paths(given)
        render_task.check_inputs(given)
        _unused, validated = self.validate_argument_spec(render_task.OPTIONS, **render_task.RULES)
        result, refusal = render_task.render_task(
            to_plain(validated),
            partial(host_variables, facts, inventory.HOST_VARIABLES, self._loader),
            limit=facts.get("ansible_limit"),
            check_mode=self._task.check_mode,
            diff=self._task.diff,
            now=time.time(),
        )
        if refusal is not None:
            return result | failure(self, refusal)
        Display().display("\n".join(("", *result["table"], "")))
        return result
