# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules by which kubelet refuses the configuration that it would run with (C(kubelet_effective)), and their application.

Types, enumerations and ranges of single fields are in C(_data/kubelet_fields.json), feature gates in C(_data/kubelet_gates.json).
Source: Go module k8s.io/kubernetes 1.24 to 1.36: pkg/kubelet/apis/config/validation, and what kubelet calls after it:
cmd/kubelet/app/server.go, pkg/kubelet/eviction, pkg/kubelet/cm, pkg/kubelet/logs, pkg/kubelet/sysctl; component-base logs, tracing
and metrics. C(tests/oracle/test_kubelet_rules.py) compares the table with that code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from . import kubelet_conflicts as conflicts
from . import kubelet_gates as gates
from . import kubelet_managers as managers
from . import kubelet_values as values
from .errors import Problem, Problems, joined
from .kubelet_effective import Effective
from .kubelet_findings import Finding

Check = Callable[[Effective], Iterator[Finding]]


@dataclass(frozen=True)
class Rule:
    """One row of the table.

    rule: the id in the catalogue (C(rules)).
    fields: the fields that it reads. It is applied only if the user set one of them: the images' own configuration is known to run.
    check: yields what is wrong.
    since, until: the first and the last minor; None for no limit.
    """

    rule: str
    fields: tuple[str, ...]
    check: Check
    since: int | None = None
    until: int | None = None

    def applies(self, minor: int, given: Set[str]) -> bool:
        """Does the minor have the rule, and did the user set one of its fields?"""
        return (self.since or 0) <= minor <= (self.until or minor) and not given.isdisjoint(self.fields)


_INCONSISTENT = "kubelet.inconsistent_fields"
_RANGE = "kubelet.out_of_range"
_VALUE = "kubelet.invalid_value"
_UNKNOWN = "kubelet.unknown_value"
_GATE = "kubelet.missing_feature_gate"
_RESERVED = ("kubeReserved", "systemReserved")
_EVICTION = ("evictionHard", "evictionSoft", "evictionSoftGracePeriod", "evictionMinimumReclaim")
_SHUTDOWN = ("shutdownGracePeriod", "shutdownGracePeriodCriticalPods")
_CGROUPS = ("systemReservedCgroup", "kubeReservedCgroup")

