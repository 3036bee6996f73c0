# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes as sources of the playbooks lint and migrate, in real runs. No node is examined: test_doctor.py of the oracle layer has one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.doctor.nodes import node
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

PLAYBOOKS = Path(__file__).resolve().parents[4] / "playbooks"
HOSTS = {
    "gone": {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1},
    "old": {"ansible_connection": "local", "ansible_python_interpreter": "/nonexistent/python3"},
}
BAD = "#cloud-config\nruncmd: echo hello\n"
CALL = "#!/bin/bash\n/etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=20'\n"
OLD = {"user_data.text": CALL, "family": "al2", "info.versions.kubelet.version": "1.32.1"}


def playbook(folder: Path, name: str, *sources: Any, **variables: Any) -> subprocess.CompletedProcess[str]:
    (folder / "inventory.json").write_text(json.dumps({"all": {"children": {"web": {"hosts": HOSTS}}}}), encoding="utf-8")
    (folder / "bad.yaml").write_text(BAD, encoding="utf-8")
    given = json.dumps({f"eks_node_{name}_sources": list(sources), **variables})
    return ansible_runs.run(folder, "ansible-playbook", str(PLAYBOOKS / f"{name}.yml"), "-i", "inventory.json", "-e", given)


def test_nodes_that_cannot_be_read_do_not_hide_the_others(tmp_path: Path) -> None:
    done = playbook(tmp_path, "lint", {"host": "web"}, "bad.yaml", eks_node_lint_report="out.json", eks_node_lint_format="json")
    assert done.returncode == 2, done.stdout + done.stderr
    report = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    found = {one["name"]: [finding["rule"] for finding in one["findings"]] for one in report["sources"]}
    assert found == {"bad.yaml": ["cloud_config.wrong_type"], "gone": ["doctor.unreachable"], "old": ["doctor.failed"]}


def test_a_name_that_is_not_in_the_inventory(tmp_path: Path) -> None:
    done = playbook(tmp_path, "lint", {"host": "webb"})
    assert done.returncode == 2
    assert mentions(done.stdout, "sources[0].host", '"webb"', "web,")


def test_a_migration_of_a_node_that_cannot_be_read_fails(tmp_path: Path) -> None:
    done = playbook(tmp_path, "migrate", {"host": "web"}, eks_node_cluster=COMPLETE)
    assert done.returncode == 2
    assert mentions(done.stdout, "sources[0] (gone)", "sources[0] (old)", "127.0.0.1", "/nonexistent/python3")


def test_the_results_of_a_loop_are_the_nodes(tmp_path: Path) -> None:
    """What the module returned on two nodes, one of which has no user data to migrate."""
    results = [{"item": "old", **node(OLD)}, {"item": "gone", **node()}]
    sources = {"sources": [{"host": "web"}, {"host": "old:gone"}], "nodes": results}
    tasks: list[dict[str, Any]] = [
        {"nodebootstrap.eks.lint": sources, "register": "linted"},
        {"nodebootstrap.eks.migrate": {**sources, "cluster": COMPLETE}, "register": "migrated"},
        {
            "ansible.builtin.assert": {
                "that": [
                    "linted.findings | map(attribute='source') | unique == ['old']",
                    "linted.findings[0].path == '/var/lib/cloud/instance/user-data.txt'",
                    "linted.findings[0].line == 2",
                    "migrated.migrations | map(attribute='source') == ['old']",
                    "migrated.migrations[0].user_data == 'out/old.userdata'",
                    "migrated.not_migrated | map(attribute='source') == ['gone']",
                ]
            }
        },
    ]
    (tmp_path / "play.yml").write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]), encoding="utf-8")
    (tmp_path / "inventory.json").write_text(json.dumps({"all": {"children": {"web": {"hosts": HOSTS}}}}), encoding="utf-8")
    done = ansible_runs.run(tmp_path, "ansible-playbook", "-i", "inventory.json", "play.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "maxPods: 20" in (tmp_path / "out/old.userdata").read_text(encoding="utf-8")
