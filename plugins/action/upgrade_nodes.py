# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Upgrades nodes in place; documented in the module of the same name."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client as aws
from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import launch_templates, subnets
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import client as kubernetes
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import holder, tasks
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import host_variables, run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade import in_place_task
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade.task import Tools


class ActionModule(ActionBase):
    """Cordon, drain and uncordon on the controller; no connection is made."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        facts = task_vars or {}
        work = partial(run_action, self, facts, partial(self._upgrade, facts))
        return super().run(tmp, task_vars) | kubernetes.run_action(self, work)

    def _upgrade(self, facts: dict[str, Any]) -> dict[str, Any]:
        options = to_plain(tasks.validated_options(self, in_place_task.OPTIONS, in_place_task.RULES))
        cluster = in_place_task.read_options(options)
        options["region"] = options["region"] or cluster.get("region")
        found = host_variables(facts, in_place_task.HOST_VARIABLES, self._loader) if options["hosts"] else []
        hosts = {name: values for name, values in found if name in options["hosts"]}
        with kubernetes.KubernetesClient(options, cluster) as client:
            # Tasks run on the nodes between these steps: the lease belongs to the process of the playbook.
            tools = Tools(
                client, kubernetes.KubernetesError, aws.AwsTemporary, aws.AwsError, partial(subnets.free_addresses, options),
                launch_templates.Templates(options).image,
                time.time, tasks.sleep_until_end(), Display().display, holder.holder(tasks.playbook_pid()), holder.is_gone,
                self._task.check_mode,
            )  # fmt: skip
            return in_place_task.upgrade_nodes(options, hosts, tools)
