# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module apply_plan as a process of its own, where there is no node; also under Python 3.7 where this machine has one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import ansible
import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.modules import apply_plan
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts.node_plan import Machine
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_plan import node_plan
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import CLUSTER, GROUPS

TOP = Path(__file__).resolve().parents[4]
MODULE = "ansible_collections.nodebootstrap.eks.plugins.modules.apply_plan"

STAND_IN_FOR_ANSIBLE = """\
import json, sys
class AnsibleModule:
    _diff = check_mode = False
    def __init__(self, argument_spec, supports_check_mode):
        assert supports_check_mode and argument_spec["plan"]["no_log"]
        given = json.loads(open(sys.argv[1]).read())["ANSIBLE_MODULE_ARGS"]
        self.params = {name: given.get(name, option.get("default")) for name, option in argument_spec.items()}
    def fail_json(self, msg):
        print(json.dumps({"failed": True, "msg": msg})); sys.exit(1)
"""


def old_python() -> str:
    """Python 3.7 where there is one, otherwise this one."""
    roots = [os.environ.get("PYENV_ROOT", ""), str(Path.home() / ".pyenv")]
    found = [str(path) for root in roots if root for path in sorted(Path(root).glob("versions/3.7*/bin/python"))]
    return next(iter(found), sys.executable)


def call(python: str, folder: Path, stand_in: bool, **arguments: Any) -> dict[str, Any]:
    link = folder / "collection/ansible_collections/nodebootstrap/eks"
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(TOP, target_is_directory=True)
    roots = [folder / "collection", Path(str(ansible.__file__)).resolve().parents[1]]
    if stand_in:
        roots[1] = folder / "stand_in"
        (roots[1] / "ansible/module_utils").mkdir(parents=True, exist_ok=True)
        (roots[1] / "ansible/module_utils/basic.py").write_text(STAND_IN_FOR_ANSIBLE, encoding="utf-8")
    given = folder / "arguments.json"
    given.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": arguments}), encoding="utf-8")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, roots)), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [python, "-m", MODULE, str(given)], env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.stderr == "" and done.returncode == 1, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("stand_in", [False, True], ids=["here", "old Python"])
def test_what_is_no_plan_and_what_is_no_node_is_refused(tmp_path: Path, stand_in: bool, golden_message: GoldenMessages) -> None:
    python = old_python() if stand_in else sys.executable
    message = call(python, tmp_path, stand_in, plan="nonsense")["msg"]
    golden_message(message, REASON=message.partition("(")[2].partition(")")[0])
    # Whatever machine this is, it is none of a family that does not exist, and nothing but preflight is asked for.
    plan = replace(node_plan(CLUSTER, GROUPS["al2"]), machine=Machine(("none",), (), "No System")).encoded()
    message = call(python, tmp_path, stand_in, plan=plan, phases=["preflight"])["msg"]
    assert any(mentions(message, fact) for fact in ("become: true", "systemd", "No System"))


def test_nothing_of_the_plan_is_shown(tmp_path: Path) -> None:
    shown = call(sys.executable, tmp_path, False, plan="secretsecret")
    assert "secretsecret" not in json.dumps(shown)
    # ansible-core 2.21 says nothing of a module's options unless it is asked to.
    if "invocation" in shown:
        assert shown["invocation"]["module_args"]["plan"] == "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"


def test_an_unknown_phase_is_refused(tmp_path: Path) -> None:
    assert mentions(call(sys.executable, tmp_path, False, plan="x", phases=["reboot"])["msg"], "phases", "reboot")


def test_every_result_is_documented() -> None:
    documented = set(yaml.safe_load(apply_plan.RETURN))
    returned = {"actions", "restarted", "healthy", "missing", "join", "waited", "recovered", "registration", "facts", "foreign"} | {
        "drift",
        "evidence",
    }
    assert documented == returned
