# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every rule of the report on drains: an example that has it, and the fix after which it is gone."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import rules
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.finding import (
    BLOCKS,
    LOSES_DATA,
    NOTICE,
    Question,
    Scope,
    Settings,
    Subnet,
)
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.report import report
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.workloads import snapshot
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.drain.api_objects import (
    NODES,
    NOW,
    Object,
    Objects,
    budget,
    exhausted,
    lists,
    node,
    pod,
    scope,
)

GOOD = Settings(now=NOW)
EVERY_TAINT = [{"operator": "Exists"}]
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
WEB = {"matchLabels": {"app": "web"}}
NOT_READY = [{"type": "Ready", "status": "False"}]
DAEMON = {"metadata__namespace": "kube-system", "spec__tolerations": EVERY_TAINT}


@dataclass
class Example:
    """rule, severity, and pod (or node) of the finding. bad and cured: the cluster before and after the fix."""

    rule: str
    severity: str
    where: str
    bad: dict[str, Any]
    cured: dict[str, Any] | None
    settings: Settings = GOOD
    cured_settings: Settings = GOOD
    more: dict[str, Any] = field(default_factory=dict)


def claim(volume: str) -> list[Object]:
    return [{"metadata": {"namespace": "web", "name": "data"}, "spec": {"volumeName": volume}}]


