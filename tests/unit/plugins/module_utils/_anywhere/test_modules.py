# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules of the admin machine one by one, with stand-ins of the programs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere import work_folder
from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere.programs import AdminPrograms, StepFailed
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.move_task import OPTIONS, move_task
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import anywhere_programs as stand_in
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.anywhere_bed import Bed, before_the_move

MACHINES = 3


@pytest.fixture
def bed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bed:
    monkeypatch.setattr(os, "fsync", lambda _handle: None)
    return Bed(tmp_path / stand_in.NAME)


def kubeconfig(bed: Bed, name: str) -> str:
    names = {"boot": "dev.kind.kubeconfig", "target": "dev-eks-a-cluster.kubeconfig"}
    return str(bed.folder / names[name])


def kind(bed: Bed, state: str, check_mode: bool = False, **options: Any) -> dict[str, Any]:
    given = {
        "name": stand_in.BOOTSTRAP,
        "kubeconfig": kubeconfig(bed, "boot"),
        "config": "kind: Cluster\n",
        "timeout": 60.0,
        "state": state,
    }
    return bed.module("kind_cluster", check_mode, **(given | options))


def test_kind_cluster_creates_once_and_never_deletes_an_owner_of_machines(bed: Bed) -> None:
    bed.folder.mkdir()
    assert kind(bed, "present", True)["changed"] and bed.state["container"] is None
    assert kind(bed, "present")["changed"] and not kind(bed, "present")["changed"]
    assert os.stat(kubeconfig(bed, "boot")).st_mode & 0o777 == 0o600
    assert kind(bed, "absent", True)["changed"] and bed.state["container"]
    assert kind(bed, "absent")["changed"] and not kind(bed, "absent")["changed"]
    before_the_move(bed)
    with pytest.raises(StepFailed) as error:
        kind(bed, "absent", unreachable_is_empty=True)
    assert mentions(error.value, "Cluster/eksa-system/dev") and bed.state["container"]


def test_kind_cluster_does_not_take_a_stopped_cluster_for_an_empty_one(bed: Bed) -> None:
    bed.folder.mkdir()
    kind(bed, "present")
    bed.state["container"]["state"] = "exited"
    for state in ("present", "absent"):
        with pytest.raises(StepFailed) as error:
            kind(bed, state)
        assert mentions(error.value, "state=started")
    assert kind(bed, "started")["changed"] and not kind(bed, "started")["changed"]
    bed.state["container"]["state"] = "exited"
    assert kind(bed, "absent", unreachable_is_empty=True)["changed"] and bed.state["container"] is None


def test_kind_cluster_does_not_take_a_creation_that_was_killed_for_a_cluster(bed: Bed) -> None:
    bed.folder.mkdir()
    bed.kill_when = lambda state: (state["container"] or {}).get("state") == "running"
    with pytest.raises(stand_in.Killed):
        kind(bed, "present")
    bed.kill_when, bed.is_dead = (lambda _state: False), False
    # Its API server answers, but kind had not written the kubeconfig, and nothing was installed later.
    assert not Path(kubeconfig(bed, "boot")).exists() and bed.world.runs("boot")
    with pytest.raises(StepFailed):
        kind(bed, "present")
    assert kind(bed, "absent", unreachable_is_empty=True)["changed"]
    assert kind(bed, "present")["changed"] and kind(bed, "absent")["changed"]
    # A kubeconfig that was lost later does not say that.
    before_the_move(bed)
    Path(kubeconfig(bed, "boot")).unlink()
    assert kind(bed, "present", True)["state"] == "running"


def test_clusterctl_upgrade_upgrades_once_completes_and_refuses_older_versions(bed: Bed) -> None:
    assert bed.run("create") is not None
    rows = [("cluster-api", "Core"), ("kubeadm", "Bootstrap"), ("kubeadm", "ControlPlane"), ("docker", "Infrastructure")]

    def wanted(version: str) -> dict[str, Any]:
        providers = [{"name": name, "type": f"{word}Provider", "version": version} for name, word in rows]
        return {"kubeconfig": kubeconfig(bed, "target"), "providers": providers, "timeout": 60.0}

    planned = bed.module("clusterctl_upgrade", True, **wanted("v1.14.0"))
    assert planned["changed"] and len(planned["to_upgrade"]) == 4 and not planned["to_install"]
    bed.moments, bed.kill_at = 0, 2
    with pytest.raises(stand_in.Killed):
        bed.module("clusterctl_upgrade", **wanted("v1.14.0"))
    bed.is_dead, bed.kill_at = False, None
    assert len(bed.module("clusterctl_upgrade", True, **wanted("v1.14.0"))["to_upgrade"]) == 2
    assert bed.module("clusterctl_upgrade", **wanted("v1.14.0"))["changed"]
    assert not bed.module("clusterctl_upgrade", **wanted("v1.14.0"))["changed"]
    with pytest.raises(StepFailed) as error:
        bed.module("clusterctl_upgrade", **wanted("v1.13.9"))
    assert mentions(error.value, "v1.13.9", "v1.14.0")
    bed.state["halves"]["target"]["cert_manager"] = "v1.19.0"
    # Without a version, clusterctl itself says whether cert-manager changes.
    assert bed.module("clusterctl_upgrade", **wanted("v1.14.0"))["cert_manager"] == "newer"
    assert bed.module("clusterctl_upgrade", **wanted("v1.14.0"), cert_manager_version="v1.20.2")["cert_manager"] == ""


