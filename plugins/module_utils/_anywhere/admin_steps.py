# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operations of a run that are not modules of their own: the work folder, the lock, the ledger, and one step of a move."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Mapping

from . import bootstrap_cluster, cluster_changes, cluster_upgrade, observe, packages, upgrade_state, work_folder
from .cluster_objects import read_objects
from .kubectl import Kubectl
from .programs import PROGRAMS, AdminPrograms, StepFailed
from .work_folder import EKSCTL_RECORD


def admin_step(programs: AdminPrograms, options: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    """One operation. Raises C(StepFailed)."""
    if check_mode and options["operation"] not in READS:
        return {"changed": True}
    values = {name: os.path.abspath(os.path.expanduser(value)) if name in _PATHS else value for name, value in options["values"].items()}
    return _OPERATIONS[options["operation"]](programs, options["work_dir"], values, check_mode)


def _open(programs: AdminPrograms, folder: str, values: Mapping[str, Any], _check_mode: bool) -> Dict[str, Any]:
    """What a run must know before it takes the lock."""
    absent = programs.missing([*PROGRAMS, *values.get("programs", ())])
    if absent:
        raise StepFailed(
            "{0} {1} not installed on the admin machine; fix: install {2} into a folder of PATH".format(
                ", ".join(absent), "is" if len(absent) == 1 else "are", "it" if len(absent) == 1 else "them"
            )
        )
    if work_folder.read(os.path.join(folder, EKSCTL_RECORD)) is not None:
        raise StepFailed(
            "eksctl anywhere made the cluster of {0}; fix: set eks_anywhere_engine to eksctl, or use another work folder".format(folder)
        )
    lost = [path for path in values.get("needed", ()) if not os.path.isfile(os.path.expanduser(path))]
    if lost:
        raise StepFailed("there is no file {0} on the admin machine; fix: put the providers into the repository, or name the versions "
                         "that it has".format(", ".join(lost)))  # fmt: skip
    # It fails with the reason if Docker is not running, or if the user is not in its group.
    bootstrap_cluster.nodes(programs, values["name"])
    texts = {name: work_folder.read(os.path.join(folder, name)) for name in values["files"]}
    return {"changed": False, "work_dir": folder, "lock": work_folder.read(os.path.join(folder, work_folder.LOCK)), "files": texts,
            "running": work_folder.running(folder)}  # fmt: skip


def _settle(_programs: AdminPrograms, _folder: str, values: Mapping[str, Any], _check_mode: bool) -> Dict[str, Any]:
    alive = work_folder.settle(values["wait_for"], values["end"], values["timeout"])
    if alive:
        raise StepFailed("programs of an earlier run are still running: {0}; fix: wait for them, and run again".format(", ".join(alive)))
    return {"changed": True}


def _lock(_programs: AdminPrograms, folder: str, values: Mapping[str, Any], _check_mode: bool) -> Dict[str, Any]:
    work_folder.make(folder)
    if not work_folder.replace_lock(folder, values["expected"], values["new"]):
        raise StepFailed("another run has taken the lock {0} in the meantime".format(os.path.join(folder, work_folder.LOCK)))
    return {"changed": True}


def _write(_programs: AdminPrograms, folder: str, values: Mapping[str, Any], _check_mode: bool) -> Dict[str, Any]:
    paths = {os.path.join(folder, name): text for name, text in values["files"].items()}
    return {"changed": any([work_folder.write(path, text) for path, text in sorted(paths.items())])}


def _remove(_programs: AdminPrograms, folder: str, values: Mapping[str, Any], _check_mode: bool) -> Dict[str, Any]:
    return {"changed": any([work_folder.remove(os.path.join(folder, name)) for name in values["files"]])}


def _observe(programs: AdminPrograms, folder: str, values: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    # How the last step ended is written by the same call, because each call of a module takes about a second.
    changed = _write(programs, folder, values, check_mode)["changed"]
    found = observe.observe(programs, values, check_mode)
    config = work_folder.read(os.path.join(folder, values["config_file"]))
    wanted = values["config_text"]
    found["config_written"] = config is not None and wanted in (None, config)
    found["upgrade"] = upgrade_state.read(programs, values, found["differs"]) if values["upgrade"] else None
    found["has_backup"] = cluster_upgrade.has_backup(folder, values)
    found["backups"] = upgrade_state.backups(folder, values["backups"])
    found["packages_wanted"] = bool(values.get("packages"))
    found["packages_installed"] = packages.are_installed(programs, values["kubeconfig"], values.get("packages") or ())
    return dict(found, changed=changed)


def _sides(programs: AdminPrograms, _folder: str, values: Mapping[str, Any], _check_mode: bool) -> Dict[str, Any]:
    """Both sides of a move. What cannot be read is an error, because it may have objects."""
    found = {}
    for name in ("source", "destination"):
        kubectl = Kubectl(programs, values[name], values["namespace"])
        found[name] = read_objects(kubectl, values["name"]).plain()
    return dict(found, changed=False)


def _nodes(programs: AdminPrograms, _folder: str, values: Mapping[str, Any], _check_mode: bool) -> Dict[str, Any]:
    """The names of the nodes of a cluster, which tell whether a kubeconfig is of this cluster."""
    nodes = Kubectl(programs, values["kubeconfig"]).get("nodes")
    return {"changed": False, "nodes": sorted(one["metadata"]["name"] for one in nodes)}


def _move(programs: AdminPrograms, _folder: str, values: Mapping[str, Any], _check_mode: bool) -> Dict[str, Any]:
    return cluster_changes.move_step(programs, values)


def _pause(programs: AdminPrograms, _folder: str, values: Mapping[str, Any], _check_mode: bool) -> Dict[str, Any]:
    return cluster_upgrade.pause(programs, values)


def _resume(programs: AdminPrograms, _folder: str, values: Mapping[str, Any], _check_mode: bool) -> Dict[str, Any]:
    return cluster_upgrade.resume(programs, values)


def _back_up(programs: AdminPrograms, folder: str, values: Mapping[str, Any], _check_mode: bool) -> Dict[str, Any]:
    return cluster_upgrade.save_backup(programs, folder, values)


def _remove_backup(_programs: AdminPrograms, folder: str, values: Mapping[str, Any], _check_mode: bool) -> Dict[str, Any]:
    return cluster_upgrade.remove_backup(folder, values)


def _restore(programs: AdminPrograms, folder: str, values: Mapping[str, Any], _check_mode: bool) -> Dict[str, Any]:
    return cluster_upgrade.restore(programs, folder, values)


def _remove_objects(programs: AdminPrograms, _folder: str, values: Mapping[str, Any], _check_mode: bool) -> Dict[str, Any]:
    return cluster_upgrade.remove_objects(programs, values)


_OPERATIONS: Dict[str, Callable[[AdminPrograms, str, Mapping[str, Any], bool], Dict[str, Any]]] = {
    "open": _open,
    "settle": _settle,
    "sides": _sides,
    "lock": _lock,
    "write": _write,
    "remove": _remove,
    "observe": _observe,
    "move": _move,
    "nodes": _nodes,
    "back_up": _back_up,
    "pause": _pause,
    "remove_backup": _remove_backup,
    "remove_objects": _remove_objects,
    "restore": _restore,
    "resume": _resume,
}
_PATHS = ("source", "destination", "from_kubeconfig", "to_kubeconfig", "backup_dir")
READS = ("nodes", "observe", "open", "sides")
OPERATIONS = tuple(sorted(_OPERATIONS))
