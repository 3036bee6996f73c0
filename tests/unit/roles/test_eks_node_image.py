# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role eks_node_image in real playbook runs, with a stand-in for the module."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.action import node_stand_in

ERROR = {"rule": "image.swap", "severity": "error", "path": "/etc/fstab", "message": 'swap <"&> is on', "fix": "remove it"}
WARNING = {"rule": "image.journal", "severity": "warning", "path": "/var/log/journal/1", "message": "a log", "fix": "delete it"}
RULES = ["image.swap", "image.journal", "image.firewall"]


def run(folder: Path, findings: list[dict[str, str]], **variables: Any) -> subprocess.CompletedProcess[str]:
    answer = {"changed": False, "findings": findings, "rules": RULES, "problems": [], "family": "al2023"}
    settings = node_stand_in.make(folder, image_verify=[answer])
    include = {"name": "Check", "ansible.builtin.include_role": {"name": "nodebootstrap.eks.eks_node_image", "tasks_from": "verify"}}
    play = [{"hosts": "all", "gather_facts": False, "tasks": [include | {"vars": variables}]}]
    (folder / "play.yml").write_text(json.dumps(play), encoding="utf-8")
    hosts = {"all": {"hosts": {"builder": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}}}}
    (folder / "hosts.json").write_text(json.dumps(hosts), encoding="utf-8")
    return ansible_runs.run(folder, "ansible-playbook", "-i", "hosts.json", "play.yml", settings=settings)


def test_errors_fail_with_every_reason_and_fix(tmp_path: Path) -> None:
    done = run(tmp_path, [ERROR, WARNING], eks_node_image_report=str(tmp_path / "reports"))
    assert done.returncode != 0
    assert mentions(done.stdout, "/etc/fstab", "remove it", "[image.swap]", "/var/log/journal/1", "[image.journal]")
    report = json.loads((tmp_path / "reports/builder.json").read_text(encoding="utf-8"))
    assert report == {
        "host": "builder", "profile": "image", "family": "al2023", "findings": [ERROR, WARNING], "problems": [], "rules": RULES,
    }  # fmt: skip
    suite = ElementTree.fromstring((tmp_path / "reports/builder.xml").read_text(encoding="utf-8"))
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    assert {case.get("name"): [child.tag for child in case] for case in suite} == {
        "image.swap": ["failure"],
        "image.journal": ["system-out"],
        "image.firewall": [],
    }
    assert ERROR["message"] in str(suite.findtext("testcase/failure"))


@pytest.mark.parametrize("findings", [[], [WARNING]], ids=["clean", "warning"])
def test_warnings_do_not_fail(tmp_path: Path, findings: list[dict[str, str]]) -> None:
    done = run(tmp_path, findings)
    assert done.returncode == 0, done.stdout + done.stderr
    assert mentions(done.stdout, "delete it") is bool(findings)
    assert [call[1] for call in node_stand_in.calls(tmp_path)] == [{"profile": "image", "ignore": []}]


def test_the_variables_reach_the_module(tmp_path: Path) -> None:
    variables = {"profile": "live", "kubernetes_version": "1.34", "ignore": ["image.swap"]}
    done = run(tmp_path, [], **{f"eks_node_image_{name}": value for name, value in variables.items()})
    assert done.returncode == 0, done.stdout + done.stderr
    assert [call[1] for call in node_stand_in.calls(tmp_path)] == [variables]
