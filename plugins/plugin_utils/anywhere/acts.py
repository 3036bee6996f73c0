# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each step of a run does on the admin machine: the modules that it calls, with the options that the plan has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from . import bootstrap_config, names
from .move import MoveStep, deletion_order
from .observed import Action, Step
from .wait_task import wait

_MODULES = "nodebootstrap.eks."


class RunFailed(Exception):
    """A step failed, or must not be done. The text is the message for the user."""


@dataclass(frozen=True)
class Timeouts:
    """Seconds. The defaults are those of EKS Anywhere where it has them."""

    bootstrap: float = 900.0
    providers: float = 1800.0
    control_plane: float = 3600.0
    machines: float = 3600.0
    move: float = 1800.0
    delete: float = 3600.0
    packages: float = 600.0


@dataclass(frozen=True)
class Plan:
    """Everything that a run needs, rendered before it begins. work_dir: the folder of the files of this cluster.

    command: C(create), C(upgrade), C(delete) or C(recover). objects, network: what is applied. providers: of Cluster API with their
    versions. config_text: the file of the cluster, which is kept beside its kubeconfig. digest: of all inputs. cert_manager: its version.
    environment: of kind and clusterctl. mirror_files: of the bootstrap cluster, by their paths in the work folder. images_dir: a folder
    with archives of images on the admin machine. packages: what helm installs. needed_files: of the repository.
    """

    command: str
    name: str
    namespace: str
    bootstrap_name: str
    work_dir: str
    objects: tuple[Mapping[str, Any], ...]
    network: tuple[Mapping[str, Any], ...]
    providers: tuple[Mapping[str, str], ...]
    kind_config: str
    clusterctl_config: str
    config_text: str
    digest: str
    cert_manager: str = ""
    machines_from: str = "docker"
    take_lock: bool = False
    timeouts: Timeouts = Timeouts()
    environment: Mapping[str, str] = field(default_factory=dict)
    mirror_files: Mapping[str, str] = field(default_factory=dict)
    images_dir: str | None = None
    packages: tuple[Mapping[str, Any], ...] = ()
    needed_files: tuple[str, ...] = ()

    def requirements(self) -> dict[str, list[str]]:
        """What the admin machine must have before anything is changed: programs beside the usual ones, and files."""
        return {"programs": ["helm"] if self.packages else [], "needed": list(self.needed_files)}

    @property
    def kubeconfig(self) -> str:
        """The path of the kubeconfig of the cluster."""
        return f"{self.work_dir}/{names.kubeconfig_file(self.name)}"

    @property
    def bootstrap_kubeconfig(self) -> str:
        """The path of the kubeconfig of the bootstrap cluster."""
        return f"{self.work_dir}/{self.name}.kind.kubeconfig"

    @property
    def config_file(self) -> str:
        """The name of the file with the configuration, in the work folder."""
        return f"{self.bootstrap_name}.yaml"

    @property
    def backup(self) -> str:
        """The name of the folder with the backup of an upgrade, in the work folder."""
        return "backup-upgrade"

    @property
    def backups(self) -> list[str]:
        """The names of all folders with backups, in the work folder."""
        return [self.backup, "backup-create", "backup-delete"]

    def ledger_file(self, command: str) -> str:
        """The name of the ledger of a command, in the work folder."""
        return f"ledger-{command}.json"

    def observation(self) -> dict[str, Any]:
        """The options of the module C(capi_info)."""
        return {
            "name": self.name,
            "namespace": self.namespace,
            "bootstrap_name": self.bootstrap_name,
            "bootstrap_kubeconfig": self.bootstrap_kubeconfig,
            "kubeconfig": self.kubeconfig,
            "providers": list(self.providers),
            "objects": list(self.objects),
            "network": list(self.network),
            "machines_from": self.machines_from,
        }


@dataclass(frozen=True)
class Work:
    """One step. seen: the observation on which it was decided. call: runs a module. step: runs an operation of the internal module."""

    plan: Plan
    action: Action
    seen: Mapping[str, Any]
    call: Callable[..., Mapping[str, Any]]
    step: Callable[..., Mapping[str, Any]]
    say: Callable[[str], None]

    def module(self, name: str, /, **options: Any) -> Mapping[str, Any]:
        """Run a module of this collection."""
        return self.call(_MODULES + name, **options)

    @property
    def here(self) -> str:
        """The kubeconfig of the side that has the running Cluster."""
        side = self.seen["bootstrap_side"]
        return self.plan.bootstrap_kubeconfig if side and side["objects"] else self.plan.kubeconfig


def _kind(work: Work, state: str, **options: Any) -> None:
    plan = work.plan
    config = bootstrap_config.in_folder(plan.kind_config, plan.work_dir)
    if state == "present":
        _load_images(work, None)
    work.module("kind_cluster", name=plan.bootstrap_name, state=state, kubeconfig=plan.bootstrap_kubeconfig, config=config,
                files=dict(plan.mirror_files), environment=dict(plan.environment), timeout=plan.timeouts.bootstrap, **options)  # fmt: skip


def _load_images(work: Work, cluster: str | None) -> None:
    """Load the archives of images into Docker, or into the nodes of a cluster of kind."""
    if work.plan.images_dir is not None:
        work.module("kind_images", name=cluster, images_dir=work.plan.images_dir, timeout=work.plan.timeouts.providers)


def _replace_bootstrap(work: Work) -> None:
    _kind(work, "absent", unreachable_is_empty=True)
    _kind(work, "present")


