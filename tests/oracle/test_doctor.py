# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks doctor, lint and migrate on a node with planted problems and on a host that does not exist: the reports have them, and
nothing changes."""

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

PLAYBOOKS = Path(__file__).resolve().parents[2] / "playbooks"
CANARY = "cAnArY-7391"
USER_DATA = f"#cloud-config\nruncmd: echo hello\npassword: {CANARY}\n"
USER_DATA_FILE = "/var/lib/cloud/instance/user-data.txt"
WATCHED = ("/etc", "/var/lib/kubelet", "/var/lib/nodebootstrap", "/var/lib/cloud")


def playbook(folder: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a playbook of the collection in C(folder)."""
    environment = os.environ | {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_HOME": str(folder / "home")}
    command = ["ansible-playbook", str(PLAYBOOKS / f"{name}.yml"), *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=900)


def doctor(folder: Path, *hosts: str) -> dict[str, Any]:
    """The report of a run of the playbook."""
    command = ["doctor", "-i", ",".join(hosts) + ",", "-c", "community.docker.docker"]
    command += ["-e", "ansible_python_interpreter=/usr/bin/python3 eks_node_doctor_kubernetes_version=1.27"]
    command += ["-e", f"eks_node_doctor_format=json eks_node_doctor_report={folder}/doctor.json"]
    command += ["-e", "eks_node_doctor_logs=true"]
    done = playbook(folder, *command)
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
            USER_DATA_FILE: USER_DATA,
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


def with_nodes(folder: Path, name: str, hosts: dict[str, dict[str, str]], **variables: Any) -> subprocess.CompletedProcess[str]:
    """Run a playbook whose only source is the group with these hosts."""
    common = {"ansible_connection": "community.docker.docker", "ansible_python_interpreter": "/usr/bin/python3"}
    group = {"web": {"hosts": hosts, "vars": common}}
    (folder / "inventory.json").write_text(json.dumps({"all": {"children": group}}), encoding="utf-8")
    given = {f"eks_node_{name}_sources": [{"host": "web"}], **variables}
    done = playbook(folder, name, "-i", "inventory.json", "-e", json.dumps(given))
    assert CANARY not in done.stdout
    return done


def test_the_user_data_on_the_disk(al2_node: Al2Node, tmp_path: Path) -> None:
    """Lint says of the disk what it says of a file. A host that cannot be reached or is not root is an error, and hides no other."""
    call = text("al2")
    config = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      maxPodz: 20\n"
    # The folder of this collection exists, so a change in it would be seen.
    al2_node.write({USER_DATA_FILE: USER_DATA, "/etc/eks/nodeadm.d/a.yaml": config, "/var/lib/nodebootstrap/x": ""})
    before = files(al2_node)
    name = al2_node.container
    not_root = {"ansible_host": name, "ansible_user": "daemon", "ansible_remote_tmp": "/tmp/of-daemon"}
    hosts: dict[str, dict[str, str]] = {"web-1": {"ansible_host": name}, "web-2": {"ansible_host": "no-such-container"}, "web-3": not_root}
    done = with_nodes(tmp_path, "lint", hosts, eks_node_lint_format="json", eks_node_lint_report="out.json")
    assert done.returncode == 2, done.stdout + done.stderr
    report = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    found = {(one["name"], one["path"]): {row["rule"]: row["file"] for row in one["findings"]} for one in report["sources"]}
    user_data = found[("web-1", USER_DATA_FILE)]
    assert user_data.keys() == {"cloud_config.wrong_type", "doctor.not_checked"}
    assert user_data["cloud_config.wrong_type"] == {"line": 2, "column": 9, "length": 10}
    (tmp_path / "a.yaml").write_text(config, encoding="utf-8")
    assert found[("web-1", "/etc/eks/nodeadm.d/a.yaml")].keys() == of_file(tmp_path, "a.yaml") != set()
    assert found[("web-2", None)].keys() == {"doctor.unreachable"} and found[("web-3", None)].keys() == {"doctor.failed"}
    messages = {one["name"]: one["findings"][0]["message"] for one in report["sources"]}
    assert mentions(messages["web-3"], "become: true")
    assert files(al2_node) == before

    al2_node.write({"/etc/eks/nodeadm.d/a.yaml": "", USER_DATA_FILE: call})
    before = files(al2_node)
    done = with_nodes(tmp_path, "migrate", {"web-1": {"ansible_host": name}}, eks_node_cluster={"service_cidr": "10.100.0.0/16"})
    assert mentions(done.stdout, "web-1: ", "out/web-1.md"), done.stdout + done.stderr
    assert (tmp_path / "out/web-1.md").exists() and files(al2_node) == before


def of_file(folder: Path, path: str) -> set[str]:
    """The rules of the findings in a file of the controller."""
    given = {"sources": [path], "family": "al2", "format": "json", "report": "file.json"}
    variables = {f"eks_node_lint_{name}": value for name, value in given.items()}
    playbook(folder, "lint", "-i", "localhost,", "-e", json.dumps(variables))
    (source,) = json.loads((folder / "file.json").read_text(encoding="utf-8"))["sources"]
    return {row["rule"] for row in source["findings"]} - {"nodeconfig.no_cluster", "cluster.missing_field"}
