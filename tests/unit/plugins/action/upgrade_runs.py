# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of the playbook upgrade, for tests."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs

PLAYBOOK = str(Path(__file__).parents[4] / "playbooks" / "upgrade.yml")


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only these credentials."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN", "KUBECONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")


def play(folder: Path, values: dict[str, Any], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the playbook with these variables."""
    command = ("ansible-playbook", PLAYBOOK, "-e", json.dumps(values), *arguments)
    return ansible_runs.run(folder, *command, settings={"ANSIBLE_STDOUT_CALLBACK": "json"})


def results(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """The results of all tasks that ran, by any host."""
    start = done.stdout.index("{\n")
    tasks = [task for play in json.loads(done.stdout[start:])["plays"] for task in play["tasks"]]
    return [{"host": host, "task": task["task"]["name"], **found} for task in tasks for host, found in task["hosts"].items()]


def result(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The result of the last task that was not skipped."""
    return [found for found in results(done) if not found.get("skipped")][-1]


def shown(done: subprocess.CompletedProcess[str]) -> str:
    """The progress and the messages of a run, for failed tests."""
    start = done.stdout.find("{\n")
    texts = [f"{one['host']}: {one['task']}: {one.get('msg')} {one.get('exception', '')}" for one in results(done)] if start >= 0 else []
    return "\n".join([done.stdout[:start], *texts, done.stderr])
