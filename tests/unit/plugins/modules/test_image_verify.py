# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module image_verify as a process of its own, also under Python 3.7."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ansible
import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.modules import image_verify
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

TOP = Path(__file__).resolve().parents[4]
MODULE = "ansible_collections.nodebootstrap.eks.plugins.modules.image_verify"


def collection(folder: Path) -> Path:
    link = folder / "collection/ansible_collections/nodebootstrap/eks"
    if not link.exists():
        link.parent.mkdir(parents=True)
        link.symlink_to(TOP, target_is_directory=True)
    return folder / "collection"


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    roots = [collection(folder), Path(str(ansible.__file__)).resolve().parents[1]]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, roots)), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=900)


def call(folder: Path, **arguments: Any) -> dict[str, Any]:
    given = folder / "arguments.json"
    given.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": arguments}), encoding="utf-8")
    done = run(folder, sys.executable, "-m", MODULE, str(given))
    assert done.stderr == ""
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("profile", ["image", "live"])
def test_what_it_returns_is_documented(tmp_path: Path, profile: str) -> None:
    result = call(tmp_path, profile=profile, kubernetes_version="1.34", ignore=["image.disk_space"], _ansible_check_mode=True)
    assert result["changed"] is False
    documented = yaml.safe_load(image_verify.RETURN)
    assert result.keys() - {"changed", "invocation"} == documented.keys()
    assert all(finding.keys() == documented["findings"]["sample"][0].keys() for finding in result["findings"])


@pytest.mark.parametrize(
    "wrong", [{"timeout": 0}, {"timeout": 61}, {"kubernetes_version": "new"}, {"ignore": ["image.nothing", "image.swap"]}], ids=str
)
def test_wrong_options_are_refused(tmp_path: Path, wrong: dict[str, Any], golden_message: GoldenMessages) -> None:
    result = call(tmp_path, profile="image", **wrong)
    assert result["failed"]
    golden_message(result["msg"])


def test_it_runs_on_the_python_of_amazon_linux_2(tmp_path: Path) -> None:
    roots = [os.environ.get("PYENV_ROOT", ""), str(Path.home() / ".pyenv")]
    found = [str(path) for root in roots if root for path in sorted(Path(root).glob("versions/3.7*/bin/python"))]
    program = (
        "from ansible_collections.nodebootstrap.eks.plugins.module_utils._image import verify\n"
        "from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import host\n"
        f"found = verify.verify(host.Host(5.0, {str(tmp_path)!r}), 'image')\n"
        "print([problem for problem in found.problems if 'could not be checked' in problem], len(found.rules) > 40)\n"
    )
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(collection(tmp_path)), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [next(iter(found), sys.executable), "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=900)
    assert (done.stdout, done.stderr) == ("[] True\n", "")
