# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The actions anywhere_cluster and capi_move, the playbooks and the modules in real runs, with stand-ins of the programs in PATH."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import anywhere_bed, anywhere_programs
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters

PLAYBOOKS = Path(__file__).resolve().parents[4] / "playbooks"
PROGRAM = Path(anywhere_programs.__file__)
MACHINES = 3


class Machine:
    """An admin machine in a folder: programs in C(bin), their state, the file of a cluster and its variables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()
        for name in ("docker", "kind", "kubectl", "clusterctl"):
            program = folder / "bin" / name
            program.write_text(f"#!{sys.executable} -SE\n{PROGRAM.read_text(encoding='utf-8')}", encoding="utf-8")
            program.chmod(0o755)
        self.state_file = folder / "state.json"
        self.save(anywhere_programs.new_state())
        count = ("Cluster", "spec.controlPlaneConfiguration.count", 1)
        (folder / "dev.yaml").write_text(clusters.file("docker", count), encoding="utf-8")
        (folder / "network.yaml").write_text(anywhere_bed.NETWORK, encoding="utf-8")

    @property
    def state(self) -> dict[str, Any]:
        return dict(json.loads(self.state_file.read_text(encoding="utf-8")))

    def save(self, state: dict[str, Any]) -> None:
        self.state_file.write_text(json.dumps(state), encoding="utf-8")

    def command(self, operation: str, *arguments: str) -> list[str]:
        """The words with which a playbook creates, deletes or shows the cluster."""
        given = {
            "cluster_file": "dev.yaml",
            "work_dir": str(self.folder),
            "bootstrap_image": "kind/node:x",
            "node_images": [{"version": "v1.34.2", "image": "node:v1.34.2"}],
            "repository": "/repository",
            "cluster_api_version": "v1.13.4",
            "cert_manager_version": "v1.11.5",
            "network_manifest": "network.yaml",
        }
        variables: dict[str, Any] = {f"eks_anywhere_{name}": value for name, value in given.items()}
        variables["ansible_python_interpreter"] = sys.executable
        playbook = str(PLAYBOOKS / f"eks_anywhere_{operation}.yml")
        return ["ansible-playbook", playbook, "-i", "localhost,", "-c", "local", "-e", json.dumps(variables), *arguments]

    @property
    def settings(self) -> dict[str, str]:
        """The environment variables that lead to the programs."""
        return {"PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "STATE_OF_PROGRAMS": str(self.state_file)}

    def play(self, operation: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return ansible_runs.run(self.folder, *self.command(operation, *arguments), settings=self.settings)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_check_mode_tells_what_would_be_done_and_changes_nothing(machine: Machine) -> None:
    shown = machine.play("create", "--check")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert mentions(shown.stdout, "dev: would", "changed=1")
    assert machine.state["moments"] == 0 and not (machine.folder / "dev").exists()


def test_invalid_input_is_refused_before_a_program_runs(machine: Machine) -> None:
    (machine.folder / "dev.yaml").write_text(clusters.file("vsphere"), encoding="utf-8")
    refused = machine.play("create")
    assert refused.returncode == 2 and mentions(refused.stdout, "vSphere", "eksctl")
    assert machine.state["log"] == []


def test_a_creation_that_was_killed_in_its_move_is_continued_and_a_second_run_changes_nothing(machine: Machine) -> None:
    bed = anywhere_bed.Bed(machine.folder / anywhere_programs.NAME)
    bed.kill_when = lambda state: f"Cluster/{anywhere_programs.NAME}" in (state["halves"]["target"] or {"objects": ()})["objects"]
    assert bed.run("create") is None
    machine.save(bed.state)
    # The run was killed on another controller, as far as this one knows.
    finish(machine, "create", "-e", "eks_anywhere_take_lock=true")
    again = machine.play("create")
    assert again.returncode == 0 and mentions(again.stdout, "changed=0")


def finish(machine: Machine, operation: str, *arguments: str) -> None:
    """Run a playbook to its end, and check what it leaves."""
    done = machine.play(operation, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    check_end(machine, operation)


def check_end(machine: Machine, operation: str) -> None:
    state, kubeconfig = machine.state, machine.folder / "dev" / "dev-eks-a-cluster.kubeconfig"
    assert state["container"] is None and not state["lost"] and state["created"] == MACHINES
    if operation == "create":
        assert len(state["machines"]) == MACHINES and kubeconfig.stat().st_mode & 0o777 == 0o600
        assert state["halves"]["target"]["objects"]["Cluster/dev"]["spec"]["paused"] is False
    else:
        assert not state["machines"] and not kubeconfig.exists()


@pytest.mark.matrix
def test_a_cluster_is_created_shown_and_deleted(machine: Machine) -> None:
    finish(machine, "create")
    again = machine.play("create")
    assert again.returncode == 0 and mentions(again.stdout, "changed=0")
    shown = machine.play("status")
    assert shown.returncode == 0 and mentions(shown.stdout, "cluster dev", "complete", "changed=0")
    finish(machine, "delete")
    again = machine.play("delete")
    assert again.returncode == 0 and mentions(again.stdout, "changed=0")


@pytest.mark.matrix
@pytest.mark.parametrize("operation", ["create", "delete"])
def test_a_playbook_that_is_killed_with_its_program_is_continued(machine: Machine, operation: str) -> None:
    """The playbook is killed three times, each time beside a program that goes on alone."""
    if operation == "delete":
        bed = anywhere_bed.Bed(machine.folder / anywhere_programs.NAME)
        assert bed.run("create") is not None
        machine.save(bed.state)
    for moments in (1, 6, 12):
        kill_after(machine, operation, machine.state["moments"] + moments)
    finish(machine, operation)


def kill_after(machine: Machine, operation: str, moments: int) -> None:
    """Kill ansible-playbook with its workers when the programs have changed something for the given time."""
    playbook = subprocess.Popen(
        machine.command(operation),
        cwd=machine.folder,
        env=os.environ | machine.settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with playbook:
        while playbook.poll() is None and machine.state["moments"] < moments:
            time.sleep(0.05)
        with suppress(ProcessLookupError):
            os.killpg(playbook.pid, signal.SIGKILL)
