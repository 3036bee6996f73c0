# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role eks_anywhere_admin_machine prepares a machine without network: real apt and systemd, stand-ins for Docker and the tools."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from nodelab import Node

from ansible_collections.nodebootstrap.eks.tests.oracle.image_builders import REPOSITORY, archive, repository
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

PLAYBOOK = Path(__file__).resolve().parents[2] / "playbooks/eks_anywhere_admin_machine.yml"
UNIT = "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
PACKAGES = {"docker.io": {"/lib/systemd/system/docker.service": UNIT}}
LOW = {"max_user_watches": 1, "max_user_instances": 1}
"""A container cannot set limits of the kernel, so the test asks for less than every machine has."""

SYSCTL, PROVIDER = "/etc/sysctl.d/99-eks-anywhere.conf", "/srv/providers/cluster-api/v1.13.4"


def program(name: str, version: str) -> bytes:
    """A program that says its version."""
    return f"#!/bin/sh\necho {name} v{version}\n".encode()


@pytest.fixture
def node() -> Iterator[Node]:
    """A machine with the os-release of Ubuntu, whose apt has only the stand-in of Docker, and with a user."""
    files: dict[str, Any] = {f"{REPOSITORY}/{name}": content for name, content in repository(PACKAGES).items()}
    files["/etc/os-release"] = 'ID=ubuntu\nVERSION_ID="24.04"\n'
    files["/etc/apt/sources.list"] = f"deb [trusted=yes] file:{REPOSITORY} ./\n"
    files["/srv/kubectl"] = program("kubectl", "1.36.0")
    with Node.start(files=files) as started:
        started.exec(["useradd", "--create-home", "--groups", "users", "admin"], check=True)
        yield started


def variables(folder: Path) -> dict[str, Any]:
    """A tool from a URL, one from a file and one from an archive; a provider and cert-manager."""
    helm = archive({"linux-amd64/helm": program("helm", "4.2.0").decode(), "linux-amd64/README": "x"})
    contents = {"kubectl": program("kubectl", "1.36.0"), "kind": program("kind", "0.33.0"), "helm.tar.gz": helm}
    contents |= {"core.yaml": b"kind: Namespace\n", "metadata.yaml": b"kind: Metadata\n", "cert.yaml": b"kind: List\n"}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    given = {
        "user": "admin",
        "inotify": LOW,
        "tools": [
            {"name": "kubectl", "version": "1.36.0", "sha256": sums["kubectl"], "url": "file:///srv/kubectl"},
            {"name": "kind", "version": "0.33.0", "sha256": sums["kind"], "path": str(folder / "kind")},
            {"name": "helm", "version": "4.2.0", "sha256": sums["helm.tar.gz"], "path": str(folder / "helm.tar.gz")},
        ],
        "repository": "/srv/providers",
        "providers": [
            {
                "name": "cluster-api",
                "version": "v1.13.4",
                "components": str(folder / "core.yaml"),
                "metadata": str(folder / "metadata.yaml"),
            },
            {"name": "cert-manager", "version": "v1.20.2", "components": str(folder / "cert.yaml")},
        ],
    }
    return {f"eks_anywhere_admin_machine_{name}": value for name, value in given.items()}


