# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action anywhere_tools in real runs on this machine: files of the controller and URLs, check mode, second runs and problems."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions


def program(folder: Path, name: str, version: str) -> dict[str, Any]:
    """Write a program that says its version. Returns the tool, with its checksum."""
    content = f"#!/bin/sh\necho {name} v{version}\n"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(content, encoding="utf-8")
    return {"name": name, "version": version, "sha256": hashlib.sha256(content.encode()).hexdigest()}


def tools(folder: Path) -> list[dict[str, Any]]:
    """A tool from a path beside the playbook, and one from a URL."""
    kind, kubectl = program(folder / "files", "kind", "0.33.0"), program(folder / "files", "kubectl", "1.36.0")
    return [kind | {"path": "kind"}, kubectl | {"url": f"file://{folder}/files/kubectl"}]


def run(folder: Path, rows: list[dict[str, Any]], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Install tools in C(folder)/bin."""
    task = {"name": "Install", "nodebootstrap.eks.anywhere_tools": {"tools": rows, "folder": str(folder / "bin")}, "register": "found"}
    shown = {
        "name": "Show",
        "ansible.builtin.copy": {"content": "{{ found | to_json }}", "dest": str(folder / "result.json"), "mode": "0600"},
    }
    play = [{"hosts": "all", "gather_facts": False, "tasks": [task, shown | {"check_mode": False, "diff": False, "changed_when": False}]}]
    (folder / "play.yml").write_text(json.dumps(play), encoding="utf-8")
    hosts = {"all": {"hosts": {"admin": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}}}}
    (folder / "hosts.json").write_text(json.dumps(hosts), encoding="utf-8")
    return ansible_runs.run(folder, "ansible-playbook", "-i", "hosts.json", "play.yml", *arguments)


def test_check_then_install_then_nothing(tmp_path: Path) -> None:
    rows = tools(tmp_path)
    done = run(tmp_path, rows, "--check", "--diff")
    assert done.returncode == 0, done.stdout + done.stderr
    assert mentions(done.stdout, "changed=1", f"kind {rows[0]['sha256']}", f"kubectl {rows[1]['sha256']}")
    assert not (tmp_path / "bin").exists()
    done = run(tmp_path, rows, "--diff")
    assert done.returncode == 0, done.stdout + done.stderr
    assert mentions(done.stdout, "changed=1", f"kind {rows[0]['sha256']}")
    found = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["tools"]
    assert [(one["name"], one["version"], one["installed"]) for one in found] == [("kind", "0.33.0", True), ("kubectl", "1.36.0", True)]
    assert sorted(path.name for path in (tmp_path / "bin").iterdir()) == ["kind", "kubectl"]
    # Nothing is fetched again: the places are gone.
    for name in ("kind", "kubectl"):
        (tmp_path / "files" / name).unlink()
    for arguments in ((), ("--check",)):
        done = run(tmp_path, rows, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        assert mentions(done.stdout, "changed=0")


@pytest.mark.parametrize(
    ("changes", "fact"),
    [
        ({"path": "none"}, "tools[0].path"),
        ({"sha256": "0" * 64}, "tools[0].sha256"),
        ({"sha256": "abc"}, "tools[0].sha256"),
        ({"version": "0.34.0"}, "0.33.0"),
        ({"version": "0.1.0"}, "tools[0].version"),
        ({"url": "https://example.com/kind"}, "mutually exclusive"),
        ({"name": "knid"}, "knid"),
    ],
)
def test_a_problem_changes_nothing(tmp_path: Path, changes: dict[str, Any], fact: str) -> None:
    rows = tools(tmp_path)
    rows[0] |= changes
    done = run(tmp_path, rows)
    assert done.returncode != 0
    assert mentions(done.stdout + done.stderr, fact), done.stdout
    assert not (tmp_path / "bin").exists() or not list((tmp_path / "bin").iterdir())
