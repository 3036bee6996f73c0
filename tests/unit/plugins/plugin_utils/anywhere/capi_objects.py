# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of Cluster API as a cluster prints them while it is created."""

from __future__ import annotations

from typing import Any

_GROUPS = {
    "Cluster": "cluster.x-k8s.io/v1beta2",
    "Machine": "cluster.x-k8s.io/v1beta2",
    "MachineSet": "cluster.x-k8s.io/v1beta2",
    "MachineDeployment": "cluster.x-k8s.io/v1beta2",
    "KubeadmControlPlane": "controlplane.cluster.x-k8s.io/v1beta2",
    "KubeadmConfig": "bootstrap.cluster.x-k8s.io/v1beta2",
    "DockerCluster": "infrastructure.cluster.x-k8s.io/v1beta2",
    "DockerMachine": "infrastructure.cluster.x-k8s.io/v1beta2",
    "Pod": "v1",
    "Deployment": "apps/v1",
}


def condition(kind: str, status: str, reason: str = "", message: str = "", **more: str) -> dict[str, str]:
    """A condition of an object."""
    return {"type": kind, "status": status, "reason": reason, "message": message, **more}


def made(kind: str, name: str, *conditions: dict[str, str], created: str = "2026-01-01T00:00:00Z", **more: Any) -> dict[str, Any]:
    """An object. more: other parts of it, such as C(spec), and C(namespace)."""
    meta = {"name": name, "namespace": more.pop("namespace", "eksa-system"), "creationTimestamp": created, **more.pop("metadata", {})}
    status = {"conditions": list(conditions), **more.pop("status", {})}
    return {"apiVersion": _GROUPS[kind], "kind": kind, "metadata": meta, "status": status, **more}


def event(about: dict[str, Any], reason: str, message: str, *, time: str = "2026-01-01T00:01:00Z", kind: str = "Warning") -> dict[str, Any]:
    """An event about an object."""
    meta = about["metadata"]
    place = {"kind": about["kind"], "namespace": meta["namespace"], "name": meta["name"]}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "type": kind,
        "reason": reason,
        "message": message,
        "lastTimestamp": time,
        "involvedObject": place,
    }


def pod(name: str, namespace: str, reason: str, message: str = "", image: str = "registry.k8s.io/a:1") -> dict[str, Any]:
    """A pod with one container that waits."""
    row = {"image": image, "state": {"waiting": {"reason": reason, "message": message}}}
    return made("Pod", name, namespace=namespace, status={"containerStatuses": [row]})


WAITING = "WaitingForControlPlaneInitialized"


_PLANE = {"labels": {"cluster.x-k8s.io/control-plane": ""}}


def creation() -> list[dict[str, Any]]:
    """A cluster whose control plane does not start: everything waits for one container."""
    return [
        made(
            "Cluster",
            "dev",
            condition("Available", "False", "NotAvailable"),
            condition("ControlPlaneInitialized", "False", "NotInitialized"),
        ),
        made(
            "KubeadmControlPlane",
            "dev",
            condition("Available", "False", "NotAvailable"),
            condition("Initialized", "False", "NotInitialized"),
        ),
        made("MachineDeployment", "dev-md-0", condition("Available", "False", "NotAvailable"), condition("RollingOut", "False")),
        made("Machine", "dev-md-0-x", condition("BootstrapConfigReady", "False", WAITING), created="2025-12-31T00:00:00Z"),
        made("Machine", "dev-cp", condition("InfrastructureReady", "False", "NotReady"), condition("Ready", "False"), metadata=_PLANE),
        made("DockerMachine", "dev-cp", condition("ContainerProvisioned", "False", "ContainerProvisioningFailed", "exit status 125")),
        made("DockerCluster", "dev", condition("LoadBalancerAvailable", "True")),
        made("KubeadmConfig", "dev-cp", condition("DataSecretAvailable", "True")),
    ]
