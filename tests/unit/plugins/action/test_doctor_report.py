# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action doctor_report and the playbook doctor in real runs. The hosts cannot be reached or have no Python: nothing is examined."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.doctor.nodes import node
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

PLAYBOOK = Path(__file__).resolve().parents[4] / "playbooks/doctor.yml"
HOSTS = {
    "gone": {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1},
    "old": {"ansible_connection": "local", "ansible_python_interpreter": "/nonexistent/python3"},
}


def doctor(folder: Path, *arguments: str, **variables: Any) -> subprocess.CompletedProcess[str]:
    (folder / "inventory.json").write_text(json.dumps({"all": {"hosts": HOSTS}}), encoding="utf-8")
    given = json.dumps({f"eks_node_doctor_{name}": value for name, value in variables.items()})
    return ansible_runs.run(folder, "ansible-playbook", str(PLAYBOOK), "-i", "inventory.json", "-e", given, *arguments)


def test_hosts_that_cannot_be_examined(tmp_path: Path) -> None:
    done = doctor(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert mentions(done.stdout, "[doctor.unreachable]", "[doctor.failed]", "1 unreachable, 1 failed")


def test_the_report_is_written_once_and_not_in_check_mode(tmp_path: Path) -> None:
    given: dict[str, Any] = {"format": "json", "report": "out/doctor.json"}
    assert doctor(tmp_path, "--check", **given).returncode == 0
    assert not (tmp_path / "out").exists()
    assert "changed=1" in doctor(tmp_path, **given).stdout
    found = json.loads((tmp_path / "out/doctor.json").read_text(encoding="utf-8"))
    assert {row["name"]: row["state"] for row in found["nodes"]} == {"gone": "unreachable", "old": "failed"}
    assert "changed=1" not in doctor(tmp_path, **given).stdout


@pytest.mark.parametrize(("fail_on", "status"), [("error", 2), ("warning", 2), ("never", 0)])
def test_when_the_play_fails(fail_on: str, status: int, tmp_path: Path) -> None:
    done = doctor(tmp_path, fail_on=fail_on)
    assert done.returncode == status and "[doctor.unreachable]" in done.stdout


def test_warnings_fail_only_if_they_should(tmp_path: Path) -> None:
    tasks = [
        {"nodebootstrap.eks.doctor_report": {"results": {"n1": node({"clock.skew": 60.0}), "n2": node()}}, "register": "found"},
        {"ansible.builtin.assert": {"that": ["found.counts.error == 0", "found.states == {'n1': 'ready', 'n2': 'ready'}"]}},
        {"ansible.builtin.assert": {"that": "found.causes | map(attribute='nodes') | list == [['n1']]"}, "when": "found.counts.note == 0"},
    ]
    play = [{"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks}]
    (tmp_path / "play.yml").write_text(json.dumps(play), encoding="utf-8")
    done = ansible_runs.run(tmp_path, "ansible-playbook", "-i", "localhost,", "play.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert mentions(done.stdout, "[doctor.clock_skew]", "n1")


def test_the_variables_of_each_host_describe_its_node(tmp_path: Path) -> None:
    group = {"name": "web", "family": "al2023", "max_pods": "{{ pods }}"}
    hosts = {"n1": {"pods": 20}, "n2": {"pods": 58}, "n3": {"pods": 58, "ansible_host": "10.0.0.1"}}
    variables = {"eks_node_cluster": COMPLETE, "eks_node_group": group, "ansible_connection": "local"}
    (tmp_path / "inventory.json").write_text(json.dumps({"all": {"hosts": hosts, "vars": variables}}), encoding="utf-8")
    config = {"maxPods": 58, "clusterDNS": ["10.100.0.10"]}
    results = {name: node({"info.kubelet.config.effective": config}) for name in hosts}
    tasks = [
        {"nodebootstrap.eks.doctor_report": {"results": results}, "register": "found", "run_once": True},
        {"ansible.builtin.assert": {"that": "found.causes | map(attribute='nodes') | list == [['n1']]"}, "run_once": True},
    ]
    play = [{"hosts": "all", "gather_facts": False, "tasks": tasks}]
    (tmp_path / "play.yml").write_text(json.dumps(play), encoding="utf-8")
    done = ansible_runs.run(tmp_path, "ansible-playbook", "-i", "inventory.json", "play.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert mentions(done.stdout, "[drift.not_as_described]", "maxPods", "20")
