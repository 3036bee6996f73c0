# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of C(kubelet_rules) about fields that contradict each other."""

from __future__ import annotations

from collections.abc import Mapping

from .kubelet_effective import Effective
from .kubelet_findings import Finding, Findings, is_number

_OFF = ("0%", "100%")
"""Thresholds of eviction that kubelet ignores."""


def image_gc_thresholds(effective: Effective) -> Findings:
    """The low threshold is below the high one."""
    low, high = effective.get("imageGCLowThresholdPercent"), effective.get("imageGCHighThresholdPercent")
    if is_number(low) and is_number(high) and low >= high:
        if "imageGCLowThresholdPercent" in effective.origins:
            message = f"is not below imageGCHighThresholdPercent, which is {high}"
            yield Finding("imageGCLowThresholdPercent", message, value=low, allowed=f"less than {high}")
        else:
            message = f"is not above imageGCLowThresholdPercent, which is {low} by default"
            yield Finding("imageGCHighThresholdPercent", message, value=high, fix="also set imageGCLowThresholdPercent, to less than this")


def image_gc_ages(effective: Effective) -> Findings:
    """The maximum is above the minimum."""
    least, most = effective.seconds("imageMinimumGCAge"), effective.seconds("imageMaximumGCAge")
    if most > 0 and most <= least:
        message = f"is not longer than imageMinimumGCAge, which is {effective.get('imageMinimumGCAge')}"
        name = "imageMaximumGCAge" if "imageMaximumGCAge" in effective.origins else "imageMinimumGCAge"
        if name == "imageMinimumGCAge":
            message = f"is not shorter than imageMaximumGCAge, which is {effective.get('imageMaximumGCAge')}"
        yield Finding(name, message, value=effective.get(name))


def shutdown_of_critical_pods(effective: Effective) -> Findings:
    """The time for critical pods is a part of the whole."""
    whole, part = (effective.get(f"shutdownGracePeriod{rest}") for rest in ("", "CriticalPods"))
    if not effective.gates.enabled("GracefulNodeShutdown"):
        return
    if effective.seconds("shutdownGracePeriodCriticalPods") > effective.seconds("shutdownGracePeriod"):
        if "shutdownGracePeriodCriticalPods" in effective.origins:
            message = f"is longer than shutdownGracePeriod, which is {whole or '0s'}, and is a part of it"
            yield Finding("shutdownGracePeriodCriticalPods", message, value=part, fix="also set shutdownGracePeriod, to this or longer")
        else:
            message = f"is shorter than shutdownGracePeriodCriticalPods, which the image sets to {part} and which is a part of it"
            yield Finding("shutdownGracePeriod", message, value=whole, fix="also set shutdownGracePeriodCriticalPods, to this or shorter")


def shutdown_by_priority(effective: Effective) -> Findings:
    """Grace periods are by priority, or one for all pods."""
    if not effective.items("shutdownGracePeriodByPodPriority") or not effective.gates.enabled("GracefulNodeShutdownBasedOnPodPriority"):
        return
    if any(effective.seconds(f"shutdownGracePeriod{rest}") > 0 for rest in ("", "CriticalPods")):
        message = "cannot be combined with shutdownGracePeriod and shutdownGracePeriodCriticalPods"
        yield Finding("shutdownGracePeriodByPodPriority", message, fix='also set the two to "0s"')


def soft_eviction_grace(effective: Effective) -> Findings:
    """A soft threshold needs a grace period; kubelet ignores one of 0% or 100%."""
    grace = effective.mapping("evictionSoftGracePeriod")
    for signal, value in effective.mapping("evictionSoft").items():
        if signal not in grace and value not in _OFF:
            yield Finding(
                "evictionSoft",
                "has no grace period",
                (signal,),
                fix=f'add kubelet.config.evictionSoftGracePeriod["{signal}"], such as 1m30s',
            )
    for signal in grace:
        if signal not in effective.mapping("evictionSoft"):
            yield Finding("evictionSoftGracePeriod", "has no effect without a threshold in evictionSoft", (signal,), fix="remove it")


def reserved_memory_twice(effective: Effective) -> Findings:
    """Each kind of memory of a NUMA node stands once."""
    seen = set()
    for index, item in enumerate(effective.items("reservedMemory")):
        limits = item.get("limits") if isinstance(item, Mapping) else None
        for key in limits if isinstance(limits, Mapping) else ():
            place = (item.get("numaNode", 0), key)
            if place in seen:
                yield Finding(
                    "reservedMemory", f"reserves {key} of NUMA node {place[0]} a second time", (index,), fix="remove one of the two"
                )
            seen.add(place)


def parallel_pulls(effective: Effective) -> Findings:
    """More than one pull at a time is not serial."""
    pulls = effective.get("maxParallelImagePulls")
    if effective.get("serializeImagePulls") is True and is_number(pulls) and pulls > 1:
        yield Finding(
            "maxParallelImagePulls", "is more than 1, but serializeImagePulls is true", value=pulls, fix="set serializeImagePulls: false"
        )


