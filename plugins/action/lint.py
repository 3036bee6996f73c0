# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lints files with user data on the controller; documented in the module of the same name."""

from __future__ import annotations

from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client, user_data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import InventoryOfTask, run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings import lint_task


class ActionModule(ActionBase):
    """Lint on the controller; no connection is made."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        facts = task_vars or {}
        return result | client.run_action(self, partial(run_action, self, facts, partial(self._lint, facts)))

    def _lint(self, facts: dict[str, Any]) -> dict[str, Any]:
        _unused, validated = self.validate_argument_spec({**lint_task.OPTIONS, **client.OPTIONS}, **client.RULES)
        options = to_plain(validated)
        fetch, inventory = user_data.Reader(options).read, InventoryOfTask(facts, self._loader)
        return lint_task.lint_task(options, check_mode=self._task.check_mode, say=Display().display, fetch=fetch, inventory=inventory)