def _delete_bootstrap(work: Work) -> None:
    # The decision says that a container without an answer has nothing of value.
    _kind(work, "absent", unreachable_is_empty=work.seen["bootstrap"] == "debris")


def _install(work: Work, kubeconfig: str) -> None:
    plan = work.plan
    work.module("clusterctl_init", kubeconfig=kubeconfig, providers=list(plan.providers), config=plan.clusterctl_config,
                environment=dict(plan.environment), timeout=plan.timeouts.providers)  # fmt: skip


def _install_on_bootstrap(work: Work) -> None:
    _load_images(work, work.plan.bootstrap_name)
    _install(work, work.plan.bootstrap_kubeconfig)


def _install_packages(work: Work) -> None:
    for one in work.plan.packages:
        work.module("capi_package", kubeconfig=work.plan.kubeconfig, name=one["name"], chart=one["chart"], version=one["version"],
                    namespace=one["namespace"], chart_values=one["values"], timeout=work.plan.timeouts.packages)  # fmt: skip


def apply_objects(work: Work, kubeconfig: str, objects: tuple[Mapping[str, Any], ...]) -> None:
    """Apply objects in a cluster."""
    work.module("capi_apply", kubeconfig=kubeconfig, namespace=work.plan.namespace, objects=list(objects))


def _cluster(work: Work, kubeconfig: str) -> dict[str, Any]:
    return {"kubeconfig": kubeconfig, "name": work.plan.name, "namespace": work.plan.namespace}


def wait_for(work: Work, state: str, kubeconfig: str, timeout: float) -> None:
    """Wait until the cluster is in a state. Raises C(RunFailed) with the cause."""
    pods = sorted({kubeconfig, *([work.plan.kubeconfig] if work.seen.get("has_kubeconfig") else [])})
    problem = wait(partial(work.module, "capi_wait", **_cluster(work, kubeconfig), wait_for=state, pods_from=pods), work.say, timeout)
    if problem is not None:
        raise RunFailed(problem)


def _save_kubeconfig(work: Work) -> None:
    work.module("capi_kubeconfig", **_cluster(work, work.here), dest=work.plan.kubeconfig)


def _move(work: Work) -> None:
    plan = work.plan
    sides = [(plan.bootstrap_kubeconfig, work.seen["bootstrap_side"]), (plan.kubeconfig, work.seen["target_side"])]
    command = work.action.of or plan.command
    if command == "delete":
        sides.reverse()
    (source, source_side), (destination, destination_side) = sides
    cleared = destination_side if work.action.move is MoveStep.REMOVE_COPIES else source_side
    work.step("move", **move_values(cast(MoveStep, work.action.move), plan.name, plan.namespace, source, destination, cleared),
              backup_dir=f"{plan.work_dir}/backup-{command}", timeout=plan.timeouts.move)  # fmt: skip


def move_values(
    step: MoveStep, name: str, namespace: str, source: str, destination: str, cleared: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The values of one step of a move for the internal module. cleared: the side whose objects are removed, if they are."""
    owners = {} if cleared is None else {key: frozenset(above) for key, above in cleared["owners"].items()}
    return {
        "step": step.name.lower(),
        "name": name,
        "namespace": namespace,
        "from_kubeconfig": source,
        "to_kubeconfig": destination,
        "order": list(deletion_order(owners)),
    }


def _delete_cluster(work: Work) -> None:
    work.module("capi_delete", **_cluster(work, work.plan.bootstrap_kubeconfig))


def _write_config(work: Work) -> None:
    work.step("write", files={work.plan.config_file: work.plan.config_text})


def _remove_files(work: Work) -> None:
    # The kubeconfig is last: the step is repeated until it is gone. The modules wrote the configurations of the tools.
    work.step("remove", files=["kind.yaml", "clusterctl.yaml", work.plan.config_file, work.plan.kubeconfig])


ACTS: Mapping[Step, Callable[[Work], None]] = {
    Step.CREATE_BOOTSTRAP: lambda work: _kind(work, "present"),
    Step.REPLACE_BOOTSTRAP: _replace_bootstrap,
    Step.START_BOOTSTRAP: lambda work: _kind(work, "started"),
    Step.INSTALL_ON_BOOTSTRAP: _install_on_bootstrap,
    Step.APPLY_CLUSTER: lambda work: apply_objects(work, work.plan.bootstrap_kubeconfig, work.plan.objects),
    Step.WAIT_CONTROL_PLANE: lambda work: wait_for(work, "control_plane", work.plan.bootstrap_kubeconfig, work.plan.timeouts.control_plane),
    Step.SAVE_KUBECONFIG: _save_kubeconfig,
    Step.APPLY_NETWORK: lambda work: apply_objects(work, work.plan.kubeconfig, work.plan.network),
    Step.WAIT_MACHINES: lambda work: wait_for(work, "available", work.here, work.plan.timeouts.machines),
    Step.INSTALL_ON_CLUSTER: lambda work: _install(work, work.plan.kubeconfig),
    Step.MOVE: _move,
    Step.WRITE_CONFIG: _write_config,
    Step.DELETE_BOOTSTRAP: _delete_bootstrap,
    Step.DELETE_CLUSTER: _delete_cluster,
    Step.WAIT_DELETED: lambda work: wait_for(work, "deleted", work.plan.bootstrap_kubeconfig, work.plan.timeouts.delete),
    Step.REMOVE_FILES: _remove_files,
    Step.INSTALL_PACKAGES: _install_packages,
}
"""Step → what it does. Those of an upgrade and a recovery are in C(acts_upgrade)."""
