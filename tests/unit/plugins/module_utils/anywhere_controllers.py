# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state behind the stand-ins of docker, kind, clusterctl and kubectl, and the controllers that work on it between their calls.

On a side that runs, they create machines that they miss, and replace those with another version or template, one after the other.
Standard library only: the stand-ins are also programs.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

NAME, NAMESPACE, BOOTSTRAP = "dev", "eksa-system", "dev-eks-a-cluster"
CORE, PLANE_GROUP, INFRA = "cluster.x-k8s.io/v1beta2", "controlplane.cluster.x-k8s.io/v1beta2", "infrastructure.cluster.x-k8s.io/v1beta2"
LABEL = "cluster.x-k8s.io/cluster-name"
MOVED = ("Cluster", "KubeadmControlPlane", "MachineDeployment", "MachineHealthCheck", "Machine", "DockerCluster", "DockerMachineTemplate",
         "KubeadmConfigTemplate", "EtcdadmCluster", "VSphereCluster", "VSphereMachineTemplate", "Secret", "ConfigMap")  # fmt: skip
CRDS = {
    "clusters.cluster.x-k8s.io": "Cluster",
    "machines.cluster.x-k8s.io": "Machine",
    "machinedeployments.cluster.x-k8s.io": "MachineDeployment",
    "machinehealthchecks.cluster.x-k8s.io": "MachineHealthCheck",
    "kubeadmcontrolplanes.controlplane.cluster.x-k8s.io": "KubeadmControlPlane",
    "dockerclusters.infrastructure.cluster.x-k8s.io": "DockerCluster",
    "dockermachinetemplates.infrastructure.cluster.x-k8s.io": "DockerMachineTemplate",
    "etcdadmclusters.etcdcluster.cluster.x-k8s.io": "EtcdadmCluster",
    "vsphereclusters.infrastructure.cluster.x-k8s.io": "VSphereCluster",
    "vspheremachinetemplates.infrastructure.cluster.x-k8s.io": "VSphereMachineTemplate",
    "kubeadmconfigtemplates.bootstrap.cluster.x-k8s.io": "KubeadmConfigTemplate",
}
PROVIDERS = "providers.clusterctl.cluster.x-k8s.io"
GROUPS = ("KubeadmControlPlane", "MachineDeployment")
Killed = type("Killed", (BaseException,), {})


class Failed(Exception):
    """A program ends with status 1 and this message."""


def new_state() -> dict[str, Any]:
    """An admin machine without clusters."""
    return {"container": None, "halves": {"boot": None, "target": None}, "machines": [], "created": 0, "uid": 0, "moments": 0,
            "kill_at": None, "log": [], "broken": "", "lost": [], "made": [], "images": {"docker": [], "boot": []},
            "releases": {}}  # fmt: skip


