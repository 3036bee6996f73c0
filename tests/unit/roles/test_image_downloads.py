# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The downloads of the role eks_node_image: the output never shows a URL with a password or a signature, and shows other errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs

TASKS = Path(__file__).resolve().parents[3] / "roles/eks_node_image/tasks"


def downloads(tasks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The tasks that download, also those in blocks."""
    for task in tasks:
        yield from downloads(task.get("block", []))
        if "ansible.builtin.get_url" in task:
            yield task


ALL = {path.stem: list(downloads(yaml.safe_load(path.read_text("utf-8")))) for path in sorted(TASKS.glob("*.yml"))}
FILES = {name: tasks for name, tasks in ALL.items() if tasks}


def test_the_downloads_are_found() -> None:
    assert FILES.keys() == {"archive", "images", "import", "programs"}


@pytest.mark.parametrize(
    ("url", "is_shown"),
    [
        ("http://127.0.0.1:1/kubelet", True),
        ("http://me:pa55word@127.0.0.1:1/kubelet", False),
        ("http://pa55word@127.0.0.1:1/kubelet", False),
        ("http://127.0.0.1:1/kubelet?signature=pa55word", False),
    ],
)
def test_the_url_of_a_failed_download(tmp_path: Path, url: str, is_shown: bool) -> None:
    place = {"file": "kubelet", "dest": f"{tmp_path}/kubelet", "mode": "0644", "sha256": "0" * 64}
    entry = {"name": "kubelet", "url": url, "kind": "file", **place}
    (tmp_path / "downloads").mkdir()
    variables = {
        "eks_node_image__plan": {"images": [entry], "downloads": [entry]},
        "eks_node_image__images": {"missing": ["kubelet"]},
        "eks_node_image__archive": entry,
        "eks_node_image__cache": str(tmp_path),
        "eks_node_image__archives": str(tmp_path),
    }
    host = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    (tmp_path / "hosts.json").write_text(json.dumps({"all": {"hosts": {"builder": host}}}), encoding="utf-8")
    tasks = [task | {"ignore_errors": True} for found in FILES.values() for task in found]
    play = {"hosts": "all", "gather_facts": False, "vars": variables, "tasks": tasks}
    (tmp_path / "play.yml").write_text(json.dumps([play]), encoding="utf-8")
    done = ansible_runs.run(tmp_path, "ansible-playbook", "-vvv", "-i", "hosts.json", "play.yml")
    assert f"ignored={len(tasks)}" in done.stdout, done.stdout + done.stderr
    assert "pa55word" not in done.stdout + done.stderr
    assert (url in done.stdout) is is_shown
