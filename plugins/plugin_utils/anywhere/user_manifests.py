# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifests of Cluster API that the user gives for providers other than Docker, checked against the file of the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from ..errors import Problems, joined
from ..formats import yaml
from . import names
from .model import CLOUDSTACK, NUTANIX, SNOW, TINKERBELL, VSPHERE, Cluster, WorkerGroup

OPTION = "manifests"
_CORE, _CONTROL_PLANE, _INFRASTRUCTURE = "cluster.x-k8s.io", "controlplane.cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io"
_ETCD = "etcdcluster.cluster.x-k8s.io"
_NAMESPACES = (names.NAMESPACE, None)
_AUTOSCALER = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"

INFRASTRUCTURE = {
    VSPHERE: ("VSphereCluster", "vsphere"),
    TINKERBELL: ("TinkerbellCluster", "tinkerbell"),
    NUTANIX: ("NutanixCluster", "nutanix"),
    CLOUDSTACK: ("CloudStackCluster", "cloudstack"),
    SNOW: ("AWSSnowCluster", "snow"),
}
"""Kind of the datacenter → the kind of the cluster of its infrastructure provider, and the name of this provider for clusterctl."""


@dataclass(frozen=True)
class _Manifest:
    """An object, with its place in the files of the user."""

    place: str
    content: Mapping[str, Any]

    @property
    def group(self) -> str:
        return str(self.content["apiVersion"]).rpartition("/")[0]

    @property
    def kind(self) -> str:
        return str(self.content["kind"])

    @property
    def name(self) -> str:
        return str(self.content["metadata"].get("name"))

    def get(self, path: str) -> Any:
        """The value at a path such as C(spec.replicas), None if it is missing."""
        value: Any = self.content
        for key in path.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def at(self, path: str) -> str:
        return f"{self.place}.{path}"


def read(texts: Sequence[str], problems: Problems, option: str = OPTION) -> tuple[_Manifest, ...]:
    """The objects of the files. What is not an object is a problem."""
    found: list[_Manifest] = []
    for number, text in enumerate(texts):
        place = joined(option, number)
        try:
            documents = [one for one in yaml.load_all(text) if one is not None]
        except ValueError as error:
            problems.add("input.unreadable_file", place, f"is not valid YAML: {error}")
            continue
        for index, one in enumerate(documents):
            if not isinstance(one, dict) or not {"apiVersion", "kind"} <= one.keys() or not isinstance(one.get("metadata"), dict):
                problems.add("input.wrong_type", joined(place, index), "is not an object of Kubernetes")
            else:
                found.append(_Manifest(f"{place}[{one['kind']}/{one['metadata'].get('name')}]", one))
    return tuple(found)


