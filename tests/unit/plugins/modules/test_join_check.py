# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module join_check as a process of its own, with programs of the test's in place of the node's."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ansible
import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.modules import join_check
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

TOP = Path(__file__).resolve().parents[4]
UTILS = TOP / "plugins/module_utils"
SOURCES = (TOP / "plugins/modules/join_check.py", *sorted(UTILS.glob("_node/*.py")), *sorted(UTILS.glob("_join/*.py")))
PAGE = TOP / "docs/join-causes.md"


# The module must see this user, whichever user runs the tests.
AS_USER = (
    "import os, runpy, sys; user = int(sys.argv.pop(1)); os.geteuid = lambda: user; "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)


def call(folder: Path, user: int = 0, **arguments: Any) -> dict[str, Any]:
    given = folder / "arguments.json"
    given.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": arguments}), encoding="utf-8")
    link = folder / "collection/ansible_collections/nodebootstrap/eks"
    if not link.exists():
        link.parent.mkdir(parents=True)
        link.symlink_to(TOP, target_is_directory=True)
    roots = [folder / "collection", Path(str(ansible.__file__)).resolve().parents[1]]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, roots)), "PYTHONDONTWRITEBYTECODE": "1"}
    module = "ansible_collections.nodebootstrap.eks.plugins.modules.join_check"
    command = [sys.executable, "-c", AS_USER, str(user), module, str(given)]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=900)
    assert done.stderr == ""
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("check", [False, True])
def test_a_machine_without_kubelet_fails(tmp_path: Path, check: bool) -> None:
    result = call(tmp_path, _ansible_check_mode=check)
    assert result["failed"] and result["cause"] == "kubelet_not_started" and not result["ready"] and not result["registered"]
    assert result["msg"].splitlines()[0].endswith(f": {result['message']}") and mentions(result["msg"], result["fix"][1:])
    documented = yaml.safe_load(join_check.RETURN)
    # The action plugin replaces the settings by the problems that the rules find in them.
    assert documented.keys() - {"problems"} == result.keys() - {"msg", "failed", "invocation", "kubelet_settings"}


def test_root_is_required(tmp_path: Path) -> None:
    result = call(tmp_path, user=1000, wait_timeout=3600)
    assert result["failed"] and mentions(result["msg"], "become: true") and "cause" not in result


@pytest.mark.parametrize("timeout", [-1, 3601, "soon", "nan"])
def test_an_invalid_timeout_is_rejected(tmp_path: Path, timeout: Any) -> None:
    result = call(tmp_path, wait_timeout=timeout)
    assert result["failed"] and mentions(result["msg"], "wait_timeout") and "Traceback" not in json.dumps(result)


def test_it_can_run_on_the_python_of_amazon_linux_2() -> None:
    for source in SOURCES:
        ast.parse(source.read_text(encoding="utf-8"), feature_version=(3, 7))
