# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files for CI systems in docs/ci.md: their YAML is valid, and their commands do in an empty folder what the page says."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from ansible_collections.nodebootstrap.eks.tests.consistency import documented, project
from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs

BLOCKS = documented.blocks(project.text("docs/ci.md"))
INSTALLATION = ["pip install ansible-core", "ansible-galaxy collection install nodebootstrap.eks"]
"""The commands that need the network. Everything else is run."""


def files(text: str) -> list[Any]:
    """The YAML files of the page for a CI system."""
    return [yaml.safe_load(block.body) for block in BLOCKS if block.marker.startswith("not run: ") and text in block.marker]


def body(marker: str) -> str:
    (found,) = [block.body for block in BLOCKS if block.marker == marker]
    return found


def run(folder: Path, command: str) -> int:
    return ansible_runs.run(folder, *shlex.split(command)).returncode


def commands(given: list[str]) -> list[str]:
    """The commands of a job without the installation, with which it begins."""
    assert given[:2] == INSTALLATION
    return given[2:]


def test_the_workflow_of_github_finds_files_that_do_not_match_the_input(tmp_path: Path) -> None:
    workflow, upload = files("needs GitHub")
    # YAML 1.1 reads the key "on" as true.
    assert set(workflow) == {"name", True, "jobs"} and workflow[True] == ["pull_request"]
    (job,) = workflow["jobs"].values()
    assert job["runs-on"] and all(set(step) <= {"uses", "with", "run"} for step in job["steps"])
    (check,) = commands([step["run"] for step in job["steps"] if "run" in step])
    given = body("file: my.yml")
    (tmp_path / "my.yml").write_text(given, encoding="utf-8")
    render = next(block.body for block in BLOCKS if block.marker == "run")
    assert run(tmp_path, render) == 0
    assert run(tmp_path, check) == 0
    (tmp_path / "my.yml").write_text(given.replace("role: web", "role: front"), encoding="utf-8")
    assert run(tmp_path, check) == 2
    (step,) = upload
    (report,) = [block.body for block in BLOCKS if block.marker == "run, fails" and "sarif" in block.body]
    assert step["if"] == "always()" and f"eks_node_lint_report={step['with']['sarif_file']}" in report


@pytest.mark.parametrize(("begin", "status", "failures"), [("runcmd: ", 2, 1), ("hostname: ", 0, 0)], ids=["wrong", "right"])
def test_the_job_of_gitlab_fails_with_a_report(tmp_path: Path, begin: str, status: int, failures: int) -> None:
    (pipeline,) = files("needs GitLab")
    (job,) = pipeline.values()
    (check,) = commands(job["script"])
    (tmp_path / "nodes").mkdir()
    text = body("file: web.userdata").replace("runcmd: ", begin)
    (tmp_path / "nodes/web.userdata").write_text(text, encoding="utf-8")
    assert run(tmp_path, check) == status
    report = tmp_path / job["artifacts"]["reports"]["junit"]
    found = list(ElementTree.parse(report).getroot().iter("failure"))
    assert job["artifacts"]["when"] == "always" and len(found) == failures
    assert all(one.attrib["message"].startswith("nodes/web.userdata:2:") for one in found)


def test_every_file_for_a_system_is_yaml() -> None:
    found = [block for block in BLOCKS if block.marker.startswith("not run: ")]
    assert len(found) == 4
    (hook,) = files("tests/unit/plugins/action/test_hook.py")
    assert [one["id"] for repository in hook["repos"] for one in repository["hooks"]] == ["lint-user-data"]
