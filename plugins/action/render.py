# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes user data files on the controller; documented in the module of the same name."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import batch, folder

_INPUTS = ("node_groups", "eksctl_config")
_INPUTS_OR_SOURCES = [(*_INPUTS, "sources")]
_SOURCE: dict[str, Any] = {"cluster": {"type": "raw"}, "node_groups": {"type": "raw"}, "eksctl_config": {"type": "path"}}
_ONE_OF: dict[str, Any] = {"mutually_exclusive": [_INPUTS], "required_one_of": [_INPUTS]}
OPTIONS: dict[str, Any] = {
    **_SOURCE,
    "sources": {"type": "list", "elements": "dict", "options": _SOURCE, **_ONE_OF},
    "encoding": {"type": "str", "default": "plain", "choices": list(batch.ENCODINGS)},
    "output_dir": {"type": "path", "default": "out"},
}


class ActionModule(ActionBase):
    """Render on the controller; no connection is made."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        return super().run(tmp, task_vars) | run_action(self, task_vars or {}, self._render)

    def _render(self) -> dict[str, Any]:
        folder.check_paths(to_plain(self._task.args))
        _unused, validated = self.validate_argument_spec(OPTIONS, mutually_exclusive=_INPUTS_OR_SOURCES, required_one_of=_INPUTS_OR_SOURCES)
        options = to_plain(validated)
        target = options["output_dir"]
        sources = [folder.source(source) for source in options["sources"] or [options]]
        outputs, not_ours = batch.render_sources(sources, options["encoding"])
        changed = folder.changed(outputs, target)
        diff = {"diff": folder.diffs(changed, target)} if self._task.diff else {}
        if not self._task.check_mode:
            folder.write(changed, target)
        table = batch.table(outputs, target, not_ours)
        Display().display("\n".join(("", *table, "")))
        return {"changed": bool(changed), "table": table, "not_ours": not_ours, **batch.rows(outputs), **diff}
