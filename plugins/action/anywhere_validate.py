# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validates the file of an EKS Anywhere cluster on the controller; documented in the module of the same name."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import validate_task
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.folder import read_text


class ActionModule(ActionBase):
    """Validate on the controller; no connection is made."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        return super().run(tmp, task_vars) | run_action(self, task_vars or {}, self._validate)

    def _validate(self) -> dict[str, Any]:
        _unused, validated = self.validate_argument_spec(validate_task.OPTIONS)
        return validate_task.validate_task(to_plain(validated), read=read_text, say=Display().display)
