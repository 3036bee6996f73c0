# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings a live node to what its node group says; documented in the module of the same name."""

from __future__ import annotations

import time
from typing import Any

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase
from ansible.release import __version__
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.border import call, untagged
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import apply, phases


class ActionModule(ActionBase):
    """Render on the controller, then one call of a module on the node."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        facts = task_vars or {}

        def run(module: str, options: Any) -> Any:
            return self._execute_module(module_name=module, module_args=dict(options), task_vars=task_vars)

        name = str(facts.get("inventory_hostname", "node"))
        node = apply.Node(name, run, Display().display, time.monotonic, __version__, self._task.check_mode)
        try:
            _unused, options = self.validate_argument_spec(apply.OPTIONS)
            tags = [untagged(facts.get(f"ansible_{kind}_tags", [])) for kind in ("run", "skip")]
            options = untagged(options)
            return result | call("apply", AnsibleError, apply.apply, node, options, phases.chosen(options["phases"], *tags))
        except AnsibleConnectionFailure:
            raise
        except AnsibleError as error:
            # Raised on, ansible-core 2.16 would show a traceback with it, and newer ones another text.
            return result | {"failed": True, "msg": error.message}