def test_clusterctl_init_completes_an_installation_and_refuses_other_versions(bed: Bed) -> None:
    bed.folder.mkdir()
    kind(bed, "present")
    rows = [("cluster-api", "Core"), ("kubeadm", "Bootstrap"), ("kubeadm", "ControlPlane"), ("docker", "Infrastructure")]
    wanted = [{"name": name, "type": f"{word}Provider", "version": "v1.13.4"} for name, word in rows]
    options = {"kubeconfig": kubeconfig(bed, "boot"), "providers": wanted, "config": "{}", "timeout": 60.0}
    bed.moments, bed.kill_at = 0, 2
    with pytest.raises(stand_in.Killed):
        bed.module("clusterctl_init", **options)
    bed.is_dead, bed.kill_at = False, None
    partial = bed.module("clusterctl_init", True, **options)
    assert (partial["state"], len(partial["to_install"])) == ("partial", 2)
    assert bed.module("clusterctl_init", **options)["changed"] and not bed.module("clusterctl_init", **options)["changed"]
    with pytest.raises(StepFailed) as error:
        bed.module("clusterctl_init", **{**options, "providers": [{**wanted[0], "version": "v1.14.0"}, *wanted[1:]]})
    assert mentions(error.value, "v1.14.0")


def test_capi_apply_shows_what_differs_without_secrets_and_changes_nothing_twice(bed: Bed) -> None:
    bed.folder.mkdir()
    kind(bed, "present")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}, "data": {"password": "aHVudGVyMg=="}}
    options = {"kubeconfig": kubeconfig(bed, "boot"), "objects": [secret]}
    planned = bed.module("capi_apply", True, **options)
    assert planned["changed"] and "password" in planned["diff"][0]["after"] and "aHVudGVyMg" not in str(planned)
    assert bed.module("capi_apply", **options)["changed"] and not bed.module("capi_apply", **options)["changed"]


def test_capi_kubeconfig_does_not_replace_a_good_file_with_a_bad_one(bed: Bed) -> None:
    before_the_move(bed)
    dest = kubeconfig(bed, "target")
    options = {"kubeconfig": kubeconfig(bed, "boot"), "name": "dev", "namespace": "eksa-system", "dest": dest}
    assert not bed.module("capi_kubeconfig", **options)["changed"]
    bed.state["halves"]["boot"]["objects"]["Secret/dev-kubeconfig"]["data"]["value"] = "eA=="
    with pytest.raises(StepFailed):
        bed.module("capi_kubeconfig", **options)
    assert Path(dest).read_text(encoding="utf-8") == "clusters: [target]\n"


def move(bed: Bed, **changes: Any) -> dict[str, Any]:
    given = {
        "from_kubeconfig": kubeconfig(bed, "boot"),
        "to_kubeconfig": kubeconfig(bed, "target"),
        "name": "dev",
        "work_dir": str(bed.folder),
    }
    options = (
        {name: option.get("default") for name, option in OPTIONS.items()} | given | {"backup_dir": str(bed.folder / "backup")} | changes
    )
    return move_task(options, bed.admin().call, bed.lines.append, check_mode=False)


@pytest.mark.parametrize("roll_back", [False, True])
def test_capi_move_completes_or_rolls_back_a_move_that_was_killed_anywhere(bed: Bed, roll_back: bool) -> None:
    before_the_move(bed)
    saved = stand_in.json.dumps(bed.state)
    outcomes = set()
    for moment in range(3, 40, 3):
        bed.state.clear()
        bed.state.update(stand_in.json.loads(saved))
        bed.moments, bed.kill_at, bed.is_dead = 0, moment, False
        try:
            move(bed)
        except stand_in.Killed:
            bed.world.controllers()
        bed.kill_at, bed.is_dead = None, False
        result = move(bed, roll_back=roll_back)
        halves = {name: len([key for key in half["objects"] if "Machine/" in key]) for name, half in bed.state["halves"].items()}
        outcomes.add((bool(result.get("failed")), halves["boot"], halves["target"]))
        assert len(bed.state["machines"]) == bed.state["created"] == MACHINES
    # A move that deletes objects of the source already cannot be rolled back. The module says so, and changes nothing.
    assert outcomes >= ({(False, MACHINES, 0)} if roll_back else {(False, 0, MACHINES)})
    assert roll_back or outcomes == {(False, 0, MACHINES)}


def test_capi_move_stops_at_two_sides_that_do_not_fit_together(bed: Bed) -> None:
    before_the_move(bed)
    boot, target = (bed.state["halves"][name]["objects"] for name in ("boot", "target"))
    target.update(stand_in.json.loads(stand_in.json.dumps(boot)))
    moments = bed.state["moments"]
    result = move(bed)
    assert result["failed"] and mentions(result["msg"], "spec.paused")
    assert bed.state["moments"] == moments


def test_a_program_that_hangs_is_ended_and_a_secret_is_not_shown(tmp_path: Path) -> None:
    programs = AdminPrograms(str(tmp_path))
    with pytest.raises(StepFailed) as error:
        programs.run([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.2)
    assert mentions(error.value, "0.2")
    code = "import sys; sys.exit('password: hunter2hunter2 https://user:hunter2@registry/')"
    with pytest.raises(StepFailed) as error:
        programs.run([sys.executable, "-c", code])
    assert "hunter2@" not in str(error.value)
    assert work_folder.running(str(tmp_path)) == [] and not list(tmp_path.iterdir())


def test_a_lock_is_replaced_only_if_it_is_still_the_expected_one(tmp_path: Path) -> None:
    assert work_folder.replace_lock(str(tmp_path), None, "one")
    assert not work_folder.replace_lock(str(tmp_path), None, "two")
    assert work_folder.replace_lock(str(tmp_path), "one", None)
    assert not (tmp_path / work_folder.LOCK).exists()