def play(node: Node, folder: Path, given: Mapping[str, Any], *options: str, fails: bool = False) -> str:
    """The output of the playbook on the node."""
    host = {
        "ansible_connection": "community.docker.docker",
        "ansible_host": node.container,
        "ansible_python_interpreter": "/usr/bin/python3",
        **given,
    }
    inventory = {"all": {"children": {"admin_machine": {"hosts": {"admin": host}}}}}
    (folder / "hosts.json").write_text(json.dumps(inventory), encoding="utf-8")
    environment = os.environ | {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_HOME": str(folder / "home"), "ANSIBLE_PIPELINING": "1"}
    command = ["ansible-playbook", "-i", "hosts.json", str(PLAYBOOK), *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == (2 if fails else 0), done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout + done.stderr


def changed(output: str) -> int:
    """How many tasks changed something."""
    return int(output.rpartition("changed=")[2].split()[0])


def test_an_admin_machine(node: Node, tmp_path: Path) -> None:
    given = variables(tmp_path)

    # Check mode on a new machine: everything would change, and nothing does.
    shown = play(node, tmp_path, given, "--check", "--diff")
    assert changed(shown) >= 5
    assert mentions(shown, "fs.inotify.max_user_watches", "helm", "kind: Metadata")
    places = ("/usr/local/bin/kind", SYSCTL, PROVIDER, "/home/admin/eks-anywhere", "/lib/systemd/system/docker.service")
    assert not any(map(node.exists, places))

    # One tool with another version: none of them is installed.
    wrong = json.loads(json.dumps(given))
    wrong["eks_anywhere_admin_machine_tools"][1]["version"] = "0.34.0"
    failed = play(node, tmp_path, wrong, fails=True)
    assert mentions(failed, "kind", "0.33.0", "0.34.0")
    assert not any(map(node.exists, ("/usr/local/bin/kind", "/usr/local/bin/kubectl", "/usr/local/bin/helm")))

    # The next run continues.
    play(node, tmp_path, given, "--diff")
    for name, content in (
        ("kind", program("kind", "0.33.0")),
        ("helm", program("helm", "4.2.0")),
        ("kubectl", program("kubectl", "1.36.0")),
    ):
        assert (node.read(f"/usr/local/bin/{name}"), node.stat(f"/usr/local/bin/{name}")) == (content, ("0755", "root:root"))
    assert node.property("docker.service", "ActiveState") == "active"
    assert node.property("docker.service", "UnitFileState") == "enabled"
    assert set(node.exec(["id", "-Gn", "admin"], check=True).stdout.decode().split()) == {"admin", "users", "docker"}
    assert node.stat("/home/admin/eks-anywhere") == ("0700", "admin:root")
    assert node.read(f"{PROVIDER}/core-components.yaml") == b"kind: Namespace\n"
    assert node.read(f"{PROVIDER}/metadata.yaml") == b"kind: Metadata\n"
    assert node.read("/srv/providers/cert-manager/v1.20.2/cert-manager.yaml") == b"kind: List\n"
    limits = [line for line in node.read(SYSCTL).decode().splitlines() if line.startswith("fs.")]
    live = node.read("/proc/sys/fs/inotify/max_user_watches").decode().strip()
    assert limits[0] == f"fs.inotify.max_user_watches = {live}", "a higher limit is kept"

    # The second run changes nothing, also in check mode, and reads no URL.
    node.exec(["rm", "/srv/kubectl"], check=True)
    assert changed(play(node, tmp_path, given)) == 0
    assert changed(play(node, tmp_path, given, "--check")) == 0

    # An edited program is replaced, and only it.
    node.exec(["sh", "-c", "echo '# edited' >> /usr/local/bin/helm"], check=True)
    assert changed(play(node, tmp_path, given)) == 1
    assert node.read("/usr/local/bin/helm") == program("helm", "4.2.0")


def test_problems_change_nothing(node: Node, tmp_path: Path) -> None:
    given = variables(tmp_path)
    bad = {"eks_anywhere_admin_machine_work_dir": "eks", "eks_anywhere_admin_machine_tools": [{"name": "knid"}]}
    shown = play(node, tmp_path, given | bad, fails=True)
    assert mentions(shown, "admin_machine.work_dir", "admin_machine.tools[0].name", "admin_machine.tools[0].sha256")
    assert mentions(play(node, tmp_path, given | {"eks_anywhere_admin_machine_user": "unknown-user"}, fails=True), "unknown-user")
    # Docker is not there.
    assert mentions(play(node, tmp_path, given | {"eks_anywhere_admin_machine_docker": "check"}, fails=True), "docker")
    assert not any(map(node.exists, ("/usr/local/bin/kind", SYSCTL, "/home/admin/eks-anywhere")))
