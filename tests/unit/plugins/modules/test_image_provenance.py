# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module image_provenance as a process of its own, on temporary roots."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ansible
import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.provenance import PROVENANCE, SBOM
from ansible_collections.nodebootstrap.eks.plugins.modules import image_provenance
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

TOP = Path(__file__).resolve().parents[4]
MODULE = "ansible_collections.nodebootstrap.eks.plugins.modules.image_provenance"
PLAN = {
    "family": "al2023",
    "kubernetes_version": "1.34",
    "architecture": "x86_64",
    "downloads": [],
    "packages": [],
    "files": [{"path": "/etc/eks/release", "content": "A=1\n", "mode": "0644"}],
    "images": [],
    "image_import": "bake",
}


def call(folder: Path, **arguments: Any) -> dict[str, Any]:
    link = folder / "collection/ansible_collections/nodebootstrap/eks"
    if not link.exists():
        link.parent.mkdir(parents=True)
        link.symlink_to(TOP, target_is_directory=True)
    roots = [folder / "collection", Path(str(ansible.__file__)).resolve().parents[1]]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, roots)), "PYTHONDONTWRITEBYTECODE": "1"}
    given = folder / "arguments.json"
    given.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": {"plan": PLAN, **arguments}}), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", MODULE, str(given)], env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.stderr == ""
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root/etc/eks").mkdir(parents=True)
    (tmp_path / "root/etc/eks/release").write_text("A=1\n")
    return tmp_path / "root"


def test_both_files_are_written_once(tmp_path: Path, root: Path) -> None:
    lock = base64.b64encode(b'{"packages": []}\n').decode()
    expected = call(tmp_path, root=str(root), lock=lock, _ansible_check_mode=True)
    assert expected["changed"] and not (root / PROVENANCE[1:]).exists()
    result = call(tmp_path, root=str(root), lock=lock)
    written = {path: (root / path[1:]).read_text() for path in (PROVENANCE, SBOM)}
    assert written == {one["after_header"]: one["after"] for one in expected["diff"]}
    assert json.loads(written[PROVENANCE]) == result["provenance"]
    assert {oct((root / path[1:]).stat().st_mode) for path in written} == {"0o100644"}
    assert [entry["path"] for entry in result["provenance"]["files"]] == ["/etc/eks/release"]
    again = call(tmp_path, root=str(root), lock=lock)
    assert (again["changed"], again["diff"]) == (False, [])
    assert call(tmp_path, root=str(root))["changed"], "the digest of the lock is part of it"


def test_what_it_returns_is_documented(tmp_path: Path, root: Path) -> None:
    result = call(tmp_path, root=str(root))
    documented = yaml.safe_load(image_provenance.RETURN)
    assert result.keys() - {"changed", "diff", "invocation"} == documented.keys()
    assert documented["provenance"]["sample"].items() <= result["provenance"].items()


@pytest.mark.parametrize("wrong", [{"root": "relative"}, {"lock": "%"}, {"lock": "W10="}, {"plan": {}}], ids=str)
def test_wrong_options_are_refused(tmp_path: Path, root: Path, wrong: dict[str, Any], golden_message: GoldenMessages) -> None:
    result = call(tmp_path, **{"root": str(root), **wrong})
    assert result["failed"] and not (root / PROVENANCE[1:]).exists()
    golden_message(result["msg"])