class World:
    """The state, and what the programs do with it. moment: is called after each change; a test can end the run there."""

    def __init__(self, state: dict[str, Any], moment: Callable[[], None]) -> None:
        self.state = state
        self._moment = moment

    def changed(self) -> None:
        self.state["moments"] += 1
        if self.state["moments"] % 4 == 0:
            self.controllers()
        self._moment()

    # --- controllers ---

    def half(self, name: str) -> dict[str, Any]:
        return self.state["halves"][name] or {"objects": {}, "providers": {}}

    def runs(self, name: str) -> bool:
        if name == "boot":
            return (self.state["container"] or {}).get("state") == "running" and self.state["halves"]["boot"] is not None
        return bool(self.state["machines"])

    def controllers(self) -> None:
        for name in ("boot", "target"):
            half = self.state["halves"][name]
            if half is None or not self.runs(name) or len(half["providers"]) < 4:
                continue
            cluster = half["objects"].get(f"Cluster/{NAME}")
            if cluster and not cluster["spec"].get("paused"):
                self._reconcile(half, cluster)

    def _reconcile(self, half: dict[str, Any], cluster: dict[str, Any]) -> None:
        objects = half["objects"]
        cluster["metadata"].setdefault("finalizers", ["cluster.cluster.x-k8s.io"])
        machines = [key for key in objects if key.startswith("Machine/")]
        if "deletionTimestamp" in cluster["metadata"]:
            if machines:
                self.state["machines"].remove(machines[0].partition("/")[2])
                del objects[machines[0]]
                return
            for key in [key for key, one in objects.items() if one.get("kind") in MOVED]:
                del objects[key]
            return
        for one in objects.values():
            if one.get("kind") in MOVED and one.get("kind") not in ("Cluster", "Machine"):
                one["metadata"].setdefault("ownerReferences", [{"kind": "Cluster", "uid": cluster["metadata"]["uid"]}])
        groups = [one for key, one in sorted(objects.items()) if key.split("/")[0] in GROUPS]
        for one in groups:
            self._scale(objects, one)
        self._collect(objects, {one["metadata"]["uid"] for one in groups})
        wanted = sum(one["spec"]["replicas"] for one in groups)
        count = len([key for key in objects if key.startswith("Machine/")])
        whole = len(groups) >= 2 and count == wanted and self.state["broken"] != "machines"
        status = cluster.setdefault("status", {})
        status["initialization"] = {"controlPlaneInitialized": count > 1}
        status["conditions"] = [condition("Available", whole, "WorkersAvailable: 1 Machine is not available")]
        self._check_skew(objects)

    def _scale(self, objects: dict[str, Any], group: dict[str, Any]) -> None:
        """One change of the machines of a group: create one that is missing, or delete an old one."""
        mine = [
            one
            for one in objects.values()
            if one.get("kind") == "Machine" and one["metadata"]["ownerReferences"][0]["uid"] == uid_of(group)
        ]
        current = [one for one in mine if one["spec"] == machine_spec(group)]
        old = [one for one in mine if one["spec"] != machine_spec(group)] or mine[group["spec"]["replicas"] :]
        if len(current) < group["spec"]["replicas"]:
            self._create(objects, group)
        elif old:
            self._drop(objects, old[0]["metadata"]["name"])
        good = self.state["broken"] != "machines"
        for one in objects.values():
            if one.get("kind") == "Machine":
                one["status"] = {"conditions": [condition("Ready", good, "NodeHealthy: Waiting for the node to join")]}
        self._report(objects, group, good)
        if f"Secret/{NAME}-kubeconfig" not in objects:
            text = base64.b64encode(b"clusters: [target]\n").decode()
            self.put(objects, {"apiVersion": "v1", "kind": "Secret", "data": {"value": text}, "metadata": {
                "name": f"{NAME}-kubeconfig", "namespace": NAMESPACE, "labels": {LABEL: NAME}}})  # fmt: skip
        if self.state["halves"]["target"] is None:
            self.state["halves"]["target"] = {"objects": {}, "providers": {}}

    def _create(self, objects: dict[str, Any], group: dict[str, Any]) -> None:
        self.state["created"] += 1
        machine = f"{group['metadata']['name']}-m{self.state['created']}"
        self.state["machines"].append(machine)
        self.put(objects, {"apiVersion": CORE, "kind": "Machine", "spec": machine_spec(group), "metadata": {
            "name": machine, "namespace": NAMESPACE, "labels": {LABEL: NAME}, "ownerReferences": [{"uid": uid_of(group)}],
            "finalizers": ["machine.cluster.x-k8s.io"]}})  # fmt: skip
        self.state["made"].append([machine, objects[f"Machine/{machine}"]["metadata"]["uid"]])

    def _drop(self, objects: dict[str, Any], machine: str) -> None:
        self.state["machines"].remove(machine)
        del objects[f"Machine/{machine}"]

    def _report(self, objects: dict[str, Any], group: dict[str, Any], good: bool) -> None:
        mine = [
            one
            for one in objects.values()
            if one.get("kind") == "Machine" and one["metadata"]["ownerReferences"][0]["uid"] == uid_of(group)
        ]
        current = [one for one in mine if one["spec"] == machine_spec(group)]
        ready = len(mine) if good else 0
        counts = {"replicas": len(mine), "upToDateReplicas": len(current), "readyReplicas": ready, "availableReplicas": ready}
        generation = group["metadata"]["generation"]
        group["status"] = {**counts, "observedGeneration": generation, "conditions": [condition("Available", True, "")]}
        if group["kind"] == "KubeadmControlPlane" and mine:
            group["status"]["version"] = min(one["spec"]["version"] for one in mine)

    def _collect(self, objects: dict[str, Any], owners: set[str]) -> None:
        """Delete one machine of a group that is gone."""
        for key, one in list(objects.items()):
            if one.get("kind") == "Machine" and one["metadata"]["ownerReferences"][0]["uid"] not in owners:
                self._drop(objects, key.partition("/")[2])
                return

    def _check_skew(self, objects: dict[str, Any]) -> None:
        """A worker must not be newer than a machine of the control plane."""
        planes = {uid_of(one) for one in objects.values() if one.get("kind") == "KubeadmControlPlane"}
        rows = [(one["metadata"]["ownerReferences"][0]["uid"] in planes, one["spec"]["version"])
                for one in objects.values() if one.get("kind") == "Machine"]  # fmt: skip
        oldest = min((version for is_plane, version in rows if is_plane), default="v9")
        if any(version > oldest for is_plane, version in rows if not is_plane):
            self.state["lost"].append("a worker is newer than the control plane")

    def put(self, objects: dict[str, Any], one: dict[str, Any]) -> None:
        """Create or merge an object."""
        key = f"{one['kind']}/{one['metadata']['name']}"
        known = objects.get(key)
        if known is None:
            self.state["uid"] += 1
            one = json.loads(json.dumps(one))
            one["metadata"] |= {"uid": f"u{self.state['uid']}", "generation": 1}
            if one.get("kind") not in ("Namespace", "ConfigMap"):
                one["metadata"].setdefault("namespace", NAMESPACE)
            objects[key] = one
        else:
            before = json.dumps(known.get("spec"), sort_keys=True)
            merge(known, one)
            if json.dumps(known.get("spec"), sort_keys=True) != before:
                known["metadata"]["generation"] = known["metadata"].get("generation", 1) + 1


def uid_of(one: dict[str, Any]) -> str:
    """The UID of an object."""
    return str(one["metadata"]["uid"])


def machine_spec(group: dict[str, Any]) -> dict[str, Any]:
    """What the machines of a group have: the version, and the names of its templates."""
    spec = group["spec"]
    machine = spec["template"]["spec"] if "template" in spec else spec["machineTemplate"]["spec"] | {"version": spec["version"]}
    config = machine.get("bootstrap", {}).get("configRef", {}).get("name", "")
    return {"version": machine["version"], "templates": [machine["infrastructureRef"]["name"], config]}


def merge(known: dict[str, Any], new: dict[str, Any]) -> None:
    """Merge a patch."""
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(known.get(key), dict):
            merge(known[key], value)
        elif isinstance(value, dict):
            known[key] = {}
            merge(known[key], value)
        elif value is None:
            known.pop(key, None)
        else:
            known[key] = value


def condition(kind: str, is_true: bool, message: str) -> dict[str, Any]:
    """A condition of an object."""
    row = {"type": kind, "status": "True" if is_true else "False"}
    return row if is_true else {**row, "reason": "NotReady", "message": message}
