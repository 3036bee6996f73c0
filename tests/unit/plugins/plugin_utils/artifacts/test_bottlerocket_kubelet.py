# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubelet configuration and flags as Bottlerocket settings: what each becomes, and what has none."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts.bottlerocket_kubelet import kubelet_settings
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts.settings_tree import collect, nested
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths

CLUSTER = {"kubernetes_version": "1.33"}


def config(**fields: Any) -> dict[str, Any]:
    return {"kubelet": {"config": fields}}


def kubernetes(**fields: Any) -> dict[str, Any]:
    """What stands below settings.kubernetes."""
    spec, _unused = resolve(CLUSTER, {"family": "bottlerocket", "mode": "managed", **fields})
    problems = Problems()
    tree = nested(collect(kubelet_settings(spec, problems), problems))
    assert not list(problems)
    assert set(tree) <= {"kubernetes"}
    return tree.get("kubernetes", {})


ROWS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("evictionHard", config(evictionHard={"memory.available": "5%"}), {"eviction-hard": {"memory.available": "5%"}}),
    (
        "evictionSoft with its grace period",
        config(evictionSoft={"memory.available": "1Gi"}, evictionSoftGracePeriod={"memory.available": "90s"}, evictionMaxPodGracePeriod=30),
        {
            "eviction-soft": {"memory.available": "1Gi"},
            "eviction-soft-grace-period": {"memory.available": "90s"},
            "eviction-max-pod-grace-period": 30,
        },
    ),
    ("allowedUnsafeSysctls", config(allowedUnsafeSysctls=["net.core.somaxconn"]), {"allowed-unsafe-sysctls": ["net.core.somaxconn"]}),
    ("clusterDomain", config(clusterDomain="example.local"), {"cluster-domain": "example.local"}),
    (
        "container logs",
        config(containerLogMaxSize="50Mi", containerLogMaxFiles=3, containerLogMaxWorkers=2, containerLogMonitorInterval="10s"),
        {
            "container-log-max-size": "50Mi",
            "container-log-max-files": 3,
            "container-log-max-workers": 2,
            "container-log-monitor-interval": "10s",
        },
    ),
    (
        "CPU manager: options are the list of the options that are on",
        config(
            cpuManagerPolicy="static",
            cpuManagerReconcilePeriod="10s",
            cpuManagerPolicyOptions={"full-pcpus-only": "true", "strict-cpu-reservation": "false"},
        ),
        {"cpu-manager-policy": "static", "cpu-manager-reconcile-period": "10s", "cpu-manager-policy-options": ["full-pcpus-only"]},
    ),
    ("cpuCFSQuota", config(cpuCFSQuota=False), {"cpu-cfs-quota-enforced": False}),
    (
        "topology manager",
        config(
            topologyManagerPolicy="single-numa-node",
            topologyManagerScope="pod",
            topologyManagerPolicyOptions={"prefer-closest-numa-nodes": "true"},
        ),
        {
            "topology-manager-policy": "single-numa-node",
            "topology-manager-scope": "pod",
            "topology-manager-policy-options": {"prefer-closest-numa-nodes": True},
        },
    ),
    (
        "memory manager: a list by NUMA node becomes a table",
        config(memoryManagerPolicy="Static", reservedMemory=[{"numaNode": 1, "limits": {"memory": "1Gi"}}]),
        {"memory-manager-policy": "Static", "memory-manager-reserved-memory": {"1": {"enabled": True, "memory": "1Gi"}}},
    ),
    (
        "image garbage collection",
        config(imageGCHighThresholdPercent=80, imageGCLowThresholdPercent=70, imageMinimumGCAge="2m", imageMaximumGCAge="48h"),
        {
            "image-gc-high-threshold-percent": 80,
            "image-gc-low-threshold-percent": 70,
            "image-minimum-gc-age": "2m",
            "image-maximum-gc-age": "48h",
        },
    ),
    (
        "rates",
        config(registryPullQPS=10, registryBurst=20, eventRecordQPS=5, eventBurst=6, kubeAPIQPS=7, kubeAPIBurst=8, maxParallelImagePulls=4),
        {
            "registry-qps": 10,
            "registry-burst": 20,
            "event-qps": 5,
            "event-burst": 6,
            "kube-api-qps": 7,
            "kube-api-burst": 8,
            "max-parallel-image-pulls": 4,
        },
    ),
    (
        "shutdown",
        config(shutdownGracePeriod="1m", shutdownGracePeriodCriticalPods="10s"),
        {"shutdown-grace-period": "1m", "shutdown-grace-period-for-critical-pods": "10s"},
    ),
    (
        "the other fields that have a setting",
        config(
            podPidsLimit=1024,
            reservedSystemCPUs="0-1",
            seccompDefault=True,
            serverTLSBootstrap=True,
            singleProcessOOMKill=True,
            providerID="aws:///x",
            logging={"verbosity": 3},
            userNamespaces={"idsPerPod": 65536},
        ),
        {
            "pod-pids-limit": 1024,
            "reserved-cpus": "0-1",
            "seccomp-default": True,
            "server-tls-bootstrap": True,
            "single-process-oom-kill": True,
            "provider-id": "aws:///x",
            "log-level": 3,
            "ids-per-pod": 65536,
        },
    ),
    ("a null field says nothing", config(podPidsLimit=None), {}),
    (
        "flags that a setting can express",
        {
            "kubelet": {
                "flags": {
                    "v": 5,
                    "eviction-hard": "memory.available<5%,nodefs.available<10%",
                    "pod-max-pids": "99",
                    "cpu-cfs-quota": False,
                    "allowed-unsafe-sysctls": ["a.b", "c.d"],
                    "node-ip": "10.0.0.4",
                }
            }
        },
        {
            "log-level": 5,
            "eviction-hard": {"memory.available": "5%", "nodefs.available": "10%"},
            "pod-pids-limit": 99,
            "cpu-cfs-quota-enforced": False,
            "allowed-unsafe-sysctls": ["a.b", "c.d"],
            "node-ip": "10.0.0.4",
        },
    ),
]


