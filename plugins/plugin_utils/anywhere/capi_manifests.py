# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of Cluster API for a cluster of Docker machines, the provider of EKS Anywhere that needs no cloud (API version v1beta2)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from ..formats import json, yaml
from . import names
from .capi_machines import CapiOptions, NodeImage, control_plane_config, node_files, secret_key, secret_name, worker_config
from .model import Cluster, Etcd, HealthCheck, WorkerGroup
from .timeouts import seconds

_CORE, _VERSION = "cluster.x-k8s.io", "v1beta2"
_BOOTSTRAP = "bootstrap.cluster.x-k8s.io"
_CONTROL_PLANE = "controlplane.cluster.x-k8s.io"
_ETCD, _ETCD_VERSION = "etcdcluster.cluster.x-k8s.io", "v1beta1"
_INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io"
_NAME_LABEL = f"{_CORE}/cluster-name"
_DEPLOYMENT_LABEL = f"{_CORE}/deployment-name"
_CONTROL_PLANE_LABEL = f"{_CORE}/control-plane"
_MOVE_LABEL = "clusterctl.cluster.x-k8s.io/move"
_AUTOSCALER = f"{_CORE}/cluster-api-autoscaler-node-group-"

NODE_STARTUP_TIMEOUT, UNHEALTHY_TIMEOUT = "10m0s", "5m0s"
MAX_UNHEALTHY_CONTROL_PLANE, MAX_UNHEALTHY_WORKERS = "100%", "40%"
"""The defaults of EKS Anywhere."""


def manifests(cluster: Cluster, options: CapiOptions) -> str:
    """All objects as one text of YAML, in the order in which they are applied. The cluster is valid, and C(engine.check) accepts it."""
    return "---\n".join(yaml.dump(one) for one in objects(cluster, options))


