# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings a live Windows node to what its node group says; documented in the module of the same name."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import node_runner, run_live_action
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import windows

FOLDER = Path(__file__).parents[1] / "plugin_utils" / "_powershell"


class ActionModule(ActionBase):
    """Render on the controller, then one call of ansible.windows.win_powershell on the node."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        facts = task_vars or {}
        node = windows.Node(
            name=str(facts.get("inventory_hostname", "node")),
            run=partial(node_runner(self, facts), windows.MODULE),
            read=lambda file: FOLDER.joinpath(file).read_text("utf-8"),
            say=Display().display,
            clock=time.monotonic,
            pause=time.sleep,
            check_mode=self._task.check_mode,
            diff=self._task.diff,
        )
        return result | run_live_action(self, facts, windows.OPTIONS, partial(windows.apply, node), ["ansible.windows"])
