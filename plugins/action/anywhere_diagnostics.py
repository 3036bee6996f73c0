# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collects diagnostics of a cluster and writes them on the controller; documented in the module of the same name."""

from __future__ import annotations

from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import node_runner, run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import diagnostics_task
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import folder


class ActionModule(ActionBase):
    """Run the module on the admin machine, and write what it returns."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        facts = task_vars or {}
        return super().run(tmp, task_vars) | run_action(self, facts, partial(self._collect, facts))

    def _collect(self, facts: dict[str, Any]) -> dict[str, Any]:
        _unused, validated = self.validate_argument_spec(diagnostics_task.OPTIONS)
        options = to_plain(validated)
        options["folder"] = folder.absolute(options["folder"])
        run, write = node_runner(self, facts), partial(folder.write_file, option="folder", private=True)
        say, check_mode = Display().display, self._task.check_mode
        return diagnostics_task.diagnostics_task(options, run, write=write, say=say, check_mode=check_mode)