@pytest.mark.parametrize(("fields", "expected"), [pytest.param(*row[1:], id=row[0]) for row in ROWS])
def test_settings(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    assert kubernetes(**fields) == expected


REFUSED_ROWS: list[tuple[str, dict[str, Any], str]] = [
    (
        "a field without a setting",
        config(serializeImagePulls=False),
        "bottlerocket.no_setting node_group.kubelet.config.serializeImagePulls",
    ),
    ("a field with another way", config(staticPodPath="/x"), "bottlerocket.no_setting node_group.kubelet.config.staticPodPath"),
    ("a part without a setting", config(logging={"format": "json"}), "bottlerocket.no_setting node_group.kubelet.config.logging.format"),
    (
        "an option that is not on or off",
        config(cpuManagerPolicyOptions={"full-pcpus-only": "yes"}),
        "bottlerocket.invalid_switch node_group.kubelet.config.cpuManagerPolicyOptions.full-pcpus-only",
    ),
    (
        "a duration that kubelet reads and Bottlerocket does not",
        config(imageMinimumGCAge="100us"),
        "bottlerocket.invalid_value node_group.kubelet.config.imageMinimumGCAge",
    ),
    (
        "a signal that Bottlerocket lacks",
        config(evictionHard={"containerfs.available": "5%"}),
        'bottlerocket.unknown_setting node_group.kubelet.config.evictionHard["containerfs.available"]',
    ),
    (
        "a flag without a setting",
        {"kubelet": {"flags": {"sync-frequency": "1m"}}},
        "bottlerocket.no_setting node_group.kubelet.flags.sync-frequency",
    ),
    (
        "a flag with another way",
        {"kubelet": {"flags": {"resolv-conf": "/x"}}},
        "bottlerocket.no_setting node_group.kubelet.flags.resolv-conf",
    ),
    (
        "a flag and its field",
        {"kubelet": {"config": {"podPidsLimit": 1}, "flags": {"pod-max-pids": 2}}},
        "input.conflict node_group.kubelet.flags.pod-max-pids",
    ),
]


@pytest.mark.parametrize(("fields", "problem"), [pytest.param(*row[1:], id=row[0]) for row in REFUSED_ROWS])
def test_refused(fields: dict[str, Any], problem: str, golden_message: GoldenMessages) -> None:
    error = error_of(kubernetes, **fields)
    assert problem in rules_and_paths(error)
    golden_message(error)
