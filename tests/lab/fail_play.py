# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks over several nodes at once, with the time at which each line was printed."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .joining import CASES, PATIENT, group
from .node import LabNode
from .progress import TOP

PLAYBOOK = "playbooks/bootstrap.yml"
#: Seconds after which a run has failed.
LIMIT = 600

_ENDED = re.compile(r"^(fatal|ok|changed): \[(?P<host>[^]]+)\](: (FAILED|UNREACHABLE)!)? => (?P<result>\{.*\})$")
_PASSED = re.compile(r"^(ok|changed): \[(?P<host>[^]]+)\]$")


class Line(NamedTuple):
    """A printed line and its time (C(time.time))."""

    moment: float
    text: str


class Ended(NamedTuple):
    """The end of a task on a host: the result that Ansible prints, and its time."""

    moment: float
    failed: bool
    result: dict[str, Any]

    @property
    def message(self) -> str:
        return str(self.result.get("msg", ""))


class Output:
    """The output so far of a playbook, which may still run."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.lines: list[Line] = []
        self._process = process

    def wait(self) -> Output:
        """Read to the end of the playbook."""
        self.read_until(lambda _line: False)
        return self

    def read_until(self, enough: Callable[[str], bool]) -> Line | None:
        """Read until a line matches. None if the playbook ends without such a line."""
        assert self._process.stdout is not None
        for text in self._process.stdout:
            self.lines.append(Line(time.time(), text.rstrip("\n")))
            if enough(self.lines[-1].text):
                return self.lines[-1]
        self._process.wait()
        return None

    @property
    def code(self) -> int | None:
        return self._process.poll()

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)

    def ended(self, host: str) -> Ended:
        """The end of the last task that printed something about this host. AssertionError shows the output if there is none."""
        for line in reversed(self.lines):
            shown = _ENDED.match(line.text)
            if shown and shown["host"] == host:
                return Ended(line.moment, line.text.startswith("fatal"), json.loads(shown["result"]))
            passed = _PASSED.match(line.text)
            if passed and passed["host"] == host:
                return Ended(line.moment, False, {})
        raise AssertionError(f"nothing about {host}:\n{self.text}")

    def first(self, host: str, words: str) -> Line | None:
        """The first line about this host with these words."""
        return next((line for line in self.lines if host in line.text and words in line.text), None)


def bootstrap_host(node: LabNode, case: str, cluster: Mapping[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Variables of a host for the playbook bootstrap. `cluster` and `fields` are added or replace others."""
    return {
        **check_host(node),
        **PATIENT,
        "eks_node_cluster": node.lab.cluster(CASES[case].minor) | dict(cluster or {}),
        "eks_node_group": group(case, **fields),
    }


def check_host(node: LabNode) -> dict[str, Any]:
    """Variables of a host that is only read."""
    return container_host(node.container)


def container_host(container: str) -> dict[str, Any]:
    """Variables of a host that is this container."""
    return {
        "ansible_connection": "community.docker.docker",
        "ansible_host": container,
        "ansible_python_interpreter": "/usr/bin/python3",
    }


@contextlib.contextmanager
def playing(hosts: Mapping[str, Mapping[str, Any]], *words: str, playbook: Any = PLAYBOOK) -> Iterator[Output]:
    """Run a playbook (a path, or its content) against these hosts, {name: variables}. It ends with the block."""
    with tempfile.TemporaryDirectory() as folder:
        inventory = Path(folder, "inventory.json")
        inventory.write_text(json.dumps({"all": {"hosts": hosts}}))
        if not isinstance(playbook, str):
            path = Path(folder, "playbook.json")
            path.write_text(json.dumps(playbook))
            playbook = str(path)
        program = str(Path(sys.executable).with_name("ansible-playbook"))
        settings = {
            "ANSIBLE_COLLECTIONS_PATH": str(TOP / ".cache"),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_FORKS": str(len(hosts)),
            "ANSIBLE_PIPELINING": "1",
            # Hosts do not wait for each other.
            "ANSIBLE_STRATEGY": "free",
            "PYTHONUNBUFFERED": "1",
        }
        process = subprocess.Popen(
            [program, "-i", str(inventory), *words, playbook],
            cwd=TOP, env={**os.environ, **settings}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        try:
            yield Output(process)
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(LIMIT)
            if process.stdout is not None:
                process.stdout.close()


def bootstrap(hosts: Mapping[str, Mapping[str, Any]], *words: str) -> Output:
    """Run the collection's playbook bootstrap against these hosts."""
    with playing(hosts, *words) as output:
        return output.wait()


def check(nodes: Mapping[str, LabNode], **asked: Any) -> Output:
    """Run module join_check on nodes."""
    return check_containers({name: node.container for name, node in nodes.items()}, **asked)


def check_containers(containers: Mapping[str, str], **asked: Any) -> Output:
    """Run module join_check in containers, {name of the host: container}."""
    task = {"name": "Does it join", "nodebootstrap.eks.join_check": asked}
    playbook = [{"name": "Ask", "hosts": "all", "gather_facts": False, "tasks": [task]}]
    with playing({name: container_host(container) for name, container in containers.items()}, playbook=playbook) as output:
        return output.wait()
