# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes user data files on the controller; documented in the module of the same name."""

from __future__ import annotations

from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import failure, host_variables, run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import batch, folder, inventory

_INPUTS = ("node_groups", "eksctl_config")
_ALL_INPUTS = [(*_INPUTS, "sources", "inventory")]
_SOURCE: dict[str, Any] = {"cluster": {"type": "raw"}, "node_groups": {"type": "raw"}, "eksctl_config": {"type": "path"}}
_ONE_OF: dict[str, Any] = {"mutually_exclusive": [_INPUTS], "required_one_of": [_INPUTS]}
OPTIONS: dict[str, Any] = {
    **_SOURCE,
    "sources": {"type": "list", "elements": "dict", "options": _SOURCE, **_ONE_OF},
    "inventory": {"type": "bool"},
    "encoding": {"type": "str", "default": "plain", "choices": list(batch.ENCODINGS)},
    "output_dir": {"type": "path", "default": "out"},
    "prune": {"type": "bool", "default": False},
    "fail_on_change": {"type": "bool", "default": False},
}


class ActionModule(ActionBase):
    """Render on the controller; no connection is made."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        facts = task_vars or {}
        return super().run(tmp, task_vars) | run_action(self, facts, partial(self._render, facts))

    def _render(self, facts: dict[str, Any]) -> dict[str, Any]:
        folder.check_paths(to_plain(self._task.args))
        _unused, validated = self.validate_argument_spec(OPTIONS, mutually_exclusive=_ALL_INPUTS, required_one_of=_ALL_INPUTS)
        options = to_plain(validated)
        folder.check_prune(options["prune"], facts.get("ansible_limit"))
        outputs, not_ours = batch.render_sources(self._sources(options, facts), options["encoding"])
        changes = folder.plan_changes(outputs, options["output_dir"], prune=options["prune"])
        result = {**folder.result(changes), "not_ours": not_ours, **batch.rows(outputs)}
        if self._task.diff:
            result["diff"] = folder.diffs(changes)
        if options["fail_on_change"] and changes.files:
            return result | failure(self, SpecError(folder.refusals(changes)))
        if not self._task.check_mode:
            folder.write(changes)
        table = [*batch.table(outputs, options["output_dir"], not_ours), *folder.notes(changes)]
        Display().display("\n".join(("", *table, "")))
        return result | {"table": table}

    def _sources(self, options: dict[str, Any], facts: dict[str, Any]) -> list[batch.Source]:
        if options["inventory"]:
            hosts = host_variables(facts, (inventory.CLUSTER, inventory.GROUP), self._loader)
            return inventory.sources_of([inventory.Host(name, *values.values()) for name, values in hosts])
        return [folder.source(source) for source in options["sources"] or [options]]
