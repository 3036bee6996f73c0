# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configurations that kubelet refuses, each beside one that it takes: at least one pair for each row of the table of rules.

The unit tests compare them with the table, the oracle with kubelet's own code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """rule and path: of the one problem that C(refused) has; path is below kubelet.config.

    accepted: the neighbour that kubelet takes. stage: where kubelet refuses, as the oracle names it.
    """

    rule: str
    path: str
    refused: Mapping[str, Any]
    accepted: Mapping[str, Any]
    minor: int = 36
    family: str = "al2023"
    flags: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"1.{self.minor} {self.family} {self.rule.partition('.')[2]} {self.path} {self.refused}"[:90]


_I, _R, _V, _U, _G = (
    f"kubelet.{name}" for name in ("inconsistent_fields", "out_of_range", "invalid_value", "unknown_value", "missing_feature_gate")
)
_MEMORY = "memory.available"
_QOS = {"cgroupsPerQOS": False}
_NO_SHUTDOWN = dict.fromkeys(("GracefulNodeShutdown", "GracefulNodeShutdownBasedOnPodPriority", "WindowsGracefulNodeShutdown"), False)
_SWAP = {"featureGates": {"NodeSwap": True}}


def _vmodule(pattern: str, level: int = 2) -> dict[str, Any]:
    return {"logging": {"vmodule": [{"filePattern": pattern, "verbosity": level}]}}


def _reserve(*items: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    return {"reservedMemory": [{"numaNode": node, "limits": limits} for node, limits in items]}


ROWS = (
    # Ranges.
    Row(_R, "cpuCFSQuotaPeriod", {"featureGates": {"CustomCPUCFSQuotaPeriod": True}, "cpuCFSQuotaPeriod": "1001ms"},
        {"featureGates": {"CustomCPUCFSQuotaPeriod": True}, "cpuCFSQuotaPeriod": "1s"}),
    Row(_R, "cpuCFSQuotaPeriod", {"featureGates": {"CustomCPUCFSQuotaPeriod": True}, "cpuCFSQuotaPeriod": "999us"},
        {"featureGates": {"CustomCPUCFSQuotaPeriod": True}, "cpuCFSQuotaPeriod": "1ms"}, minor=30),
    Row(_G, "cpuCFSQuotaPeriod", {"cpuCFSQuotaPeriod": "99ms"}, {"cpuCFSQuotaPeriod": "100ms"}, minor=30),
    Row(_G, "cpuCFSQuotaPeriod", {"cpuCFSQuotaPeriod": "99ms", "featureGates": {"CustomCPUCFSQuotaPeriod": False}},
        {"cpuCFSQuotaPeriod": "100ms", "featureGates": {"CustomCPUCFSQuotaPeriod": False}}),
    Row(_R, "imageMinimumGCAge", {"imageMinimumGCAge": "-1s"}, {"imageMinimumGCAge": "0s"}),
    Row(_R, "imageMaximumGCAge", {"imageMaximumGCAge": "-1s"}, {"imageMaximumGCAge": "0s"}, minor=30),
    Row(_R, "containerLogMonitorInterval", {"containerLogMonitorInterval": "2.9s"}, {"containerLogMonitorInterval": "3s"}),
    Row(_R, "nodeLeaseDurationSeconds", {"nodeLeaseDurationSeconds": 0}, {"nodeLeaseDurationSeconds": 1}, minor=30),
    Row(_R, "shutdownGracePeriod", {"shutdownGracePeriod": "999ms"}, {"shutdownGracePeriod": "1s"}, minor=30),
    Row(_R, "shutdownGracePeriodCriticalPods", {"shutdownGracePeriodCriticalPods": "-1s"}, {"shutdownGracePeriodCriticalPods": "0s"}),
    Row(_R, "crashLoopBackOff.maxContainerRestartPeriod", {"crashLoopBackOff": {"maxContainerRestartPeriod": "301s"}},
        {"crashLoopBackOff": {"maxContainerRestartPeriod": "300s"}}),
    Row(_R, "crashLoopBackOff.maxContainerRestartPeriod", {"crashLoopBackOff": {"maxContainerRestartPeriod": "999ms"}},
        {"crashLoopBackOff": {"maxContainerRestartPeriod": "1s"}}),
    Row(_R, "memoryThrottlingFactor", {"memoryThrottlingFactor": 1.01}, {"memoryThrottlingFactor": 1}),
    Row(_R, "memoryThrottlingFactor", {"memoryThrottlingFactor": 0.0}, {"memoryThrottlingFactor": 0.1}, minor=30),
    Row(_R, "userNamespaces.idsPerPod", {"userNamespaces": {"idsPerPod": 65537}}, {"userNamespaces": {"idsPerPod": 131072}}),
    Row(_R, "userNamespaces.idsPerPod", {"userNamespaces": {"idsPerPod": 2**32}}, {"userNamespaces": {"idsPerPod": 2**32 - 65536}}),
    Row(_R, "userNamespaces.idsPerPod", {"userNamespaces": {"idsPerPod": 32768}}, {"userNamespaces": {"idsPerPod": 65536}}),
    Row(_R, "logging.verbosity", {"logging": {"verbosity": 2**31}}, {"logging": {"verbosity": 2**31 - 1}}),
    Row(_R, "logging.vmodule[0].verbosity", _vmodule("a", 2**31), _vmodule("a", 2**31 - 1), minor=30),
    Row(_R, "logging.flushFrequency", {"logging": {"flushFrequency": "-1s"}}, {"logging": {"flushFrequency": "1s"}}),
    Row(_R, "tracing.samplingRatePerMillion", {"tracing": {"samplingRatePerMillion": 1_000_001}},
        {"tracing": {"samplingRatePerMillion": 1_000_000}}),
    Row(_R, "tracing.samplingRatePerMillion", {"tracing": {"samplingRatePerMillion": -1}}, {"tracing": {"samplingRatePerMillion": 0}},
        minor=30),
    # Forms.
    Row(_V, "logging.vmodule[0].filePattern", _vmodule("a,b"), _vmodule("a*")),
    Row(_V, "logging.vmodule[0].filePattern", _vmodule(""), _vmodule("a"), minor=30),
    Row(_V, "tracing.endpoint", {"tracing": {"endpoint": "http://localhost:4317"}}, {"tracing": {"endpoint": "localhost:4317"}}),
    Row(_V, "containerLogMaxSize", {"containerLogMaxSize": "1500m"}, {"containerLogMaxSize": "1500"}),
    Row(_V, "podLogsDir", {"podLogsDir": "/var/log/pods/"}, {"podLogsDir": "/var/log/my-pods"}),
    Row(_V, "podLogsDir", {"podLogsDir": "/var/log/p\u00f6ds"}, {"podLogsDir": "/var/log/p_ds"}),
    Row(_V, "podLogsDir", {"podLogsDir": ""}, {"podLogsDir": "/var/log"}, minor=30),
    Row(_V, "podLogsDir", {"podLogsDir": "logs"}, {"podLogsDir": "/logs"}, minor=30),
    Row(_V, "address", {"address": "eth0"}, {"address": "::"}),
    Row(_V, "address", {"address": "0.0.0.0/0"}, {"address": "10.0.0.1"}, minor=30),
    Row(_V, "healthzBindAddress", {"healthzBindAddress": "localhost"}, {"healthzBindAddress": "127.0.0.1"}),
    Row(_V, "cgroupRoot", {"cgroupRoot": "/system.slice"}, {"cgroupRoot": "/system"}),
    Row(_V, "cgroupRoot", {"cgroupRoot": "/a//b"}, {"cgroupRoot": "a/b"}, minor=30),
    Row(_V, "reservedSystemCPUs", {"reservedSystemCPUs": "0-", "systemReservedCgroup": "", "kubeReservedCgroup": ""},
        {"reservedSystemCPUs": "0-1", "systemReservedCgroup": "", "kubeReservedCgroup": ""}),
    Row(_V, "allowedUnsafeSysctls[0]", {"allowedUnsafeSysctls": ["Net.core"]}, {"allowedUnsafeSysctls": ["net.core.*", "kernel.shm*"]}),
    Row(_V, "allowedUnsafeSysctls[0]", {"allowedUnsafeSysctls": ["vm.swappiness"]}, {"allowedUnsafeSysctls": ["kernel.sem"]}, minor=30),
    Row(_V, "preloadedImagesVerificationAllowlist[0]",
        {"imagePullCredentialsVerificationPolicy": "NeverVerifyAllowlistedImages", "preloadedImagesVerificationAllowlist": ["a.io/b:1"]},
        {"imagePullCredentialsVerificationPolicy": "NeverVerifyAllowlistedImages", "preloadedImagesVerificationAllowlist": ["a.io/*"]}),
    Row(_V, "containerRuntimeEndpoint", {"containerRuntimeEndpoint": "tcp://127.0.0.1:1"},
        {"containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock"}),
    Row(_V, "containerRuntimeEndpoint", {"containerRuntimeEndpoint": ""},
        {"containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock"}, minor=30),
    Row(_V, "qosReserved.memory", {"qosReserved": {"memory": "101%"}}, {"qosReserved": {"memory": "100%"}}),
    Row(_V, "qosReserved.cpu", {"qosReserved": {"cpu": "10%"}}, {"qosReserved": {"memory": "10%"}}, minor=30),
    Row(_V, f'evictionHard["{_MEMORY}"]', {"evictionHard": {_MEMORY: "0"}}, {"evictionHard": {_MEMORY: "0%"}}),
    Row(_V, f'evictionHard["{_MEMORY}"]', {"evictionHard": {_MEMORY: "101%"}}, {"evictionHard": {_MEMORY: "99%"}}),
    Row(_V, f'evictionHard["{_MEMORY}"]', {"evictionHard": {_MEMORY: "-1%"}}, {"evictionHard": {_MEMORY: "1%"}}),
    Row(_V, f'evictionMinimumReclaim["{_MEMORY}"]', {"evictionMinimumReclaim": {_MEMORY: "0%"}},
        {"evictionMinimumReclaim": {_MEMORY: "0"}}),
    Row(_V, f'evictionMinimumReclaim["{_MEMORY}"]', {"evictionMinimumReclaim": {_MEMORY: "-1"}},
        {"evictionMinimumReclaim": {_MEMORY: "1"}}),
    Row(_V, "qosReserved.memory", {"qosReserved": {"memory": "50"}}, {"qosReserved": {"memory": "50%"}}),
    Row(_V, "qosReserved.memory", {"qosReserved": {"memory": "x%"}}, {"qosReserved": {"memory": "0%"}}),
    Row(_V, f'evictionSoftGracePeriod["{_MEMORY}"]',
        {"evictionSoft": {_MEMORY: "1Gi"}, "evictionSoftGracePeriod": {_MEMORY: "-1s"}},
        {"evictionSoft": {_MEMORY: "1Gi"}, "evictionSoftGracePeriod": {_MEMORY: "0s"}}),
    Row(_V, "reservedMemory[0].limits.cpu", _reserve((0, {"cpu": "1"})), _reserve((0, {"hugepages-2Mi": "1Gi"}))),
    Row(_V, "reservedMemory[0].limits.memory", _reserve((0, {"memory": "0"})), _reserve((0, {"memory": 1})), minor=30),
    Row(_V, "reservedMemory[0].numaNode", _reserve((-1, {"memory": "1Gi"})), _reserve((1, {"memory": "1Gi"}))),
    # Names.
    Row(_U, "tlsCipherSuites[0]", {"tlsCipherSuites": ["TLS_NULL"]}, {"tlsCipherSuites": ["TLS_AES_128_GCM_SHA256"]}),
    Row(_U, "tlsCurvePreferences[1]", {"tlsCurvePreferences": [29, 29]}, {"tlsCurvePreferences": [29, 4588]}),
    Row(_U, "memorySwap.swapBehavior", {**_SWAP, "memorySwap": {"swapBehavior": "UnlimitedSwap"}},
        {**_SWAP, "memorySwap": {"swapBehavior": "NoSwap"}}, minor=30),
    Row(_U, "showHiddenMetricsForVersion", {"showHiddenMetricsForVersion": "1.34"}, {"showHiddenMetricsForVersion": "1.35"}),
    Row(_U, "runOnce", {"runOnce": True}, {"runOnce": False}),
    Row(_U, "enforceNodeAllocatable[1]", {"enforceNodeAllocatable": ["pods", "kube-reserved-compressible"]},
        {"enforceNodeAllocatable": ["pods", "kube-reserved"]}, minor=30),
    # Feature gates of fields.
    Row(_G, "imageMaximumGCAge", {"imageMaximumGCAge": "1h", "featureGates": {"ImageMaximumGCAge": False}}, {"imageMaximumGCAge": "1h"},
        minor=30),
    Row(_G, "shutdownGracePeriodByPodPriority",
        {"shutdownGracePeriodByPodPriority": [{"priority": 1, "shutdownGracePeriodSeconds": 1}],
         "featureGates": {"GracefulNodeShutdownBasedOnPodPriority": False}},
        {"shutdownGracePeriodByPodPriority": [{"priority": 1, "shutdownGracePeriodSeconds": 1}]}, minor=30),
    Row(_G, "shutdownGracePeriod", {"shutdownGracePeriod": "10s", "featureGates": {"GracefulNodeShutdown": False,
        "GracefulNodeShutdownBasedOnPodPriority": False}}, {"shutdownGracePeriod": "10s"}, minor=30),
    Row(_G, "shutdownGracePeriodCriticalPods", {"shutdownGracePeriodCriticalPods": "10s", "featureGates": {
        "GracefulNodeShutdown": False, "GracefulNodeShutdownBasedOnPodPriority": False}},
        {"shutdownGracePeriod": "20s", "shutdownGracePeriodCriticalPods": "10s"}, minor=30),
    Row(_G, "memorySwap.swapBehavior", {"memorySwap": {"swapBehavior": "NoSwap"}, "featureGates": {"NodeSwap": False}},
        {"memorySwap": {"swapBehavior": "NoSwap"}}, minor=30),
    Row(_G, "crashLoopBackOff.maxContainerRestartPeriod", {"crashLoopBackOff": {"maxContainerRestartPeriod": "10s"}},
        {"crashLoopBackOff": {"maxContainerRestartPeriod": "10s"}, "featureGates": {"KubeletCrashLoopBackOffMax": True}}, minor=34),
    Row(_G, "crashLoopBackOff.maxContainerRestartPeriod",
        {"crashLoopBackOff": {"maxContainerRestartPeriod": "10s"}, "featureGates": {"KubeletCrashLoopBackOffMax": False}},
        {"crashLoopBackOff": {"maxContainerRestartPeriod": "10s"}}),
    Row(_G, "serverTLSBootstrap", {"serverTLSBootstrap": True, "featureGates": {"RotateKubeletServerCertificate": False}},
        {"serverTLSBootstrap": False, "featureGates": {"RotateKubeletServerCertificate": False}}, minor=30),
    Row(_G, "imagePullCredentialsVerificationPolicy", {"imagePullCredentialsVerificationPolicy": "AlwaysVerify", "featureGates": {
        "KubeletEnsureSecretPulledImages": False}}, {"imagePullCredentialsVerificationPolicy": "AlwaysVerify"}),
    Row(_G, "preloadedImagesVerificationAllowlist", {"preloadedImagesVerificationAllowlist": ["a.io/b"]},
        {"preloadedImagesVerificationAllowlist": []}, minor=34),
    Row(_G, "featureGates", {"featureGates": _NO_SHUTDOWN},
        {"featureGates": _NO_SHUTDOWN, "shutdownGracePeriod": "0s", "shutdownGracePeriodCriticalPods": "0s"}),
    Row(_G, "enableSystemLogQuery", {"enableSystemLogQuery": True}, {"enableSystemLogQuery": False}, minor=30),
    Row(_G, "tracing", {"tracing": {"samplingRatePerMillion": 1}, "featureGates": {"KubeletTracing": False}},
        {"tracing": {"samplingRatePerMillion": 1}}, minor=30),
    Row(_G, "logging.options.text.splitStream", {"logging": {"options": {"text": {"splitStream": True}}}},
        {"logging": {"options": {"text": {"splitStream": False}}}}, minor=30),
    Row(_G, "logging.options.text.infoBufferSize", {"logging": {"options": {"text": {"infoBufferSize": "1"}}}},
        {"logging": {"options": {"text": {"infoBufferSize": "0"}}}}, minor=30),
    Row(_G, "logging.options.json.splitStream", {"logging": {"options": {"json": {"splitStream": True}}}},
        {"logging": {"options": {"json": {"splitStream": True}}}, "featureGates": {"LoggingAlphaOptions": True}}),
    Row(_G, "logging.options.json.infoBufferSize", {"logging": {"options": {"json": {"infoBufferSize": 1}}}},
        {"logging": {"options": {"json": {"infoBufferSize": 0}}}}),
    Row(_G, "topologyManagerPolicyOptions", {"topologyManagerPolicyOptions": {}, "featureGates": {"TopologyManagerPolicyOptions": False}},
        {"topologyManagerPolicyOptions": {}}, minor=30),
    Row(_G, "cpuManagerPolicyOptions", {"cpuManagerPolicyOptions": {}, "featureGates": {"CPUManagerPolicyOptions": False}},
        {"cpuManagerPolicyOptions": {}}, minor=30),
    Row(_G, "topologyManagerPolicy", {"topologyManagerPolicy": "restricted", "featureGates": {"TopologyManager": False}},
        {"topologyManagerPolicy": "restricted"}, minor=26),
    Row(_G, "memoryReservationPolicy", {"memoryReservationPolicy": "TieredReservation"}, {"memoryReservationPolicy": "None"}),
    Row(_G, "logging.format", {"logging": {"format": "json"}, "featureGates": {"LoggingBetaOptions": False}},
        {"logging": {"format": "json"}}),
    # Contradictions.
    Row(_I, "imageGCHighThresholdPercent", {"imageGCHighThresholdPercent": 80}, {"imageGCHighThresholdPercent": 81}),
    Row(_I, "imageGCLowThresholdPercent", {"imageGCLowThresholdPercent": 85}, {"imageGCLowThresholdPercent": 84}, minor=30),
    Row(_I, "imageMaximumGCAge", {"imageMaximumGCAge": "2m"}, {"imageMaximumGCAge": "121s"}),
    Row(_I, "shutdownGracePeriod", {"shutdownGracePeriod": "29s"}, {"shutdownGracePeriod": "30s"}),
    Row(_I, "shutdownGracePeriodCriticalPods", {"shutdownGracePeriodCriticalPods": "151s"}, {"shutdownGracePeriodCriticalPods": "150s"}),
    Row(_I, "shutdownGracePeriodCriticalPods", {"shutdownGracePeriodCriticalPods": "1s"},
        {"shutdownGracePeriodCriticalPods": "1s", "shutdownGracePeriod": "1s"}, minor=30),
    Row(_I, "shutdownGracePeriodByPodPriority", {"shutdownGracePeriodByPodPriority": [{"priority": 1, "shutdownGracePeriodSeconds": 1}]},
        {"shutdownGracePeriodByPodPriority": [{"priority": 1, "shutdownGracePeriodSeconds": 1}], "shutdownGracePeriod": "0s",
         "shutdownGracePeriodCriticalPods": "0s"}),
    Row(_I, "shutdownGracePeriodByPodPriority",
        {"shutdownGracePeriodByPodPriority": [{"priority": 1, "shutdownGracePeriodSeconds": 1}], "shutdownGracePeriod": "10s"},
        {"shutdownGracePeriodByPodPriority": [{"priority": 1, "shutdownGracePeriodSeconds": 1}]}, minor=30),
    Row(_I, f'evictionSoft["{_MEMORY}"]', {"evictionSoft": {_MEMORY: "1Gi"}},
        {"evictionSoft": {_MEMORY: "1Gi"}, "evictionSoftGracePeriod": {_MEMORY: "1m"}}),
    Row(_I, "maxParallelImagePulls", {"maxParallelImagePulls": 2, "serializeImagePulls": True},
        {"maxParallelImagePulls": 1, "serializeImagePulls": True}),
    Row(_I, "systemCgroups", {"systemCgroups": "/system", "cgroupRoot": ""}, {"systemCgroups": "/system"}),
    Row(_I, "cgroupsPerQOS", _QOS, {**_QOS, "enforceNodeAllocatable": ["none"]}),
    Row(_I, "cgroupsPerQOS", {**_QOS, "enforceNodeAllocatable": ["none"]}, {**_QOS, "enforceNodeAllocatable": []}, minor=30),
    Row(_I, "enforceNodeAllocatable", {"enforceNodeAllocatable": ["pods", "kube-reserved"], "kubeReservedCgroup": ""},
        {"enforceNodeAllocatable": ["pods", "kube-reserved"]}),
    Row(_I, "enforceNodeAllocatable", {"enforceNodeAllocatable": ["pods", "system-reserved"], "systemReservedCgroup": ""},
        {"enforceNodeAllocatable": ["pods", "system-reserved"]}),
    Row(_I, "enforceNodeAllocatable", {"enforceNodeAllocatable": ["pods", "none"]}, {"enforceNodeAllocatable": ["none"]}),
    Row(_I, "enforceNodeAllocatable", {"enforceNodeAllocatable": ["pods", "pods"]}, {"enforceNodeAllocatable": ["pods"]}),
    Row(_I, "enforceNodeAllocatable", {"enforceNodeAllocatable": ["kube-reserved", "kube-reserved-compressible"]},
        {"enforceNodeAllocatable": ["kube-reserved-compressible", "system-reserved"]}),
    Row("kubelet.reserved_cpus_conflict", "reservedSystemCPUs", {"reservedSystemCPUs": "0"},
        {"reservedSystemCPUs": "0", "systemReservedCgroup": "", "kubeReservedCgroup": ""}),
    Row("kubelet.reserved_cpus_conflict", "reservedSystemCPUs", {"reservedSystemCPUs": "0", "systemReservedCgroup": ""},
        {"reservedSystemCPUs": "0", "systemReservedCgroup": "", "kubeReservedCgroup": ""}, minor=30, family="al2"),
    Row(_I, "enableSystemLogQuery",
        {"enableSystemLogQuery": True, "enableSystemLogHandler": False, "featureGates": {"NodeLogQuery": True}},
        {"enableSystemLogQuery": True, "featureGates": {"NodeLogQuery": True}}),
    Row(_I, "preloadedImagesVerificationAllowlist", {"preloadedImagesVerificationAllowlist": ["a.io/b"]},
        {"preloadedImagesVerificationAllowlist": ["a.io/b"], "imagePullCredentialsVerificationPolicy": "NeverVerifyAllowlistedImages"}),
    Row(_I, "logging.vmodule", {"logging": {"format": "json", "vmodule": [{"filePattern": "a", "verbosity": 1}]}},
        {"logging": {"format": "text", "vmodule": [{"filePattern": "a", "verbosity": 1}]}}),
    Row(_I, "reservedMemory[1]", _reserve((0, {"memory": "1Gi"}), (0, {"memory": "1Gi"})),
        _reserve((0, {"memory": "1Gi"}), (1, {"memory": "1Gi"}))),
    # Managers.
    Row("kubelet.cpu_manager", "cpuManagerPolicyOptions", {"cpuManagerPolicyOptions": {"full-pcpus-only": "true"}},
        {"cpuManagerPolicyOptions": {"full-pcpus-only": "true"}, "cpuManagerPolicy": "static"}),
    Row("kubelet.cpu_manager", "cpuManagerPolicyOptions.nosuch",
        {"cpuManagerPolicyOptions": {"nosuch": "true"}, "cpuManagerPolicy": "static"},
        {"cpuManagerPolicyOptions": {"strict-cpu-reservation": "true"}, "cpuManagerPolicy": "static"}),
    Row("kubelet.cpu_manager", "cpuManagerPolicyOptions.align-by-socket",
        {"cpuManagerPolicyOptions": {"align-by-socket": "true"}, "cpuManagerPolicy": "static"},
        {"cpuManagerPolicyOptions": {"align-by-socket": "true"}, "cpuManagerPolicy": "static",
         "featureGates": {"CPUManagerPolicyAlphaOptions": True}}, minor=30),
    Row("kubelet.cpu_manager", "cpuManagerPolicyOptions.full-pcpus-only",
        {"cpuManagerPolicyOptions": {"full-pcpus-only": "yes"}, "cpuManagerPolicy": "static"},
        {"cpuManagerPolicyOptions": {"full-pcpus-only": "T"}, "cpuManagerPolicy": "static"}),
    Row("kubelet.cpu_manager", "cpuManagerPolicyOptions.prefer-align-cpus-by-uncorecache",
        {"cpuManagerPolicyOptions": {"prefer-align-cpus-by-uncorecache": "true", "distribute-cpus-across-numa": "true"},
         "cpuManagerPolicy": "static"},
        {"cpuManagerPolicyOptions": {"prefer-align-cpus-by-uncorecache": "true", "distribute-cpus-across-numa": "false"},
         "cpuManagerPolicy": "static"}),
    Row("kubelet.cpu_manager", "cpuManagerPolicy", {"cpuManagerPolicy": "static", "kubeReserved": {"cpu": "0"}},
        {"cpuManagerPolicy": "static", "kubeReserved": {"cpu": "0"}, "systemReserved": {"cpu": "1m"}}),
    Row("kubelet.cpu_manager", "cpuManagerPolicyOptions.align-by-socket",
        {"cpuManagerPolicyOptions": {"align-by-socket": "true"}, "cpuManagerPolicy": "static",
         "topologyManagerPolicy": "single-numa-node", "featureGates": {"CPUManagerPolicyAlphaOptions": True}},
        {"cpuManagerPolicyOptions": {"align-by-socket": "true"}, "cpuManagerPolicy": "static",
         "topologyManagerPolicy": "restricted", "featureGates": {"CPUManagerPolicyAlphaOptions": True}}),
    Row("kubelet.cpu_manager", "cpuManagerPolicyOptions.align-by-socket",
        {"cpuManagerPolicyOptions": {"align-by-socket": "true"}, "cpuManagerPolicy": "static",
         "topologyManagerPolicy": "single-numa-node", "featureGates": {"CPUManagerPolicyAlphaOptions": True}},
        {"cpuManagerPolicyOptions": {"align-by-socket": "true"}, "cpuManagerPolicy": "static",
         "topologyManagerPolicy": "restricted", "featureGates": {"CPUManagerPolicyAlphaOptions": True}}, minor=30),
    Row("kubelet.cpu_manager", "cpuManagerPolicyOptions.full-pcpus-only",
        {"cpuManagerPolicyOptions": {"full-pcpus-only": "true"}, "cpuManagerPolicy": "static",
         "featureGates": {"CPUManagerPolicyBetaOptions": False}},
        {"cpuManagerPolicyOptions": {"full-pcpus-only": "true"}, "cpuManagerPolicy": "static",
         "featureGates": {"CPUManagerPolicyBetaOptions": True}}, minor=30),
    Row("kubelet.memory_manager", "memoryManagerPolicy", {"memoryManagerPolicy": "Static"},
        {"memoryManagerPolicy": "Static", **_reserve((0, {"memory": "374Mi"}), (1, {"memory": "300Mi"}))}),
    Row("kubelet.memory_manager", "memoryManagerPolicy", {"memoryManagerPolicy": "Static", **_reserve((0, {"memory": "673Mi"}))},
        {"memoryManagerPolicy": "Static", **_reserve((0, {"memory": "674Mi"}))}, minor=30),
    Row("kubelet.topology_manager", "topologyManagerPolicyOptions.nosuch",
        {"topologyManagerPolicy": "restricted", "topologyManagerPolicyOptions": {"nosuch": "1"}},
        {"topologyManagerPolicy": "restricted", "topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "1"}}),
    Row("kubelet.topology_manager", "topologyManagerPolicyOptions.max-allowable-numa-nodes",
        {"topologyManagerPolicy": "restricted", "topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "7"}},
        {"topologyManagerPolicy": "restricted", "topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "8"}}),
    Row("kubelet.topology_manager", "topologyManagerPolicyOptions.max-allowable-numa-nodes",
        {"topologyManagerPolicy": "restricted", "topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "x"}},
        {"topologyManagerPolicy": "restricted", "topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "9"}}),
    Row("kubelet.topology_manager", "topologyManagerPolicyOptions.prefer-closest-numa-nodes",
        {"topologyManagerPolicy": "restricted", "topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "true"},
         "featureGates": {"TopologyManagerPolicyBetaOptions": False}},
        {"topologyManagerPolicy": "restricted", "topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "true"},
         "featureGates": {"TopologyManagerPolicyBetaOptions": True}}, minor=30),
    Row("kubelet.reserved_cpus_range", "reservedSystemCPUs",
        {"reservedSystemCPUs": "0,2", "systemReservedCgroup": "", "kubeReservedCgroup": ""},
        {"reservedSystemCPUs": "0,1", "systemReservedCgroup": "", "kubeReservedCgroup": ""}),
    # Feature gates.
    Row("kubelet.unknown_feature_gate", "featureGates.MemoryQos", {"featureGates": {"MemoryQos": True}},
        {"featureGates": {"MemoryQoS": True}}),
    Row("kubelet.unknown_feature_gate", "featureGates.NodeLogQuery", {"featureGates": {"NodeLogQuery": True}},
        {"featureGates": {"KubeletTracing": True}}, minor=26),
    Row("kubelet.locked_feature_gate", "featureGates.DynamicResourceAllocation", {"featureGates": {"DynamicResourceAllocation": False}},
        {"featureGates": {"DynamicResourceAllocation": True}}),
    Row(_G, "featureGates.WorkloadWithJob", {"featureGates": {"WorkloadWithJob": True}},
        {"featureGates": {"WorkloadWithJob": True, "GenericWorkload": True}}),
)  # fmt: skip

#: What only a machine with cgroup v1 refuses: Amazon Linux 2.
CGROUP_V1_ROWS = (
    Row("kubelet.cgroup_version", "failCgroupV1", {"failCgroupV1": True}, {"failCgroupV1": False}, 32, "al2"),
    Row("kubelet.cgroup_version", "singleProcessOOMKill", {"singleProcessOOMKill": False}, {"singleProcessOOMKill": True}, 32, "al2"),
    Row("kubelet.cgroup_version", "memorySwap.swapBehavior", {**_SWAP, "memorySwap": {"swapBehavior": "LimitedSwap"}},
        {**_SWAP, "memorySwap": {"swapBehavior": "NoSwap"}}, 32, "al2"),
)  # fmt: skip
