# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test nodes on which images are built: a package repository, and programs of a few lines, so that a build needs no network.

apt and its Python module are real. The packages are stand-ins with the files that matter: units, and programs that image_verify looks for.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nodelab import Node

REPOSITORY = "/srv/packages"
SERVED = "/srv/files"
PORT = 8011

#: Newer than what other packages break.
VERSION = "9:1"

_UNIT = "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
_PROGRAM = "#!/bin/sh\nexit 0\n"

_EMPTY = ("conntrack", "ethtool", "ipset", "ipvsadm", "mdadm", "nfs-common", "socat", "unzip", "wget", "xfsprogs")

#: What the packages of Ubuntu that the nodes lack contain: path → content.
PACKAGES: dict[str, dict[str, str]] = {
    "chrony": {"/lib/systemd/system/chrony.service": _UNIT},
    **{name: {} for name in (*_EMPTY, "htop")},
    "iptables": {"/usr/sbin/iptables": _PROGRAM},
    "pigz": {"/usr/bin/unpigz": _PROGRAM},
}


def program(output: str) -> str:
    """A program that prints a line."""
    return f"#!/bin/sh\necho '{output}'\n"


def archive(files: Mapping[str, str]) -> bytes:
    """A .tar.gz that is the same every time."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content.encode()), 0o755
            tar.addfile(member, io.BytesIO(content.encode()))
    return gzip.compress(packed.getvalue(), mtime=0)


def deb(name: str, files: Mapping[str, str]) -> bytes:
    """A package for apt. It is an archive of ar: a line of 60 characters before each member."""
    fields = {"Package": name, "Version": VERSION, "Architecture": "all", "Maintainer": "test", "Description": "stand-in"}
    control = "".join(f"{key}: {value}\n" for key, value in fields.items())
    content = {f".{path}": text for path, text in files.items()}
    members = {"debian-binary": b"2.0\n", "control.tar.gz": archive({"./control": control}), "data.tar.gz": archive(content)}
    packed = b"!<arch>\n"
    for member, data in members.items():
        packed += f"{member:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
    return packed


def repository(packages: Mapping[str, Mapping[str, str]]) -> dict[str, bytes]:
    """The files of a repository for apt, by name."""
    files = {f"{name}_1_all.deb": deb(name, content) for name, content in packages.items()}
    rows = []
    for file, content in files.items():
        facts = {
            "Package": file.partition("_")[0], "Version": VERSION, "Architecture": "all", "Maintainer": "test", "Description": "stand-in",
            "Filename": f"./{file}", "Size": str(len(content)), "SHA256": hashlib.sha256(content).hexdigest(),
        }  # fmt: skip
        rows.append("".join(f"{key}: {value}\n" for key, value in facts.items()))
    return {**files, "Packages": "\n".join(rows).encode()}


@contextmanager
def ubuntu_builder() -> Iterator[Node]:
    """A fresh machine with the os-release of Ubuntu, whose apt has only the repository, and with a server of files."""
    files: dict[str, Any] = {f"{REPOSITORY}/{name}": content for name, content in repository(PACKAGES).items()}
    files["/etc/os-release"] = 'ID=ubuntu\nVERSION_ID="24.04"\n'
    files["/etc/apt/sources.list"] = ""
    with Node.start(files=files) as node:
        # The kubelet of the test nodes.
        node.exec(["rm", "/usr/bin/kubelet"], check=True)
        node.exec(["mkdir", "-p", SERVED], check=True)
        server = ["python3", "-m", "http.server", "--bind", "127.0.0.1", "--directory", SERVED, str(PORT)]
        node.exec(["systemd-run", "--unit=served", *server], check=True)
        yield node


class Bakery:
    """Runs the role on a node through docker's connection plugin."""

    def __init__(self, node: Node, folder: Path) -> None:
        self.node = node
        self.folder = folder
        self.changed: list[str] = []

    def add_roles(self, commands: Mapping[str, str]) -> None:
        """Roles of the user: the name and the command of each."""
        for name, command in commands.items():
            path = self.folder / "roles" / name / "tasks" / "main.yml"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps([{"name": "Hook", "ansible.builtin.command": command, "changed_when": False}]), encoding="utf-8")

    def run(self, *options: str, fails: bool = False, tasks_from: str = "main", **variables: Any) -> str:
        """The output of the play. C(changed) are then the tasks that changed something.

        tasks_from: files of tasks of the role, one after the other, with spaces between them.
        """
        roles = [{"name": "nodebootstrap.eks.eks_node_image", "tasks_from": name} for name in tasks_from.split()]
        tasks = [{"ansible.builtin.import_role": role} for role in roles]
        play = [{"hosts": "all", "gather_facts": False, "become": True, "tasks": tasks}]
        host = {
            "ansible_connection": "community.docker.docker",
            "ansible_host": self.node.container,
            "ansible_python_interpreter": "/usr/bin/python3",
            **variables,
        }
        (self.folder / "play.yml").write_text(json.dumps(play), encoding="utf-8")
        (self.folder / "hosts.json").write_text(json.dumps({"all": {"hosts": {"builder": host}}}), encoding="utf-8")
        environment = os.environ | {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_HOME": str(self.folder / "home"), "ANSIBLE_PIPELINING": "1"}
        command = ["ansible-playbook", "-i", "hosts.json", "play.yml", *options]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=1800)
        (self.folder / "output.txt").write_text(done.stdout, encoding="utf-8")
        assert done.returncode == (2 if fails else 0), done.stdout[-6000:] + done.stderr[-2000:]
        self.changed = [task for task, lines in _tasks(done.stdout) if any(line.startswith("changed: [builder]") for line in lines)]
        return done.stdout + done.stderr


def _tasks(output: str) -> Iterable[tuple[str, list[str]]]:
    for block in re.split(r"^TASK ", output, flags=re.MULTILINE)[1:]:
        heading, *lines = block.splitlines()
        yield heading.partition("]")[0].rpartition(" : ")[2], lines
