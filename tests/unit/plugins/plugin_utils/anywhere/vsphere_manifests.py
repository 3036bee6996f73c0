# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests of Cluster API that fit the vSphere cluster of C(clusters), and changes of them."""

from __future__ import annotations

import copy
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.clusters import DELETE, Change

STACKED: Change = ("Cluster", "spec.externalEtcdConfiguration", DELETE)
PROVIDER = {"name": "vsphere", "type": "InfrastructureProvider", "version": "v1.13.0", "components": None}
ETCDADM = [
    {"name": name, "type": "BootstrapProvider", "version": "v1.0.16", "components": None}
    for name in ("etcdadm-bootstrap", "etcdadm-controller")
]
FILES = tuple(f"infrastructure-vsphere/v1.13.0/{name}" for name in ("infrastructure-components.yaml", "metadata.yaml"))
CORE, PLANE, INFRA = "cluster.x-k8s.io/v1beta2", "controlplane.cluster.x-k8s.io/v1beta2", "infrastructure.cluster.x-k8s.io/v1beta1"


def _one(version: str, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    labels = {"cluster.x-k8s.io/cluster-name": "dev"}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "eksa-system", "labels": labels}, "spec": spec}


def _reference(group: str, kind: str, name: str) -> dict[str, str]:
    return {"apiGroup": group.partition("/")[0], "kind": kind, "name": name}


def objects() -> list[dict[str, Any]]:
    """The objects of a cluster with three nodes of the control plane and two workers."""
    network = {"pods": {"cidrBlocks": ["192.168.0.0/16"]}, "services": {"cidrBlocks": ["10.96.0.0/12"]}}
    references = {"controlPlaneRef": _reference(PLANE, "KubeadmControlPlane", "dev"),
                  "infrastructureRef": _reference(INFRA, "VSphereCluster", "dev")}  # fmt: skip
    machines = {"spec": {"infrastructureRef": _reference(INFRA, "VSphereMachineTemplate", "dev")}}
    plane = {"replicas": 3, "version": "v1.34.2", "kubeadmConfigSpec": {}, "machineTemplate": machines}
    template = {"clusterName": "dev", "version": "v1.34.2", "infrastructureRef": _reference(INFRA, "VSphereMachineTemplate", "dev")}
    return [
        _one(CORE, "Cluster", "dev", {"clusterNetwork": network, **references}),
        _one(INFRA, "VSphereCluster", "dev", {"controlPlaneEndpoint": {"host": "10.0.0.10", "port": 6443}}),
        _one(INFRA, "VSphereMachineTemplate", "dev", {"template": {"spec": {"template": "ubuntu"}}}),
        _one(PLANE, "KubeadmControlPlane", "dev", plane),
        _one(CORE, "MachineDeployment", "dev-md-0", {"clusterName": "dev", "replicas": 2, "template": {"spec": template}}),
    ]


def text(*changes: Change) -> str:
    """The objects as YAML. A change names the kind, the path and the value."""
    found = copy.deepcopy(objects())
    for kind, path, value in changes:
        one = next(one for one in found if one["kind"] == kind)
        *above, last = path.split(".")
        for key in above:
            one = one.setdefault(key, {})
        if value is DELETE:
            del one[last]
        else:
            one[last] = value
    return "---\n".join(yaml.dump(one) for one in found)


def cluster_file(*changes: Change) -> str:
    """A file of a vSphere cluster without external etcd."""
    documents = [one for one in clusters.documents("vsphere", STACKED, *changes) if one["metadata"]["name"] != "etcd"]
    return clusters.dump(documents)
