# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recover with real modules and stand-ins of the programs, after create, upgrade and delete that were killed at any moment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import anywhere_programs as stand_in
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.anywhere_bed import Bed
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.anywhere_upgrades import (
    UPGRADE,
    check_machines,
    check_siblings,
    check_upgraded,
    created,
)

COMMANDS = ("create", "upgrade", "delete")
STATES = {
    "create": {"creating", "absent", "in_cluster"},
    "upgrade": {"upgrading", "in_cluster"},
    "delete": {"deleting", "absent", "in_cluster"},
}


@pytest.fixture(autouse=True)
def _no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill of a process does not lose what was written, and syncing takes most of the time."""
    monkeypatch.setattr(os, "fsync", lambda _handle: None)


def before(folder: Path, command: str) -> Bed:
    return Bed(folder / stand_in.NAME) if command == "create" else created(folder, 2 if command == "upgrade" else 0)


def options(command: str) -> dict[str, Any]:
    return UPGRADE if command == "upgrade" else {}


def check_end(bed: Bed, command: str, result: dict[str, Any] | None) -> None:
    assert result is not None and not result.get("failed"), result
    if command == "upgrade":
        check_upgraded(bed, result)
        return
    assert bed.state["container"] is None and not bed.state["lost"] and bed.state["created"] == 3
    assert len(bed.state["machines"]) == (3 if command == "create" else 0)
    if command == "create":
        check_machines(bed, 3)


def recover_and_check(bed: Bed, command: str) -> dict[str, Any]:
    """Recover. Then nothing is paused, at most one side has the cluster, and a kubeconfig that existed is there."""
    had_kubeconfig = (bed.folder / "dev-eks-a-cluster.kubeconfig").exists()
    result = bed.run("recover", **options(command))
    assert result is not None and not result.get("failed"), result
    assert result["state"] in STATES[command], result
    halves = [bed.world.half(name)["objects"] for name in ("boot", "target") if bed.world.runs(name)]
    found = [objects[f"Cluster/{stand_in.NAME}"] for objects in halves if f"Cluster/{stand_in.NAME}" in objects]
    assert len(found) <= 1 and not any(one["spec"].get("paused") for one in found)
    check_siblings(bed)
    assert (bed.folder / "dev-eks-a-cluster.kubeconfig").exists() or not had_kubeconfig
    assert not (bed.folder / "ledger-recover.json").exists()
    return result


def kill_recover_and_finish(folder: Path, command: str, moment: int) -> str:
    bed = before(folder, command)
    result = bed.run(command, kill_at=moment, **options(command))
    assert result is None or not result.get("failed"), result
    state = recover_and_check(bed, command)["state"]
    result = bed.run(command, **options(command))
    check_end(bed, command, result)
    assert result is not None and (state != "in_cluster" or command != "create" or result["steps"] == [])
    return str(state)


def moments_of(folder: Path, command: str) -> int:
    bed = before(folder, command)
    assert bed.run(command, **options(command)) is not None
    return bed.moments


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_was_killed_is_recovered_and_then_finished(tmp_path: Path, command: str) -> None:
    most = moments_of(tmp_path / "count", command)
    states = {kill_recover_and_finish(tmp_path / str(moment), command, moment) for moment in range(3, most, 17)}
    assert {"create": "creating", "upgrade": "upgrading", "delete": "deleting"}[command] in states


@pytest.mark.matrix
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("first", range(2, 10))
def test_a_command_that_was_killed_at_any_moment_is_recovered_and_then_finished(tmp_path: Path, command: str, first: int) -> None:
    for moment in range(first, moments_of(tmp_path / "count", command), 8):
        kill_recover_and_finish(tmp_path / str(moment), command, moment)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_recovery_that_is_killed_is_finished_by_the_next_one(tmp_path: Path, command: str) -> None:
    most = moments_of(tmp_path / "count", command)
    for number, moment in enumerate(range(most * 2 // 3, most, 11)):
        for second in (4, 7, 10):
            bed = before(tmp_path / f"{number}-{second}", command)
            bed.run(command, kill_at=moment, **options(command))
            bed.run("recover", kill_at=second, **options(command))
            recover_and_check(bed, command)
            check_end(bed, command, bed.run(command, **options(command)))


def test_check_mode_says_what_was_interrupted_and_what_is_next(tmp_path: Path) -> None:
    bed = created(tmp_path, 0)
    result = bed.run("recover", check_mode=True)
    assert result is not None and (result["state"], result["next"], result["changed"]) == ("in_cluster", None, False)
    bed.kill_when = lambda state: len([key for key in bed.world.half("boot")["objects"] if key.startswith("Machine/")]) > 1
    assert bed.run("delete") is None
    bed.kill_when, moments, files = (lambda _state: False), bed.state["moments"], bed.files()
    result = bed.run("recover", check_mode=True)
    assert result is not None and (result["state"], result["next"]) == ("deleting", "eks_anywhere_delete") and result["changed"]
    assert mentions("\n".join(bed.lines), "deleting", "owner", "ended", "eks_anywhere_delete", "paused")
    assert bed.state["moments"] == moments and bed.files() == files
    result = recover_and_check(bed, "delete")
    # The source was complete, so the move was undone, and the cluster manages itself.
    assert bed.state["halves"]["target"]["objects"][f"Cluster/{stand_in.NAME}"]["spec"]["paused"] is False
    check_end(bed, "delete", bed.run("delete"))


def test_a_recovery_saves_a_lost_kubeconfig_and_stops_where_it_cannot_know(tmp_path: Path) -> None:
    bed = Bed(tmp_path / "dev")
    bed.kill_when = lambda state: bool((state["halves"]["target"] or {"providers": ()})["providers"])
    assert bed.run("create") is None
    bed.kill_when = lambda _state: False
    path = bed.folder / "dev-eks-a-cluster.kubeconfig"
    path.unlink()
    assert bed.run("recover") is not None and path.exists()
    bed.kill_when = lambda state: f"Cluster/{stand_in.NAME}" in state["halves"]["target"]["objects"]
    assert bed.run("create") is None
    bed.kill_when = lambda _state: False
    path.write_text("clusters: [gone]\n", encoding="utf-8")
    bed.state["halves"]["target"]["objects"].clear()
    bed.state["halves"]["boot"]["objects"].clear()
    bed.state["container"] = None
    (bed.folder / "backup-create").rename(bed.folder / "kept")
    result = bed.run("recover")
    assert result is not None and result["failed"] and mentions(result["msg"], "3 machines", "backup")


def test_a_backup_of_exactly_the_machines_that_exist_is_restored(tmp_path: Path) -> None:
    bed = Bed(tmp_path / "dev")
    bed.kill_when = lambda state: f"Cluster/{stand_in.NAME}" in (state["halves"]["target"] or {"objects": ()})["objects"]
    assert bed.run("create") is None
    bed.kill_when = lambda _state: False
    # Someone deletes the bootstrap cluster, and what was copied.
    bed.state["container"], bed.state["halves"]["boot"] = None, None
    bed.state["halves"]["target"]["objects"].clear()
    result = bed.run("recover")
    assert result is not None and not result.get("failed"), result
    check_end(bed, "create", bed.run("create"))


@pytest.mark.parametrize("command", ["create", "delete"])
def test_a_lost_ledger_does_not_change_what_is_recovered(tmp_path: Path, command: str) -> None:
    most = moments_of(tmp_path / "count", command)
    for moment in range(most // 2, most - 25, 6):
        bed = before(tmp_path / str(moment), command)
        assert bed.run(command, kill_at=moment) is None
        for path in bed.folder.glob("ledger-*.json"):
            path.unlink()
        recover_and_check(bed, command)
        check_end(bed, command, bed.run(command))


def test_a_deletion_that_a_creation_undid_is_not_told_again(tmp_path: Path) -> None:
    bed = created(tmp_path, 0)
    bed.kill_when = lambda state: state["halves"]["boot"] is not None
    assert bed.run("delete") is None
    bed.kill_when = lambda _state: False
    assert bed.run("recover", check_mode=True)["state"] == "deleting"  # type: ignore[index]
    check_end(bed, "create", bed.run("create"))
    assert bed.run("recover", check_mode=True)["state"] == "in_cluster"  # type: ignore[index]


def test_an_upgrade_that_failed_and_became_ready_later_is_not_told_again(tmp_path: Path) -> None:
    bed = created(tmp_path)
    bed.state["broken"] = "machines"
    failed = bed.run("upgrade", **UPGRADE)
    assert failed is not None and failed["failed"]
    assert bed.run("recover", check_mode=True, **UPGRADE)["state"] == "upgrading"  # type: ignore[index]
    bed.state["broken"] = ""
    for _round in range(20):
        bed.world.controllers()
    result = bed.run("upgrade", **UPGRADE)
    assert result is not None and not result.get("failed"), result
    assert bed.run("recover", check_mode=True, **UPGRADE)["state"] == "in_cluster"  # type: ignore[index]
