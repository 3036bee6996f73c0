# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes user data files on the controller; documented in the module of the same name."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.border import message, untagged
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem, SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.sinks import batch

OPTIONS: dict[str, Any] = {
    "cluster": {"type": "raw"},
    "node_groups": {"type": "raw"},
    "eksctl_config": {"type": "path"},
    "sources": {
        "type": "list",
        "elements": "dict",
        "options": {"cluster": {"type": "raw"}, "node_groups": {"type": "raw"}, "eksctl_config": {"type": "path"}},
        "mutually_exclusive": [("node_groups", "eksctl_config")],
        "required_one_of": [("node_groups", "eksctl_config")],
    },
    "encoding": {"type": "str", "default": "plain", "choices": ["plain", "base64", "gzip_base64", "gzip"]},
    "output_dir": {"type": "path", "default": "out"},
}


class ActionModule(ActionBase):
    """Render on the controller; no connection is made."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        inputs = ("node_groups", "eksctl_config", "sources")
        _, options = self.validate_argument_spec(OPTIONS, mutually_exclusive=[inputs], required_one_of=[inputs])
        try:
            outputs, not_ours = _render(untagged(options))
        except (SpecError, RecursionError) as error:
            problem = error if isinstance(error, SpecError) else SpecError([Problem("input", "is nested too deeply")])
            raise AnsibleActionFail(message("render", problem)) from error
        folder = options["output_dir"]
        files = [output for output in outputs if output.file_name]
        changed = [output for output in files if _read(os.path.join(folder, output.file_name)) != output.content]
        if self._task.diff:
            result["diff"] = [batch.diff(output, folder, _read(os.path.join(folder, output.file_name))) for output in changed]
        for output in [] if self._task.check_mode else changed:
            _write(os.path.join(folder, output.file_name), output)
        lines = batch.table(outputs, folder)
        Display().display("\n".join(("", *lines, "")))
        return result | {"changed": bool(changed), "table": lines, "groups": [output.row() for output in outputs], "not_ours": not_ours}


def _render(options: dict[str, Any]) -> tuple[list[batch.Output], list[dict[str, str]]]:
    sources = options["sources"] or [options]
    return batch.render_sources([_source(source) for source in sources], options["encoding"])


def _source(options: dict[str, Any]) -> batch.Source:
    path = options["eksctl_config"]
    content = _read(path) if path else None
    if path and content is None:
        raise SpecError([Problem("eksctl_config", "cannot be read", value=path, fix="give the path of a ClusterConfig file")])
    return batch.Source(options["cluster"], options["node_groups"], None if content is None else content.decode("utf-8", "replace"))


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _write(path: str, output: batch.Output) -> None:
    """Replace the file in one step: a reader sees the old content or the new one."""
    folder = os.path.dirname(path) or "."
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".render-", delete=False) as file:
            file.write(output.content)
        os.chmod(file.name, 0o600 if output.rendered.spec.allow_secrets else 0o644)
        os.replace(file.name, path)
    except OSError as error:
        raise AnsibleActionFail(f"render: {path} cannot be written: {error.strerror}") from error
