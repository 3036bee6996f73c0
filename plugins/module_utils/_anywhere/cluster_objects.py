# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a cluster in one management cluster: which there are, who owns them, and what the Cluster says."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Set

from .kubectl import Kubectl, name_of

CRD_LABEL = "clusterctl.cluster.x-k8s.io"
NAME_LABEL = "cluster.x-k8s.io/cluster-name"
SECRET_TYPE = "cluster.x-k8s.io/secret"
MOVE_LABELS = ("clusterctl.cluster.x-k8s.io/move", "clusterctl.cluster.x-k8s.io/move-hierarchy")
_INVENTORY = "clusterctl.cluster.x-k8s.io/"
"""The group of the objects with which clusterctl remembers what it installed. They do not belong to a cluster."""


class ClusterObjects(NamedTuple):
    """The objects of a cluster by their names, such as C(Machine/eksa-system/dev-md-0-abc)."""

    cluster: Optional[Dict[str, Any]]
    by_name: Dict[str, Dict[str, Any]]

    @property
    def paused(self) -> Optional[bool]:
        """Is the Cluster paused? None without a Cluster."""
        return None if self.cluster is None else bool((self.cluster.get("spec") or {}).get("paused"))

    def of_kind(self, kind: str) -> List[Dict[str, Any]]:
        """The objects of a kind, sorted by name."""
        return [self.by_name[name] for name in sorted(self.by_name) if self.by_name[name]["kind"] == kind]

    def owners(self) -> Dict[str, List[str]]:
        """Object → the objects that own it."""
        names = {one["metadata"].get("uid"): name for name, one in self.by_name.items()}
        return {
            name: sorted(names[reference["uid"]] for reference in owner_references(one) if reference.get("uid") in names)
            for name, one in sorted(self.by_name.items())
        }

    def plain(self) -> Dict[str, Any]:
        """The side for a result and for decisions."""
        return {"objects": sorted(self.by_name), "paused": self.paused, "owners": self.owners()}


def owner_references(one: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """The references of an object to its owners."""
    return list(one["metadata"].get("ownerReferences") or ())


def read_objects(kubectl: Kubectl, name: str) -> ClusterObjects:
    """Read the objects of a cluster. Raises C(StepFailed) if they cannot be read, which is not the same as none.

    They are the objects that C(clusterctl move) moves: what has the name of the cluster as a label, and what they own.
    """
    output = kubectl.run("get", "customresourcedefinitions", "-l", CRD_LABEL, "-o", "name")
    kinds = sorted(line.partition("/")[2] for line in output.split() if line)
    if not kinds:
        return ClusterObjects(None, {})
    found = {name_of(one): one for one in kubectl.get(",".join([*kinds, "secrets"]), "-n", kubectl.namespace)}
    found = {key: one for key, one in found.items() if not one["apiVersion"].startswith(_INVENTORY)}
    members = _members(found, name)
    cluster = next((one for key, one in found.items() if key in members and _is_cluster(one, name)), None)
    return ClusterObjects(cluster, {key: found[key] for key in sorted(members)})


def _is_cluster(one: Mapping[str, Any], name: str) -> bool:
    return bool(one["kind"] == "Cluster" and one["apiVersion"].startswith("cluster.x-k8s.io/") and one["metadata"]["name"] == name)


def _is_moved(one: Mapping[str, Any], name: str) -> bool:
    """Does a move take an object with the label of the cluster along, even if nothing owns it?

    clusterctl leaves a Secret behind that has no owner, no label for moves, and not the type and the name of a Secret of the cluster.
    """
    if one["kind"] != "Secret" or owner_references(one):
        return True
    is_of_cluster = one.get("type") == SECRET_TYPE and one["metadata"]["name"].startswith(name + "-")
    return is_of_cluster or any(label in (one["metadata"].get("labels") or {}) for label in MOVE_LABELS)


def _members(found: Mapping[str, Mapping[str, Any]], name: str) -> Set[str]:
    members = {
        key
        for key, one in found.items()
        if _is_cluster(one, name) or ((one["metadata"].get("labels") or {}).get(NAME_LABEL) == name and _is_moved(one, name))
    }
    while True:
        uids = {found[key]["metadata"].get("uid") for key in members}
        more = {
            key
            for key, one in found.items()
            if key not in members and any(reference.get("uid") in uids for reference in owner_references(one))
        }
        if not more:
            return members
        members |= more


def condition(one: Optional[Mapping[str, Any]], kind: str) -> Optional[Dict[str, Any]]:
    """A condition of an object by its type."""
    conditions = ((one or {}).get("status") or {}).get("conditions") or ()
    return next((row for row in conditions if row.get("type") == kind), None)


def is_true(one: Optional[Mapping[str, Any]], kind: str) -> bool:
    """Is a condition true?"""
    return (condition(one, kind) or {}).get("status") == "True"


def is_initialized(objects: ClusterObjects) -> bool:
    """Has the control plane of the cluster answered once?"""
    status = (objects.cluster or {}).get("status") or {}
    return bool((status.get("initialization") or {}).get("controlPlaneInitialized"))


def is_available(objects: ClusterObjects) -> bool:
    """Is the cluster available, with all machines as they are wanted?"""
    if not is_true(objects.cluster, "Available") or objects.paused:
        return False
    return not [one for kind in ("KubeadmControlPlane", "MachineDeployment") for one in objects.of_kind(kind) if lag(one)]


def is_control_plane_ready(objects: ClusterObjects) -> bool:
    """Has every machine of the control plane the wanted version? Workers must not be newer, so they wait for it."""
    planes = objects.of_kind("KubeadmControlPlane")
    if not planes:
        # A control plane of another kind tells it by its condition only.
        return is_true(objects.cluster, "ControlPlaneAvailable") or is_true(objects.cluster, "Available")
    return not any(lag(one) or _old_version(one) for one in planes)


def _old_version(plane: Mapping[str, Any]) -> bool:
    """Does a control plane still have machines of an older version? Its status has the lowest one."""
    found, wanted = (plane.get("status") or {}).get("version"), (plane.get("spec") or {}).get("version")
    return bool(found and found != wanted)


def is_deleted(objects: ClusterObjects) -> bool:
    """Is everything gone that something deletes? No controller deletes a Secret without an owner: the next step of a run does."""
    return all(one["kind"] == "Secret" and not owner_references(one) for one in objects.by_name.values())


def lag(one: Mapping[str, Any]) -> str:
    """What a group of machines still lacks, C('') for nothing."""
    metadata, status = one["metadata"], one.get("status") or {}
    wanted = (one.get("spec") or {}).get("replicas", 1)
    if metadata.get("deletionTimestamp"):
        return "is being deleted"
    if status.get("observedGeneration", 0) < metadata.get("generation", 0):
        return "the controller has not seen the last change"
    counts = {word: status.get(word) or 0 for word in ("replicas", "upToDateReplicas", "readyReplicas", "availableReplicas")}
    if all(count == wanted for count in counts.values()):
        return ""
    return "{upToDateReplicas} up to date, {readyReplicas} ready, {availableReplicas} available of {0} ({replicas} exist)".format(
        wanted, **counts
    )
