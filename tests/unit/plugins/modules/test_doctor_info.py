# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules doctor_info and doctor_logs: the result is documented, and options that cannot be used are refused."""

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

from ansible_collections.nodebootstrap.eks.plugins.module_utils._doctor.collect import collect
from ansible_collections.nodebootstrap.eks.plugins.modules import doctor_info
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import machine

TOP = Path(__file__).resolve().parents[4]


def call(place: Path, module: str = "doctor_info", **arguments: Any) -> dict[str, Any]:
    link = place / "ansible_collections/nodebootstrap/eks"
    link.parent.mkdir(parents=True)
    link.symlink_to(TOP, target_is_directory=True)
    given = place / "arguments.json"
    given.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": arguments}), encoding="utf-8")
    roots = [place, Path(str(ansible.__file__)).resolve().parents[1]]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, roots)), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", f"ansible_collections.nodebootstrap.eks.plugins.modules.{module}", str(given)]
    done = subprocess.run(command, env=environment, cwd=place, capture_output=True, text=True, check=False, timeout=900)
    assert done.stderr == ""
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_what_it_returns_is_documented(tmp_path: Path) -> None:
    documented = yaml.safe_load(doctor_info.RETURN)["node"]["contains"]
    assert collect(machine(tmp_path, {})).keys() == documented.keys()


@pytest.mark.parametrize("options", [{"timeout": 0}, {"timeout": 61}, {"kubernetes_version": "newest"}])
def test_options_that_cannot_be_used(options: dict[str, Any], tmp_path: Path, golden_message: GoldenMessages) -> None:
    golden_message(call(tmp_path, **options)["msg"])


@pytest.mark.parametrize("timeout", [0, 61])
def test_limits_of_the_logs_that_cannot_be_used(timeout: int, tmp_path: Path, golden_message: GoldenMessages) -> None:
    golden_message(call(tmp_path, "doctor_logs", folder="logs", timeout=timeout)["msg"])


def test_it_runs_on_the_python_of_amazon_linux_2() -> None:
    for source in (*(TOP / "plugins/modules").glob("doctor_*.py"), *(TOP / "plugins/module_utils/_doctor").glob("*.py")):
        ast.parse(source.read_text(encoding="utf-8"), feature_version=(3, 7))
