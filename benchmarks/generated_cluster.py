# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A large cluster as an API server returns it: pages of JSON, and a server for them. Always the same bytes.

1,000 nodes in three zones, 6 DaemonSets, and 3,000 Deployments in 100 namespaces, a third with a PodDisruptionBudget. Some pods have
volumes, anti-affinity, topology spread, node selectors or no controller, and some budgets allow no disruption.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

NODES = 1_000
PODS = 30_000
_DAEMON_SETS = 6
_DEPLOYMENTS = 3_000
_REPLICAS = (PODS - NODES * _DAEMON_SETS) // _DEPLOYMENTS
_PAGE = 500
_TIME = "2026-11-20T08:00:00Z"

Object = dict[str, Any]


def pages() -> dict[str, list[bytes]]:
    """The pages of every list by path."""
    lists = {
        "/api/v1/nodes": map(_node, range(NODES)),
        "/api/v1/pods": _pods(),
        "/apis/policy/v1/poddisruptionbudgets": map(_budget, range(0, _DEPLOYMENTS, 3)),
        "/apis/apps/v1/daemonsets": ({"metadata": {"namespace": "kube-system", "name": f"agent-{n}"}} for n in range(_DAEMON_SETS)),
        "/api/v1/persistentvolumeclaims": map(_claim, range(0, _DEPLOYMENTS, 10)),
        "/api/v1/persistentvolumes": map(_volume, range(0, _DEPLOYMENTS, 10)),
        "/api/v1/namespaces": ({"metadata": {"name": f"team-{n}", "labels": {"team": str(n)}}} for n in range(100)),
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": iter(()),
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations": iter(()),
    }
    return {path: list(_paged(items)) for path, items in lists.items()}