def objects(found: Sequence[_Manifest]) -> tuple[Mapping[str, Any], ...]:
    """What is applied: the namespace of the objects, and the objects."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": names.NAMESPACE}}
    others = [one.content for one in found if (one.kind, one.name) != ("Namespace", names.NAMESPACE)]
    return (namespace, *others)


def check(found: Sequence[_Manifest], cluster: Cluster, problems: Problems) -> None:
    """Report everything in which the manifests and the file of the cluster differ. The cluster is valid, and its provider is not Docker."""
    _Check(found, cluster, problems).run()


class _Check:
    """The check of the manifests of one cluster."""

    def __init__(self, found: Sequence[_Manifest], cluster: Cluster, problems: Problems) -> None:
        self.found = found
        self.cluster = cluster
        self.problems = problems
        self.spec = f"{cluster.path}.spec"

    def run(self) -> None:
        """Check every object that the file of the cluster describes, too."""
        self.namespaces()
        one = self.only(_CORE, "Cluster")
        if one is not None:
            self.cluster_object(one)
        self.control_plane()
        self.workers()
        self.etcd()

    def differs(self, one: _Manifest, path: str, wanted: Any, place: str) -> None:
        """Report a value that is not the one of the file of the cluster, with both places."""
        value = one.get(path)
        if value != wanted:
            message = f"is {'missing' if value is None else 'another value'}, and {place} is {yaml.dump(wanted).strip()}"
            self.problems.add("anywhere.manifest", one.at(path), message, value=value, fix="change one of the two")

    def of(self, group: str, kind: str) -> list[_Manifest]:
        return [one for one in self.found if (one.group, one.kind) == (group, kind)]

    def only(self, group: str, kind: str) -> _Manifest | None:
        """The only object of a kind. None, and a problem, if there is none or more than one."""
        all_of_kind = self.of(group, kind)
        if len(all_of_kind) != 1:
            places = ", ".join(one.place for one in all_of_kind) or "none"
            message = f"must have one {kind} of {group}, and have {places}"
            self.problems.add("anywhere.manifest", OPTION, message, fix="give the manifests of this cluster, and of no other one")
            return None
        return all_of_kind[0]

    def namespaces(self) -> None:
        for one in self.found:
            if one.kind == "Namespace":
                continue
            namespace = one.content["metadata"].get("namespace")
            if namespace not in _NAMESPACES:
                message = "is another namespace than that of the objects of the cluster"
                fix = f"write {names.NAMESPACE}: the objects are moved together"
                self.problems.add(
                    "anywhere.manifest", one.at("metadata.namespace"), message, value=namespace, allowed=names.NAMESPACE, fix=fix
                )

    # --- Cluster ---

    def cluster_object(self, one: _Manifest) -> None:
        cluster = self.cluster
        self.differs(one, "metadata.name", cluster.name, f"{cluster.path}.metadata.name")
        for path, networks, field in (
            ("spec.clusterNetwork.pods.cidrBlocks", cluster.network.pods, "pods.cidrBlocks"),
            ("spec.clusterNetwork.services.cidrBlocks", cluster.network.services, "services.cidrBlocks"),
        ):
            self.differs(one, path, list(networks), f"{cluster.network.path}.{field}")
        self.control_plane_reference(one)
        self.infrastructure(one)

    def referred(self, one: _Manifest, path: str, group: str) -> _Manifest | None:
        """The object to which a reference leads. None, and a problem, if the manifests do not have it."""
        kind, name = one.get(f"{path}.kind"), one.get(f"{path}.name")
        target = next((other for other in self.of(group, str(kind)) if other.name == name), None)
        if target is None:
            message = "refers to an object that the manifests do not have"
            self.problems.add("anywhere.manifest", one.at(path), message, value=f"{kind}/{name}", fix="add it, or correct the reference")
        return target

    def control_plane_reference(self, one: _Manifest) -> None:
        self.referred(one, "spec.controlPlaneRef", _CONTROL_PLANE)

    def infrastructure(self, one: _Manifest) -> None:
        target = self.referred(one, "spec.infrastructureRef", _INFRASTRUCTURE)
        kind, _provider = INFRASTRUCTURE[self.cluster.provider]
        found = one.get("spec.infrastructureRef.kind")
        if found != kind:
            message = f"is not of the provider {self.cluster.provider_name}, which {self.spec}.datacenterRef.kind says"
            self.problems.add("anywhere.manifest", one.at("spec.infrastructureRef.kind"), message, value=found, allowed=kind)
        self.endpoint([one] if target is None else [one, target])

    def endpoint(self, places: Sequence[_Manifest]) -> None:
        wanted, where = self.cluster.control_plane.endpoint, f"{self.cluster.control_plane.path}.endpoint.host"
        path = "spec.controlPlaneEndpoint.host"
        given = [one for one in places if one.get(path)]
        if not given:
            message = f"is missing, and {where} is {wanted}"
            self.problems.add("anywhere.manifest", places[-1].at(path), message, fix=f"write {wanted}")
        for one in given:
            if _address(one.get(path)) != _address(wanted):
                self.differs(one, path, wanted, where)

    # --- machines ---

    def control_plane(self) -> None:
        plane = self.cluster.control_plane
        one = self.only(_CONTROL_PLANE, "KubeadmControlPlane")
        if one is None:
            return
        self.differs(one, "spec.replicas", plane.count, f"{plane.path}.count")
        self.version(one, "spec.version", self.cluster.version, f"{self.spec}.kubernetesVersion")
        external = one.get("spec.kubeadmConfigSpec.clusterConfiguration.etcd.external")
        if (external is not None) != (self.cluster.etcd is not None):
            word = "is set" if external is not None else "is missing"
            has = "has no externalEtcdConfiguration" if external is not None else "has externalEtcdConfiguration"
            path = "spec.kubeadmConfigSpec.clusterConfiguration.etcd.external"
            self.problems.add("anywhere.manifest", one.at(path), f"{word}, and {self.spec} {has}", fix="change one of the two")

    def version(self, one: _Manifest, path: str, minor: str | None, place: str) -> None:
        """A full version of the minor version that the file of the cluster has."""
        value = one.get(path)
        if not isinstance(value, str) or not value.startswith(f"v{minor}."):
            message = f"is not a version v{minor}.N, and {place} is {minor}"
            self.problems.add("anywhere.manifest", one.at(path), message, value=value, fix="change one of the two")

    def workers(self) -> None:
        found = {one.name: one for one in self.of(_CORE, "MachineDeployment")}
        for group in self.cluster.workers:
            one = found.pop(names.machine_deployment(self.cluster.name, group.name), None) or found.pop(group.name, None)
            if one is None:
                message = f"have no MachineDeployment for {group.path}"
                fix = f"name one {names.machine_deployment(self.cluster.name, group.name)}"
                self.problems.add("anywhere.manifest", OPTION, message, value=group.name, allowed=", ".join(sorted(found)) or None, fix=fix)
            else:
                self.group(one, group)
        for one in found.values():
            fix = "add the group there, or remove the MachineDeployment"
            self.problems.add("anywhere.manifest", one.place, f"belongs to no group of {self.spec}.workerNodeGroupConfigurations", fix=fix)

    def group(self, one: _Manifest, group: WorkerGroup) -> None:
        minor = group.version or self.cluster.version
        place = joined(group.path, "kubernetesVersion") if group.version else f"{self.spec}.kubernetesVersion"
        self.version(one, "spec.template.spec.version", minor, place)
        self.differs(one, "spec.clusterName", self.cluster.name, f"{self.cluster.path}.metadata.name")
        if group.minimum is None:
            self.differs(one, "spec.replicas", group.replicas, joined(group.path, "count"))
            return
        annotations = one.content["metadata"].get("annotations") or {}
        if str(annotations.get(_AUTOSCALER)) != str(group.minimum):
            message = f"must be {group.minimum}, as {group.path}.autoscalingConfiguration.minCount"
            self.problems.add(
                "anywhere.manifest", one.at(f'metadata.annotations["{_AUTOSCALER}"]'), message, value=annotations.get(_AUTOSCALER)
            )

    def etcd(self) -> None:
        etcd = self.cluster.etcd
        if etcd is None:
            for one in self.of(_ETCD, "EtcdadmCluster"):
                message = f"is there, and {self.spec} has no externalEtcdConfiguration"
                self.problems.add("anywhere.manifest", one.place, message, fix="change one of the two")
            return
        found = self.only(_ETCD, "EtcdadmCluster")
        if found is not None:
            self.differs(found, "spec.replicas", etcd.count, f"{etcd.path}.count")


def _address(text: Any) -> Any:
    """Different spellings of an IPv6 address are the same address."""
    try:
        return ip_address(str(text))
    except ValueError:
        return text
