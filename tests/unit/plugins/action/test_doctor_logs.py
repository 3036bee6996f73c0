# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action doctor_logs in real runs with a stand-in for the module: the archive is private, and not part of the result."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.action import node_stand_in

CONTENT = b"archive-4711"
ENCODED = base64.b64encode(CONTENT).decode()


def collect(folder: Path, answer: dict[str, Any], *arguments: str) -> subprocess.CompletedProcess[str]:
    settings = node_stand_in.make(folder, doctor_logs=[answer])
    task = {"nodebootstrap.eks.doctor_logs": {"folder": "out/logs"}, "register": "found"}
    tasks = [task, {"ansible.builtin.debug": {"var": "found"}}]
    (folder / "play.yml").write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": tasks}]), encoding="utf-8")
    hosts = {"all": {"hosts": {"rack/node 1": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}}}}
    (folder / "hosts.json").write_text(json.dumps(hosts), encoding="utf-8")
    return ansible_runs.run(folder, "ansible-playbook", "-i", "hosts.json", "play.yml", *arguments, settings=settings)


def test_the_archive_is_private(tmp_path: Path) -> None:
    answer = {"changed": False, "archive": ENCODED, "entries": 3}
    check = collect(tmp_path, answer, "--check")
    assert mentions(check.stdout, "changed=1", "rack%2Fnode%201.tar.gz"), check.stdout + check.stderr
    assert not (tmp_path / "out").exists() and not node_stand_in.calls(tmp_path)
    done = collect(tmp_path, answer)
    assert mentions(done.stdout, "changed=1", "rack%2Fnode%201.tar.gz") and ENCODED not in done.stdout, done.stdout + done.stderr
    path = tmp_path / "out/logs/rack%2Fnode%201.tar.gz"
    assert path.read_bytes() == CONTENT
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700


def test_a_node_that_fails_writes_nothing(tmp_path: Path) -> None:
    for answer in ({"failed": True, "msg": "reason-4711"}, {"changed": False, "archive": "reason-4711", "entries": 1}):
        done = collect(tmp_path, answer)
        assert done.returncode != 0 and mentions(done.stdout + done.stderr, "reason-4711" if "msg" in answer else "not base64")
        assert not (tmp_path / "out").exists()
