# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Upgrades the nodes of a group; documented in the module of the same name."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client as aws
from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import launch_templates, subnets
from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws.api import Api
from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws.auto_scaling import AutoScaling
from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws.node_groups import NodeGroup
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import client as kubernetes
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import holder, tasks
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade import managed_task, task
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade import options as upgrade_options


class ActionModule(ActionBase):
    """Upgrade on the controller; no connection is made."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        work = partial(run_action, self, task_vars or {}, self._upgrade)
        return super().run(tmp, task_vars) | kubernetes.run_action(self, work)

    def _upgrade(self) -> dict[str, Any]:
        options = to_plain(tasks.validated_options(self, upgrade_options.OPTIONS, upgrade_options.RULES))
        cluster = upgrade_options.read_options(options)
        options["region"] = options["region"] or cluster.get("region")
        api = Api(options)
        with kubernetes.KubernetesClient(options, cluster) as client:
            # The process of this task renews the lease.
            tools = task.Tools(
                client, kubernetes.KubernetesError, aws.AwsTemporary, aws.AwsError, partial(subnets.free_addresses, options),
                launch_templates.Templates(options).image,
                time.time, tasks.sleep_until_end(), Display().display, holder.holder(os.getpid()), holder.is_gone, self._task.check_mode,
            )  # fmt: skip
            if options["managed_node_group"]:
                return managed_task.upgrade_managed(options, NodeGroup(api, cluster["name"], options["managed_node_group"]), tools)
            return task.replace_group(options, AutoScaling(api, options["auto_scaling_group"]), tools)
