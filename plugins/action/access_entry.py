# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Creates, changes or removes one access entry; documented in the module of the same name."""

from __future__ import annotations

from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client
from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws.access_account import Account
from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws.access_entries import plain_entry
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import access_entry_task


class ActionModule(ActionBase):
    """Calls of AWS from the controller; no connection is made."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        return result | client.run_action(self, partial(run_action, self, task_vars or {}, self._run))

    def _run(self) -> dict[str, Any]:
        _unused, validated = self.validate_argument_spec({**access_entry_task.OPTIONS, **client.OPTIONS}, **client.RULES)
        options = to_plain(validated)
        account = Account(options, options["cluster"])
        return access_entry_task.access_entry_task(options, account, plain_entry, check_mode=self._task.check_mode)
