# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A misspelt field gives the same error of ours through role, module and filter: no argument spec validates below the input."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE
from ansible_collections.nodebootstrap.eks.tests.unit.roles.test_roles import Lab

MISSPELT = {"family": "al2023", "instance": {"typ": "m5.large"}, "labells": {}, "taints": [{"key": "a", "efect": "NoSchedule"}]}
CLUSTER = {**COMPLETE, "dns_ip": "10.100.0.10"}
PATHS = {
    "cluster.dns_ip": "dns_ips",
    "node_group.instance.typ": "type",
    "node_group.labells": "labels",
    "node_group.taints[0].efect": "effect",
}
_PROBLEM = re.compile(r"((?:cluster|node_group)[\w.\[\]]*): is not a field.*?rename it to (\w+)")


def suggestions(output: str) -> dict[str, str]:
    """Path of every unknown field → the suggested name, from the messages of one task."""
    return dict(_PROBLEM.findall(output))


def test_a_misspelt_field_gives_the_same_error_everywhere(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    role = lab.run({"one": {"eks_node_cluster": CLUSTER, "eks_node_group": MISSPELT}})
    assert role.returncode == 2
    assert suggestions(role.stdout + role.stderr) == PATHS, role.stdout + role.stderr
    assert lab.calls("apply_plan") == []

    tasks = [
        {"nodebootstrap.eks.apply": {"cluster": CLUSTER, "node_group": MISSPELT}},
        {"nodebootstrap.eks.render": {"cluster": CLUSTER, "node_groups": [{"name": "web", **MISSPELT}]}},
        {
            "ansible.builtin.debug": {"msg": "{{ group | nodebootstrap.eks.user_data(facts) }}"},
            "vars": {"group": MISSPELT, "facts": CLUSTER},
        },
    ]
    plays = [{"hosts": "all", "gather_facts": False, "tasks": [task | {"ignore_errors": True} for task in tasks]}]
    (tmp_path / "tasks.yml").write_text(json.dumps(plays), encoding="utf-8")
    done = lab.run({"one": {}}, playbook="tasks.yml")
    *_before, apply, render, user_data = done.stdout.split("\nTASK ")
    for task in (apply, render, user_data):
        output = re.sub(r"node_groups\[0\](?: \(web\))?", "node_group", task)
        assert suggestions(output) == PATHS, output
        assert "...ignoring" in output
