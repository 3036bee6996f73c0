# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action image_fetch in real playbook runs: progress, check mode, errors. The rest is in test_image_inputs.py of the library."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.image import mirror as mirrors


def play(folder: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a play with the task, on a host that does not exist."""
    task = {"name": "Fetch", "nodebootstrap.eks.image_fetch": {"lock": "inputs.lock", "folder": "inputs", **options}}
    (folder / "play.yml").write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": [task]}]), encoding="utf-8")
    return ansible_runs.run(folder, "ansible-playbook", "play.yml", "-i", "nowhere.invalid,", *arguments)


def test_files_are_fetched_once_and_shown(tmp_path: Path) -> None:
    with mirrors.started() as mirror:
        mirror.write_lock(tmp_path)
        check = play(tmp_path, "--check")
        assert mentions(check.stdout, "changed=1") and not (tmp_path / "inputs").exists()
        first = play(tmp_path)
        assert mentions(first.stdout, "changed=1", "packages/jq_1.7_amd64.deb", "3 of 3"), first.stdout + first.stderr
        assert mentions(play(tmp_path).stdout, "changed=0")
        assert len(mirror.requests) == 3


def test_problems_fail_the_task(tmp_path: Path) -> None:
    with mirrors.started() as mirror:
        mirror.write_lock(tmp_path)
        mirror.faults = dict.fromkeys(mirrors.CONTENTS, "missing")
        failed = play(tmp_path)
    assert failed.returncode != 0
    start = failed.stdout.index("FAILED! => ") + len("FAILED! => ")
    result = json.JSONDecoder().raw_decode(failed.stdout, start)[0]
    assert [problem["rule"] for problem in result["problems"]] == ["lock.fetch_failed"] * 3
    assert mentions(play(tmp_path, lock="nowhere.lock").stdout, "nowhere.lock")
