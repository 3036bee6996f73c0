# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Publishes user data to launch templates; documented in the module of the same name."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client, launch_templates
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import folder, publish_task, render_task


class ActionModule(ActionBase):
    """Call AWS from the controller; no connection is made."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        return result | client.run_action(self, partial(run_action, self, task_vars or {}, self._publish))

    def _publish(self) -> dict[str, Any]:
        given = to_plain(self._task.args)
        folder.check_paths(given)
        render_task.check_inputs(given)
        rules = {**client.RULES, "required_one_of": publish_task.ONE_INPUT}
        _unused, validated = self.validate_argument_spec({**publish_task.OPTIONS, **client.OPTIONS}, **rules)
        options, task = to_plain(validated), self._task
        account = launch_templates.Account(options)
        say = Display().display
        result = publish_task.publish_task(options, account, check_mode=task.check_mode, diff=task.diff, say=say, now=time.time())
        Display().display("\n".join(("", *result["table"], "")))
        return result
