# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs create and delete in this process: the real modules and decisions, with stand-ins of the programs, and kills at any moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere import (
    admin_steps,
    blockers,
    bootstrap_cluster,
    cluster_changes,
    cluster_upgrade,
    image_archives,
    observe,
    packages,
    providers,
)
from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere.programs import AdminPrograms, StepFailed
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.programs import Result
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import cluster_task, clusterctl_config
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.clusterctl_config import Versions
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.lock import Machine, Owner, Process
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.run import Admin
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import anywhere_programs as stand_in
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import admin_machines, clusters

NETWORK = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: cni, namespace: kube-system}
data: {a: b}
"""
_WORK = {
    "anywhere_step": (admin_steps.admin_step, {"values": {}}),
    "capi_apply": (cluster_changes.apply, {"namespace": "eksa-system", "timeout": 150.0}),
    "capi_delete": (cluster_changes.delete, {}),
    "capi_info": (observe.observe, {"objects": [], "network": [], "machines_from": "none", "providers": [], "namespace": "eksa-system"}),
    "capi_kubeconfig": (cluster_changes.save_kubeconfig, {}),
    "capi_package": (packages.install, {}),
    "capi_wait": (blockers.wait, {"fail": True, "pods_from": []}),
    "clusterctl_init": (providers.init, {"environment": {}}),
    "clusterctl_upgrade": (cluster_upgrade.upgrade_providers, {"cert_manager_version": None, "config": "", "environment": {}}),
    "kind_cluster": (bootstrap_cluster.kind_cluster, {"unreachable_is_empty": False, "files": {}, "environment": {}}),
    "kind_images": (image_archives.load, {"name": None}),
}


def repository(folder: Path, *more: str) -> str:
    """A repository with the files of the providers for Docker machines, and others by their paths in it."""
    names = [f"{folder}/{name}" for name in more]
    for cluster_api in ("v1.12.0", "v1.13.3", "v1.13.4", "v1.14.0"):
        versions = Versions(cluster_api, "v1.20.2")
        names += clusterctl_config.files(str(folder), versions, clusterctl_config.releases(versions))
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("", encoding="utf-8")
    return str(folder)


def _machine_info(bed: Bed, options: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a healthy machine with the containers of the state and the files of the work folder. C(bed.facts) changes them."""
    files = {name: path.stat().st_size if (path := bed.folder.parent / name).exists() else None for name in options["files"]}
    found = {"containers": stand_in.containers(bed.state), "files": files, "addresses": dict.fromkeys(options["addresses"])}
    return {"changed": False, "machine": admin_machines.facts(*found.items(), *bed.facts)}


class _Programs(AdminPrograms):
    """All programs are installed."""

    def missing(self, names: Any = ()) -> list[str]:
        return []


class Bed:
    """An admin machine with its work folder. kill_at: the moment at which the next run is killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.world = stand_in.World(stand_in.new_state(), self._moment)
        self.moments = 0
        self.kill_at: int | None = None
        self.kill_when: Callable[[dict[str, Any]], bool] = lambda _state: False
        self.is_dead = False
        self.lines: list[str] = []
        self.calls: list[str] = []
        self.seconds = 0.0
        self.time = 0
        self.pid = 100
        self.alive: dict[int, int] = {}
        self.check_mode = False
        self.facts: list[tuple[str, Any]] = []
        self.collected: dict[str, Any] = {"failed": True, "msg": "no kubectl"}
        self.written: dict[str, bytes] = {}
        self.diagnosed: dict[str, Any] = {}

    @property
    def state(self) -> dict[str, Any]:
        return self.world.state

    def _moment(self) -> None:
        self.moments += 1
        if self.is_dead or self.kill_when(self.state) or (self.kill_at is not None and self.moments >= self.kill_at):
            self.is_dead = True
            raise stand_in.Killed

    def programs(self) -> AdminPrograms:
        return _Programs(None, self._execute, lambda: self.seconds, self._sleep)

    def _sleep(self, seconds: float) -> None:
        self.seconds += 30 * seconds
        self.world.controllers()

    def _execute(self, argv: Any, stdin: str, _timeout: float) -> Result:
        return Result(*stand_in.call(self.world, list(argv), stdin))

    def module(self, name: str, check_mode: bool = False, /, **options: Any) -> dict[str, Any]:
        """The result of a module. Raises C(StepFailed)."""
        work, defaults = _WORK[name]
        return work(self.programs(), {"work_dir": str(self.folder), **defaults, **options}, check_mode)

    def _call(self, name: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
        self._moment()
        module = name.rpartition(".")[2]
        self.calls.append(module)
        if module == "anywhere_machine_info":
            return _machine_info(self, options)
        if module == "anywhere_diagnostics":
            self.diagnosed = dict(options)
            return self.collected
        try:
            return self.module(module, self.check_mode, **options)
        except StepFailed as error:
            return {"failed": True, "msg": str(error)}

    def admin(self) -> Admin:
        owner = Owner("h", "b", Process(self.pid, 1))
        return Admin(self._call, self.lines.append, lambda: f"{self._tick():06}", owner, lambda _pid: Machine("h", "b", self.alive))

    def _write(self, path: str, content: bytes) -> bool:
        self.written[path] = content
        return True

    def _tick(self) -> int:
        self.time += 1
        return self.time

    def options(self, command: str, **changes: Any) -> dict[str, Any]:
        given = {
            "operation": command,
            "cluster_file": "dev.yaml",
            "work_dir": str(self.folder.parent),
            "bootstrap_image": "kindest/node:v1.34.2",
            "node_images": [{"version": "v1.34.2", "image": "kindest/node:v1.34.2"}],
            "repository": repository(self.folder.parent / "repository"),
            "cluster_api_version": "v1.13.4",
            "cert_manager_version": "v1.20.2",
            "network_manifest": "network.yaml",
        }
        return {name: option.get("default") for name, option in cluster_task.OPTIONS.items()} | given | changes

    def run(self, command: str, *, kill_at: int | None = None, check_mode: bool = False, **changes: Any) -> dict[str, Any] | None:
        """The result of a run, None if it was killed."""
        self.moments, self.kill_at, self.is_dead, self.check_mode = 0, kill_at, False, check_mode
        self.lines, self.calls, self.pid = [], [], self.pid + 1
        text = {
            "cluster_file": clusters.file("docker", ("Cluster", "spec.controlPlaneConfiguration.count", 1)),
            "network_manifest": NETWORK,
        }
        text |= changes.pop("texts", {})
        try:
            return cluster_task.cluster_task(
                self.options(command, **changes),
                read=lambda _path, option: text[option],
                admin=self.admin(),
                check_mode=check_mode,
                write=self._write,
            )
        except stand_in.Killed:
            return None

    def files(self) -> set[str]:
        return (
            {path.name for path in self.folder.iterdir() if not path.name.startswith((".guard", "backup"))}
            if self.folder.exists()
            else set()
        )


def before_the_move(bed: Bed) -> None:
    """A run is killed when everything is ready for the move."""
    bed.kill_when = lambda state: len((state["halves"]["target"] or {"providers": ()})["providers"]) == 4
    assert bed.run("create") is None
    bed.kill_when, bed.is_dead, bed.kill_at = lambda _state: False, False, None
