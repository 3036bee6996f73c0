# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hook for pre-commit, run as pre-commit does: the words of its entry, its arguments, then the names of the files."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

TOP = Path(__file__).resolve().parents[4]
BAD = "#cloud-config\nruncmd: echo hello\n"
NAMES = (
    "web.userdata",
    "a 'b' \"c\".userdata",
    "{{ 1 + 1 }}.userdata",
    "{{ lookup('pipe', 'touch evaluated') }}.userdata",
    "{% raw %}.userdata",
    "$HOME ~.userdata",
    "-e.userdata",
    "--.userdata",
    "[ab]*.userdata",
    "a\nb\\n.userdata",
    "Gerät.userdata",
)


def hook() -> dict[str, Any]:
    (found,) = yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def run(folder: Path, *names: str, arguments: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [*shlex.split(hook()["entry"]), *(hook()["args"] if arguments is None else arguments), *names]
    # ansible-playbook is the one that belongs to this Python.
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "ANSIBLE_NOCOLOR": "1"}
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True, timeout=120)


def test_file_names_are_passed_unchanged(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).write_text(BAD, encoding="utf-8")
    done = run(tmp_path, *NAMES)
    assert done.returncode == 2, done.stdout + done.stderr
    assert mentions(done.stdout, f"{len(NAMES)} errors")
    for name in NAMES:
        assert mentions(done.stdout, f"{name}:2:9: error: ")
    assert not (tmp_path / "evaluated").exists()


def test_options_of_the_playbook(tmp_path: Path) -> None:
    (tmp_path / "web.userdata").write_text("#!/bin/bash\n/etc/eks/bootstrap.sh shop\n", encoding="utf-8")
    assert run(tmp_path, "web.userdata").returncode == 0
    done = run(tmp_path, "web.userdata", arguments=["-e", "eks_node_lint_family=al2023", "--"])
    assert done.returncode == 2
    assert "[bootstrap.removed_from_image]" in done.stdout


@pytest.mark.parametrize(
    ("name", "is_checked"),
    [
        ("nodes/web.userdata", True),
        ("nodes/user-data.sh", True),
        ("templates/UserData.tpl", True),
        ("user_data/README.md", False),
        ("web.sh", False),
    ],
)
def test_the_names_of_the_files(name: str, is_checked: bool) -> None:
    assert bool(re.search(hook()["files"], name)) == is_checked


def test_the_manifest() -> None:
    # The required fields of a hook, and more fields that pre-commit knows.
    assert {"id", "name", "entry", "language"} <= set(hook())
    assert set(hook()) <= {"id", "name", "description", "entry", "language", "args", "files", "types", "require_serial"}
    assert hook()["language"] == "system"
