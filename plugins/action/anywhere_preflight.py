# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks an admin machine before a cluster is created; documented in the module of the same name."""

from __future__ import annotations

from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import node_runner, run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import preflight_task
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.folder import read_text


class ActionModule(ActionBase):
    """Observe on the admin machine, and decide on the controller."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        facts = task_vars or {}
        return super().run(tmp, task_vars) | run_action(self, facts, partial(self._check, facts))

    def _check(self, facts: dict[str, Any]) -> dict[str, Any]:
        _unused, validated = self.validate_argument_spec(preflight_task.OPTIONS)
        run = node_runner(self, facts)
        return preflight_task.preflight_task(to_plain(validated), run, read=read_text, say=Display().display)
