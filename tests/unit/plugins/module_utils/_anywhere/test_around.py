# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens around a run with real modules and stand-ins of the programs: checks before the lock, diagnostics, status."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere import work_folder
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import preflight
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.observed import Step
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import anywhere_programs as stand_in
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.anywhere_bed import Bed
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import capi_objects
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.admin_machines import GIB, container

BUSY = [("listening_ports", [22, 8443]), ("memory.available", GIB), ("disks.docker.free_bytes", 2 * GIB)]
"""What a run that made machines changes on the admin machine, so that a new cluster would be refused."""

UNREACHABLE = [("registries.0.problem", "timed out"), ("registries.0.kind", "silent")]


@pytest.fixture(autouse=True)
def _no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _handle: None)


def bed_in(folder: Path, *facts: tuple[str, Any]) -> Bed:
    bed = Bed(folder / stand_in.NAME)
    bed.facts = list(facts)
    return bed


def refused(bed: Bed, command: str = "create", **options: Any) -> dict[str, list[str]]:
    """The paths of the problems by rule. Nothing was created, and there is no lock."""
    before = bed.state["moments"]
    with pytest.raises(SpecError) as error:
        bed.run(command, **options)
    assert bed.state["moments"] == before
    assert work_folder.read(str(bed.folder / work_folder.LOCK)) is None
    found: dict[str, list[str]] = {}
    for problem in error.value.problems:
        assert problem.fix
        found.setdefault(problem.rule, []).append(problem.path)
    return found


@pytest.mark.parametrize("check_mode", [False, True])
def test_all_failed_checks_refuse_the_run_before_anything_is_created(tmp_path: Path, check_mode: bool) -> None:
    bed = bed_in(tmp_path, ("tools.kind.version", "0.20.0"), ("disks.docker.free_bytes", GIB), ("clock_synchronized", False), *UNREACHABLE)
    found = refused(bed, check_mode=check_mode)
    paths = ["preflight.clock", "preflight.disk_docker", "preflight.registries", "preflight.tool_kind"]
    assert found == {"anywhere.preflight": paths}
    assert "clusterctl_init" not in bed.calls and "kind_cluster" not in bed.calls


def test_failures_of_a_machine_that_can_be_read_are_told_with_the_table(tmp_path: Path) -> None:
    bed = bed_in(tmp_path, ("clock_synchronized", False), ("cgroup_version", 1), ("docker.cgroup_version", 1))
    assert refused(bed) == {"anywhere.preflight": ["preflight.clock"]}
    assert mentions("\n".join(bed.lines), "CHECK", "cgroup v1", "timedatectl")


def test_a_check_is_skipped_by_its_name_and_the_result_has_all(tmp_path: Path) -> None:
    bed = bed_in(tmp_path, ("clock_synchronized", False), *UNREACHABLE)
    result = bed.run("create", skip_checks=["clock", "registries"])
    assert result is not None and not result.get("failed")
    assert {one["name"] for one in result["checks"] if one["result"] == "skipped"} >= {"clock", "registries"}


def test_without_any_check_the_machine_is_not_observed(tmp_path: Path) -> None:
    bed = bed_in(tmp_path)
    assert bed.run("create", skip_checks=list(preflight.NAMES)) is not None
    assert "anywhere_machine_info" not in bed.calls


def test_the_second_run_of_a_finished_creation_is_not_refused(tmp_path: Path) -> None:
    bed = bed_in(tmp_path)
    bed.run("create")
    bed.facts = [*BUSY, *UNREACHABLE, ("clock_synchronized", False)]
    again = bed.run("create")
    assert again is not None and not again.get("failed") and not again["changed"]


@pytest.mark.parametrize("moment", range(8, 90, 10))
def test_a_run_after_a_kill_is_not_refused_for_what_the_killed_run_made(tmp_path: Path, moment: int) -> None:
    bed = bed_in(tmp_path)
    assert bed.run("create", kill_at=moment) is None
    bed.facts = BUSY
    # With eksctl or another provider, these would be in use, too.
    result = bed.run("create", ports=[8443])
    assert result is not None and not result.get("failed"), result
    assert len(bed.state["machines"]) == bed.state["created"] == 3