def objects(cluster: Cluster, options: CapiOptions) -> Iterator[dict[str, Any]]:
    """The objects, each owner before what it owns."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": names.NAMESPACE}}
    secret = _secret(cluster, options)
    if secret is not None:
        yield secret
    if options.haproxy_config is not None:
        # Before the DockerCluster: the load balancer is made once, with what is there then.
        yield _haproxy(cluster, options.haproxy_config)
    yield _cluster(cluster)
    yield _docker_cluster(cluster, options)
    template = _machine_template(f"{cluster.name}-control-plane", _image(cluster.version, options), options)
    yield template
    if cluster.etcd is not None:
        yield from _external_etcd(cluster, cluster.etcd, options)
    yield _kubeadm_control_plane(cluster, options, template)
    for group in cluster.workers:
        yield from _workers(cluster, group, options)
    yield from _health_checks(cluster)


def _object(group: str, kind: str, name: str, spec: Mapping[str, Any], **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{group}/{_VERSION}",
        "kind": kind,
        "metadata": {"name": name, "namespace": names.NAMESPACE, **metadata},
        "spec": dict(spec),
    }


def _reference(group: str, kind: str, name: str) -> dict[str, str]:
    return {"apiGroup": group, "kind": kind, "name": name}


def _image(version: str | None, options: CapiOptions) -> NodeImage:
    return options.node_images[str(version)]


def _secret(cluster: Cluster, options: CapiOptions) -> dict[str, Any] | None:
    """The files with a password, which move to the cluster with its other objects."""
    files = [file for file in node_files(cluster, cluster.control_plane, options) if file.is_secret]
    if not files:
        return None
    labels = {_NAME_LABEL: cluster.name, _MOVE_LABEL: ""}
    metadata = {"name": secret_name(cluster), "namespace": names.NAMESPACE, "labels": labels}
    content = {secret_key(file): file.content for file in files}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": f"{_CORE}/secret", "stringData": content}


def _haproxy(cluster: Cluster, text: str) -> dict[str, Any]:
    """The configuration of the load balancer. The provider Docker reads it in the namespace of the cluster, so it moves along."""
    labels = {_NAME_LABEL: cluster.name, _MOVE_LABEL: ""}
    metadata = {"name": names.haproxy(cluster.name), "namespace": names.NAMESPACE, "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"value": text}}


def _cluster(cluster: Cluster) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "clusterNetwork": {
            "pods": {"cidrBlocks": list(cluster.network.pods)},
            "services": {"cidrBlocks": list(cluster.network.services)},
            "serviceDomain": "cluster.local",
        },
        "controlPlaneRef": _reference(_CONTROL_PLANE, "KubeadmControlPlane", names.control_plane(cluster.name)),
        "infrastructureRef": _reference(_INFRASTRUCTURE, "DockerCluster", cluster.name),
    }
    if cluster.etcd is not None:
        spec["managedExternalEtcdRef"] = _reference(_ETCD, "EtcdadmCluster", names.external_etcd(cluster.name))
    return _object(_CORE, "Cluster", cluster.name, spec, labels={_NAME_LABEL: cluster.name})


def _external_etcd(cluster: Cluster, etcd: Etcd, options: CapiOptions) -> Iterator[dict[str, Any]]:
    """etcd on machines of its own, as the providers etcdadm-bootstrap and etcdadm-controller of EKS Anywhere make it."""
    name = names.external_etcd(cluster.name)
    template = _machine_template(name, _image(cluster.version, options), options)
    yield template
    spec = {
        "replicas": etcd.count,
        "etcdadmConfigSpec": {"etcdadmBuiltin": True, "cloudInitConfig": {"version": options.etcd_version}},
        # A reference of the older form: with its version and its namespace.
        "infrastructureTemplate": {
            "apiVersion": template["apiVersion"], "kind": template["kind"], "name": template["metadata"]["name"],
            "namespace": names.NAMESPACE,
        },
    }  # fmt: skip
    metadata = {"name": name, "namespace": names.NAMESPACE, "labels": {_NAME_LABEL: cluster.name}}
    yield {"apiVersion": f"{_ETCD}/{_ETCD_VERSION}", "kind": "EtcdadmCluster", "metadata": metadata, "spec": spec}


def _docker_cluster(cluster: Cluster, options: CapiOptions) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    if options.haproxy_config is not None:
        spec["loadBalancer"] = {"customHAProxyConfigTemplateRef": {"name": names.haproxy(cluster.name)}}
    return _object(_INFRASTRUCTURE, "DockerCluster", cluster.name, spec)


def _machine_template(prefix: str, image: NodeImage, options: CapiOptions) -> dict[str, Any]:
    """A template cannot be changed, and another name makes Cluster API replace the machines. So the name depends on the content."""
    machine: dict[str, Any] = {"customImage": image.image}
    # The provider Docker runs the pods of the cluster of Docker machines itself, once the cluster manages itself.
    machine["extraMounts"] = [{"containerPath": "/var/run/docker.sock", "hostPath": options.docker_socket}]
    if options.preload_images:
        machine["preLoadImages"] = list(options.preload_images)
    return _template(_INFRASTRUCTURE, "DockerMachineTemplate", prefix, {"template": {"spec": machine}})


def _template(group: str, kind: str, prefix: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    digest = hashlib.sha256(json.dump(spec).encode()).hexdigest()[:8]
    return _object(group, kind, f"{prefix}-{digest}", spec)


def _kubeadm_control_plane(cluster: Cluster, options: CapiOptions, template: Mapping[str, Any]) -> dict[str, Any]:
    plane = cluster.control_plane
    spec: dict[str, Any] = {
        "replicas": plane.count,
        "version": _image(cluster.version, options).version,
        "machineTemplate": {
            "spec": {"infrastructureRef": _reference(_INFRASTRUCTURE, template["kind"], template["metadata"]["name"])},
        },
        "kubeadmConfigSpec": control_plane_config(cluster, options),
    }
    if plane.rollout is not None and plane.rollout.max_surge is not None:
        spec["rollout"] = {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": plane.rollout.max_surge}}}
    return _object(_CONTROL_PLANE, "KubeadmControlPlane", names.control_plane(cluster.name), spec)


def _workers(cluster: Cluster, group: WorkerGroup, options: CapiOptions) -> Iterator[dict[str, Any]]:
    name = names.machine_deployment(cluster.name, group.name)
    image = _image(group.version or cluster.version, options)
    machine = _machine_template(name, image, options)
    config = _template(_BOOTSTRAP, "KubeadmConfigTemplate", name, {"template": {"spec": worker_config(cluster, group, options)}})
    yield machine
    yield config
    metadata: dict[str, Any] = {"labels": {_NAME_LABEL: cluster.name}}
    spec: dict[str, Any] = {
        "clusterName": cluster.name,
        "selector": {"matchLabels": {}},
        "template": {
            "metadata": {"labels": {_NAME_LABEL: cluster.name}},
            "spec": {
                "clusterName": cluster.name,
                "version": image.version,
                "bootstrap": {"configRef": _reference(_BOOTSTRAP, config["kind"], config["metadata"]["name"])},
                "infrastructureRef": _reference(_INFRASTRUCTURE, machine["kind"], machine["metadata"]["name"]),
            },
        },
    }
    if group.minimum is not None and group.maximum is not None:
        # The autoscaler owns the number of machines. A fixed one would undo its work at every apply.
        metadata["annotations"] = {f"{_AUTOSCALER}min-size": str(group.minimum), f"{_AUTOSCALER}max-size": str(group.maximum)}
    else:
        spec["replicas"] = group.replicas
    if group.rollout is not None and group.rollout.has_numbers:
        numbers = {"maxSurge": group.rollout.max_surge or 0, "maxUnavailable": group.rollout.max_unavailable or 0}
        spec["rollout"] = {"strategy": {"type": "RollingUpdate", "rollingUpdate": numbers}}
    yield _object(_CORE, "MachineDeployment", name, spec, **metadata)


def _health_checks(cluster: Cluster) -> Iterator[dict[str, Any]]:
    plane = names.control_plane(cluster.name)
    labels = {_CONTROL_PLANE_LABEL: ""}
    checks = (cluster.control_plane.health_check, cluster.health_check)
    yield _health_check(cluster, f"{plane}-kcp-unhealthy", labels, checks, MAX_UNHEALTHY_CONTROL_PLANE)
    for group in cluster.workers:
        name = names.machine_deployment(cluster.name, group.name)
        labels = {_DEPLOYMENT_LABEL: name}
        yield _health_check(cluster, f"{name}-worker-unhealthy", labels, (group.health_check, cluster.health_check), MAX_UNHEALTHY_WORKERS)


def _health_check(
    cluster: Cluster, name: str, labels: Mapping[str, str], checks: tuple[HealthCheck | None, ...], most: str
) -> dict[str, Any]:
    given = [one for one in checks if one is not None]
    startup = next((one.node_startup_timeout for one in given if one.node_startup_timeout is not None), NODE_STARTUP_TIMEOUT)
    unhealthy = seconds(next((one.unhealthy_timeout for one in given if one.unhealthy_timeout is not None), UNHEALTHY_TIMEOUT))
    limit = next((one.max_unhealthy for one in given if one.max_unhealthy is not None), most)
    conditions = [{"type": "Ready", "status": status, "timeoutSeconds": unhealthy} for status in ("False", "Unknown")]
    return _object(
        _CORE,
        "MachineHealthCheck",
        name,
        {
            "clusterName": cluster.name,
            "selector": {"matchLabels": {_NAME_LABEL: cluster.name, **labels}},
            "checks": {"nodeStartupTimeoutSeconds": seconds(startup), "unhealthyNodeConditions": conditions},
            "remediation": {"triggerIf": {"unhealthyLessThanOrEqualTo": limit}},
        },
        labels={_NAME_LABEL: cluster.name},
    )
