# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab itself: it starts, ends with the program that started it, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabError, control_plane
from ansible_collections.nodebootstrap.eks.tests.lab.network import Network
from ansible_collections.nodebootstrap.eks.tests.lab.progress import docker, machine_lock, say, wait_for
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

from nodelab import images  # isort: skip

pytestmark = pytest.mark.docker

#: A separate program that starts a lab, prints where it is, and waits until its standard input is closed.
OTHER_PROGRAM = """
import json, sys
from ansible_collections.nodebootstrap.eks.tests.lab import Lab
lab = Lab.up()
state = lab.state
print(json.dumps({"supervisor": state.supervisor, "pids": state.pids, "network": state.network, "folder": str(lab.folder)}), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other() -> Iterator[tuple[subprocess.Popen[bytes], dict[str, Any]]]:
    """A program with a lab, and the description of that lab."""
    program = subprocess.Popen(
        [sys.executable, "-c", OTHER_PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=control_plane.environment()
    )
    assert program.stdout is not None
    state = {}
    try:
        state = json.loads(program.stdout.readline())
        state["id"] = network_id(state["network"])
        yield program, state
    finally:
        program.kill()
        program.wait()
        if state:
            wait_for("the end of the supervisor", lambda: not alive([state["supervisor"]]), 120)
            # A lab that failed leaves its folder with the logs.
            shutil.rmtree(state["folder"], ignore_errors=True)


def alive(pids: list[int]) -> list[int]:
    """The processes that still run; a zombie does not."""
    found = []
    for pid in pids:
        try:
            process_state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            continue
        if process_state != "Z":
            found.append(pid)
    return found


def network_id(number: int) -> str:
    """Docker's ID of the network, '' if there is none: another lab may take the number at once."""
    done = docker("network", "inspect", "-f", "{{.Id}}", Network(number).name, check=False)
    return done.stdout.decode().strip() if done.returncode == 0 else ""


def test_the_control_plane_is_up(lab: Lab) -> None:
    assert lab.api.ready()
    say(f"control plane: up in {lab.state.seconds} s of 10 s")


def test_a_killed_program_takes_its_lab_along(other: tuple[subprocess.Popen[bytes], dict[str, Any]]) -> None:
    program, state = other
    pids = [state["supervisor"], *state["pids"].values()]
    assert len(alive(pids)) == 7
    program.kill()
    wait_for("the end of every program", lambda: not alive(pids), 120)
    assert network_id(state["network"]) != state["id"]
    assert not Path(state["folder"]).exists()


@pytest.mark.matrix
def test_a_lab_keeps_containers_that_it_did_not_start(other: tuple[subprocess.Popen[bytes], dict[str, Any]]) -> None:
    program, state = other
    container = (
        docker("run", "-d", "--network", Network(state["network"]).name, "--entrypoint", "sleep", images.image(), "600")
        .stdout.decode()
        .strip()
    )
    try:
        program.kill()
        wait_for("the end of the network", lambda: network_id(state["network"]) != state["id"], 120)
        assert docker("inspect", "-f", "{{.State.Running}}", container).stdout.decode().strip() == "true"
    finally:
        docker("rm", "-f", "-v", container, check=False)


@pytest.mark.matrix
def test_a_killed_supervisor_takes_its_programs_along(other: tuple[subprocess.Popen[bytes], dict[str, Any]]) -> None:
    _program, state = other
    # No other lab cleans up meanwhile.
    with machine_lock("lab-network"):
        os.kill(state["supervisor"], signal.SIGKILL)
        wait_for("the end of every program", lambda: not alive(list(state["pids"].values())), 120)
        assert network_id(state["network"]) == state["id"]
    with Lab.up():
        assert network_id(state["network"]) != state["id"], "the next lab removes what was left"


@pytest.mark.matrix
def test_a_program_that_ends_is_named(other: tuple[subprocess.Popen[bytes], dict[str, Any]]) -> None:
    _program, state = other
    os.kill(state["pids"]["etcd"], signal.SIGKILL)
    pids = [state["supervisor"], *state["pids"].values()]
    wait_for("the end of every program", lambda: not alive(pids), 120)
    assert Path(state["folder"], "failed").read_text().startswith("etcd ended with status -9")


def test_without_a_lab_that_stays_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(LabError) as caught:
        Lab.running()
    assert mentions(caught.value, "make lab-up")