def test_a_run_after_a_kill_is_refused_for_what_the_machine_lacks(tmp_path: Path) -> None:
    bed = bed_in(tmp_path)
    assert bed.run("create", kill_at=40) is None
    bed.facts = [("disks.docker.free_bytes", GIB - 1), *UNREACHABLE]
    with pytest.raises(SpecError) as error:
        bed.run("create")
    assert [one.path for one in error.value.problems] == ["preflight.disk_docker", "preflight.registries"]


@pytest.mark.parametrize(("cluster", "path"), [("dev", "preflight.cluster_name"), ("dev-eks-a-cluster", "preflight.bootstrap_cluster")])
def test_the_name_of_a_cluster_that_no_run_of_this_folder_made_is_refused(tmp_path: Path, cluster: str, path: str) -> None:
    bed = bed_in(tmp_path)
    bed.state["strangers"] = [container("their-node", cluster)]
    assert refused(bed) == {"anywhere.preflight": [path]}


def test_a_kubeconfig_of_another_cluster_is_refused(tmp_path: Path) -> None:
    bed = bed_in(tmp_path)
    bed.run("create")
    bed.state["nodes"] = ["their-node-1", "their-node-2"]
    for command in ("create", "delete"):
        assert list(refused(bed, command)) == ["anywhere.kubeconfig"]
    bed.state["nodes"] = [*bed.state["machines"], "removed-a-moment-ago"]
    assert (again := bed.run("create")) is not None and not again.get("failed")


def test_without_docker_the_run_is_refused_before_it_reads_the_cluster(tmp_path: Path) -> None:
    bed = bed_in(tmp_path, ("docker.problem", "Cannot connect to the Docker daemon"))
    assert refused(bed) == {"anywhere.preflight": ["preflight.docker_daemon"]}


# --- diagnostics ---


def broken(folder: Path, **answer: Any) -> Bed:
    bed = bed_in(folder)
    bed.state["broken"] = "machines"
    archive = base64.b64encode(b"archive").decode()
    bed.collected = {
        "archive_base64": archive,
        "objects": {stand_in.NAME: capi_objects.creation()},
        "logs": {},
        "unreachable": {},
        "entries": 7,
    } | answer
    return bed


def test_a_failed_step_collects_diagnostics_and_names_the_first_failing_object(tmp_path: Path) -> None:
    bed = broken(tmp_path)
    result = bed.run("create", diagnostics_dir="/d")
    assert result is not None and result["failed"]
    assert mentions(result["msg"], Step.WAIT_MACHINES.value, "NodeHealthy", "DockerMachine dev-cp", "/d/dev-diagnostics.tar.gz")
    assert bed.written.keys() == {"/d/dev-diagnostics.tar.gz", "/d/dev-diagnostics.txt"}
    assert bed.written["/d/dev-diagnostics.tar.gz"] == b"archive"
    assert result["msg"].index("NodeHealthy") < result["msg"].index("DockerMachine dev-cp")


def test_the_password_of_the_registry_is_removed_from_diagnostics(tmp_path: Path) -> None:
    bed = broken(tmp_path)
    result = bed.run("create", registry_username="me", registry_password="planted-word")
    assert result is not None and "planted-word" not in json.dumps(result) + "\n".join(bed.lines)
    assert bed.diagnosed["secrets"] == ["planted-word", "me:planted-word"]


@pytest.mark.parametrize("answer", [{"archive_base64": "***"}, {"objects": None}, {"logs": None}])
def test_a_failure_of_the_diagnostics_does_not_hide_the_first_error(tmp_path: Path, answer: dict[str, Any]) -> None:
    bed = broken(tmp_path, **answer)
    result = bed.run("create")
    assert result is not None and mentions(result["msg"], Step.WAIT_MACHINES.value, "NodeHealthy", "diagnostics")
    assert work_folder.read(str(bed.folder / work_folder.LOCK)) is None


