# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the nodes of node groups join a cluster; documented in the module of the same name."""

from __future__ import annotations

from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client as aws
from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws.access_account import Account
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import client as kubernetes
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import config_maps
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import access_task


class ActionModule(ActionBase):
    """Calls from the controller; no connection to a node is made."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        return result | kubernetes.run_action(self, partial(run_action, self, task_vars or {}, self._run))

    def _run(self) -> dict[str, Any]:
        spec = {**access_task.OPTIONS, **aws.OPTIONS, **kubernetes.OPTIONS}
        _unused, validated = self.validate_argument_spec(spec, **aws.RULES)
        options = to_plain(validated)

        def start(name: str, region: Any) -> access_task.Run:
            found = {**options, "region": options["region"] or region}
            connect = partial(config_maps.connect, found)
            return access_task.Run(Account(found, name), connect, Display().display, self._task.check_mode)

        return access_task.access_task(options, start)
