# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Locked inputs, from the lock to an installation without network: real apt and dpkg, and real dnf, rpm and createrepo_c of Debian.

Stand-ins: Debian with the name of the system, packages of a few files, and a mirror in the container.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nodelab import Node, engine, images

from ansible_collections.nodebootstrap.eks.tests.oracle.image_builders import PACKAGES, REPOSITORY, VERSION, Bakery, program, ubuntu_builder
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

PORT = 8012

#: The steps of an installation that are different with a lock. test_image_role.py has the others.
PACKAGE_STEPS = "builder packages"
KUBELET = program("Kubernetes v1.34.1").encode()
RUNC = program("runc version 1.3.0").encode()


def address(container: str) -> str:
    return engine.docker("inspect", "-f", "{{.NetworkSettings.Networks.bridge.IPAddress}}", container).stdout.decode().strip()


def disconnect(container: str) -> None:
    """Take the network away. The mirror does not answer any more."""
    engine.docker("network", "disconnect", "bridge", container)


@pytest.fixture
def builder() -> Iterator[Node]:
    """A fresh machine with the name of Ubuntu, and a mirror that the controller reaches."""
    with ubuntu_builder() as node:
        server = ["python3", "-m", "http.server", "--directory", REPOSITORY, str(PORT)]
        node.exec(["systemd-run", "--unit=mirror", *server], check=True)
        yield node


def description(folder: Path, mirror: str) -> dict[str, Any]:
    programs = {}
    for name, content in (("kubelet", KUBELET), ("runc", RUNC)):
        (folder / name).write_bytes(content)
        programs[name] = {"path": str(folder / name), "sha256": hashlib.sha256(content).hexdigest()}
    return {
        "family": "ubuntu",
        "kubernetes_version": "1.34",
        "programs": programs,
        "packages": [f"htop={VERSION}"],
        "repositories": [{"name": "local", "url": mirror, "unsigned": True}],
    }


def versions(node: Node) -> dict[str, str]:
    rows = node.exec(["dpkg-query", "-W", "-f", "${Package} ${Version} ${db:Status-Status}\n"], check=True).stdout.decode().splitlines()
    return {name: version for name, version, status in map(str.split, rows) if status == "installed"}


def apt_files(node: Node) -> bytes:
    """Every file of apt and dpkg, with its size and the time of its last change."""
    paths = ("/etc/apt", "/var/lib/apt", "/var/cache/apt", "/var/lib/dpkg")
    return node.exec(["find", *paths, "-printf", "%p %s %T@\\n"], check=True).stdout


def test_apt_installs_the_lock_without_network(builder: Node, tmp_path: Path) -> None:
    bakery = Bakery(builder, tmp_path)
    lock, inputs = tmp_path / "inputs.lock", tmp_path / "inputs"
    image = description(tmp_path, f"http://{address(builder.container)}:{PORT}")
    given = {"eks_node_image": image, "eks_node_image_lock": str(lock), "eks_node_image_inputs": str(inputs)}

    # The lock has the packages that the machine lacks, and the machine stays as it was.
    before = apt_files(builder)
    bakery.run(tasks_from="lock", **given)
    locked = json.loads(lock.read_text(encoding="utf-8"))
    assert {entry["name"]: entry["version"] for entry in locked["packages"]} == dict.fromkeys(PACKAGES, VERSION)
    assert [entry["size"] for entry in locked["downloads"]] == [
        (inputs / "downloads" / one["file"]).stat().st_size for one in locked["downloads"]
    ]
    assert apt_files(builder) == before
    bakery.run(tasks_from="fetch", **given)
    disconnect(builder.container)

    # A file that is missing, and a lock of another release: nothing is installed.
    file = inputs / "packages" / locked["packages"][0]["file"]
    content = file.read_bytes()
    file.unlink()
    assert mentions(bakery.run(tasks_from=PACKAGE_STEPS, fails=True, **given), "lock.packages[0]", file.name)
    file.write_bytes(content)
    lock.write_text(json.dumps({**locked, "system": {**locked["system"], "version_id": "22.04"}}), encoding="utf-8")
    assert mentions(bakery.run(tasks_from=PACKAGE_STEPS, fails=True, **given), "ubuntu 22.04", "ubuntu 24.04")
    lock.write_text(json.dumps(locked), encoding="utf-8")
    assert not any(map(builder.exists, ("/etc/eks", "/var/cache/eks-node-image", "/etc/apt/sources.list.d/local.sources")))

    # An installation that was interrupted: a package is unpacked, and not configured.
    unpacked = f"{REPOSITORY}/{locked['packages'][0]['url'].rpartition('/')[2]}"
    builder.exec(["dpkg", "--unpack", unpacked], check=True)
    bakery.run("--check", tasks_from=PACKAGE_STEPS, **given)
    expected = bakery.changed
    assert not builder.exists("/var/cache/eks-node-image")
    bakery.run(tasks_from=PACKAGE_STEPS, **given)
    assert bakery.changed == expected != []
    assert versions(builder).items() >= dict.fromkeys(PACKAGES, VERSION).items()
    assert builder.exec(["apt-mark", "showhold"]).stdout.split() == [b"containerd", b"htop"]

    # The second run changes nothing, also after the seal has removed the files.
    builder.exec(["rm", "-r", "/var/cache/eks-node-image"], check=True)
    bakery.run(tasks_from=PACKAGE_STEPS, **given)
    assert bakery.changed == []


