# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drains, cordons and uncordons a node by the Kubernetes API; documented in the module of the same name."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client as aws
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import client as kubernetes
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import tasks
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain import node_task
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.api import ClusterApi
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.options import read_options
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.run import World


class ActionModule(ActionBase):
    """Call the API from the controller; no connection to the node is made."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        return result | kubernetes.run_action(self, partial(run_action, self, task_vars or {}, self._drain))

    def _drain(self) -> dict[str, Any]:
        _unused, validated = self.validate_argument_spec({**node_task.OPTIONS, **kubernetes.OPTIONS, **aws.OPTIONS}, **aws.RULES)
        options = to_plain(validated)
        world = World(time.time, tasks.sleep_until_end(), Display().display)
        cluster, settings = read_options(options, world.clock())
        with kubernetes.KubernetesClient(options, cluster) as client:
            api = ClusterApi(client, kubernetes.KubernetesError)
            return node_task.node_task(options, settings, api, world, check_mode=self._task.check_mode)
