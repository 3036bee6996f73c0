# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings a live Windows node to what its node group says; documented in the module of the same name."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.border import call, untagged
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import apply, phases, windows

FOLDER = Path(__file__).parents[1] / "plugin_utils" / "_powershell"


class ActionModule(ActionBase):
    """Render on the controller, then one call of ansible.windows.win_powershell on the node."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        facts = task_vars or {}

        def run(options: Any, may_be_gone: bool) -> Any:
            try:
                return self._execute_module(module_name=windows.MODULE, module_args=dict(options), task_vars=task_vars)
            except AnsibleConnectionFailure as error:
                if not may_be_gone:
                    raise
                self._connection.reset()
                return {"unreachable": True, "msg": error.message}

        name, modes = str(facts.get("inventory_hostname", "node")), (self._task.check_mode, self._task.diff)
        read = FOLDER.joinpath
        node = windows.Node(name, run, lambda file: read(file).read_text("utf-8"), Display().display, time.monotonic, time.sleep, *modes)
        try:
            _unused, options = self.validate_argument_spec(apply.OPTIONS)
            tags = [untagged(facts.get(f"ansible_{kind}_tags", [])) for kind in ("run", "skip")]
            options = untagged(options)
            return result | call("apply_windows", AnsibleError, windows.apply, node, options, phases.chosen(options["phases"], *tags))
        except AnsibleConnectionFailure:
            raise
        except AnsibleError as error:
            # Raised on, ansible-core 2.16 would show a traceback with it, and newer ones another text.
            return result | {"failed": True, "msg": error.message}
