# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The doctor on Ready nodes, and drift of their settings: none on a new node, and exactly the settings whose file was edited."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor import drift
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.intent import Described, Intent, intent
from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabNode, joining
from ansible_collections.nodebootstrap.eks.tests.lab.fail_play import check_host, playing
from ansible_collections.nodebootstrap.eks.tests.lab.joining import PATIENCE, boot

pytestmark = pytest.mark.docker

CASES = ("al2-bootstrap", "al2023-stand-in", "ubuntu-bootstrap")
#: What the doctor rightly reports about machines of the lab: containers of Debian, on a busy machine, with certificates for a week.
OF_THE_LAB = {
    "doctor.certificate_ends", "doctor.clock_not_synchronized", "doctor.low_disk", "doctor.low_memory", "doctor.pressure",
    "doctor.support_ended", "image.cloud_init_source", "image.containerd_version", "image.missing_iptables", "image.missing_unpigz",
    "image.no_ipv6",
}  # fmt: skip
EXAMINE = {"name": "Examine the node", "nodebootstrap.eks.doctor_info": {}}


@pytest.fixture(scope="module")
def nodes(lab: Lab) -> Iterator[dict[str, LabNode]]:
    with ExitStack() as stack:
        found = {case: stack.enter_context(boot(lab, case)) for case in CASES}
        for node in found.values():
            node.wait_ready(PATIENCE)
        yield found


def examine(nodes: dict[str, LabNode]) -> dict[str, dict[str, Any]]:
    """What doctor_info returns on each node."""
    playbook = [{"name": "Examine", "hosts": "all", "gather_facts": False, "tasks": [EXAMINE]}]
    with playing({name: check_host(node) for name, node in nodes.items()}, "-v", playbook=playbook) as output:
        output.wait()
    found: dict[str, dict[str, Any]] = {name: output.ended(name).result["node"] for name in nodes}
    for name, node in nodes.items():
        # kubelet does not authorize its own node, neither here nor on EKS: the administrator of the lab may read it.
        configz = found[name]["info"]["kubelet"]["configz"]
        assert configz["config"] is None and configz["problem"], configz
        configz["config"] = node.configz()
    return found


def described(facts: dict[str, Any]) -> Intent:
    """What the user data of a node says."""
    found = intent(facts, Described())
    assert found is not None and found.config["clusterDNS"]
    return found


def test_the_doctor_examines_ready_nodes(nodes: dict[str, LabNode], tmp_path: Path) -> None:
    report = tmp_path / "doctor.json"
    hosts = {name: check_host(node) for name, node in nodes.items()}
    with playing(hosts, "-e", f"eks_node_doctor_report={report} eks_node_doctor_format=json", playbook="playbooks/doctor.yml") as output:
        output.wait()
    assert output.code == 0, output.text
    found = json.loads(report.read_text(encoding="utf-8"))
    rows = {row["name"]: row for row in found["nodes"]}
    assert {name: row["state"] for name, row in rows.items()} == dict.fromkeys(CASES, "ready"), found["causes"]
    assert [cause for cause in found["causes"] if cause["rule"] not in OF_THE_LAB] == []
    for case, row in rows.items():
        assert row["kubelet"].startswith(f"{joining.CASES[case].minor}.")
        assert 0 < row["certificate_days"] < 8 and abs(row["clock_skew"]) < 10
        assert all(row[name] is not None for name in ("containerd", "system", "instance", "support_days", "disk_percent"))


def test_only_what_was_edited_drifts(nodes: dict[str, LabNode]) -> None:
    before = examine(nodes)
    for name, facts in before.items():
        assert drift.from_disk(facts) == [], name
        assert drift.from_intent(facts, described(facts)) == [], name
    for name, node in nodes.items():
        path = before[name]["info"]["kubelet"]["config"]["path"]
        config = json.loads(node.read(path))
        config |= {"podPidsLimit": 4321, "syncFrequency": "60s", "evictionHard": {**config["evictionHard"], "memory.available": "7Mi"}}
        node.write({path: json.dumps(config)})
        for file in before[name]["info"]["kubelet"]["config"]["files"]:
            config = json.loads(node.read(file["path"]))
            node.write({file["path"]: json.dumps(config | {"clusterDNS": ["10.9.9.9"]})})
    for name, facts in examine(nodes).items():
        rows = [(row.path, row.before, row.after) for row in drift.from_disk(facts) if row.path != "clusterDNS"]
        eviction = before[name]["info"]["kubelet"]["config"]["effective"]["evictionHard"]["memory.available"]
        assert rows == [('evictionHard["memory.available"]', "7Mi", eviction), ("podPidsLimit", 4321, -1)], name
        # The script of Ubuntu passes this setting as a flag, which wins over the file.
        changed = [] if "cluster-dns" in facts["info"]["kubelet"]["flags"] else [("clusterDNS", ["10.9.9.9"])]
        assert [(row.path, row.after) for row in drift.from_intent(facts, described(facts))] == changed, name
        facts["info"]["kubelet"]["configz"]["config"] = None
        assert [row.rule for row in drift.observations(facts)] == ["drift.changed_since_start"]