def system_cgroups(effective: Effective) -> Findings:
    """A cgroup for the system needs a root."""
    if effective.get("systemCgroups") and not effective.get("cgroupRoot"):
        yield Finding("systemCgroups", "needs cgroupRoot, which is empty", fix="set cgroupRoot: /")


ENFORCEMENT_BY_VALUE_SINCE, COMPRESSIBLE_SINCE = 31, 32
_COMPRESSIBLE = "-compressible"


def enforcement_without_qos(effective: Effective) -> Findings:
    """Nothing is enforced without cgroups for pods."""
    given = effective.items("enforceNodeAllocatable")
    enforced = [value for value in given if value != "none" or effective.minor < ENFORCEMENT_BY_VALUE_SINCE]
    if enforced and effective.get("cgroupsPerQOS") is False:
        yield Finding("cgroupsPerQOS", f"is false, but enforceNodeAllocatable has {enforced[0]}", fix=_enforce_nothing(effective))


def _enforce_nothing(effective: Effective) -> str:
    value = "[none]" if effective.minor >= ENFORCEMENT_BY_VALUE_SINCE else "[]"
    return f"set enforceNodeAllocatable: {value}, or cgroupsPerQOS: true"


def enforcement_without_cgroup(effective: Effective) -> Findings:
    """A reservation is enforced on a cgroup."""
    for value in effective.items("enforceNodeAllocatable"):
        name = {"system-reserved": "systemReservedCgroup", "kube-reserved": "kubeReservedCgroup"}.get(
            str(value).removesuffix(_COMPRESSIBLE)
        )
        if name and not effective.get(name):
            yield Finding("enforceNodeAllocatable", f"has {value}, but {name} is empty", value=value, fix=f"set {name}")


def enforcement_exclusive(effective: Effective) -> Findings:
    """C(none) stands alone, nothing stands twice, and a reservation is enforced in one way."""
    values = effective.items("enforceNodeAllocatable")
    if "none" in values and len(values) > 1:
        yield Finding("enforceNodeAllocatable", "has none and something else", value=values, fix="remove one of the two")
    if effective.minor >= ENFORCEMENT_BY_VALUE_SINCE:
        for value in sorted({str(value) for value in values if values.count(value) > 1}):
            yield Finding("enforceNodeAllocatable", f"has {value} twice", value=values, fix="remove one of the two")
        for value in ("system-reserved", "kube-reserved"):
            if value in values and f"{value}{_COMPRESSIBLE}" in values:
                message = f"has {value} and {value}{_COMPRESSIBLE}"
                yield Finding("enforceNodeAllocatable", message, value=values, fix="remove one of the two")


def enforcement_names(effective: Effective) -> Findings:
    """Enforcing compressible resources alone came later."""
    for index, value in enumerate(effective.items("enforceNodeAllocatable")):
        if str(value).endswith(_COMPRESSIBLE) and effective.minor < COMPRESSIBLE_SINCE:
            allowed = "none, pods, system-reserved, kube-reserved"
            yield Finding("enforceNodeAllocatable", f"does not exist in kubelet 1.{effective.minor}", (index,), value, allowed)


def reserved_cpus_and_cgroups(effective: Effective) -> Findings:
    """Reserved CPUs exclude both reserved cgroups."""
    cgroups = [name for name in ("systemReservedCgroup", "kubeReservedCgroup") if effective.get(name)]
    if effective.get("reservedSystemCPUs") and cgroups:
        given = all(name in effective.origins for name in cgroups)
        by = "" if given else ", which the image sets"
        message = f"cannot be combined with {' and '.join(cgroups)}{by}"
        fix = "also set " + " and ".join(f'{name}: ""' for name in cgroups)
        yield Finding("reservedSystemCPUs", message, value=effective.get("reservedSystemCPUs"), fix=fix)


def log_query_without_handler(effective: Effective) -> Findings:
    """Queries of the system's log go through its handler."""
    if effective.get("enableSystemLogQuery") is True and effective.get("enableSystemLogHandler") is False:
        yield Finding("enableSystemLogQuery", "needs enableSystemLogHandler, which is false", fix="set enableSystemLogHandler: true")


def allowlist_policy(effective: Effective) -> Findings:
    """The list belongs to one policy."""
    policy = effective.get("imagePullCredentialsVerificationPolicy")
    if policy == "NeverVerifyAllowlistedImages" or not effective.gates.enabled("KubeletEnsureSecretPulledImages"):
        return
    if effective.items("preloadedImagesVerificationAllowlist"):
        fix = "set imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages"
        yield Finding("preloadedImagesVerificationAllowlist", f"has no effect with the policy {policy}", fix=fix)


def vmodule_format(effective: Effective) -> Findings:
    """Levels by file exist only in text."""
    if effective.items("logging.vmodule") and effective.get("logging.format") not in (None, "", "text"):
        yield Finding("logging", "needs logging.format: text", ("vmodule",), fix="remove it, or set logging.format: text")
