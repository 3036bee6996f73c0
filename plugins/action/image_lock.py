# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Locks the inputs of an image: packages on the machine, downloads on the controller. Documented in the module of the same name."""

from __future__ import annotations

from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import node_runner, run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import image_inputs


class ActionModule(ActionBase):
    """Run the module on the machine, and add the downloads."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        facts = task_vars or {}
        return super().run(tmp, task_vars) | run_action(self, facts, partial(self._lock, facts))

    def _lock(self, facts: dict[str, Any]) -> dict[str, Any]:
        _unused, validated = self.validate_argument_spec(image_inputs.LOCK_OPTIONS)
        run = node_runner(self, facts)
        return image_inputs.lock_task(to_plain(validated), run, check_mode=self._task.check_mode, say=Display().display)
