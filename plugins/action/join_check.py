# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks whether a node has joined its cluster; documented in the module of the same name."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client as aws
from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws.access_account import Account
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import format_failure
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import client as kubernetes
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import config_maps
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import node_runner, run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import join, join_access


class ActionModule(ActionBase):
    """Short calls of the module on the node, with progress lines between them."""

    _supports_check_mode = True
    _supports_async = True

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        facts = task_vars or {}
        if self._task.async_val:
            # A job in the background has no lines, so one call waits for all of the time.
            answer = self._execute_module(module_name=join.MODULE, module_args=self._task.args, task_vars=facts, wrap_async=True)
            return result | answer
        name = str(facts.get("inventory_hostname", "node"))
        node = join.Node(name, node_runner(self, facts), Display().display, time.monotonic, time.sleep, format_failure, self._look_up)

        def work() -> dict[str, Any]:
            _unused, validated = self.validate_argument_spec(join.OPTIONS)
            options = to_plain(validated)
            return join.wait(node, options["wait_for"], options["wait_timeout"])

        return result | run_action(self, facts, work)

    def _look_up(self, identity: Mapping[str, Any]) -> dict[str, Any]:
        """What the cluster says about a role that it does not accept, if there are credentials on the controller."""
        options = {**dict.fromkeys((*aws.OPTIONS, *kubernetes.OPTIONS)), "region": identity["region"]}

        def work() -> dict[str, Any]:
            account = Account(options, identity["cluster"])
            return join_access.look_up(identity, account, lambda cluster: config_maps.connect(options, cluster, False))

        found = kubernetes.run_action(self, work)
        return join_access.not_checked(found["msg"].partition(": ")[2]) if found.get("failed") else found
