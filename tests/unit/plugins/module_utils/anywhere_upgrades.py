# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Upgrades and recoveries on the bed: what is upgraded, how it must look at the end, and other clusters."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import anywhere_programs as stand_in
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.anywhere_bed import Bed
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters

MARK = "nodebootstrap.eks/paused-by"
ONE = ("Cluster", "spec.controlPlaneConfiguration.count", 1)
NEW_VERSION = ("Cluster", "spec.kubernetesVersion", "1.35")
IMAGES = [{"version": f"v1.{minor}.2", "image": f"kindest/node:v1.{minor}.2"} for minor in (33, 34, 35, 36)]
GROUPS = ("Cluster", "spec.workerNodeGroupConfigurations", [{"name": "md-1", "count": 1}, {"name": "md-2", "count": 2}])
FILES = {
    "dev-eks-a-cluster.kubeconfig",
    "dev-eks-a-cluster.yaml",
    "ledger-create.json",
    "ledger-upgrade.json",
    "kind.yaml",
    "clusterctl.yaml",
}


def changed_file(*changes: Any) -> dict[str, Any]:
    """The options with which a run gets another file, and images for its versions."""
    return {"texts": {"cluster_file": clusters.file("docker", ONE, *changes)}, "node_images": IMAGES}


UPGRADE: dict[str, Any] = {**changed_file(NEW_VERSION), "cluster_api_version": "v1.14.0"}
"""Kubernetes and Cluster API one minor version later."""


def upgrade(bed: Bed, **options: Any) -> dict[str, Any] | None:
    """Run the upgrade. options: replace those of the usual one."""
    return bed.run("upgrade", **{**UPGRADE, **options})


def created(folder: Path, siblings: int = 2) -> Bed:
    """A cluster that manages itself, and two others."""
    bed = Bed(folder / stand_in.NAME)
    result = bed.run("create")
    assert result is not None and not result.get("failed"), result
    for number in range(siblings):
        metadata = {"name": f"s{number}", "namespace": "other"}
        one = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": metadata, "spec": {}}
        bed.world.put(bed.state["halves"]["target"]["objects"], one)
    return bed


def siblings(bed: Bed) -> list[dict[str, Any]]:
    return [one for key, one in bed.world.half("target")["objects"].items() if key.startswith("Cluster/s")]


def check_siblings(bed: Bed) -> None:
    """No other cluster is paused, or has the mark of a run."""
    for one in siblings(bed):
        assert not one["spec"].get("paused") and MARK not in one["metadata"].get("annotations", {})


def check_machines(bed: Bed, made: int) -> None:
    """Every machine was made once, by name and UID, the objects fit to the machines, and nothing was lost."""
    state = bed.state
    names, uids = [name for name, _uid in state["made"]], [uid for _name, uid in state["made"]]
    assert len(set(names)) == len(names) == made == state["created"] and len(set(uids)) == made
    assert not state["lost"], state["lost"]
    objects = state["halves"]["target"]["objects"]
    alive = {key.partition("/")[2]: one["metadata"]["uid"] for key, one in objects.items() if key.startswith("Machine/")}
    assert alive == {name: uid for name, uid in state["made"] if name in state["machines"]}


def check_upgraded(bed: Bed, result: dict[str, Any] | None, *, machines: int = 3, made: int = 6) -> None:
    """The end of an upgrade: new versions, nothing old, nothing paused, and no backup."""
    assert result is not None and not result.get("failed"), result
    state = bed.state
    objects = state["halves"]["target"]["objects"]
    assert len(state["machines"]) == machines and state["container"] is None
    check_machines(bed, made)
    check_siblings(bed)
    versions = {one["spec"]["version"] for key, one in objects.items() if key.startswith("Machine/")}
    assert versions == {"v1.35.2"}
    used = json.dumps([one["spec"] for key, one in objects.items() if key.startswith(("Kubeadm", "MachineDeployment"))])
    templates = [key.partition("/")[2] for key in objects if key.partition("/")[0].endswith("Template")]
    assert templates and all(name in used for name in templates)
    assert {word.partition(":")[2] for word in state["halves"]["target"]["providers"].values()} == {"v1.14.0"}
    # The ledger of a run whose last step was killed after its effect has nothing more to say.
    assert bed.files() | {"ledger-upgrade.json"} == FILES and not (bed.folder / "backup-upgrade").exists()
    assert stat.S_IMODE((bed.folder / "dev-eks-a-cluster.kubeconfig").stat().st_mode) == 0o600