def _paged(items: Iterator[Object]) -> Iterator[bytes]:
    # The order of the API server.
    found = sorted(items, key=lambda item: (item["metadata"].get("namespace", ""), item["metadata"]["name"]))
    for start in range(0, max(len(found), 1), _PAGE):
        token = str(start // _PAGE + 1) if start + _PAGE < len(found) else ""
        page = {
            "kind": "List",
            "apiVersion": "v1",
            "metadata": {"resourceVersion": "1", "continue": token},
            "items": found[start : start + _PAGE],
        }
        yield json.dumps(page, separators=(",", ":")).encode()


def _node_name(number: int) -> str:
    return f"ip-10-{number // 250}-{number % 250}-7.eu-central-1.compute.internal"


def _zone(number: int) -> str:
    return f"eu-central-1{'abc'[number % 3]}"


def _node(number: int) -> Object:
    name, amounts = _node_name(number), {"cpu": "15890m", "memory": "60Gi", "pods": "110", "ephemeral-storage": "95551679124"}
    labels = {
        "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": _zone(number), "topology.kubernetes.io/region": "eu-central-1",
        "node.kubernetes.io/instance-type": "m6i.4xlarge", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
        "eks.amazonaws.com/nodegroup": f"group-{number % 10}", "eks.amazonaws.com/capacityType": "ON_DEMAND",
    }  # fmt: skip
    conditions = [
        {
            "type": kind, "status": "True" if kind == "Ready" else "False", "lastHeartbeatTime": _TIME, "lastTransitionTime": _TIME,
            "reason": f"Kubelet{kind}", "message": "kubelet is posting its status",
        }
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    ]  # fmt: skip
    images = [
        {"names": [f"registry.example/team/image-{n}@sha256:{n:064}", f"registry.example/team/image-{n}:v1"], "sizeBytes": 10**8}
        for n in range(40)
    ]
    return {
        "metadata": {"name": name, "uid": f"node-{number}", "labels": labels, "annotations": {"node.alpha.kubernetes.io/ttl": "0"}},
        "spec": {"providerID": f"kind:///{number}"},
        "status": {
            "allocatable": amounts, "capacity": amounts, "conditions": conditions, "images": images,
            "nodeInfo": {"kubeletVersion": "v1.35.2-eks-1", "osImage": "Amazon Linux 2023", "containerRuntimeVersion": "containerd://2.1.4"},
        },
    }  # fmt: skip


def _pods() -> Iterator[Object]:
    for node in range(NODES):
        for number in range(_DAEMON_SETS):
            yield _pod(f"agent-{number}-{node:05}", "kube-system", f"agent-{number}", "DaemonSet", node, number)
    place = 0
    for number in range(_DEPLOYMENTS):
        for replica in range(_REPLICAS):
            # Neighbors of one Deployment are on nodes of different zones.
            place = (place + 7) % NODES
            yield _application(number, replica, place)


def _application(number: int, replica: int, node: int) -> Object:
    pod = _pod(f"app-{number}-7d9f8c-{replica:05}", f"team-{number % 100}", f"app-{number}-7d9f8c", "ReplicaSet", node, number)
    spec = pod["spec"]
    if number % 10 == 0 and replica == 0:
        spec["volumes"].append({"name": "data", "persistentVolumeClaim": {"claimName": f"data-{number}"}})
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    selector = {"matchLabels": {"app": f"app-{number}"}}
    if number % 20 == 1:
        spec["affinity"] = {"podAntiAffinity": {required: [{"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}]}}
    elif number % 20 == 2:
        zone = {"topologyKey": "topology.kubernetes.io/zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
        spec["topologySpreadConstraints"] = [zone]
    elif number % 20 == 3:
        spec["nodeSelector"] = {"eks.amazonaws.com/nodegroup": f"group-{node % 10}"}
    if number % 50 == 4:
        spec["volumes"].append({"name": "cache", "emptyDir": {}})
    if number % 500 == 5:
        del pod["metadata"]["ownerReferences"]
    return pod


def _pod(name: str, namespace: str, owner: str, kind: str, node: int, number: int) -> Object:
    """A pod with the parts of a usual one: environment, probes, mounts, the token of its service account, and managed fields."""
    app = f"app-{number}" if kind == "ReplicaSet" else owner
    environment = [{"name": f"SETTING_{n}", "value": f"value-{number}-{n}"} for n in range(12)]
    environment.append({"name": "NODE", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}})
    probe = {
        "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"},
        "periodSeconds": 10,
        "timeoutSeconds": 1,
        "failureThreshold": 3,
    }
    mounts = [{"name": f"kube-api-access-{number}", "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]
    container = {
        "name": app, "image": f"registry.example/team/{app}:1.2.3", "env": environment, "livenessProbe": probe, "readinessProbe": probe,
        "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}], "volumeMounts": mounts, "imagePullPolicy": "IfNotPresent",
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {"runAsNonRoot": True, "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False},
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
    }  # fmt: skip
    sidecar = {**container, "name": "proxy", "image": "registry.example/proxy:3", "env": environment[:4]}
    token = {"name": f"kube-api-access-{number}", "projected": {"defaultMode": 420, "sources": [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    ]}}  # fmt: skip
    tolerations = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in ("not-ready", "unreachable")
    ]
    if kind == "DaemonSet":
        tolerations = [{"operator": "Exists"}]
    status = {
        "phase": "Running", "podIP": f"10.1.{node % 250}.{number % 250}", "hostIP": "10.0.0.1", "startTime": _TIME, "qosClass": "Burstable",
        "conditions": [
            {"type": kind_of, "status": "True", "lastProbeTime": None, "lastTransitionTime": _TIME}
            for kind_of in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
        ],
        "containerStatuses": [
            {
                "name": one["name"], "ready": True, "restartCount": 0, "image": one["image"],
                "imageID": f"{one['image']}@sha256:{number:064}",
                "containerID": f"containerd://{number:064}", "started": True, "state": {"running": {"startedAt": _TIME}}, "lastState": {},
            }
            for one in (container, sidecar)
        ],
    }  # fmt: skip
    fields = {f"f:{key}": {} for key in container}
    managed = [
        {
            "manager": manager, "operation": "Update", "apiVersion": "v1", "time": _TIME, "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:app": {}}}, part: {'k:{"name":"web"}': fields}},
        }
        for manager, part in (("kube-controller-manager", "f:spec"), ("kubelet", "f:status"))
    ]  # fmt: skip
    return {
        "metadata": {
            "name": name, "namespace": namespace, "uid": f"uid-{name}", "resourceVersion": "123456", "creationTimestamp": _TIME,
            "generateName": f"{owner}-", "labels": {"app": app, "pod-template-hash": "7d9f8c", "app.kubernetes.io/part-of": namespace},
            "annotations": {"prometheus.io/scrape": "true", "prometheus.io/port": "8080"}, "managedFields": managed,
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": f"uid-{owner}", "controller": True,
                    "blockOwnerDeletion": True,
                },
            ],
        },
        "spec": {
            "nodeName": _node_name(node), "containers": [container, sidecar], "volumes": [token], "tolerations": tolerations,
            "serviceAccountName": app, "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
            "schedulerName": "default-scheduler", "priority": 0, "preemptionPolicy": "PreemptLowerPriority", "enableServiceLinks": True,
        },
        "status": status,
    }  # fmt: skip


def _budget(number: int) -> Object:
    allowed = 0 if number % 90 == 0 else 1
    return {
        "metadata": {"namespace": f"team-{number % 100}", "name": f"app-{number}", "generation": 1, "uid": f"budget-{number}"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": f"app-{number}"}}},
        "status": {
            "observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": _REPLICAS - 1 + allowed,
            "desiredHealthy": _REPLICAS - 1, "expectedPods": _REPLICAS,
        },
    }  # fmt: skip


def _claim(number: int) -> Object:
    metadata = {"namespace": f"team-{number % 100}", "name": f"data-{number}", "uid": f"claim-{number}"}
    return {"metadata": metadata, "spec": {"volumeName": f"pv-{number}", "accessModes": ["ReadWriteOnce"]}, "status": {"phase": "Bound"}}


def _volume(number: int) -> Object:
    zone = _zone((number * _REPLICAS * 7 + 7) % NODES)
    terms = [{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}]
    return {"metadata": {"name": f"pv-{number}"}, "spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}}


def serve() -> None:
    """Serve the pages until the program is ended. The first line of output is the URL."""
    made = pages()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # As the API server, which is written in Go.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            token = parse_qs(parts.query).get("continue", ["0"])[0]
            self._send(b'{"gitVersion":"v1.36.3"}' if parts.path == "/version" else made[parts.path][int(token)])

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self._send(
                json.dumps({"kind": "Status", "code": 429, "message": "Cannot evict pod", "reason": "TooManyRequests"}).encode(), 429
            )

        def _send(self, body: bytes, code: int = 200) -> None:
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_unused: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(serve())
