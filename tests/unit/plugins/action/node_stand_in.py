# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A copy of the collection in which the modules that the action apply calls on a node only record their options and answer as told.

Without it, a test that runs the action on this machine would set up this machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import errors

COLLECTION = Path(errors.__file__).parents[2]

_MODULE = """#!/usr/bin/python
from __future__ import annotations
import json, os
from ansible.module_utils.basic import AnsibleModule
FOLDER, NAME, OPTIONS = {folder!r}, {name!r}, {options!r}
module = AnsibleModule(OPTIONS, supports_check_mode=True)
with open(os.path.join(FOLDER, "calls"), "a") as calls:
    calls.write(json.dumps([NAME, module.params, module.check_mode, module._diff]) + "\\n")
with open(os.path.join(FOLDER, NAME)) as answers:
    given = json.load(answers)
if given[1:]:
    with open(os.path.join(FOLDER, NAME), "w") as answers:
        json.dump(given[1:], answers)
answer = given[0]
module.fail_json(**answer) if answer.pop("failed", False) else module.exit_json(**answer)
"""
_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "apply_plan": {
        "plan": {"type": "str", "required": True, "no_log": True},
        "phases": {"type": "list", "elements": "str"},
        "state": {"type": "str"},
        "restart": {"type": "str"},
        "take_over": {"type": "bool"},
        "reconcile": {"type": "bool"},
        "wait_timeout": {"type": "float"},
        "wait_for": {"type": "str"},
    },
    "imds_info": {},
}
LARGE = {"changed": False, "imds": {"instance_type": "m5.large"}}
HEALTHY = {"changed": True, "healthy": True, "waited": 0.5, "actions": ["write /a", "restart kubelet.service"], "warnings": []}


def make(folder: Path) -> None:
    """Make the copy below C(folder), which is then a path of collections. All calls are answered at once until told otherwise."""
    root = folder / "ansible_collections" / "nodebootstrap" / "eks"
    modules = root / "plugins" / "modules"
    modules.mkdir(parents=True)
    for name in ("galaxy.yml", "meta"):
        (root / name).symlink_to(COLLECTION / name)
    for name in ("action", "filter", "module_utils", "plugin_utils"):
        (root / "plugins" / name).symlink_to(COLLECTION / "plugins" / name)
    (modules / "apply.py").symlink_to(COLLECTION / "plugins" / "modules" / "apply.py")
    for name, options in _OPTIONS.items():
        module(folder, modules, name, options)
    answer(folder, {"apply_plan": [HEALTHY], "imds_info": [LARGE]})


def module(folder: Path, modules: Path, name: str, options: Mapping[str, Any]) -> None:
    """Make one more stand-in in the folder C(modules) of a collection; its answers stand in C(folder)/NAME, a JSON list."""
    (modules / f"{name}.py").write_text(_MODULE.format(folder=str(folder), name=name, options=options), encoding="utf-8")


def answer(folder: Path, answers: Mapping[str, list[Any]]) -> None:
    """What each module answers from now on, in order; the last answer is given again and again."""
    for name in _OPTIONS:
        (folder / name).write_text(json.dumps(answers.get(name, [])), encoding="utf-8")


def calls(folder: Path) -> list[list[Any]]:
    """Name, options, check mode and diff mode of each call."""
    path = folder / "calls"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
