# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Workloads of the lab as plain objects, and nodes on which their pods really run.

with ExitStack() as stack:
    nodes = [stack.enter_context(worker(lab, "1.35")) for _ in range(3)]
    space = Namespace(lab, "demo")
    space.create(deployment("web", 2), service("web"), budget("web", minAvailable=1))
    space.wait_running("web", 2)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render

from .api import ApiError, Object
from .joining import LAB_ONLY, PATIENCE
from .lab import Lab
from .node import LabNode
from .pod_image import IMAGE
from .progress import wait_for

PORT = 8080

#: Seconds between the deletion of a pod and SIGTERM: time for the endpoints to change. A busy machine needs some.
PRE_STOP = 3

#: Path of a kind's objects, {} is the namespace.
PATHS = {
    "PersistentVolume": "/api/v1/persistentvolumes",
    "ValidatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "Pod": "/api/v1/namespaces/{}/pods",
    "Service": "/api/v1/namespaces/{}/services",
    "PersistentVolumeClaim": "/api/v1/namespaces/{}/persistentvolumeclaims",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "DaemonSet": "/apis/apps/v1/namespaces/{}/daemonsets",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/{}/poddisruptionbudgets",
    "EndpointSlice": "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices",
}

# --- nodes --------------------------------------------------------------------------------------------------------------------

#: The container that is a node may neither lower the badness of a process nor raise a limit. The runtime specification of the image raises
#: one, so pods get containerd's own.
_RUNC = {"base_runtime_spec": ""}
_CRI = {"restrict_oom_score_adj": True, "containerd": {"runtimes": {"runc": _RUNC}}}
_CONTAINERD = {"containerd": {"config": {"plugins": {"io.containerd.grpc.v1.cri": _CRI}}}}


def group(minor: str, **fields: Any) -> dict[str, Any]:
    """The node group of a worker."""
    own = {"family": "al2023", "max_pods": 17, "instance": {"type": "m5.large"}, "kubelet": {"config": LAB_ONLY[minor]}}
    return {**own, **_CONTAINERD, **fields}


def user_data(lab: Lab, minor: str, **fields: Any) -> str:
    """The user data of a worker."""
    return render(lab.cluster(minor), group(minor, **fields)).document.text


def worker(lab: Lab, minor: str, *, upgrades: tuple[str, ...] = (), instance: str = "", text: str = "") -> LabNode:
    """A node for pods. text: other user data than that of C(group)"""
    return lab.node(
        "al2023",
        user_data=text or user_data(lab, minor),
        kubelet=minor,
        real_nodeadm=False,
        pods=True,
        upgrades=upgrades,
        instance=instance,
    )


# --- objects ------------------------------------------------------------------------------------------------------------------


def _object(version: str, kind: str, name: str, **parts: Any) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "labels": {"app": name}}, **parts}


READINESS = {"httpGet": {"path": "/", "port": PORT}, "periodSeconds": 1, "timeoutSeconds": 5}


def pod_spec(**fields: Any) -> Object:
    """A server that answers with the name of its pod and ends in order. Fields of the container and of the pod may be replaced."""
    container = {
        "name": "server",
        "image": IMAGE,
        "imagePullPolicy": "Never",
        "command": ["/pod", "serve", str(PORT)],
        "ports": [{"containerPort": PORT}],
        "readinessProbe": READINESS,
        "lifecycle": {"preStop": {"exec": {"command": ["/pod", "wait", str(PRE_STOP)]}}},
        "resources": {"requests": {"cpu": "10m", "memory": "8Mi"}},
    }
    container |= fields.pop("container", {})
    return {"terminationGracePeriodSeconds": 30, "containers": [container], **fields}


