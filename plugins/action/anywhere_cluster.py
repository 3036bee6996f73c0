# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Creates, upgrades and deletes clusters; documented in the module of the same name."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere import work_folder
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import tasks
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import node_runner, run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import cluster_task
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.lock import Machine, Owner, Process
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.run import Admin
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import folder


class ActionModule(ActionBase):
    """Decide on the controller, and run modules on the admin machine."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        facts = task_vars or {}
        return super().run(tmp, task_vars) | run_action(self, facts, lambda: self._run(facts))

    def _run(self, facts: dict[str, Any]) -> dict[str, Any]:
        _unused, validated = self.validate_argument_spec(cluster_task.OPTIONS, **cluster_task.RULES)
        host, boot, pid = work_folder.host(), work_folder.boot_id(), os.getpid()

        def machine(holder: int) -> Machine:
            started = work_folder.start_time(holder)
            return Machine(host, boot, {} if started is None else {holder: started})

        owner = Owner(host, boot, Process(pid, work_folder.start_time(pid) or 0))
        # The lock names the process of the task: if the playbook is killed, the task ends after the module that is running.
        call = tasks.until_end(node_runner(self, facts))
        admin = Admin(call, Display().display, lambda: datetime.now(timezone.utc).isoformat("T", "seconds"), owner, machine)
        options = to_plain(validated)
        for name in ("diagnostics_dir", "status_file"):
            options[name] = options[name] and folder.absolute(options[name])
        write = partial(folder.write_file, option="diagnostics_dir", private=True)
        return cluster_task.cluster_task(
            options, read=folder.read_text, admin=admin, check_mode=self._task.check_mode, write=write, environment=os.environ
        )