RULES: tuple[Rule, ...] = (
    # Values of single fields that a type cannot express.
    Rule(_RANGE, ("cpuCFSQuotaPeriod",), values.cfs_quota_period),
    Rule(_GATE, ("cpuCFSQuotaPeriod", "featureGates"), gates.cfs_quota_period_gate),
    Rule(_RANGE, ("imageMinimumGCAge",), values.not_negative("imageMinimumGCAge"), since=36),
    Rule(_RANGE, ("imageMaximumGCAge",), values.not_negative("imageMaximumGCAge")),
    Rule(_RANGE, ("containerLogMonitorInterval",), values.log_monitor_interval),
    Rule(_RANGE, ("nodeLeaseDurationSeconds",), values.lease_duration),
    Rule(_RANGE, _SHUTDOWN, values.shutdown_at_least_a_second),
    Rule(_RANGE, ("crashLoopBackOff",), values.restart_period),
    Rule(_RANGE, ("memoryThrottlingFactor",), values.memory_throttling_factor),
    Rule(_RANGE, ("userNamespaces",), values.ids_per_pod),
    Rule(_RANGE, ("logging",), values.logging_numbers),
    Rule(_VALUE, ("logging",), values.vmodule_patterns),
    Rule(_RANGE, ("tracing",), values.sampling_rate),
    Rule(_VALUE, ("tracing",), values.tracing_endpoint),
    Rule(_VALUE, ("containerLogMaxSize",), values.log_size),
    Rule(_VALUE, ("podLogsDir",), values.pod_logs_dir),
    Rule(_VALUE, ("address",), values.listen_address),
    Rule(_VALUE, ("reservedSystemCPUs",), values.cpu_list),
    Rule(_VALUE, ("allowedUnsafeSysctls",), values.sysctls),
    Rule(_VALUE, ("preloadedImagesVerificationAllowlist",), values.image_patterns),
    Rule(_VALUE, ("containerRuntimeEndpoint", "imageServiceEndpoint"), values.endpoints),
    Rule(_UNKNOWN, ("tlsCipherSuites",), values.cipher_suites),
    Rule(_UNKNOWN, ("tlsCurvePreferences",), values.curves),
    Rule(_UNKNOWN, ("memorySwap",), values.swap_behavior),
    Rule(_UNKNOWN, ("showHiddenMetricsForVersion",), values.hidden_metrics),
    Rule(_UNKNOWN, ("runOnce",), values.run_once, since=32),
    Rule(_VALUE, _RESERVED, values.reserved_quantities),
    Rule(_VALUE, ("qosReserved",), values.qos_reserved),
    Rule(_VALUE, _EVICTION, values.eviction_values),
    Rule(_VALUE, ("reservedMemory",), values.reserved_memory),
    Rule(_INCONSISTENT, ("reservedMemory",), conflicts.reserved_memory_twice),
    # Fields that need a feature gate.
    *(
        Rule(_GATE, (name.partition(".")[0], "featureGates"), gates.needs_gate(name, gate))
        for name, gate in (
            ("imageMaximumGCAge", "ImageMaximumGCAge"),
            ("shutdownGracePeriodByPodPriority", "GracefulNodeShutdownBasedOnPodPriority"),
            ("shutdownGracePeriod", "GracefulNodeShutdown"),
            ("shutdownGracePeriodCriticalPods", "GracefulNodeShutdown"),
            ("memorySwap.swapBehavior", "NodeSwap"),
            ("crashLoopBackOff.maxContainerRestartPeriod", "KubeletCrashLoopBackOffMax"),
            ("serverTLSBootstrap", "RotateKubeletServerCertificate"),
            ("imagePullCredentialsVerificationPolicy", "KubeletEnsureSecretPulledImages"),
            ("preloadedImagesVerificationAllowlist", "KubeletEnsureSecretPulledImages"),
            ("enableSystemLogQuery", "NodeLogQuery"),
            ("tracing", "KubeletTracing"),
            ("logging.options.text.splitStream", "LoggingAlphaOptions"),
            ("logging.options.text.infoBufferSize", "LoggingAlphaOptions"),
            ("logging.options.json.splitStream", "LoggingAlphaOptions"),
            ("logging.options.json.infoBufferSize", "LoggingAlphaOptions"),
            ("topologyManagerPolicyOptions", "TopologyManagerPolicyOptions"),
            ("cpuManagerPolicyOptions", "CPUManagerPolicyOptions"),
        )
    ),
    Rule(_GATE, ("topologyManagerPolicy", "topologyManagerScope", "featureGates"), gates.topology_manager_gate, until=26),
    Rule(_GATE, ("memoryReservationPolicy", "featureGates"), gates.tiered_reservation_gate),
    Rule(_GATE, ("logging", "featureGates"), gates.json_format_gate),
    # Fields that contradict each other.
    Rule(_INCONSISTENT, ("imageGCLowThresholdPercent", "imageGCHighThresholdPercent"), conflicts.image_gc_thresholds),
    Rule(_INCONSISTENT, ("imageMaximumGCAge", "imageMinimumGCAge"), conflicts.image_gc_ages),
    Rule(_INCONSISTENT, _SHUTDOWN, conflicts.shutdown_of_critical_pods),
    Rule(_INCONSISTENT, (*_SHUTDOWN, "shutdownGracePeriodByPodPriority"), conflicts.shutdown_by_priority),
    Rule(_INCONSISTENT, ("evictionSoft", "evictionSoftGracePeriod"), conflicts.soft_eviction_grace),
    Rule(_INCONSISTENT, ("serializeImagePulls", "maxParallelImagePulls"), conflicts.parallel_pulls),
    Rule(_INCONSISTENT, ("systemCgroups", "cgroupRoot"), conflicts.system_cgroups),
    Rule(_INCONSISTENT, ("enforceNodeAllocatable", "cgroupsPerQOS"), conflicts.enforcement_without_qos),
    Rule(_INCONSISTENT, ("enforceNodeAllocatable", *_CGROUPS), conflicts.enforcement_without_cgroup),
    Rule(_INCONSISTENT, ("enforceNodeAllocatable",), conflicts.enforcement_exclusive),
    Rule(_UNKNOWN, ("enforceNodeAllocatable",), conflicts.enforcement_names),
    Rule("kubelet.reserved_cpus_conflict", ("reservedSystemCPUs", *_CGROUPS), conflicts.reserved_cpus_and_cgroups),
    Rule(_INCONSISTENT, ("enableSystemLogQuery", "enableSystemLogHandler"), conflicts.log_query_without_handler),
    Rule(_INCONSISTENT, ("preloadedImagesVerificationAllowlist", "imagePullCredentialsVerificationPolicy"), conflicts.allowlist_policy),
    Rule(_INCONSISTENT, ("logging",), conflicts.vmodule_format),
    # What kubelet's managers refuse when it starts.
    Rule(
        "kubelet.cpu_manager",
        ("cpuManagerPolicyOptions", "cpuManagerPolicy", "topologyManagerPolicy", "featureGates"),
        managers.cpu_options,
    ),
    Rule("kubelet.cpu_manager", ("cpuManagerPolicy", "reservedSystemCPUs", *_RESERVED), managers.cpu_reservation),
    Rule("kubelet.memory_manager", ("memoryManagerPolicy", "reservedMemory", "evictionHard", *_RESERVED), managers.memory_reservation),
    Rule(
        "kubelet.topology_manager",
        ("topologyManagerPolicyOptions", "topologyManagerPolicy", "featureGates"),
        managers.topology_options,
    ),
    Rule("kubelet.reserved_cpus_range", ("reservedSystemCPUs",), managers.reserved_cpus_of_machine),
    # What a machine with cgroup v1 (Amazon Linux 2) refuses.
    Rule("kubelet.cgroup_version", ("failCgroupV1", "singleProcessOOMKill", "memorySwap"), managers.cgroup_v1),
    Rule(_VALUE, ("cgroupRoot",), managers.cgroup_root),
    # What runs, and probably not as intended.
    Rule("kubelet.unknown_cgroup_root", ("cgroupRoot",), managers.cgroup_root_exists),
    Rule("kubelet.cgroup_driver", ("cgroupDriver",), managers.cgroup_driver),
    Rule("kubelet.many_pods", ("maxPods",), managers.many_pods),
    # Feature gates.
    Rule("kubelet.unknown_feature_gate", ("featureGates",), gates.unknown_gates),
    Rule("kubelet.locked_feature_gate", ("featureGates",), gates.locked_gates),
    Rule("kubelet.missing_feature_gate", ("featureGates",), gates.gate_dependencies),
)


