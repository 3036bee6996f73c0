# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real playbook runs against a Windows node that is a recorder: what it is sent, and what users see of its answers."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs

RECORDER = Path(__file__).with_name("windows_recorder")

CONNECTION = {"ansible_connection": "recorder", "ansible_shell_type": "powershell", "ansible_become_method": "runas"}
"""The variables of a host that is the recorder."""

ROLE = "nodebootstrap.eks.eks_node_windows"
FACADE = "nodebootstrap.eks.eks_node"


def said(**fields: Any) -> dict[str, Any]:
    """What the script answers, with what win_powershell adds."""
    changed, diff, failed = fields.pop("changed", bool(fields.get("actions"))), fields.pop("diff", None), fields.pop("failed", False)
    result = {"problem": "", "trace": "", "actions": [], "restarted": [], "warnings": [], "missing": [], "recovered": None}
    answer = {"changed": changed, "failed": failed, "result": {**result, "registration": None, **fields}, "error": [], "output": []}
    return answer | ({"diff": diff} if diff else {}) | {"invocation": {"module_args": {"script": "SCRIPT-4711"}}}


def recorder(folder: Path, answers: list[Any]) -> dict[str, str]:
    """Prepare C(folder) for a recorder with these answers; the environment that a run needs."""
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    (folder / "calls.jsonl").write_text("", encoding="utf-8")
    return {"ANSIBLE_CONNECTION_PLUGINS": str(RECORDER), "WINDOWS_RECORDER": str(folder)}


@dataclass(frozen=True)
class Call:
    """One module call as it arrived."""

    module: str
    first_line: str
    options: dict[str, Any]
    check_mode: bool
    diff_mode: bool
    become: bool

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.options["parameters"])

    @property
    def plan(self) -> dict[str, Any]:
        """What the sensitive parameter Plan holds."""
        (given,) = self.options["sensitive_parameters"]
        assert given["name"] == "Plan"
        return dict(json.loads(zlib.decompress(base64.b64decode(given["value"]))))


@dataclass(frozen=True)
class Run:
    """A finished run: its output, its calls in order, its exit code, and what the task registered."""

    output: str
    calls: list[Call]
    code: int
    result: dict[str, Any]


class Lab:
    """A folder for runs of one play over one Windows host."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def play(
        self,
        *arguments: str,
        answers: list[Any],
        variables: Mapping[str, Any],
        role: str = ROLE,
        how: str = "include_role",
        host: Mapping[str, Any] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> Run:
        """Run the role. how: C(include_role), C(import_role) or C(roles). answers: of the recorder, in order."""
        ours = recorder(self.folder, answers)
        show = {
            "record": {"content": "{{ eks_node_result | default({}) | to_json }}", "dest": str(self.folder / "result")},
            "no_log": True,
            "tags": "always",
        }
        play: dict[str, Any] = {"hosts": "win", "gather_facts": False}
        if how == "roles":
            play |= {"roles": [{"role": role}], "post_tasks": [show]}
        else:
            included = {f"ansible.builtin.{how}": {"name": role}}
            # A dynamic include is itself chosen by tags; what is in it has its own.
            tags = {"tags": "always"} if how == "include_role" else {}
            play |= {"tasks": [{"block": [included | tags], "always": [show]}]}
        (self.folder / "play.yml").write_text(json.dumps([play]), encoding="utf-8")
        hosts = {"win": CONNECTION | dict(host or {})}
        inventory = {"all": {"hosts": hosts, "vars": dict(variables)}}
        (self.folder / "hosts.json").write_text(json.dumps(inventory), encoding="utf-8")
        (self.folder / "result").unlink(missing_ok=True)
        settings = ours | dict(settings or {})
        done = ansible_runs.run(self.folder, "ansible-playbook", "play.yml", "-i", "hosts.json", *arguments, settings=settings)
        lines = (self.folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()
        result = self.folder / "result"
        registered = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {}
        return Run(done.stdout + done.stderr, [Call(**json.loads(line)) for line in lines], done.returncode, registered)
