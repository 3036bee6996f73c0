# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an upgrade and a recovery must know of a cluster that manages itself: versions, groups of machines, leftovers, other clusters."""

from __future__ import annotations

import os
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from . import work_folder
from .cluster_objects import ClusterObjects, is_control_plane_ready, read_objects
from .kubectl import Comparison, Kubectl, name_of
from .programs import AdminPrograms, StepFailed

MARK = "nodebootstrap.eks/paused-by"
"""The annotation of a Cluster that a run paused. Its value is the name of the cluster whose upgrade paused it."""

CERT_MANAGER_LABEL = "clusterctl.cluster.x-k8s.io/core=cert-manager"
CERT_MANAGER_VERSION = "cert-manager.clusterctl.cluster.x-k8s.io/version"
_GROUP_KINDS = ("MachineDeployment", "MachinePool")
_HEALTH_CHECK = "MachineHealthCheck"
_GROUP_LABEL = "cluster.x-k8s.io/deployment-name"
_DIGEST = re.compile(r"-[0-9a-f]{8}$")


def read(programs: AdminPrograms, options: Mapping[str, Any], differs: Optional[List[str]]) -> Optional[Dict[str, Any]]:
    """The state of the cluster itself as plain data, None if it cannot be read, or if it has no Cluster.

    differs: the objects that an apply would change, None if the API server cannot say it.
    """
    if not work_folder.read(options["kubeconfig"]):
        return None
    kubectl = Kubectl(programs, options["kubeconfig"], options["namespace"])
    try:
        if not kubectl.answers():
            return None
        objects = read_objects(kubectl, options["name"])
        if objects.cluster is None:
            return None
        return _state(kubectl, objects, options, differs)
    except StepFailed:
        return None


def _state(kubectl: Kubectl, objects: ClusterObjects, options: Mapping[str, Any], differs: Optional[List[str]]) -> Dict[str, Any]:
    wanted = {_key(one, kubectl.namespace) for one in options["objects"]}
    plane = {_key(one, kubectl.namespace) for one in options["plane"]}
    groups = [one for kind in _GROUP_KINDS for one in objects.of_kind(kind)]
    gone = [name_of(one) for one in groups if name_of(one) not in wanted and not one["metadata"].get("deletionTimestamp")]
    return {
        "is_plane_applied": differs is not None and not plane & set(differs),
        "is_plane_ready": is_control_plane_ready(objects),
        "cluster": _cluster(objects),
        "groups": [_group(one) for one in [*objects.of_kind("KubeadmControlPlane"), *groups]],
        "removed_groups": sorted(gone),
        "leftovers": _leftovers(objects, wanted),
        "is_replaced": bool(gone) or _uses_others(objects, wanted, kubectl.namespace),
        "providers": {"{0} {1}".format(*key): version for key, version in sorted(_providers(kubectl).items())},
        "cert_manager": cert_manager_version(kubectl),
        "siblings": siblings(kubectl, options["name"]),
    }


def differences(kubectl: Kubectl, wanted: Sequence[Mapping[str, Any]]) -> Optional[List[str]]:
    """The objects that an apply would change, None if the API server cannot say it now."""
    try:
        compared: List[Comparison] = kubectl.compare(wanted)
    except StepFailed:
        return None
    return sorted(one.name for one in compared if one.differs)


def _key(one: Mapping[str, Any], namespace: str) -> str:
    """The name of a rendered object as the API server would return it."""
    metadata = one["metadata"]
    if one["kind"] == "Namespace":
        return name_of(one)
    return "/".join((one["kind"], metadata.get("namespace") or namespace, metadata["name"]))


def _cluster(objects: ClusterObjects) -> Dict[str, Any]:
    """What cannot be changed of a cluster."""
    spec = (objects.cluster or {}).get("spec") or {}
    planes = objects.of_kind("KubeadmControlPlane")
    config = ((planes[0].get("spec") or {}).get("kubeadmConfigSpec") or {}).get("clusterConfiguration") or {} if planes else {}
    return {
        "network": spec.get("clusterNetwork") or {},
        "endpoint": spec.get("controlPlaneEndpoint") or {},
        "control_plane": spec.get("controlPlaneRef") or {},
        "infrastructure": spec.get("infrastructureRef") or {},
        "external_etcd": bool(spec.get("managedExternalEtcdRef") or (config.get("etcd") or {}).get("external")),
    }


def _group(one: Mapping[str, Any]) -> Dict[str, Any]:
    spec = one.get("spec") or {}
    machine = (spec.get("template") or {}).get("spec") or {}
    return {
        "kind": one["kind"],
        "name": one["metadata"]["name"],
        "version": spec.get("version") or machine.get("version"),
        "replicas": spec.get("replicas"),
        "templates": sorted(name for _kind, name in template_names(one)),
    }