def affinity_to(app: str, kind: str, *, is_required: bool = True) -> dict[str, Any]:
    """Fields of a pod that keep it together with (podAffinity) or apart from (podAntiAffinity) the pods of an app, by node."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": app}}}
    if is_required:
        return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]}}}


def pod(name: str, **spec: Any) -> Object:
    """A pod without a controller."""
    return _object("v1", "Pod", name, spec=pod_spec(**spec))


def _template(name: str, metadata: Mapping[str, Any] | None, spec: Mapping[str, Any]) -> Object:
    labels = {"app": name}
    template = {"metadata": {"labels": labels, **(metadata or {})}, "spec": pod_spec(**spec)}
    return {"selector": {"matchLabels": labels}, "template": template}


def deployment(name: str, replicas: int, *, metadata: Mapping[str, Any] | None = None, **spec: Any) -> Object:
    """metadata: of its pods. spec: fields of C(pod_spec)"""
    return _object("apps/v1", "Deployment", name, spec={"replicas": replicas, **_template(name, metadata, spec)})


def daemon_set(name: str, **spec: Any) -> Object:
    return _object("apps/v1", "DaemonSet", name, spec=_template(name, None, spec))


def stateful_set(name: str, replicas: int, **spec: Any) -> Object:
    return _object("apps/v1", "StatefulSet", name, spec={"replicas": replicas, "serviceName": name, **_template(name, None, spec)})


def job(name: str, **spec: Any) -> Object:
    """A Job whose pod does not end by itself."""
    return _object(
        "batch/v1", "Job", name, spec={"template": {"metadata": {"labels": {"app": name}}, "spec": pod_spec(restartPolicy="Never", **spec)}}
    )


def volume(name: str, source: Mapping[str, Any], key: str, value: str) -> Object:
    """A volume that can be reached from nodes with a label only. It is bound to the claim of the same name."""
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]
    spec = {"capacity": {"storage": "1Mi"}, "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain", **source}
    return _object("v1", "PersistentVolume", name, spec={**spec, "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}})


def volume_claim(name: str) -> Object:
    spec = {"storageClassName": "", "volumeName": name, "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}
    return _object("v1", "PersistentVolumeClaim", name, spec=spec)


def budget(name: str, app: str = "", **spec: Any) -> Object:
    """A PodDisruptionBudget of an app: C(minAvailable), C(maxUnavailable), C(unhealthyPodEvictionPolicy)."""
    return _object("policy/v1", "PodDisruptionBudget", name, spec={"selector": {"matchLabels": {"app": app or name}}, **spec})


def service(name: str) -> Object:
    return _object("v1", "Service", name, spec={"selector": {"app": name}, "ports": [{"port": 80, "targetPort": PORT}]})


# --- a namespace --------------------------------------------------------------------------------------------------------------


class Namespace:
    """A namespace with its objects; a context manager that removes it."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.lab, self.name = lab, name
        lab.api.call("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        # Without its service account, no pod is admitted.
        wait_for(
            "the service account of the namespace", lambda: self._exists(f"/api/v1/namespaces/{name}/serviceaccounts/default"), PATIENCE
        )

    def path(self, kind: str, name: str = "") -> str:
        return PATHS[kind].format(self.name) + (f"/{name}" if name else "")

    def create(self, *objects: Object) -> None:
        for one in objects:
            self.lab.api.call("POST", self.path(one["kind"]), one)

    def get(self, kind: str, name: str) -> Object:
        return self.lab.api.get(self.path(kind, name))

    def patch(self, kind: str, name: str, body: Object) -> Object:
        return self.lab.api.patch(self.path(kind, name), body)

    def replace(self, before: Iterable[Object], after: Iterable[Object]) -> None:
        """Change objects to others of the same names. Those without a successor are deleted."""
        fresh = {(one["kind"], one["metadata"]["name"]): one for one in after}
        for kind, name in ((one["kind"], one["metadata"]["name"]) for one in before):
            if (kind, name) not in fresh:
                self.delete(kind, name)
                continue
            while not self._put(fresh[kind, name]):
                pass

    def _put(self, one: Object) -> bool:
        """Replace an object. False if a controller changed its status meanwhile."""
        path = self.path(one["kind"], one["metadata"]["name"])
        version = self.lab.api.get(path)["metadata"]["resourceVersion"]
        try:
            self.lab.api.call("PUT", path, {**one, "metadata": {**one["metadata"], "resourceVersion": version}})
        except ApiError as error:
            if error.status != 409:
                raise
            return False
        return True

    def delete(self, kind: str, name: str, seconds: int | None = None) -> None:
        """Ask for the deletion of an object. seconds: its grace period"""
        with suppress(ApiError):
            options = {"propagationPolicy": "Background", **({} if seconds is None else {"gracePeriodSeconds": seconds})}
            self.lab.api.call("DELETE", self.path(kind, name), options)

    def pods(self, app: str = "") -> list[Object]:
        """The pods of an app, or all pods."""
        selector = f"?labelSelector=app%3D{app}" if app else ""
        items: list[Object] = self.lab.api.get(self.path("Pod") + selector)["items"]
        return items

    def all(self, kind: str) -> list[Object]:
        """The objects of a kind."""
        items: list[Object] = self.lab.api.get(self.path(kind))["items"]
        return items

    def ready(self, app: str) -> list[Object]:
        """The pods of an app that are healthy for a PodDisruptionBudget."""
        return [one for one in self.pods(app) if is_healthy(one)]

    def wait_ready(self, app: str, count: int, seconds: float = PATIENCE) -> list[Object]:
        """Wait until exactly this number of pods is ready and none is left that is not."""

        def settled() -> bool:
            return len(self.ready(app)) == len(self.pods(app)) == count

        wait_for(f"{count} ready pods of {app}", settled, seconds, 0.2)
        return self.ready(app)

    def _exists(self, path: str) -> bool:
        try:
            self.lab.api.get(path)
        except ApiError as error:
            if error.status == 404:
                return False
            raise
        return True

    def __enter__(self) -> Namespace:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Remove the namespace, without waiting for its end."""
        for one in self.pods():
            # It may have ended meanwhile.
            with suppress(ApiError):
                self.patch("Pod", one["metadata"]["name"], {"metadata": {"finalizers": None}})
            self.delete("Pod", one["metadata"]["name"], 0)
        with suppress(ApiError):
            self.lab.api.call("DELETE", f"/api/v1/namespaces/{self.name}")


def is_healthy(found: Object) -> bool:
    """Ready and not being deleted, as the disruption controller counts."""
    conditions = {condition["type"]: condition["status"] for condition in found["status"].get("conditions", [])}
    return conditions.get("Ready") == "True" and "deletionTimestamp" not in found["metadata"]


def can_evict(lab: Lab, found: Object) -> tuple[int, str]:
    """What the API server itself says about the eviction of a pod: the status of a dry run, and its message."""
    metadata = found["metadata"]
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "deleteOptions": {"dryRun": ["All"]},
    }
    try:
        lab.api.call("POST", f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/eviction", body)
    except ApiError as error:
        return error.status, str(error)
    return 201, ""