def volume(key: str, value: str, **spec: Any) -> list[Object]:
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]
    return [{"metadata": {"name": "pv"}, "spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}, **spec}}]


def hook(policy: str = "Fail", **changes: Any) -> list[Object]:
    rule = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods", "pods/eviction"]}
    one = {"name": "check.example.com", "failurePolicy": policy, "rules": [rule]}
    one |= {"clientConfig": {"service": {"namespace": "policy", "name": "check"}}, **changes}
    return [{"metadata": {"name": "check"}, "webhooks": [one]}]


def slices(*nodes: str) -> dict[str, list[Object]]:
    endpoints = [{"nodeName": name, "conditions": {"ready": True}} for name in nodes]
    return {"/apis/discovery.k8s.io/v1/namespaces/policy/endpointslices": [{"endpoints": endpoints}]}


DATA = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
EMPTY_DIR = [{"name": "cache", "emptyDir": {}}]
ANTI = {"podAntiAffinity": {REQUIRED: [{"topologyKey": HOSTNAME, "labelSelector": WEB}]}}
NEAR_CACHE = {"podAffinity": {REQUIRED: [{"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "cache"}}}]}}
SPREAD = [{"topologyKey": HOSTNAME, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": WEB}]
CACHE = {"metadata__labels": {"app": "cache"}}
THREE = (*NODES.values(), node("c"))

EXAMPLES = [
    Example("budget_exhausted", BLOCKS, "web/p", lists(pod("p"), exhausted()), lists(pod("p"), budget())),
    Example(
        "budget_never_allows",
        BLOCKS,
        "web/p",
        lists(pod("p"), exhausted(spec__minAvailable=3, status__desiredHealthy=3, status__currentHealthy=3)),
        lists(pod("p"), budget()),
    ),
    Example("several_budgets", BLOCKS, "web/p", lists(pod("p"), budget("x"), budget("y")), lists(pod("p"), budget("x"))),
    Example(
        "budget_not_processed",
        BLOCKS,
        "web/p",
        lists(pod("p"), budget(metadata__generation=2)),
        lists(pod("p"), budget(metadata__generation=2, status__observedGeneration=2)),
    ),
    Example(
        "budget_invalid",
        BLOCKS,
        "web/p",
        lists(
            pod("p"),
            exhausted(
                status__conditions=[
                    {
                        "type": "DisruptionAllowed",
                        "status": "False",
                        "reason": "SyncFailed",
                        "message": "found no controller ref for pod p",
                    },
                ]
            ),
        ),
        lists(pod("p"), budget()),
    ),
    Example(
        "unhealthy_pod",
        BLOCKS,
        "web/p",
        lists(pod("p", status__conditions=NOT_READY), exhausted(status__currentHealthy=1)),
        lists(pod("p", status__conditions=NOT_READY), exhausted(status__currentHealthy=1, spec__unhealthyPodEvictionPolicy="AlwaysAllow")),
    ),
    Example(
        "eviction_refused",
        BLOCKS,
        "web/p",
        lists(pod("p"), budget()),
        None,
        more={"answers": {Question("web", ("web",), True): "403: denied by check"}},
    ),
    Example("unmanaged_pod", BLOCKS, "web/p", lists(pod("p", owner=None)), lists(pod("p"))),
    Example(
        "unmanaged_pod",
        LOSES_DATA,
        "web/p",
        lists(pod("p", owner=None)),
        None,
        Settings(delete_unmanaged_pods=True),
    ),
    Example(
        "unmanaged_pod",
        BLOCKS,
        "kube-system/p",
        lists(pod("p", owner="DaemonSet/gone", **DAEMON)),
        lists(pod("p", owner="DaemonSet/aws-node", **DAEMON)),
    ),
    Example(
        "tolerates_every_taint",
        BLOCKS,
        "web/p",
        lists(pod("p", spec__tolerations=EVERY_TAINT)),
        lists(
            pod(
                "p",
                spec__tolerations=[
                    {"operator": "Exists", "effect": "NoExecute"},
                    {"key": "dedicated", "operator": "Exists"},
                ],
            )
        ),
    ),
    Example("daemon_set_pod", NOTICE, "kube-system/p", lists(pod("p", owner="DaemonSet/aws-node", **DAEMON)), None),
    Example(
        "static_pod", NOTICE, "web/p", lists(pod("p", owner="Node/a", metadata__annotations={"kubernetes.io/config.mirror": "x"})), None
    ),
    Example("completed_pod", NOTICE, "web/p", lists(pod("p", owner=None, status__phase="Succeeded", spec__volumes=EMPTY_DIR)), None),
    Example("empty_dir", BLOCKS, "web/p", lists(pod("p", spec__volumes=EMPTY_DIR)), lists(pod("p"))),
    Example("empty_dir", LOSES_DATA, "web/p", lists(pod("p", spec__volumes=EMPTY_DIR)), None, Settings(delete_emptydir_data=True)),
    Example(
        "host_path", LOSES_DATA, "web/p", lists(pod("p", spec__volumes=[{"name": "x", "hostPath": {"path": "/data"}}])), lists(pod("p"))
    ),
    Example(
        "not_safe_to_evict",
        LOSES_DATA,
        "web/p",
        lists(pod("p", metadata__annotations={"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"})),
        lists(pod("p", metadata__annotations={"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"})),
    ),
    Example(
        "do_not_disrupt",
        LOSES_DATA,
        "web/p",
        lists(pod("p", metadata__annotations={"karpenter.sh/do-not-disrupt": "true"})),
        lists(pod("p")),
    ),
    Example(
        "job_pod", LOSES_DATA, "web/p", lists(pod("p", owner="Job/report")), lists(pod("p", owner="Job/report", status__phase="Succeeded"))
    ),
    Example(
        "long_grace_period",
        BLOCKS,
        "web/p",
        lists(pod("p", spec__terminationGracePeriodSeconds=3600)),
        lists(pod("p", spec__terminationGracePeriodSeconds=3600)),
        GOOD,
        Settings(timeout=3601, now=NOW),
    ),
    Example(
        "finalizer",
        NOTICE,
        "web/p",
        lists(pod("p", metadata__finalizers=["example.com/keep"])),
        lists(
            pod("p", metadata__finalizers=["batch.kubernetes.io/job-tracking"]),
        ),
    ),
    Example(
        "stuck_terminating",
        BLOCKS,
        "web/p",
        lists(pod("p", metadata__deletionTimestamp="2027-01-15T07:00:00Z")),
        lists(pod("p", metadata__deletionTimestamp="2027-01-15T08:00:20Z")),
    ),
    Example(
        "no_matching_node",
        BLOCKS,
        "web/p",
        lists(pod("p", spec__nodeSelector={"disk": "ssd"})),
        lists(
            pod("p", spec__nodeSelector={"disk": "ssd"}),
            nodes=(NODES["a"], node("b", metadata__labels={"disk": "ssd"})),
        ),
    ),
    Example(
        "no_matching_node",
        BLOCKS,
        "web/p",
        lists(pod("p"), nodes=(NODES["a"], node("b", spec__taints=[{"key": "dedicated", "effect": "NoSchedule"}]))),
        lists(pod("p")),
    ),
    Example("no_matching_node", BLOCKS, "web/p", lists(pod("p"), nodes=(NODES["a"], node("b", spec__unschedulable=True))), lists(pod("p"))),
    Example(
        "no_room",
        BLOCKS,
        "web/p",
        lists(pod("p"), pod("big", "b", spec__containers=[{"resources": {"requests": {"cpu": "1600m"}}}])),
        lists(
            pod("p"),
            pod("big", "b", spec__containers=[{"resources": {"requests": {"cpu": "1500m"}}}]),
        ),
    ),
    Example(
        "no_room",
        BLOCKS,
        "web/p",
        lists(pod("p"), nodes=(NODES["a"], node("b", status__allocatable={"cpu": "2", "memory": "4Gi", "pods": "0"}))),
        lists(
            pod("p"),
        ),
    ),
    Example(
        "no_matching_node",
        BLOCKS,
        "web/p",
        lists(pod("p"), nodes=(NODES["a"],)),
        lists(pod("p"), nodes=(NODES["a"],)),
        GOOD,
        Settings(has_surge=True, now=NOW),
    ),
    Example(
        "needs_autoscaler",
        NOTICE,
        "web/p",
        lists(
            pod("p"),
            pod("big", "b", metadata__labels={"app": "karpenter"}, spec__containers=[{"resources": {"requests": {"cpu": "1600m"}}}]),
        ),
        lists(pod("p")),
    ),
    Example(
        "anti_affinity",
        BLOCKS,
        "web/p",
        lists(pod("p", spec__affinity=ANTI), pod("q", "b", spec__affinity=ANTI)),
        lists(
            pod("p", spec__affinity=ANTI),
            pod("q", "b", spec__affinity=ANTI),
            nodes=THREE,
        ),
    ),
    # The anti-affinity of a pod that runs there already.
    Example(
        "anti_affinity",
        BLOCKS,
        "web/p",
        lists(pod("p"), pod("q", "b", spec__affinity=ANTI)),
        lists(
            pod("p"),
            pod("q", "b", spec__affinity=ANTI),
            nodes=THREE,
        ),
    ),
    Example(
        "pod_affinity",
        BLOCKS,
        "web/p",
        lists(pod("p", spec__affinity=NEAR_CACHE), pod("q", "a", owner=None, **CACHE)),
        lists(
            pod("p", spec__affinity=NEAR_CACHE),
            pod("q", "b", **CACHE),
        ),
    ),
    Example(
        "topology_spread",
        BLOCKS,
        "web/p",
        lists(
            pod("p", spec__topologySpreadConstraints=SPREAD),
            pod("q", "b", spec__topologySpreadConstraints=SPREAD),
        ),
        lists(
            pod("p", spec__topologySpreadConstraints=[SPREAD[0] | {"nodeTaintsPolicy": "Honor"}]),
            pod("q", "b"),
        ),
    ),
    Example(
        "zonal_volume",
        BLOCKS,
        "web/p",
        lists(pod("p", spec__volumes=DATA), CLAIMS=claim("pv"), VOLUMES=volume(ZONE, "eu-west-1b")),
        lists(pod("p", spec__volumes=DATA), CLAIMS=claim("pv"), VOLUMES=volume(ZONE, "eu-west-1a")),
    ),
    Example(
        "local_volume",
        BLOCKS,
        "web/p",
        lists(pod("p", spec__volumes=DATA), CLAIMS=claim("pv"), VOLUMES=volume(HOSTNAME, "a", local={"path": "/x"})),
        lists(pod("p", spec__volumes=DATA), CLAIMS=claim("")),
    ),
    Example(
        "host_port",
        BLOCKS,
        "web/p",
        lists(
            pod("p", spec__containers=[{"ports": [{"hostPort": 80}]}]),
            pod("q", "b", spec__containers=[{"ports": [{"hostPort": 80}]}]),
        ),
        lists(
            pod("p", spec__containers=[{"ports": [{"hostPort": 80}]}]),
            pod("q", "b", spec__containers=[{"ports": [{"hostPort": 80, "protocol": "UDP"}]}]),
        ),
    ),
    Example("node_not_ready", BLOCKS, "a", lists(pod("p"), nodes=(node("a", status__conditions=NOT_READY), NODES["b"])), lists(pod("p"))),
    Example("node_not_ready", NOTICE, "a", lists(nodes=(node("a", status__conditions=NOT_READY), NODES["b"])), lists()),
    Example("already_cordoned", NOTICE, "a", lists(nodes=(node("a", spec__unschedulable=True),)), lists()),
    Example(
        "kubelet_too_old",
        BLOCKS,
        "a",
        lists(nodes=(node("a", status__nodeInfo={"kubeletVersion": "v1.32.9"}),)),
        lists(
            nodes=(node("a", status__nodeInfo={"kubeletVersion": "v1.33.0"}),),
        ),
    ),
    Example("kubelet_too_new", BLOCKS, "a", lists(nodes=(node("a", status__nodeInfo={"kubeletVersion": "v1.37.0"}),)), lists()),
    Example(
        "kubelet_too_old",
        NOTICE,
        "a",
        lists(nodes=(node("a", status__nodeInfo={"kubeletVersion": "v1.32.9"}),)),
        lists(nodes=(node("a", status__nodeInfo={"kubeletVersion": "v1.33.0"}),)),
        Settings(target_version="1.33"),
        Settings(target_version="1.33"),
    ),
    Example(
        "kubelet_too_new",
        NOTICE,
        "a",
        lists(nodes=(node("a", status__nodeInfo={"kubeletVersion": "v1.37.0"}),)),
        lists(),
        Settings(target_version="1.36"),
        Settings(target_version="1.36"),
    ),
    Example("kubelet_too_new", BLOCKS, "", lists(), lists(), Settings(target_version="1.37"), Settings(target_version="1.36")),
    Example("kubelet_too_old", BLOCKS, "", lists(), lists(), Settings(target_version="1.32"), Settings(target_version="1.33")),
    Example(
        "webhook_unavailable", BLOCKS, "", lists(pod("p"), VALIDATING=hook()) | slices(), lists(pod("p"), VALIDATING=hook()) | slices("b")
    ),
    Example(
        "webhook_unavailable",
        BLOCKS,
        "",
        lists(pod("p"), MUTATING=hook()) | slices(),
        lists(pod("p"), MUTATING=hook(namespaceSelector={"matchLabels": {"checked": "yes"}})) | slices(),
    ),
    Example(
        "webhook_ignored",
        NOTICE,
        "",
        lists(pod("p"), MUTATING=hook("Ignore")) | slices(),
        lists(pod("p"), MUTATING=hook("Ignore")) | slices("b"),
    ),
    Example(
        "webhook_on_node",
        NOTICE,
        "a",
        lists(pod("p"), VALIDATING=hook()) | slices("a", "a"),
        lists(pod("p"), VALIDATING=hook()) | slices("a", "b"),
    ),
    Example("subnet_exhausted", BLOCKS, "a", lists(), None, more={"subnets": (Subnet("subnet-1", 0, ("a",)),)}),
    Example("subnet_exhausted", NOTICE, "", lists(), None, more={"subnets": (Subnet("subnet-2", 0, ()),)}),
    Example("subnet_nearly_exhausted", NOTICE, "a", lists(), None, more={"subnets": (Subnet("subnet-1", 3, ("a",)),)}),
    Example("not_checked", NOTICE, "", lists(pod("p"), DAEMON_SETS="the identity may not list daemonsets"), lists(pod("p"))),
]


def found(example: Example, made: Scope) -> list[tuple[str, str]]:
    rule = f"drain.{example.rule}"
    return [(one.severity, one.pod or one.node) for one in report(made).findings if one.id == rule]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example.rule}-{example.severity}")
def test_a_rule_and_its_fix(example: Example, golden_message: Callable[..., None]) -> None:
    made = scope(example.bad, settings=example.settings, **example.more)
    assert found(example, made) == [(example.severity, example.where)]
    finding = next(one for one in report(made).findings if one.id == f"drain.{example.rule}")
    golden_message(f"{finding.pod or finding.node or 'cluster'}: {finding.reason}; fix: {finding.fix} [{finding.id}]")
    if example.cured is not None:
        assert found(example, scope(example.cured, settings=example.cured_settings)) == []


def test_every_rule_has_an_example() -> None:
    catalogue = {rule.removeprefix("drain.") for rule in rules.catalogue() if rule.startswith("drain.")}
    assert catalogue == {example.rule for example in EXAMPLES}


def test_a_healthy_workload_has_no_finding() -> None:
    made = scope(lists(*(pod(name, on) for name, on in zip("pqr", "aab", strict=True)), budget()))
    assert report(made).findings == ()


def test_only_blocks_stop_the_drain() -> None:
    for example in EXAMPLES:
        shown = report(scope(example.bad, settings=example.settings, **example.more))
        assert shown.is_blocked == any(one.severity == BLOCKS for one in shown.findings)


def test_findings_are_in_the_order_of_severity_and_of_the_drain() -> None:
    made = scope(lists(pod("p", "b", owner=None), pod("q", "a", owner=None), pod("r", "a", owner="Job/x")), "b", "a")
    shown = [(one.severity, one.node) for one in report(made).findings if one.id in ("drain.unmanaged_pod", "drain.job_pod")]
    assert shown == [(BLOCKS, "b"), (BLOCKS, "a"), (LOSES_DATA, "a")]


def test_pods_that_are_removed_together_need_room_together() -> None:
    made = scope(lists(*(pod(f"p{number}") for number in range(5)), nodes=NODES.values()))
    assert [one.pod for one in report(made).findings if one.id == "drain.no_room"] == ["web/p4"]


@pytest.mark.parametrize("hostname_pinned", [False, True])
def test_surge_helps_unless_the_pod_wants_this_very_node(hostname_pinned: bool) -> None:
    selector = {"spec__nodeSelector": {HOSTNAME: "a"}} if hostname_pinned else {}
    made = scope(lists(pod("p", **selector), nodes=(NODES["a"],)), settings=Settings(has_surge=True))
    assert [one.id for one in report(made).findings if one.severity == BLOCKS] == (["drain.no_matching_node"] if hostname_pinned else [])


def test_two_pods_can_fit_with_surge_only_if_the_new_node_has_room_for_both() -> None:
    pods = [pod(name, spec__containers=[{"resources": {"requests": {"cpu": cpu}}}]) for name, cpu in (("p", "1"), ("q", "900m"))]
    daemon = pod("d", owner="DaemonSet/aws-node", **DAEMON, spec__containers=[{"resources": {"requests": {"cpu": "200m"}}}])
    settings = Settings(has_surge=True)
    for extra, expected in (([], []), ([daemon], ["web/q"])):
        made = scope(lists(*pods, *extra, nodes=(NODES["a"],)), settings=settings)
        assert [one.pod for one in report(made).findings if one.id == "drain.no_room"] == expected


def test_input_is_read_with_a_fixed_number_of_lists() -> None:
    few, many = (lists(*(pod(f"p{number}") for number in range(count))) for count in (1, 300))
    asked = []
    for found_lists in (few, many):
        source = Objects(found_lists)
        snapshot.read_cluster(source)
        asked.append(source.asked)
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    ("ready", "policy", "healthy"), list(itertools.product([True, False], ["AlwaysAllow", "IfHealthyBudget"], range(4)))
)
def test_the_unhealthy_pod_eviction_policy(ready: bool, policy: str, healthy: int) -> None:
    """The table of the documentation of Kubernetes: a pod that is not ready may go if the policy says so, or if the rest is healthy."""
    conditions = [{"type": "Ready", "status": str(ready)}]
    changes = {
        "spec__unhealthyPodEvictionPolicy": policy,
        "status__currentHealthy": healthy,
        "status__disruptionsAllowed": max(0, healthy - 2),
    }
    made = scope(lists(pod("p", status__conditions=conditions), budget(**changes)))
    may_go = healthy > 2 or (not ready and (policy == "AlwaysAllow" or healthy >= 2))
    assert [one.id for one in report(made).findings] == ([] if may_go else ["drain.budget_exhausted" if ready else "drain.unhealthy_pod"])


@pytest.mark.parametrize(
    "objects",
    [
        lists(pod("p", status__phase="Pending", status__conditions=NOT_READY), exhausted()),
        lists(pod("p"), nodes=(NODES["a"], node("b", spec__taints=[{"key": "busy", "effect": "PreferNoSchedule"}]))),
        # The first pod of its kind.
        lists(pod("p", spec__affinity={"podAffinity": {REQUIRED: [{"topologyKey": HOSTNAME, "labelSelector": WEB}]}})),
        lists(pod("p"), VALIDATING=hook()) | slices("b"),
        lists(pod("p", spec__affinity={"podAntiAffinity": {REQUIRED: ANTI["podAntiAffinity"][REQUIRED]}}), pod("q", "b", **CACHE)),
        lists(pod("p", spec__tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoExecute"}])),
        lists(pod("p", spec__volumes=DATA), CLAIMS=claim("pv"), VOLUMES=[{"metadata": {"name": "pv"}, "spec": {}}]),
        lists(pod("p", metadata__deletionTimestamp="2027-01-15T08:00:20Z", spec__volumes=EMPTY_DIR), exhausted()),
    ],
)
def test_near_misses(objects: dict[str, Any]) -> None:
    assert report(scope(objects)).findings == ()
