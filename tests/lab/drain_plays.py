# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of the collection's playbooks for drains and upgrades on the lab's cluster, as a user runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from .lab import Lab
from .node import LabNode
from .progress import TOP

#: Variables of the environment: credentials that moto takes, and its address.
_AWS = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "example", "AWS_EC2_METADATA_DISABLED": "true"}

_LOCAL = {"hosts": {"localhost": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}}}


def environment(lab: Lab) -> dict[str, str]:
    """The environment of a controller that may change the lab's cluster."""
    own = {"ANSIBLE_COLLECTIONS_PATH": str(TOP / ".cache"), "ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCALHOST_WARNING": "false"}
    place = {"AWS_ENDPOINT_URL": lab.state.aws, "AWS_REGION": lab.state.region, "KUBECONFIG": str(lab.kubeconfig())}
    return {**os.environ, **own, **_AWS, **place}


def in_containers(nodes: Iterable[LabNode], group: str) -> dict[str, Any]:
    """An inventory with a group of nodes."""
    own = {"ansible_connection": "community.docker.docker", "ansible_python_interpreter": "/usr/bin/python3"}
    hosts = {node.name: {**own, "ansible_host": node.container} for node in nodes}
    return {"all": {**_LOCAL, "children": {group: {"hosts": hosts}}}}


class Play:
    """A playbook with its variables, which runs again and again. folder: for its inventory and its output."""

    def __init__(self, lab: Lab, folder: Path, playbook: Path, variables: dict[str, Any], inventory: dict[str, Any] | None = None) -> None:
        self._lab = lab
        self.playbook = playbook
        self.log = folder / "play.log"
        path = folder / "inventory.json"
        path.write_text(json.dumps(inventory or {"all": _LOCAL}))
        words = ["-i", str(path), str(playbook), "-e", json.dumps(variables)]
        self._command = [str(Path(sys.executable).with_name("ansible-playbook")), *words]

    def start(self) -> subprocess.Popen[bytes]:
        """Begin a run. C(output) shows what it says."""
        with self.log.open("wb") as log:
            return subprocess.Popen(self._command, cwd=TOP, env=environment(self._lab), stdout=log, stderr=log, start_new_session=True)

    @property
    def output(self) -> str:
        """What the last run has said so far."""
        return self.log.read_text(errors="replace")

    def run(self, seconds: float = 900) -> tuple[int, str]:
        """Run it to its end. Returns the exit code and the output."""
        return self.finish(self.start(), seconds)

    def finish(self, process: subprocess.Popen[bytes], seconds: float = 900) -> tuple[int, str]:
        """The same for a run that has begun."""
        try:
            return process.wait(seconds), self.output
        except BaseException:
            kill(process)
            raise

    def run_and_kill(self, seconds: float) -> bool:
        """Begin a run, and kill its processes some time after its first task has begun. Returns whether it had not ended before."""
        process = self.start()
        while process.poll() is None and "TASK [" not in self.output:
            time.sleep(0.1)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            kill(process)
            return True
        return False


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a playbook and the processes of its session. Since ansible-core 2.19, each task has a session of its own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def processes(play: Play) -> list[int]:
    """The processes of all runs: a task has the command line of its playbook."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if str(play.playbook).encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


def report(lab: Lab, folder: Path, **variables: Any) -> dict[str, Any]:
    """The report of the playbook drain_report. It predicts: the API server is not asked about evictions."""
    path = folder / "report.json"
    wanted = {
        "eks_node_cluster": {"name": "demo", "endpoint": lab.state.endpoint},
        "eks_node_drain_dry_run_evictions": False,
        "eks_node_drain_format": "json",
        "eks_node_drain_report": str(path),
    }
    code, output = Play(lab, folder, TOP / "playbooks/drain_report.yml", {**wanted, **variables}).run()
    assert code == 0, output
    found: dict[str, Any] = json.loads(path.read_text())
    return found
