# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module image_seal as a process of its own, on temporary roots, also under Python 3.7."""

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

from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.seal import PROVENANCE
from ansible_collections.nodebootstrap.eks.plugins.modules import image_seal
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import machine

TOP = Path(__file__).resolve().parents[4]
MODULE = "ansible_collections.nodebootstrap.eks.plugins.modules.image_seal"
FILES = {PROVENANCE: '{"collection": {}}', "/etc/machine-id": "0" * 32, "/var/log/secure": "x", "/etc/hosts": "x"}


def call(folder: Path, python: str = sys.executable, **arguments: Any) -> dict[str, Any]:
    link = folder / "collection/ansible_collections/nodebootstrap/eks"
    if not link.exists():
        link.parent.mkdir(parents=True)
        link.symlink_to(TOP, target_is_directory=True)
    roots = [folder / "collection", Path(str(ansible.__file__)).resolve().parents[1]]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, roots)), "PYTHONDONTWRITEBYTECODE": "1"}
    given = folder / "arguments.json"
    given.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": arguments}), encoding="utf-8")
    done = subprocess.run(
        [python, "-m", MODULE, str(given)], env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.stderr == ""
    result: dict[str, Any] = json.loads(done.stdout)
    # Newer versions of ansible-core leave it out.
    result.pop("invocation", None)
    return result


@pytest.fixture
def root(tmp_path: Path) -> Path:
    machine(tmp_path / "root", dict(FILES))
    return tmp_path / "root"


def test_check_mode_lists_what_a_run_removes_and_a_second_run_changes_nothing(tmp_path: Path, root: Path) -> None:
    expected = call(tmp_path, root=str(root), _ansible_check_mode=True)
    assert [removal["path"] for removal in expected["removed"]] == ["/etc/machine-id", "/var/log/secure"]
    assert expected["diff"] == {"before": "/etc/machine-id\n/var/log/secure\n", "after": ""}
    assert (root / "var/log/secure").exists()
    assert call(tmp_path, root=str(root)) == expected
    assert not (root / "var/log/secure").exists() and (root / "etc/hosts").exists()
    again = call(tmp_path, root=str(root))
    assert (again["changed"], again["removed"]) == (False, [])


def test_what_it_returns_is_documented(tmp_path: Path, root: Path) -> None:
    result = call(tmp_path, root=str(root))
    documented = yaml.safe_load(image_seal.RETURN)
    assert result.keys() - {"changed", "diff"} == documented.keys()
    assert result["removed"][0] == {**documented["removed"]["sample"][0]}


def test_the_root_is_required(tmp_path: Path) -> None:
    assert mentions(call(tmp_path)["msg"], "root")


@pytest.mark.parametrize("wrong", [{"root": "relative"}, {"ignore": ["image.nothing"]}, {"root": ""}], ids=str)
def test_wrong_options_are_refused(tmp_path: Path, root: Path, wrong: dict[str, Any], golden_message: GoldenMessages) -> None:
    result = call(tmp_path, **{"root": str(root), **wrong})
    assert result["failed"]
    golden_message(result["msg"].replace(str(tmp_path), "FOLDER"))
    assert (root / "var/log/secure").exists()


def test_what_cannot_be_removed_fails_after_the_rest(tmp_path: Path, root: Path, golden_message: GoldenMessages) -> None:
    (tmp_path / "id").write_text("0" * 32)
    (root / "etc/machine-id").unlink()
    (root / "etc/machine-id").symlink_to(tmp_path / "id")
    result = call(tmp_path, root=str(root))
    assert result["failed"] and [removal["path"] for removal in result["removed"]] == ["/var/log/secure"]
    golden_message(result["msg"])


def test_it_runs_on_the_python_of_amazon_linux_2(tmp_path: Path, root: Path) -> None:
    roots = [os.environ.get("PYENV_ROOT", ""), str(Path.home() / ".pyenv")]
    found = [str(path) for one in roots if one for path in sorted(Path(one).glob("versions/3.7*/bin/python"))]
    program = (
        "import sys\n"
        f"sys.path.insert(0, {str(tmp_path / 'collection')!r})\n"
        "from ansible_collections.nodebootstrap.eks.plugins.module_utils._image import seal\n"
        f"result = seal.seal({str(root)!r}, (), (), False)\n"
        "print([removal.path for removal in result.removed], result.problems)\n"
    )
    call(tmp_path, root=str(root), _ansible_check_mode=True)
    command = [next(iter(found), sys.executable), "-B", "-c", program]
    done = subprocess.run(command, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False, timeout=900)
    assert (done.stdout, done.stderr) == ("['/etc/machine-id', '/var/log/secure'] []\n", "")