# --- dnf -------------------------------------------------------------------------------------------------------------------------------

SPEC = """Name: tool
Version: {version}
Release: 1
Summary: Stand-in
License: GPL-3.0-or-later
BuildArch: noarch
Requires: lib
Recommends: extra
%description
Stand-in.
%files
%package -n lib
Epoch: 1
Version: 1
Summary: Stand-in
%description -n lib
Stand-in.
%files -n lib
%package -n extra
Summary: Stand-in
%description -n extra
Stand-in.
%files -n extra
"""
PREPARE = f"""set -e
cd /srv
for file in *.spec; do rpmbuild --quiet -bb --define '_topdir /srv/build' $file; done
mkdir mirror
mv build/RPMS/noarch/*.rpm mirror
createrepo_c --quiet mirror
rm -f /etc/yum.repos.d/*
printf 'ID=amzn\\nVERSION_ID="2023"\\n' > /etc/os-release
exec python3 -m http.server --directory /srv/mirror {PORT}
"""


class DnfMachine:
    """A container with dnf, a mirror with two versions of a package, and plays that run on it."""

    def __init__(self, container: str, folder: Path) -> None:
        self.container = container
        self.folder = folder
        self.plan = {
            "family": "al2023",
            "packages": ["tool-2"],
            "repositories": [{"path": "/etc/yum.repos.d/own.repo", "content": self._repository(), "mode": "0644"}],
            "downloads": [],
            "images": [],
        }

    def _repository(self) -> str:
        return f"[own]\nname=own\nbaseurl=http://{address(self.container)}:{PORT}\ngpgcheck=0\n"

    def run(self, *options: str, **task: Any) -> dict[str, Any]:
        """The result of a task."""
        play = [{"hosts": "all", "gather_facts": False, "tasks": [task]}]
        host = {
            "ansible_connection": "community.docker.docker",
            "ansible_host": self.container,
            "ansible_python_interpreter": "/usr/bin/python3",
        }
        (self.folder / "play.json").write_text(json.dumps(play), encoding="utf-8")
        (self.folder / "hosts.json").write_text(json.dumps({"all": {"hosts": {"machine": host}}}), encoding="utf-8")
        settings = {"ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json", "ANSIBLE_HOME": str(self.folder / "home"), "ANSIBLE_PIPELINING": "1"}
        command = ["ansible-playbook", "-i", "hosts.json", "play.json", *options]
        done = subprocess.run(command, cwd=self.folder, env=os.environ | settings, capture_output=True, text=True, check=False, timeout=900)
        found: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])["plays"][0]["tasks"][0]["hosts"]["machine"]
        return found

    def install(self, *options: str, **given: Any) -> dict[str, Any]:
        lock = json.loads((self.folder / "inputs.lock").read_text(encoding="utf-8"))
        arguments = {"family": "al2023", "packages": ["tool-2"], "held": ["tool"], "lock": lock, "folder": "/var/cache/eks-node-image"}
        return self.run(*options, **{"nodebootstrap.eks.image_packages": {**arguments, **given}})

    def installed(self) -> list[str]:
        return engine.docker("exec", self.container, "rpm", "-qa").stdout.decode().split()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[DnfMachine]:
    engine.remove_stale()
    label = f"{engine.RUN}={engine.owner()}"
    tag = images.with_dnf()
    made = engine.docker(
        "run",
        "-d",
        "--label",
        label,
        "--entrypoint",
        "sh",
        tag,
        "-c",
        "until [ -e /srv/ready ]; do sleep 0.1; done; exec sh /srv/prepare.sh",
    )
    container = made.stdout.decode().strip()[:12]
    try:
        files = {"1.spec": SPEC.format(version=1), "2.spec": SPEC.format(version=2), "prepare.sh": PREPARE, "ready": ""}
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
            engine.docker("cp", str(tmp_path / name), f"{container}:/srv/{name}")
        found = DnfMachine(container, tmp_path)
        ready = ["curl", "-sf", "-o", "/dev/null", f"http://127.0.0.1:{PORT}/repodata/repomd.xml"]
        engine.wait_for("the mirror", lambda: engine.docker("exec", container, *ready, check=False).returncode == 0, 120)
        yield found
    finally:
        engine.docker("rm", "-f", "-v", container, check=False)


