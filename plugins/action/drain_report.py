# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports on everything that blocks a drain of nodes; documented in the module of the same name."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client as aws
from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import subnets
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import client as kubernetes
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain import report_task
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.api import ClusterApi
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.finding import Subnet
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.options import read_options
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.workloads.model import Node


class ActionModule(ActionBase):
    """Read the cluster from the controller, and change nothing in it."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        return result | kubernetes.run_action(self, partial(run_action, self, task_vars or {}, self._report))

    def _report(self) -> dict[str, Any]:
        _unused, validated = self.validate_argument_spec({**report_task.OPTIONS, **kubernetes.OPTIONS, **aws.OPTIONS}, **aws.RULES)
        options = to_plain(validated)
        cluster, settings = read_options(options, time.time())
        with kubernetes.KubernetesClient(options, cluster) as api:
            return report_task.report_task(
                options, settings, ClusterApi(api, kubernetes.KubernetesError), partial(_subnets, options),
                check_mode=self._task.check_mode, say=Display().display,
            )  # fmt: skip


def _subnets(options: dict[str, Any], nodes: Iterable[Node]) -> tuple[Subnet, ...] | str:
    """The subnets of the nodes, or why EC2 does not tell."""
    try:
        found = subnets.free_addresses(options, {node.name: node.provider_id for node in nodes})
    except aws.AwsError as error:
        return f"the subnets were not checked: {error}"
    return tuple(Subnet(*one) for one in found)