@lru_cache(maxsize=1024)
def _applicable(minor: int, given: frozenset[str]) -> tuple[Rule, ...]:
    """The rules to check. Cached, because most groups of a fleet set the same fields."""
    return tuple(rule for rule in RULES if rule.applies(minor, given))


def check(effective: Effective, problems: Problems) -> tuple[Problem, ...]:
    """Report what kubelet refuses in the configuration that it would run with. Return the warnings.

    Fields that have a problem already are left out: a second message about them would only confuse.
    """
    from . import rules

    catalogue = rules.catalogue()
    warnings = []
    for rule in _applicable(effective.minor, frozenset(effective.origins)):
        reported = [name for name in rule.fields if name in effective.origins and problems.touches(effective.origins[name].path)]
        if reported and rule.rule not in (_RANGE, _VALUE, _UNKNOWN):
            continue
        for finding in rule.check(effective):
            problem = _problem(rule, finding, effective)
            if catalogue[rule.rule].severity == "warning":
                warnings.append(problem)
            elif not problems.touches(problem.path):
                problems.extend([problem])
    return tuple(warnings)


def _problem(rule: Rule, finding: Finding, effective: Effective) -> Problem:
    """The problem at the place in the user's input that caused a finding."""
    name, below = finding.field, finding.below
    if name not in effective.origins:
        # The finding is about a value of the image or of kubelet: what the user set beside it caused it.
        name, below = next(field for field in rule.fields if field in effective.origins), ()
    origin = effective.origins[name]
    path, inside = origin.path, origin.inside
    for key in () if origin.is_flag else below:
        path, inside = (path, joined(inside, key)) if inside else (joined(path, key), "")
    fix = finding.fix
    message = f"{inside} {finding.message}" if inside else finding.message
    if origin.is_flag and below:
        message = f"{'.'.join(map(str, below))}: {message}"
        fix = fix.replace("rename it to", "write") if fix else None
    more: dict[str, Any] = {"value": finding.value} if finding.has_value else {}
    return Problem(rule.rule, path, message, allowed=finding.allowed, nearest=finding.nearest, fix=fix, **more)