def test_a_connection_that_is_lost_while_diagnostics_are_collected_does_not_hide_the_first_error(tmp_path: Path) -> None:
    bed = broken(tmp_path)
    del bed.collected

    def lost(_self: Bed) -> dict[str, Any]:
        raise ConnectionError("their-host")

    bed.__class__ = type("Lost", (Bed,), {"collected": property(lost)})
    result = bed.run("create")
    assert result is not None and mentions(result["msg"], "NodeHealthy", "their-host")


def test_diagnostics_can_be_left_out_and_are_not_collected_without_a_failed_step(tmp_path: Path) -> None:
    bed = broken(tmp_path)
    assert bed.run("create", diagnostics=False) is not None
    assert "anywhere_diagnostics" not in bed.calls
    bed.state["broken"] = ""
    assert bed.run("create") is not None
    assert "anywhere_diagnostics" not in bed.calls and not bed.written


# --- status ---


def test_the_status_needs_only_the_name_and_the_folder(tmp_path: Path) -> None:
    bed = broken(tmp_path)
    bed.run("create")
    lacking = dict.fromkeys(
        ("cluster_file", "bootstrap_image", "repository", "cluster_api_version", "cert_manager_version", "network_manifest")
    )
    status = bed.run("status", **lacking, node_images=[], name="dev", status_file="/d/status.json")
    assert status is not None and not status.get("failed") and not status["changed"]
    page = "\n".join(bed.lines)
    assert mentions(page, "running", "Machine", "dev-eks-a-cluster", "eks_anywhere_cluster_file")
    assert {row["step"]: row["state"] for row in status["tried"]}[Step.WAIT_MACHINES.value] == "failed"
    assert status["causes"]["dev-eks-a-cluster"]["kind"] == "Machine"
    written = json.loads(bed.written["/d/status.json"])
    assert written["cluster"] == "dev" and written["causes"] == status["causes"]


def test_the_status_of_a_cluster_that_was_never_made_creates_no_folder(tmp_path: Path) -> None:
    bed = Bed(tmp_path / "work" / "dev")
    status = bed.run("status")
    assert status is not None and not status.get("failed") and not bed.folder.exists()


def test_the_status_with_all_inputs_tells_the_next_steps(tmp_path: Path) -> None:
    bed = bed_in(tmp_path)
    bed.run("create")
    status = bed.run("status")
    assert status is not None and "lacking" not in status and status["steps"] == []
    assert status["causes"] == {"dev": None}


def test_the_status_names_the_owner_of_the_lock(tmp_path: Path) -> None:
    bed = bed_in(tmp_path)
    bed.run("create", kill_at=30)
    status = bed.run("status")
    assert status is not None and status["lock"]["host"] == "h" and f"process {status['lock']['pid']} on h" in "\n".join(bed.lines)


def test_the_status_of_nothing_is_refused(tmp_path: Path) -> None:
    found = refused(bed_in(tmp_path), "status", cluster_file=None, name=None)
    assert found == {"input.missing_field": ["name"]}


def test_all_missing_inputs_are_told_with_the_names_of_the_role(tmp_path: Path) -> None:
    nothing = dict.fromkeys(("cluster_file", "bootstrap_image", "repository", "cluster_api_version", "cert_manager_version"))
    bed = bed_in(tmp_path)
    with pytest.raises(SpecError) as error:
        bed.run("create", **nothing)
    assert {one.fix for one in error.value.problems} == {f"set eks_anywhere_{name}" for name in nothing}
    assert not bed.calls


# --- upgrade ---


def test_an_upgrade_tells_failed_checks_together_with_what_it_refuses(tmp_path: Path) -> None:
    bed = bed_in(tmp_path)
    bed.run("create")
    bed.facts = [("clock_synchronized", False), *BUSY]
    found = refused(bed, "upgrade", cluster_api_version="v1.12.0")
    assert found.keys() == {"anywhere.preflight", "anywhere.upgrade_version"}
    # Memory and disk that the machines of the cluster use do not stop its upgrade.
    assert found["anywhere.preflight"] == ["preflight.clock"]
