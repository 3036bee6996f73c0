# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What blocks drains, as real objects: how each blocker is made, how it is cured, and what the report must say meanwhile.

Pods are on the nodes with the label role=main, of which there must be two. They use the network of their node, except where that matters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .api import Object
from .workloads import (
    Namespace,
    affinity_to,
    budget,
    daemon_set,
    deployment,
    job,
    pod,
    service,
    volume,
    volume_claim,
)

MAIN = {"role": "main"}
#: A container that does nothing: no port, no probe, no preStop.
IDLE: dict[str, Any] = {"command": ["/pod"], "ports": None, "readinessProbe": None, "lifecycle": None}
UNREADY: dict[str, Any] = {**IDLE, "readinessProbe": {"exec": {"command": ["/pod", "unready"]}, "periodSeconds": 5}}
HOLD = "example.com/hold"
#: The namespace of the pods whose evictions a webhook must allow.
HOOKED = "hooked"
ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


class Nodes(NamedTuple):
    """Names of nodes. first, second: with role=main. The second is in a zone of its own."""

    first: str
    second: str


class Blocker(NamedTuple):
    """Objects that block a drain.

    rules    findings about the pods of the app: {rule: severity}
    broken   the objects that make it
    cured    the objects that replace them; objects of `broken` that are missing here are deleted
    pods     how many pods of the app each rule is about
    cure     what else cures it
    """

    rules: Mapping[str, str]
    broken: tuple[Object, ...]
    cured: tuple[Object, ...] = ()
    pods: int = 1
    cure: Callable[[Namespace], None] = lambda _space: None

    @property
    def app(self) -> str:
        return str(self.broken[0]["metadata"]["name"])


def idle(**spec: Any) -> dict[str, Any]:
    """Fields of a pod that does nothing on the main nodes."""
    container = {**IDLE, **spec.pop("container", {})}
    return {"hostNetwork": True, "nodeSelector": MAIN, "container": container, **spec}


def prefers(labels: Mapping[str, str]) -> Object:
    """The affinity of a pod to nodes with labels, as a wish."""
    expressions = [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]
    terms = [{"weight": 100, "preference": {"matchExpressions": expressions}}]
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}


def _blocks(rule: str) -> dict[str, str]:
    return {f"drain.{rule}": "blocks"}


def _loses(*rules: str) -> dict[str, str]:
    return {f"drain.{rule}": "loses_data" for rule in rules}


def _notice(rule: str) -> dict[str, str]:
    return {f"drain.{rule}": "notice"}


def _pods(rules: Mapping[str, str], name: str, broken: dict[str, Any], cured: dict[str, Any] | None = None, *, pods: int = 1) -> Blocker:
    """A Deployment whose pods are broken in one field."""
    return Blocker(rules, (deployment(name, pods, **idle(**broken)),), (deployment(name, pods, **idle(**(cured or {}))),), pods)


def release(app: str) -> Callable[[Namespace], None]:
    """Remove the finalizers of the pods of an app, as their controller would."""

    def remove(space: Namespace) -> None:
        for one in space.pods(app):
            space.patch("Pod", one["metadata"]["name"], {"metadata": {"finalizers": None}})

    return remove


def budgets() -> list[Blocker]:
    partner = {"metadata": {"labels": {"app": "partner", "tier": "short"}}}
    short = {"metadata": {"labels": {"app": "short", "tier": "short"}}}
    unhealthy = deployment("unhealthy", 2, **idle(container=UNREADY))
    return [
        Blocker(
            _blocks("budget_never_allows"),
            (deployment("never", 1, **idle()), budget("never", minAvailable=1)),
            (deployment("never", 1, **idle()), budget("never", maxUnavailable=1)),
        ),
        Blocker(
            _blocks("budget_exhausted"),
            (
                deployment("short", 1, **short, **idle()),
                deployment("partner", 1, **partner, **idle(container=UNREADY)),
                budget("short", selector={"matchLabels": {"tier": "short"}}, minAvailable=1),
            ),
            (
                deployment("short", 1, **short, **idle()),
                deployment("partner", 1, **partner, **idle()),
                budget("short", selector={"matchLabels": {"tier": "short"}}, minAvailable=1),
            ),
        ),
        Blocker(
            _blocks("unhealthy_pod"),
            (unhealthy, budget("unhealthy", minAvailable=1)),
            (unhealthy, budget("unhealthy", minAvailable=1, unhealthyPodEvictionPolicy="AlwaysAllow")),
            pods=2,
        ),
        Blocker(
            _blocks("several_budgets"),
            (deployment("several", 2, **idle()), budget("several", maxUnavailable=1), budget("several-too", "several", maxUnavailable=1)),
            (deployment("several", 2, **idle()), budget("several", maxUnavailable=1)),
            pods=2,
        ),
    ]