def template_names(one: Mapping[str, Any]) -> Set[Tuple[str, str]]:
    """The templates that a control plane or a group of workers uses, by kind and name."""
    spec = one.get("spec") or {}
    machine = (spec.get("template") or {}).get("spec") or {}
    plane = spec.get("machineTemplate") or {}
    references = [
        plane.get("infrastructureRef"),
        (plane.get("spec") or {}).get("infrastructureRef"),
        machine.get("infrastructureRef"),
        (machine.get("bootstrap") or {}).get("configRef"),
        spec.get("infrastructureTemplate"),
    ]
    return {(str(row.get("kind")), str(row.get("name"))) for row in references if row}


def _leftovers(objects: ClusterObjects, wanted: Set[str]) -> List[str]:
    """What earlier versions of the file left: templates that nothing uses any more, and health checks of groups that are gone.

    Only templates with a digest in their names are ours. Others may have been prepared for something.
    """
    used: Set[Tuple[str, str]] = set()
    for one in objects.by_name.values():
        # A set of machines without replicas is an old revision, which its MachineDeployment deletes.
        if one["kind"] != "MachineSet" or (one.get("spec") or {}).get("replicas"):
            used |= template_names(one)
    groups = {one["metadata"]["name"] for kind in _GROUP_KINDS for one in objects.of_kind(kind)}
    found = []
    for name, one in sorted(objects.by_name.items()):
        key = (one["kind"], one["metadata"]["name"])
        is_template = one["kind"].endswith("Template") and key not in used and _DIGEST.search(key[1])
        if (is_template or _checks_nothing(one, groups)) and name not in wanted and not one["metadata"].get("deletionTimestamp"):
            found.append(name)
    return found


def _uses_others(objects: ClusterObjects, wanted: Set[str], namespace: str) -> bool:
    """Does the cluster use templates of ours that are not rendered any more? An upgrade leaves them behind."""
    used = [key for kind in ("KubeadmControlPlane", *_GROUP_KINDS) for one in objects.of_kind(kind) for key in template_names(one)]
    return any(_DIGEST.search(name) and "/".join((kind, namespace, name)) not in wanted for kind, name in used)


def _checks_nothing(one: Mapping[str, Any], groups: Set[str]) -> bool:
    """Is it the health check of a group that is gone?"""
    labels = ((one.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    return one["kind"] == _HEALTH_CHECK and _GROUP_LABEL in labels and labels[_GROUP_LABEL] not in groups


def _providers(kubectl: Kubectl) -> Dict[Tuple[str, str], str]:
    rows = kubectl.get("providers.clusterctl.cluster.x-k8s.io", "-A")
    return {(str(row.get("type")), str(row.get("providerName"))): str(row.get("version")) for row in rows}


def cert_manager_version(kubectl: Kubectl) -> Optional[str]:
    """The version of the cert-manager that clusterctl installed, None if something else did."""
    for one in kubectl.get("deployments", "-A", "-l", CERT_MANAGER_LABEL):
        version = (one["metadata"].get("annotations") or {}).get(CERT_MANAGER_VERSION)
        if version:
            return str(version)
    return None


def siblings(kubectl: Kubectl, name: str) -> List[Dict[str, Any]]:
    """The other clusters that this cluster manages. marked: did a run pause it?"""
    rows = []
    for one in kubectl.get("clusters.cluster.x-k8s.io", "-A"):
        metadata = one["metadata"]
        namespace = metadata.get("namespace", kubectl.namespace)
        if (metadata["name"], namespace) != (name, kubectl.namespace):
            rows.append({
                "namespace": namespace,
                "name": metadata["name"],
                "paused": bool((one.get("spec") or {}).get("paused")),
                "marked": (metadata.get("annotations") or {}).get(MARK) == name,
            })  # fmt: skip
    return sorted(rows, key=lambda row: (row["namespace"], row["name"]))


def backups(folder: str, names: Sequence[str]) -> Dict[str, Dict[str, Any]]:
    """The backups in the work folder: the machines that each has by name, and whether it has the Cluster.

    The names of the files say it: C(KIND_NAMESPACE_NAME.yaml), as clusterctl writes them. Nothing is read, because they have keys.
    """
    found = {}
    for name in names:
        path = os.path.join(folder, name)
        if not os.path.isdir(path):
            continue
        parts = [file[: -len(".yaml")].split("_", 2) for file in sorted(os.listdir(path)) if file.endswith(".yaml")]
        rows = [(row[0], row[2]) for row in parts if len(row) == 3]
        found[name] = {
            "machines": [machine for kind, machine in rows if kind == "Machine"],
            "clusters": [cluster for kind, cluster in rows if kind == "Cluster"],
        }
    return found
