# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings a live node to what its node group says; documented in the module of the same name."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.release import __version__
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import format_failure
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import node_runner, run_live_action
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import apply


class ActionModule(ActionBase):
    """Render on the controller, then one call of a module on the node."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        facts = task_vars or {}
        node = apply.Node(
            name=str(facts.get("inventory_hostname", "node")),
            run=node_runner(self, facts),
            say=Display().display,
            clock=time.monotonic,
            pause=time.sleep,
            explain=format_failure,
            core=__version__,
            check_mode=self._task.check_mode,
        )
        return result | run_live_action(self, facts, apply.OPTIONS, partial(apply.apply, node))
