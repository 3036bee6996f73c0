# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Upgrade with real modules and stand-ins of the programs: killed at any moment, the same command finishes, and nothing stays paused."""

from __future__ import annotations

import json
import os
import random
import stat
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.observed import Step
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.anywhere_bed import Bed
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.anywhere_upgrades import (
    GROUPS,
    NEW_VERSION,
    UPGRADE,
    changed_file,
    check_machines,
    check_siblings,
    check_upgraded,
    created,
    siblings,
    upgrade,
)


@pytest.fixture(autouse=True)
def _no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill of a process does not lose what was written, and syncing takes most of the time."""
    monkeypatch.setattr(os, "fsync", lambda _handle: None)


def test_a_cluster_is_upgraded_and_a_second_run_changes_nothing(tmp_path: Path) -> None:
    bed = created(tmp_path)
    expected = upgrade(bed, check_mode=True)
    result = upgrade(bed)
    check_upgraded(bed, result)
    assert result is not None and result["changed"] and expected is not None and expected["steps"] == result["steps"]
    order = [Step.SAVE_BACKUP, Step.PAUSE_SIBLINGS, Step.UPGRADE_PROVIDERS, Step.APPLY_CONTROL_PLANE, Step.WAIT_CONTROL_PLANE_READY,
             Step.APPLY_WORKERS, Step.WAIT_MACHINES, Step.REMOVE_LEFTOVERS, Step.RESUME_SIBLINGS, Step.WRITE_CONFIG,
             Step.REMOVE_BACKUP]  # fmt: skip
    assert result["steps"] == [step.value for step in order]
    assert (bed.folder / "dev-eks-a-cluster.yaml").read_text(encoding="utf-8") == UPGRADE["texts"]["cluster_file"]
    moments = bed.state["moments"]
    again = upgrade(bed)
    assert again is not None and (again["changed"], again["steps"]) == (False, []) and bed.state["moments"] == moments
    assert not [row for row in again["plan"] if row["changes"]]


def test_the_plan_has_versions_before_and_after_and_check_mode_changes_nothing(tmp_path: Path) -> None:
    bed = created(tmp_path)
    bed.state["halves"]["target"]["cert_manager"] = "v1.19.0"
    files, moments = bed.files(), bed.state["moments"]
    changes = {**UPGRADE, **changed_file(NEW_VERSION, GROUPS)}
    expected = bed.run("upgrade", check_mode=True, **changes)
    assert bed.files() == files and bed.state["moments"] == moments
    assert expected is not None and expected["changed"]
    plan = {row["subject"]: (row["before"], row["after"]) for row in expected["plan"] if row["changes"]}
    assert plan["control plane: Kubernetes"] == ("v1.34.2", "v1.35.2")
    assert plan["worker group dev-md-0: machines"] == (2, None) and plan["worker group dev-md-2: machines"] == (None, 2)
    assert plan["worker group dev-md-1: Kubernetes"] == (None, "v1.35.2")
    assert plan["Cluster API: CoreProvider cluster-api"] == ("v1.13.4", "v1.14.0") and plan["cert-manager"] == ("v1.19.0", "v1.20.2")
    assert "control plane: templates" in plan and mentions("\n".join(bed.lines), "v1.34.2", "v1.35.2", Step.WAIT_MACHINES.value)
    real = bed.run("upgrade", **changes)
    assert real is not None and not real.get("failed"), real
    assert set(real["steps"]) <= set(expected["steps"])
    # What is waited for depends on how quickly the machines come. All else is the same, in the same order.
    steps, taken = ([step for step in one["steps"] if not step.startswith("wait")] for one in (expected, real))
    assert steps == taken
    check_upgraded(bed, real, machines=4, made=3 + 1 + 1 + 2)
    assert bed.state["halves"]["target"]["cert_manager"] == "v1.20.2"


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ((("Cluster", "spec.kubernetesVersion", "1.36"),), ["upgrade_version KubeadmControlPlane/dev.version"] * 1),
        ((("Cluster", "spec.kubernetesVersion", "1.33"),), ["upgrade_version KubeadmControlPlane/dev.version"]),
        (
            (("Cluster", "spec.clusterNetwork.pods.cidrBlocks", ["10.200.0.0/16"]),),
            ["upgrade_immutable Cluster/dev.clusterNetwork.pods.cidrBlocks"],
        ),
        (
            (("Cluster", "spec.clusterNetwork.services.cidrBlocks", ["10.90.0.0/16"]),),
            ["upgrade_immutable Cluster/dev.clusterNetwork.services.cidrBlocks"],
        ),
    ],
)
@pytest.mark.parametrize("check_mode", [False, True])
def test_what_an_upgrade_cannot_do_is_refused_before_anything(tmp_path: Path, changes: Any, problems: list[str], check_mode: bool) -> None:
    bed = created(tmp_path)
    files, moments = bed.files(), bed.state["moments"]
    with pytest.raises(SpecError) as error:
        upgrade(bed, check_mode=check_mode, **changed_file(*changes))
    found = [f"{problem.rule.removeprefix('anywhere.')} {problem.path}" for problem in error.value.problems]
    assert set(problems) <= set(found)
    assert bed.files() == files and bed.state["moments"] == moments


def test_older_providers_are_refused(tmp_path: Path) -> None:
    bed = created(tmp_path)
    with pytest.raises(SpecError) as error:
        upgrade(bed, cluster_api_version="v1.13.3")
    assert {problem.rule for problem in error.value.problems} == {"anywhere.upgrade_version"}


def test_a_cluster_that_does_not_exist_is_not_upgraded(tmp_path: Path) -> None:
    bed = Bed(tmp_path / "dev")
    result = upgrade(bed)
    assert result is not None and result["failed"] and mentions(result["msg"], "eks_anywhere_create")


def test_the_backup_is_private_and_is_made_before_the_first_change(tmp_path: Path) -> None:
    bed = created(tmp_path)
    bed.kill_when = lambda _state: any(one["spec"].get("paused") for one in siblings(bed))
    assert upgrade(bed) is None
    folder = bed.folder / "backup-upgrade"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    names = {path.name for path in folder.iterdir()}
    assert {f"Machine_eksa-system_{name}.yaml" for name in bed.state["machines"]} <= names
    assert {"Cluster_eksa-system_dev.yaml", "Cluster_other_s0.yaml", "Cluster_other_s1.yaml"} <= names
    assert bed.state["halves"]["target"]["providers"]["--corecluster-api:v1.13.4"]
    bed.kill_when, bed.is_dead = (lambda _state: False), False
    check_upgraded(bed, upgrade(bed))


def test_other_clusters_are_resumed_after_a_failure_and_those_of_the_user_stay_paused(tmp_path: Path) -> None:
    bed = created(tmp_path)
    siblings(bed)[1]["spec"]["paused"] = True
    bed.state["broken"] = "machines"
    result = upgrade(bed)
    assert result is not None and result["failed"] and mentions(result["msg"], "NodeHealthy", "FailedBootstrap")
    assert Step.PAUSE_SIBLINGS.value in result["steps"]
    assert [bool(one["spec"].get("paused")) for one in siblings(bed)] == [False, True]
    bed.state["broken"] = ""
    again = upgrade(bed)
    assert again is not None and not again.get("failed"), again
    assert [bool(one["spec"].get("paused")) for one in siblings(bed)] == [False, True]
    siblings(bed)[1]["spec"]["paused"] = False
    check_upgraded(bed, again)


def test_other_clusters_are_resumed_if_the_next_run_is_refused(tmp_path: Path) -> None:
    bed = created(tmp_path)
    bed.kill_when = lambda _state: all(one["spec"].get("paused") for one in siblings(bed))
    assert upgrade(bed) is None
    bed.kill_when = lambda _state: False
    with pytest.raises(SpecError):
        upgrade(bed, check_mode=True, **changed_file(("Cluster", "spec.kubernetesVersion", "1.33")))
    assert all(one["spec"]["paused"] for one in siblings(bed))
    with pytest.raises(SpecError):
        upgrade(bed, **changed_file(("Cluster", "spec.kubernetesVersion", "1.33")))
    check_siblings(bed)
    check_upgraded(bed, upgrade(bed))


def test_a_create_with_a_changed_file_writes_nothing_and_names_the_upgrade(tmp_path: Path) -> None:
    bed = created(tmp_path, 0)
    path = bed.folder / "dev-eks-a-cluster.yaml"
    text, moments = path.read_text(encoding="utf-8"), bed.state["moments"]
    for check_mode in (True, False):
        result = bed.run("create", check_mode=check_mode, **changed_file(NEW_VERSION))
        assert result is not None and result["failed"] and mentions(result["msg"], "eks_anywhere_upgrade")
        assert path.read_text(encoding="utf-8") == text and bed.state["moments"] == moments
    # A comment changes nothing of the cluster.
    commented = changed_file()["texts"]["cluster_file"] + "# the same\n"
    result = bed.run("create", texts={"cluster_file": commented})
    assert result is not None and result["steps"] == [Step.WRITE_CONFIG.value]
    assert path.read_text(encoding="utf-8") == commented


def kill_and_finish(bed: Bed, kills: list[int]) -> dict[str, Any] | None:
    for moment in kills:
        result = upgrade(bed, kill_at=moment)
        assert result is None or not result.get("failed"), result
        bed.world.controllers()
    return upgrade(bed)


def moments_of(folder: Path) -> int:
    bed = created(folder)
    assert upgrade(bed) is not None
    return bed.moments


def test_an_upgrade_that_is_killed_is_finished_by_the_next_one(tmp_path: Path) -> None:
    most = moments_of(tmp_path / "count")
    assert most > 40
    for moment in range(2, most + 1, 7):
        bed = created(tmp_path / str(moment))
        check_upgraded(bed, kill_and_finish(bed, [moment]))


@pytest.mark.matrix
@pytest.mark.parametrize("first", range(1, 8))
def test_an_upgrade_that_is_killed_at_any_moment_is_finished_by_the_next_one(tmp_path: Path, first: int) -> None:
    for moment in range(first, moments_of(tmp_path / "count") + 1, 7):
        bed = created(tmp_path / str(moment))
        check_upgraded(bed, kill_and_finish(bed, [moment]))


@pytest.mark.matrix
@pytest.mark.parametrize("seed", range(60))
def test_several_kills_at_random(tmp_path: Path, seed: int) -> None:
    chance = random.Random(f"upgrade {seed}")
    bed = created(tmp_path)
    check_upgraded(bed, kill_and_finish(bed, [chance.randint(1, 60) for _unused in range(chance.randint(1, 5))]))


def test_a_cluster_that_manages_others_is_not_deleted(tmp_path: Path) -> None:
    bed = created(tmp_path)
    moments = bed.state["moments"]
    result = bed.run("delete")
    assert result is not None and result["failed"] and mentions(result["msg"], "other/s0", "other/s1")
    assert bed.state["moments"] == moments


def test_a_secret_without_an_owner_does_not_stop_a_deletion(tmp_path: Path) -> None:
    bed = created(tmp_path, 0)
    labels = {"cluster.x-k8s.io/cluster-name": "dev"}
    for name, more in (("stays", {}), ("moves", {"clusterctl.cluster.x-k8s.io/move": ""})):
        metadata = {"name": name, "namespace": "eksa-system", "labels": labels | more, "ownerReferences": []}
        one = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": {}}
        bed.world.put(bed.state["halves"]["target"]["objects"], one)
    result = bed.run("delete")
    assert result is not None and not result.get("failed"), result
    assert bed.seconds < 3000 and not bed.state["machines"] and bed.state["container"] is None


def test_only_what_changes_is_done(tmp_path: Path) -> None:
    bed = created(tmp_path)
    more = ("Cluster", "spec.workerNodeGroupConfigurations.0.count", 3)
    result = bed.run("upgrade", **changed_file(more))
    assert result is not None and not result.get("failed"), result
    assert Step.UPGRADE_PROVIDERS.value not in result["steps"] and Step.APPLY_CONTROL_PLANE.value not in result["steps"]
    assert len(bed.state["machines"]) == 4
    check_machines(bed, 4)
    check_siblings(bed)
    assert json.loads((bed.folder / "ledger-upgrade.json").read_text(encoding="utf-8"))["command"] == "upgrade"
