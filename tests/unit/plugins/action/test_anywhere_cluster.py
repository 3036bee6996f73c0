# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The actions anywhere_cluster and capi_move, the playbooks and the modules in real runs, with stand-ins of the programs in PATH."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere import work_folder
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.action.anywhere_machine import Machine
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import anywhere_bed, anywhere_programs, anywhere_upgrades
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters

MACHINES = 3
STRANGER = {"name": "their-node", "state": "running", "image": "kindest/node:v1", "cluster": "dev", "role": "control-plane"}


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


REFUSED = {
    "a tool that is too old": ({"kind": "0.20.0"}, {}, ("tool_kind", "0.20.0", "0.27.0", "https://kind.sigs.k8s.io")),
    "a registry that cannot be reached": (
        {},
        {"registries": ["127.0.0.1:1"]},
        ("preflight.registries", "127.0.0.1:1", "proxyConfiguration"),
    ),
    "a name that is in use": ({"strangers": [STRANGER]}, {}, ("preflight.cluster_name", "their-node", "another name")),
    "a disk that is full": (
        {"docker_root": "/proc"},
        {"skip_checks": ["memory", "disk_work_dir", "inotify", "cgroup", "clock"]},
        ("preflight.disk_docker", "0.0 GiB", "docker system prune"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_machines_are_refused_before_anything_is_created(machine: Machine, name: str) -> None:
    state, variables, facts = REFUSED[name]
    machine.save(machine.state | state)
    refused = machine.play("create", **variables)
    assert refused.returncode == 2 and mentions(refused.stdout, *facts, "eks_anywhere_skip_checks")
    after = machine.state
    assert after["moments"] == 0 and after["container"] is None
    assert not (machine.folder / "dev" / "lock.json").exists() and not (machine.folder / "dev" / "ledger-create.json").exists()


def test_a_tool_that_is_missing_is_refused_with_its_source(machine: Machine) -> None:
    (machine.folder / "bin" / "clusterctl").unlink()
    refused = machine.play("create")
    assert refused.returncode == 2 and mentions(refused.stdout, "tool_clusterctl", "PATH", "https://cluster-api.sigs.k8s.io")
    assert machine.state["moments"] == 0 and not (machine.folder / "dev").exists()


def test_an_unknown_provider_and_missing_inputs_are_told_together(machine: Machine) -> None:
    text = (machine.folder / "dev.yaml").read_text(encoding="utf-8").replace("DockerDatacenterConfig", "MoonDatacenterConfig")
    (machine.folder / "dev.yaml").write_text(text, encoding="utf-8")
    refused = machine.play("create", repository=None, cluster_api_version=None)
    facts = ("MoonDatacenterConfig", "eks_anywhere_repository", "eks_anywhere_cluster_api_version")
    assert refused.returncode == 2 and mentions(refused.stdout, *facts)
    assert machine.state["log"] == []


def test_another_run_at_work_is_refused_with_its_owner_and_age(machine: Machine) -> None:
    owner = {"host": "their-host", "boot_id": "b", "pid": 7, "start_time": 1, "since": "2026-11-25T10:00:00+00:00"}
    (machine.folder / "dev").mkdir(mode=0o700)
    (machine.folder / "dev" / "lock.json").write_text(json.dumps(owner), encoding="utf-8")
    refused = machine.play("create")
    assert refused.returncode == 2
    assert mentions(refused.stdout, "process 7 on their-host", "2026-11-25T10:00:00", "eks_anywhere_take_lock")
    assert machine.state["moments"] == 0


def test_a_kubeconfig_of_another_cluster_is_refused_and_the_status_needs_only_a_name(machine: Machine) -> None:
    bed = anywhere_bed.Bed(machine.folder / anywhere_programs.NAME)
    assert bed.run("create") is not None
    machine.save(bed.state | {"nodes": ["their-node"]})
    refused = machine.play("delete")
    assert refused.returncode == 2 and mentions(refused.stdout, "their-node", "dev-eks-a-cluster.kubeconfig")
    assert len(machine.state["machines"]) == MACHINES
    nothing = dict.fromkeys(("cluster_file", "bootstrap_image", "node_images", "repository", "cluster_api_version", "cert_manager_version"))
    shown = machine.play("status", **nothing, cluster_name="dev", status_file="status.json")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    written = machine.folder / "status.json"
    assert json.loads(written.read_text(encoding="utf-8"))["cluster"] == "dev" and written.stat().st_mode & 0o777 == 0o600
    assert mentions(shown.stdout, "cluster dev", "eks_anywhere_cluster_file", "changed=0")


def test_a_creation_that_was_killed_in_its_move_is_continued_and_a_second_run_changes_nothing(machine: Machine) -> None:
    bed = anywhere_bed.Bed(machine.folder / anywhere_programs.NAME)
    bed.kill_when = lambda state: f"Cluster/{anywhere_programs.NAME}" in (state["halves"]["target"] or {"objects": ()})["objects"]
    assert bed.run("create") is None
    machine.save(bed.state)
    # The run was killed on another controller, as far as this one knows.
    finish(machine, "create", "-e", "eks_anywhere_take_lock=true")
    again = machine.play("create")
    assert again.returncode == 0 and mentions(again.stdout, "changed=0")


def before_an_upgrade(machine: Machine) -> list[str]:
    """A cluster that manages itself, and a file with another version. Returns the arguments with the new images."""
    bed = anywhere_bed.Bed(machine.folder / anywhere_programs.NAME)
    assert bed.run("create") is not None
    machine.save(bed.state)
    (machine.folder / "dev.yaml").write_text(anywhere_upgrades.UPGRADE["texts"]["cluster_file"], encoding="utf-8")
    given = {f"eks_anywhere_{name}": anywhere_upgrades.UPGRADE[name] for name in ("node_images", "cluster_api_version")}
    return ["-e", json.dumps(given)]


@pytest.mark.parametrize(
    ("operation", "words"), [("upgrade", ("v1.34.2", "v1.35.2", "changed=1")), ("recover", ("in_cluster", "changed=0"))]
)
def test_check_mode_of_upgrade_and_recover_shows_the_plan_and_the_state(machine: Machine, operation: str, words: tuple[str, ...]) -> None:
    arguments = before_an_upgrade(machine)
    moments = machine.state["moments"]
    shown = machine.play(operation, "--check", *arguments)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert mentions(shown.stdout, *words) and machine.state["moments"] == moments


@pytest.mark.matrix
def test_a_playbook_upgrades_a_cluster_and_a_second_run_changes_nothing(machine: Machine) -> None:
    arguments = before_an_upgrade(machine)
    done = machine.play("upgrade", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    state = machine.state
    assert len(state["machines"]) == MACHINES and state["created"] == 2 * MACHINES and not state["lost"]
    again = machine.play("upgrade", *arguments)
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


def test_packages_are_installed_by_the_playbook_and_their_values_are_not_shown(machine: Machine) -> None:
    bed = anywhere_bed.Bed(machine.folder / anywhere_programs.NAME)
    assert bed.run("create") is not None
    machine.save(bed.state)
    package = {"name": "harbor", "chart": "/srv/charts/harbor", "values": {"password": "password-of-harbor"}}
    variables = json.dumps({"eks_anywhere_packages": [package]})
    done = machine.play("create", "-e", variables, "-vvv")
    assert done.returncode == 0 and machine.state["releases"]["harbor"]["status"] == "deployed"
    shown = [line for line in done.stdout.splitlines() if "password-of-harbor" in line]
    assert all("nodebootstrap.eks.anywhere_cluster" not in line and "capi_package" not in line for line in shown), shown
    again = machine.play("create", "-e", variables)
    assert again.returncode == 0 and mentions(again.stdout, "changed=0")


def test_the_engine_eksctl_needs_only_the_file_of_the_cluster_and_tells_what_is_missing(machine: Machine) -> None:
    variables = json.dumps({"eks_anywhere_engine": "eksctl", "eks_anywhere_bootstrap_image": None, "eks_anywhere_repository": None})
    refused = machine.play("create", "--check", "-e", variables)
    assert refused.returncode == 2 and mentions(refused.stdout, "eksctl-anywhere")
    for name in ("eksctl", "eksctl-anywhere"):
        (machine.folder / "bin" / name).write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        (machine.folder / "bin" / name).chmod(0o755)
    shown = machine.play("create", "--check", "-e", variables)
    assert shown.returncode == 0 and mentions(shown.stdout, "cluster.yaml", "changed=1")


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
    if operation == "delete":
        bed = anywhere_bed.Bed(machine.folder / anywhere_programs.NAME)
        assert bed.run("create") is not None
        machine.save(bed.state)
    for moments in (1, 6, 12):
        kill_after(machine, operation, machine.state["moments"] + moments)
    finish(machine, operation)


def kill_after(machine: Machine, operation: str, moments: int) -> None:
    """Kill ansible-playbook when the programs have changed something for the given time, and wait until its task has ended on its own."""
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
    lock = work_folder.read(str(machine.folder / "dev" / work_folder.LOCK))
    assert lock is None or work_folder.settle([{**json.loads(lock), "command": ""}], [], 60) == []
