# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files with user data that a user names: files, directories and patterns."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import source_files

SCRIPT = b"#!/bin/bash\ntrue\n"
FILES = {
    "nodes/b.sh": SCRIPT,
    "nodes/a.sh": SCRIPT,
    "nodes/c/d.yaml": b"kind: EC2NodeClass\nspec: {userData: '#!/bin/bash'}\n",
    "nodes/README.md": b"# Nodes\n",
    "nodes/empty": b"",
    "nodes/broken.gz": b"\x1f\x8b\0",
    "nodes/plain.yaml": b"kind: EC2NodeClass\nspec: {}\n",
    "nodes/.hidden.sh": SCRIPT,
    "nodes/.git/a.sh": SCRIPT,
    "other/README.md": b"hello",
    "a*.sh": SCRIPT,
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["nodes/b.sh", "nodes/a.sh", "nodes/b.sh"], ["nodes/b.sh", "nodes/a.sh"]),
        (["nodes/*.sh"], ["nodes/a.sh", "nodes/b.sh"]),
        (["nodes/*"], ["nodes/README.md", "nodes/a.sh", "nodes/b.sh", "nodes/broken.gz", "nodes/empty", "nodes/plain.yaml"]),
        (["**/*.yaml"], ["nodes/c/d.yaml", "nodes/plain.yaml"]),
        (["nodes"], ["nodes/a.sh", "nodes/b.sh", "nodes/c/d.yaml"]),
        (["nodes/b.sh", "nodes"], ["nodes/b.sh", "nodes/a.sh", "nodes/c/d.yaml"]),
        (["a*.sh"], ["a*.sh"]),
    ],
)
def test_paths(paths: list[str], found: list[str]) -> None:
    problems = Problems()
    files = source_files.find(paths, problems)
    assert [file.path for file in files.found] == found
    assert list(problems) == []


@pytest.mark.usefixtures("here")
def test_skipped_files_of_a_directory() -> None:
    assert source_files.find(["nodes"], Problems()).unchecked == ("nodes/README.md", "nodes/broken.gz", "nodes/empty", "nodes/plain.yaml")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("path", ["none.sh", "none/*", "other", "other/*.sh", "[a"])
def test_paths_without_a_file(path: str) -> None:
    problems = Problems()
    assert source_files.find([path, "nodes/a.sh"], problems).found
    assert [(problem.rule, problem.path) for problem in problems] == [("input.unreadable_file", "sources[0]")]