def pods() -> list[Blocker]:
    annotations = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"}
    labels = {"labels": {"app": "careful"}}
    finalizer = deployment("finalizer", 1, metadata={"labels": {"app": "finalizer"}, "finalizers": [HOLD]}, **idle())
    return [
        Blocker(_blocks("unmanaged_pod"), (pod("unmanaged", **idle()),)),
        _pods(_blocks("tolerates_every_taint"), "tolerant", {"tolerations": [{"operator": "Exists"}]}),
        _pods(_blocks("empty_dir"), "scratch", {"volumes": [{"name": "scratch", "emptyDir": {}}]}),
        _pods(_blocks("long_grace_period"), "slow", {"terminationGracePeriodSeconds": 1800}),
        _pods(_loses("host_path"), "files", {"volumes": [{"name": "files", "hostPath": {"path": "/opt"}}]}),
        Blocker(
            _loses("not_safe_to_evict", "do_not_disrupt"),
            (deployment("careful", 1, metadata={**labels, "annotations": annotations}, **idle()),),
            (deployment("careful", 1, metadata=labels, **idle()),),
        ),
        Blocker(_loses("job_pod"), (job("working", **idle()),)),
        Blocker(_notice("daemon_set_pod"), (daemon_set("everywhere", **idle()),), pods=2),
        Blocker(_notice("completed_pod"), (pod("completed", restartPolicy="Never", **idle(container={"command": ["/pod", "wait", "0"]})),)),
        Blocker(_notice("finalizer"), (finalizer,), (finalizer,), cure=release("finalizer")),
    ]


def places(nodes: Nodes) -> list[Blocker]:
    """Pods that no other node takes."""
    spread = {
        "maxSkew": 1, "topologyKey": HOSTNAME, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "spread"}},
    }  # fmt: skip
    local = volume("local", {"local": {"path": "/opt"}}, HOSTNAME, nodes.first)
    zonal = volume("zonal", {"csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-00000000000000001"}}, ZONE, "eu-central-1b")
    port = {"ports": [{"containerPort": 18080, "hostPort": 18080}]}
    here = {"nodeSelector": {HOSTNAME: nodes.first}}
    return [
        _pods(_blocks("no_room"), "large", {"container": {"resources": {"requests": {"cpu": "1"}}}}, pods=2),
        _pods(_blocks("no_matching_node"), "picky", here),
        # While one of its pods is left, its anti-affinity keeps new ones away, so it is deleted.
        Blocker(_blocks("anti_affinity"), (deployment("apart", 2, **idle(**affinity_to("apart", "podAntiAffinity"))),), pods=2),
        _pods(_blocks("pod_affinity"), "near", affinity_to("picky", "podAffinity")),
        _pods(_blocks("topology_spread"), "spread", {"topologySpreadConstraints": [spread]}, pods=2),
        _pods(_blocks("host_port"), "port", {"container": port}, pods=2),
        _with_volume("local_volume", "local", local),
        _with_volume("zonal_volume", "zonal", zonal),
    ]


def _with_volume(rule: str, name: str, made: Object) -> Blocker:
    spec = idle(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": name}}])
    return Blocker(_blocks(rule), (deployment(name, 1, **spec), volume_claim(name), made))


def webhook(namespace: str = HOOKED) -> Object:
    """A webhook that must allow evictions in a namespace, and whose service has no endpoint."""
    hook = {
        "name": "evictions.example.com",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 1,
        "clientConfig": {"service": {"namespace": namespace, "name": "hook"}},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/eviction"]}],
    }
    kind = "ValidatingWebhookConfiguration"
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "evictions"}, "webhooks": [hook]}


def guarded_by_webhook() -> tuple[Object, ...]:
    """The objects of its namespace."""
    return service("hook"), deployment("guarded", 1, **idle())
