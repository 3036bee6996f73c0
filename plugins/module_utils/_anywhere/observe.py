# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that is true of a cluster on the admin machine and in both clusters, read anew before each step."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

from . import blockers, bootstrap_cluster, upgrade_state, work_folder
from .bootstrap_cluster import ABSENT, RUNNING
from .cluster_objects import ClusterObjects, is_available, is_initialized, read_objects
from .kubectl import Kubectl
from .programs import AdminPrograms, StepFailed
from .providers import MISSING, read_inventory

NOTHING = ClusterObjects(None, {})


class _Half:
    """One management cluster. objects: None if they cannot be read."""

    def __init__(self, kubectl: Optional[Kubectl], options: Mapping[str, Any]) -> None:
        self.kubectl = kubectl
        self.objects: Optional[ClusterObjects] = None
        self.providers = MISSING
        self.problem = ""
        if kubectl is None or not kubectl.answers():
            return
        try:
            self.objects = read_objects(kubectl, options["name"])
            self.providers = read_inventory(kubectl).state(options["providers"])
        except StepFailed as error:
            self.objects, self.problem = None, str(error)

    def plain(self) -> Optional[Dict[str, Any]]:
        """The objects for decisions, None if they cannot be read."""
        return None if self.objects is None else self.objects.plain()


def observe(programs: AdminPrograms, options: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    """The observation as plain data. Raises C(StepFailed) if the admin machine itself cannot be read."""
    name = options["bootstrap_name"]
    container = bootstrap_cluster.state_of(programs, name, options["bootstrap_kubeconfig"])
    bootstrap = _Half(_bootstrap(programs, options) if container == RUNNING else None, options)
    if container == ABSENT:
        bootstrap.objects = NOTHING
    has_kubeconfig = bool(work_folder.read(options["kubeconfig"]))
    target = _Half(Kubectl(programs, options["kubeconfig"], options["namespace"]) if has_kubeconfig else None, options)
    here = _here(bootstrap, target)
    objects = here.objects or NOTHING
    # Without a Cluster everything differs, and a comparison would ask every webhook about every object.
    differs = None if here.kubectl is None or objects.cluster is None else upgrade_state.differences(here.kubectl, options["objects"])
    return {
        "bootstrap": container,
        "bootstrap_side": bootstrap.plain(),
        "bootstrap_providers": bootstrap.providers,
        "target_side": target.plain(),
        "target_providers": target.providers,
        "machines": _machines(programs, options, container, bootstrap, target),
        "has_kubeconfig": has_kubeconfig,
        "is_initialized": is_initialized(objects),
        "is_available": is_available(objects),
        "is_deleting": bool(objects.cluster and objects.cluster["metadata"].get("deletionTimestamp")),
        "is_applied": differs == [],
        "differs": differs,
        "has_network": target.objects is not None and _is_applied(target.kubectl, options["network"]),
        "problems": [text for text in (bootstrap.problem, target.problem) if text],
        "waits_for": [] if here.kubectl is None else blockers.find(here.kubectl, objects),
    }


def _bootstrap(programs: AdminPrograms, options: Mapping[str, Any]) -> Kubectl:
    path = bootstrap_cluster.find_kubeconfig(programs, options["bootstrap_name"], options["bootstrap_kubeconfig"])
    return Kubectl(programs, path, options["namespace"])


def _here(bootstrap: _Half, target: _Half) -> _Half:
    """The side whose Cluster tells how the cluster is: the one that is running, or that has one at all."""
    halves = [half for half in (bootstrap, target) if half.objects is not None and half.objects.cluster is not None]
    running = [half for half in halves if half.objects is not None and half.objects.paused is False]
    return (running or halves or [bootstrap])[0]


def _is_applied(kubectl: Optional[Kubectl], wanted: List[Dict[str, Any]]) -> bool:
    """Are all objects there, as they would be after an apply?

    What the server cannot compare is not applied: the namespace or a kind is missing, or a webhook does not answer. The apply tells.
    """
    return kubectl is not None and upgrade_state.differences(kubectl, wanted) == []


def _machines(programs: AdminPrograms, options: Mapping[str, Any], container: str, bootstrap: _Half, target: _Half) -> Optional[List[str]]:
    """The real machines by name, None if they are not known."""
    if options["machines_from"] == "docker":
        return [one.name for one in bootstrap_cluster.nodes(programs, options["name"])]
    if options["machines_from"] == "none":
        return None
    sides = [half.objects for half in (bootstrap, target) if half.objects is not None]
    found = {one["metadata"]["name"] for side in sides for one in side.of_kind("Machine")}
    if found:
        return sorted(found)
    # Without objects, machines of the provider may exist that no side knows any more. There are none for certain if a Cluster says so, or
    # if the bootstrap cluster is empty and the cluster itself has never answered.
    is_new = container == RUNNING and bootstrap.objects is not None and target.kubectl is None
    return [] if is_new or any(side.cluster is not None for side in sides) else None
