# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists the images of a cluster for an air gap; documented in the module of the same name."""

from __future__ import annotations

from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import node_runner, run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import images_task
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import folder


class ActionModule(ActionBase):
    """Ask clusterctl on the admin machine, and make the list on the controller."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        facts = task_vars or {}
        return super().run(tmp, task_vars) | run_action(self, facts, partial(self._list, facts))

    def _list(self, facts: dict[str, Any]) -> dict[str, Any]:
        _unused, validated = self.validate_argument_spec(images_task.OPTIONS)
        run, write = node_runner(self, facts), partial(folder.write_file, option="output")
        say, check_mode = Display().display, self._task.check_mode
        return images_task.images_task(to_plain(validated), run, read=folder.read_text, write=write, say=say, check_mode=check_mode)
