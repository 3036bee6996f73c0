# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook doctor on a node with planted problems and on a host that does not exist: the report has them, and nothing changes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from nodelab import Al2Node

from ansible_collections.nodebootstrap.eks.tests.oracle.script_nodes import text
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

PLAYBOOK = Path(__file__).resolve().parents[2] / "playbooks/doctor.yml"
CANARY = "cAnArY-7391"
USER_DATA = f"#cloud-config\nruncmd: echo hello\npassword: {CANARY}\n"
WATCHED = ("/etc", "/var/lib/kubelet", "/var/lib/nodebootstrap", "/var/lib/cloud")


def doctor(folder: Path, *hosts: str) -> dict[str, Any]:
    """The report of a run of the playbook."""
    environment = os.environ | {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_HOME": str(folder / "home")}
    command = ["ansible-playbook", str(PLAYBOOK), "-i", ",".join(hosts) + ",", "-c", "community.docker.docker"]
    command += ["-e", "ansible_python_interpreter=/usr/bin/python3 eks_node_doctor_kubernetes_version=1.27"]
    command += ["-e", f"eks_node_doctor_format=json eks_node_doctor_report={folder}/doctor.json"]
    command += ["-e", "eks_node_doctor_logs=true"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    report = (folder / "doctor.json").read_text(encoding="utf-8")
    assert CANARY not in done.stdout + report
    found: dict[str, Any] = json.loads(report)
    return found


def check_logs(path: Path) -> None:
    """The archive of the logs has the programs and files of the node, and no secrets."""
    with tarfile.open(path) as archive:
        contents = {member.name: archive.extractfile(member) for member in archive.getmembers()}
        entries = {name.removeprefix("logs/"): content.read().decode() for name, content in contents.items() if content is not None}
    assert CANARY not in "".join(entries.values())
    expected = {"index.json", "processes.txt", "files/proc/mounts", "files/etc/os-release", "programs/uname_a.txt"}
    assert expected <= entries.keys(), entries["index.json"]
    assert "systemd" in entries["processes.txt"] and "planted.service" in entries["programs/systemctl_list-units_failed.txt"]
    assert any(name.startswith("files/etc/kubernetes/") for name in entries)


def files(node: Al2Node) -> str:
    """Every watched file with its size, mode and time."""
    listed = node.exec(["find", *WATCHED, "-xdev", "-type", "f", "-printf", "%p %s %m %T@\\n"], check=True)
    return "\n".join(sorted(listed.stdout.decode().splitlines()))


def test_a_node_with_problems(al2_node: Al2Node, tmp_path: Path) -> None:
    done = al2_node.run_user_data(text("al2"))
    assert done.returncode == 0, done.stderr.decode()
    al2_node.kubelet_records()
    manifest = {"files": {path: {"sha256": hashlib.sha256(b"1").hexdigest()} for path in ("/a", "/b")}}
    al2_node.write(
        {
            "/var/lib/nodebootstrap/manifest.json": json.dumps(manifest),
            "/a": "2",
            "/var/lib/cloud/instance/user-data.txt": USER_DATA,
        }
    )
    al2_node.exec(["systemd-run", "--unit=planted", "sh", "-c", f"echo secret={CANARY}; exit 3"], check=True)
    before = files(al2_node)

    found = doctor(tmp_path, al2_node.container, "no-such-container")
    nodes = {row["name"]: row for row in found["nodes"]}
    causes = {cause["rule"]: cause for cause in found["causes"] if al2_node.container in cause["nodes"]}
    assert nodes["no-such-container"]["state"] == "unreachable"
    row = nodes[al2_node.container]
    # Kubelet is a stand-in, and there is no API server.
    assert row["state"] == "not joined" and row["kubelet"] == "1.30.14" and row["support_days"] is not None
    assert {"doctor.changed_files", "doctor.failed_unit", "image.kubelet_version", "cloud_config.wrong_type"} <= causes.keys()
    assert any(rule.startswith("join.") for rule in causes)
    messages = [finding["message"] for finding in row["findings"]]
    assert mentions(messages, "/a", "/b", "planted.service", "user-data.txt")
    assert row["disk_percent"] is not None

    check_logs(tmp_path / f"doctor-logs/{al2_node.container}.tar.gz")
    assert sorted(path.name for path in (tmp_path / "doctor-logs").iterdir()) == [f"{al2_node.container}.tar.gz"]
    assert files(al2_node) == before
