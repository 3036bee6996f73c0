# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs the tools of an admin machine; documented in the module of the same name."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import node_runner, run_action, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import tools_task

_CHUNK = 1 << 20


class ActionModule(ActionBase):
    """Let the module look what is missing, copy the files of the controller, and let it install them."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        facts = task_vars or {}
        return super().run(tmp, task_vars) | run_action(self, facts, partial(self._install, facts))

    def _install(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        _unused, validated = self.validate_argument_spec(tools_task.OPTIONS)
        run = node_runner(self, facts)
        return tools_task.tools_task(to_plain(validated), run, digest=self._digest, copy=self._copy, check_mode=self._task.check_mode)

    def _digest(self, path: str) -> tuple[str, str]:
        """Relative paths start beside the playbook, in the folder C(files) there or of the role, or at the current directory."""
        try:
            place = path if os.path.isabs(path) else str(self._find_needle("files", path))
        except AnsibleError:
            place = os.path.abspath(path)
        found = hashlib.sha256()
        with open(place, "rb") as source:
            for chunk in iter(partial(source.read, _CHUNK), b""):
                found.update(chunk)
        return place, found.hexdigest()

    def _copy(self, path: str, name: str) -> str:
        """Copy a file to the temporary folder of the task, which Ansible removes. Returns the path there."""
        shell = self._connection._shell
        if shell.tmpdir is None:
            self._make_tmp_path()
        target = str(shell.join_path(shell.tmpdir, name))
        self._transfer_file(path, target)
        self._fixup_perms2((shell.tmpdir, target))
        return target