def test_dnf_installs_the_lock_without_network(machine: DnfMachine, tmp_path: Path) -> None:
    locked = machine.run(**{"nodebootstrap.eks.image_lock": {"plan": machine.plan}})
    files = {entry["name"]: (entry["version"], entry["file"]) for entry in locked["lock"]["packages"]}
    assert files == {"lib": ("1:1-1", "lib-1-1.noarch.rpm"), "tool": ("2-1", "tool-2-1.noarch.rpm")}, "without recommended packages"
    assert machine.installed() == []
    (tmp_path / "inputs.lock").write_text(locked["content"], encoding="utf-8")
    fetched = machine.run(**{"nodebootstrap.eks.image_fetch": {"lock": "inputs.lock", "folder": "inputs", "plan": machine.plan}})
    assert sorted(fetched["fetched"]) == ["packages/lib-1-1.noarch.rpm", "packages/tool-2-1.noarch.rpm"]
    disconnect(machine.container)

    # Check mode on a new machine, without the files.
    check = machine.install("--check")
    assert (check["changed"], check["installed"], check["held"]) == (True, ["lib 1:1-1 noarch", "tool 2-1 noarch"], ["tool"])
    assert mentions(machine.install()["msg"], "lib-1-1.noarch.rpm", "tool-2-1.noarch.rpm")

    engine.docker("exec", machine.container, "mkdir", "/var/cache/eks-node-image")
    engine.docker("cp", str(tmp_path / "inputs/packages"), f"{machine.container}:/var/cache/eks-node-image/")
    lock = locked["lock"]
    without = {**lock, "packages": [entry for entry in lock["packages"] if entry["name"] == "tool"]}
    assert mentions(machine.install(lock=without)["msg"], "lib", "tool-2-1.noarch")
    other = {**lock, "system": {**lock["system"], "architecture": "riscv64"}}
    assert mentions(machine.install(lock=other)["msg"], "riscv64")
    assert machine.installed() == []

    result = machine.install()
    assert (result["changed"], result["installed"], result["held"]) == (True, check["installed"], ["tool"])
    assert sorted(machine.installed()) == ["lib-1-1.noarch", "tool-2-1.noarch"]
    again = machine.install()
    assert (again["changed"], again["installed"], again["held"]) == (False, [], [])
    held = engine.docker("exec", machine.container, "cat", "/etc/dnf/plugins/versionlock.list").stdout.decode()
    assert "tool-0:2-1.*" in held
