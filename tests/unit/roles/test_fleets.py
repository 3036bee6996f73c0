# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples for AWX, Systems Manager and ansible-pull in real playbook runs, and the artifacts of the playbooks.

Modules of nodes are stand-ins that record their options.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.action import node_stand_in
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

EXAMPLES = node_stand_in.COLLECTION / "examples"
PYTHON = ("-e", f"ansible_python_interpreter={sys.executable}")
JOINED = node_stand_in.HEALTHY | {"join": {"ready": True, "node": "ip-10-0-0-1", "cause": None}}


def run(
    folder: Path, *command: str, answers: Sequence[dict[str, Any]] = (JOINED, JOINED | {"changed": False})
) -> subprocess.CompletedProcess[str]:
    """Run a playbook that would change this machine, with stand-ins for the modules that would do so."""
    settings = {"ANSIBLE_SHOW_CUSTOM_STATS": "true"} | node_stand_in.make(folder, apply_plan=[*answers])
    return ansible_runs.run(folder, "ansible-playbook", *command, *PYTHON, settings=settings)


def artifacts(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What set_stats handed on."""
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.partition("RUN: ")[2])
    return found


def calls(folder: Path) -> list[dict[str, Any]]:
    return [options for name, options, *_unused in node_stand_in.calls(folder) if name == "apply_plan"]


def answers(playbook: str) -> dict[str, Any]:
    """The variables that AWX sets when a user accepts the defaults of the survey."""
    survey = json.loads((EXAMPLES / "awx" / f"survey-{playbook}.json").read_text(encoding="utf-8"))
    return {question["variable"]: question["default"] for question in survey["spec"]}


def write(folder: Path, name: str, content: Any) -> str:
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return name


def inventory(folder: Path, *hosts: str, **variables: Any) -> str:
    group = {"name": "web", "family": "al2023"}
    given = {"ansible_connection": "local", "eks_node_cluster": COMPLETE, "eks_node_group": group, **variables}
    return write(folder, "hosts.json", {"all": {"hosts": {host: given for host in hosts}}})


def test_the_survey_of_bootstrap_leads_to_a_run(tmp_path: Path) -> None:
    given = write(tmp_path, "answers.json", answers("bootstrap"))
    done = run(tmp_path, str(EXAMPLES / "awx" / "bootstrap.yml"), "-i", inventory(tmp_path, "one", "two"), "-e", f"@{given}")
    assert artifacts(done) == {
        "eks_node_changed": {"one": True, "two": False},
        "eks_node_names": {"one": "ip-10-0-0-1", "two": "ip-10-0-0-1"},
    }
    [first, _second] = calls(tmp_path)
    assert (first["restart"], first["reconcile"], first["take_over"]) == ("when_changed", False, False)


def test_a_join_that_was_not_checked_has_no_name(tmp_path: Path) -> None:
    for answer in (node_stand_in.HEALTHY, node_stand_in.HEALTHY | {"join": None}):
        done = run(tmp_path, "nodebootstrap.eks.bootstrap", "-i", inventory(tmp_path, "one", eks_node_wait_for="healthy"), answers=[answer])
        assert artifacts(done) == {"eks_node_changed": {"one": True}, "eks_node_names": {"one": ""}}


def test_a_run_without_the_role_has_no_artifacts(tmp_path: Path) -> None:
    done = run(tmp_path, "nodebootstrap.eks.bootstrap", "-i", inventory(tmp_path, "one"), "--tags", "other")
    assert done.returncode == 0 and "RUN: " not in done.stdout and calls(tmp_path) == []


@pytest.mark.parametrize(("share", "check"), [("false", False), ("true", False), ("true", True)])
def test_the_survey_of_render_leads_to_artifacts(tmp_path: Path, share: str, check: bool) -> None:
    given = write(tmp_path, "answers.json", answers("render") | {"eks_node_share_user_data": share, "eks_node_output_dir": "rendered"})
    arguments = [str(EXAMPLES / "awx" / "render.yml"), "-i", inventory(tmp_path, "one"), "-e", f"@{given}"]
    found = artifacts(run(tmp_path, *arguments, *(["--check"] if check else [])))
    [group] = found["eks_node_rendered"]
    assert (group["group"], group["file"], len(group["sha256"])) == ("web", f"{COMPLETE['name']}/web.userdata", 64)
    if share == "true" and not check:
        assert found["eks_node_user_data"] == {group["file"]: (tmp_path / "rendered" / group["file"]).read_text(encoding="utf-8")}
    else:
        assert "eks_node_user_data" not in found


def test_systems_manager_runs_its_playbook(tmp_path: Path) -> None:
    """The command is that of the document AWS-ApplyAnsiblePlaybooks."""
    shutil.copytree(EXAMPLES / "ssm", tmp_path / "bundle")
    parameters = json.loads((EXAMPLES / "ssm" / "association.json").read_text(encoding="utf-8"))["Parameters"]
    extra, playbook, verbose = (parameters[name][0] for name in ("ExtraVariables", "PlaybookFile", "Verbose"))
    for restart in ("when_changed", "never"):
        variables = extra.replace("when_changed", restart)
        done = run(tmp_path, "-i", "localhost,", "-c", "local", "-e", variables, verbose, f"bundle/{playbook}")
        assert done.returncode == 0, done.stdout + done.stderr
        assert calls(tmp_path)[-1]["restart"] == restart


def test_ansible_pull_runs_its_playbook(tmp_path: Path) -> None:
    for name in ("ansible-pull/local.yml", "ssm/node.yml"):
        shutil.copy(EXAMPLES / name, tmp_path)
    done = run(tmp_path, "-i", "localhost,", "local.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(calls(tmp_path)) == 1
