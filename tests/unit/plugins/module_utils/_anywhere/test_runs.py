# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Create and delete with real modules and stand-ins of the programs: a killed run is finished by the next, with each machine made once."""

from __future__ import annotations

import os
import random
import stat
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.observed import Step
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import anywhere_programs as stand_in
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.anywhere_bed import Bed
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters

WANTED = 3
LEFT = {"dev-eks-a-cluster.kubeconfig", "dev-eks-a-cluster.yaml", "ledger-create.json", "kind.yaml", "clusterctl.yaml"}


@pytest.fixture(autouse=True)
def _no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill of a process does not lose what was written, and syncing takes most of the time."""
    monkeypatch.setattr(os, "fsync", lambda _handle: None)


def bed_in(folder: Path) -> Bed:
    return Bed(folder / stand_in.NAME)


def created(folder: Path) -> Bed:
    bed = bed_in(folder)
    assert bed.run("create") is not None
    return bed


def check_created(bed: Bed, result: dict[str, Any] | None) -> None:
    assert result is not None and not result.get("failed"), result
    state = bed.state
    assert state["container"] is None and not state["lost"]
    assert len(state["machines"]) == WANTED == state["created"]
    target = state["halves"]["target"]["objects"]
    assert target[f"Cluster/{stand_in.NAME}"]["spec"]["paused"] is False
    assert len([key for key in target if key.startswith("Machine/")]) == WANTED
    assert bed.files() == LEFT


def check_deleted(bed: Bed, result: dict[str, Any] | None) -> None:
    assert result is not None and not result.get("failed"), result
    assert not bed.state["machines"] and bed.state["container"] is None and bed.state["created"] == WANTED
    assert bed.files() == set()


def test_a_cluster_is_created_and_a_second_run_changes_nothing(tmp_path: Path) -> None:
    bed = bed_in(tmp_path)
    result = bed.run("create")
    check_created(bed, result)
    assert result is not None and result["changed"]
    before = len([argv for argv in bed.state["log"] if "move" in argv])
    again = bed.run("create")
    assert again is not None and (again["changed"], again["steps"]) == (False, [])
    assert len([argv for argv in bed.state["log"] if "move" in argv]) == before
    assert stat.S_IMODE(bed.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in bed.folder.iterdir() if path.is_file()} == {0o600}


def test_a_cluster_is_deleted_and_a_second_run_changes_nothing(tmp_path: Path) -> None:
    bed = created(tmp_path)
    check_deleted(bed, bed.run("delete"))
    again = bed.run("delete")
    assert again is not None and not again["changed"] and not again.get("failed")


@pytest.mark.parametrize("command", ["create", "delete"])
def test_check_mode_tells_the_steps_of_the_run_and_writes_nothing(tmp_path: Path, command: str) -> None:
    bed = bed_in(tmp_path) if command == "create" else created(tmp_path)
    files, moments = bed.files(), bed.state["moments"]
    expected = bed.run(command, check_mode=True)
    assert bed.files() == files and bed.state["moments"] == moments
    real = bed.run(command)
    assert expected is not None and real is not None
    # Whether there is something to wait for depends on how quickly the machines come.
    steps, taken = ([step for step in one["steps"] if not step.startswith("wait")] for one in (expected, real))
    assert expected["changed"] and steps == taken


def kill_and_finish(bed: Bed, command: str, kills: list[int]) -> dict[str, Any] | None:
    for moment in kills:
        assert (result := bed.run(command, kill_at=moment)) is None or not result.get("failed"), result
        bed.world.controllers()
    return bed.run(command)


def moments_of(folder: Path, command: str) -> int:
    bed = bed_in(folder) if command == "create" else created(folder)
    bed.run(command)
    return bed.moments


@pytest.mark.parametrize("command", ["create", "delete"])
def test_a_run_that_is_killed_is_finished_by_the_next_one(tmp_path: Path, command: str) -> None:
    most = moments_of(tmp_path / "count", command)
    assert most > 60
    check = check_created if command == "create" else check_deleted
    for moment in range(2, most + 1, 13):
        bed = bed_in(tmp_path / str(moment)) if command == "create" else created(tmp_path / str(moment))
        check(bed, kill_and_finish(bed, command, [moment]))


@pytest.mark.matrix
@pytest.mark.parametrize("command", ["create", "delete"])
@pytest.mark.parametrize("first", range(1, 14))
def test_a_run_that_is_killed_at_any_moment_is_finished_by_the_next_one(tmp_path: Path, command: str, first: int) -> None:
    check = check_created if command == "create" else check_deleted
    for moment in range(first, moments_of(tmp_path / "count", command) + 1, 13):
        bed = bed_in(tmp_path / str(moment)) if command == "create" else created(tmp_path / str(moment))
        check(bed, kill_and_finish(bed, command, [moment]))


@pytest.mark.matrix
@pytest.mark.parametrize("command", ["create", "delete"])
@pytest.mark.parametrize("seed", range(100))
def test_several_kills_at_random(tmp_path: Path, command: str, seed: int) -> None:
    chance = random.Random(f"{command} {seed}")
    bed = bed_in(tmp_path) if command == "create" else created(tmp_path)
    kills = [chance.randint(1, 90) for _unused in range(chance.randint(1, 5))]
    (check_created if command == "create" else check_deleted)(bed, kill_and_finish(bed, command, kills))


def test_a_run_beside_a_living_one_is_refused_before_anything_is_changed(tmp_path: Path) -> None:
    bed = bed_in(tmp_path)
    assert bed.run("create", kill_at=30) is None
    bed.alive = {bed.pid: 1}
    before = bed.state["moments"]
    with pytest.raises(SpecError) as error:
        bed.run("create")
    assert [problem.rule for problem in error.value.problems] == ["anywhere.locked"]
    assert bed.state["moments"] == before


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"texts": {"cluster_file": clusters.file("vsphere")}}, "anywhere.engine"),
        ({"texts": {"cluster_file": clusters.file("docker", ("Cluster", "metadata.name", "D"))}}, "anywhere.name"),
        ({"node_images": []}, "anywhere.node_image"),
        ({"work_dir": "relative"}, "input.invalid_text"),
        ({"texts": {"network_manifest": "a: ["}}, "input.unreadable_file"),
        ({"texts": {"network_manifest": "a: 1"}}, "input.wrong_type"),
    ],
)
def test_bad_input_is_refused_before_anything_is_created(tmp_path: Path, changes: dict[str, Any], rule: str) -> None:
    bed = bed_in(tmp_path)
    with pytest.raises(SpecError) as error:
        bed.run("create", **changes)
    assert rule in {problem.rule for problem in error.value.problems}
    assert not bed.calls and not bed.folder.exists()


def test_a_wait_that_takes_too_long_names_the_object_its_condition_and_its_events(tmp_path: Path) -> None:
    bed = bed_in(tmp_path)
    bed.state["broken"] = "machines"
    result = bed.run("create")
    assert result is not None and result["failed"] and result["changed"]
    assert mentions(result["msg"], Step.WAIT_MACHINES.value, "Machine", "NodeHealthy", "FailedBootstrap")
    bed.state["broken"] = ""
    check_created(bed, bed.run("create"))


def test_the_status_tells_what_was_done_what_is_next_and_what_it_waits_for(tmp_path: Path) -> None:
    bed = bed_in(tmp_path)
    bed.state["broken"] = "machines"
    bed.run("create")
    before = bed.state["moments"]
    status = bed.run("status")
    assert status is not None and status["steps"][0] == Step.WAIT_MACHINES.value
    assert {row["step"]: row["state"] for row in status["tried"]}[Step.WAIT_MACHINES.value] == "failed"
    page = "\n".join(bed.lines)
    assert mentions(page, "running", "3 (dev-", "Machine", "FailedBootstrap")
    assert bed.state["moments"] == before


def test_what_cannot_be_known_stops_the_run(tmp_path: Path) -> None:
    bed = created(tmp_path)
    del bed.state["halves"]["target"]["objects"]["Machine/" + bed.state["machines"][0]]
    bed.state["halves"]["target"]["objects"][f"Cluster/{stand_in.NAME}"]["spec"]["paused"] = True
    bed.state["halves"]["target"]["objects"].pop(f"Cluster/{stand_in.NAME}")
    result = bed.run("delete")
    assert result is not None and result["failed"] and not result["steps"]
    assert len(bed.state["machines"]) == WANTED
