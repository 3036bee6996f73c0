# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The predicates of C(kubelet_rules) about kubelet's configuration: each yields what is wrong in an effective configuration."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .errors import nearest
from .kubelet_effective import Effective
from .quantities import parse_duration, parse_quantity

_ABSENT: Any = object()
_INT32, _INT64 = 2**31 - 1, 2**63 - 1


@dataclass(frozen=True)
class Finding:
    """What is wrong with one value.

    field: the top-level field. below: the keys below it. message, value, allowed, nearest and fix: those of C(errors.Problem).
    """

    field: str
    message: str
    below: tuple[Any, ...] = ()
    value: Any = _ABSENT
    allowed: str | None = None
    nearest: str | None = None
    fix: str | None = None

    @property
    def has_value(self) -> bool:
        """Is C(value) given? None is a value, too."""
        return self.value is not _ABSENT


Findings = Iterator[Finding]


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# --- Single fields ----------------------------------------------------------------------------------------------------------------


def not_negative(name: str) -> Callable[[Effective], Findings]:
    """A duration that is not negative."""

    def check(effective: Effective) -> Findings:
        if effective.seconds(name) < 0:
            yield Finding(name, "is negative", value=effective.get(name), allowed='a duration such as "2m0s"')

    return check


def cfs_quota_period(effective: Effective) -> Findings:
    """1 ms (1 µs before 1.26) to 1 s."""
    seconds = effective.seconds("cpuCFSQuotaPeriod")
    least, text = (Decimal("0.001"), "1ms") if effective.minor >= CFS_MILLISECOND_SINCE else (Decimal("0.000001"), "1us")
    if effective.gates.enabled("CustomCPUCFSQuotaPeriod") and not least <= seconds <= 1:
        yield Finding("cpuCFSQuotaPeriod", "is out of range", value=effective.get("cpuCFSQuotaPeriod"), allowed=f"{text} to 1s")


CFS_MILLISECOND_SINCE = 26


def cfs_quota_period_gate(effective: Effective) -> Findings:
    """Another period than 100 ms needs a gate."""
    if not effective.gates.enabled("CustomCPUCFSQuotaPeriod") and effective.seconds("cpuCFSQuotaPeriod") != Decimal("0.1"):
        yield _gate("cpuCFSQuotaPeriod", (), "CustomCPUCFSQuotaPeriod", "other than 100ms ")


def log_monitor_interval(effective: Effective) -> Findings:
    """At least 3 s."""
    if effective.get("containerLogMonitorInterval") is not None and effective.seconds("containerLogMonitorInterval") < 3:
        value = effective.get("containerLogMonitorInterval")
        yield Finding("containerLogMonitorInterval", "is too short", value=value, allowed="3s or longer")


def shutdown_at_least_a_second(effective: Effective) -> Findings:
    """Zero, or a second or more."""
    for name in ("shutdownGracePeriod", "shutdownGracePeriodCriticalPods"):
        seconds = effective.seconds(name)
        if seconds < 0 or 0 < seconds < 1:
            yield Finding(name, "is out of range", value=effective.get(name), allowed="0s, or 1s or longer")


def restart_period(effective: Effective) -> Findings:
    """1 s to 5 min, in whole milliseconds."""
    value = effective.get("crashLoopBackOff.maxContainerRestartPeriod")
    seconds = parse_duration(value)
    if seconds is not None and effective.gates.enabled("KubeletCrashLoopBackOffMax") and not 1000 <= int(seconds * 1000) <= 300_000:
        yield Finding("crashLoopBackOff", "is out of range", ("maxContainerRestartPeriod",), value, "1s to 5m")


def memory_throttling_factor(effective: Effective) -> Findings:
    """More than 0, at most 1."""
    value = effective.get("memoryThrottlingFactor")
    if isinstance(value, (int, float)) and not 0 < value <= 1:
        yield Finding("memoryThrottlingFactor", "is out of range", value=value, allowed="more than 0, at most 1.0")


_IDS = 65536


def ids_per_pod(effective: Effective) -> Findings:
    """A multiple of 65,536 that fits into 32 bits."""
    value = effective.get("userNamespaces.idsPerPod")
    if _number(value) and (value < _IDS or value % _IDS or value > 2**32 - 1):
        yield Finding("userNamespaces", "is out of range", ("idsPerPod",), value, f"a multiple of {_IDS}, below {2**32}")


def logging_numbers(effective: Effective) -> Findings:
    """Verbosities fit into 31 bits, and the time between flushes is positive."""
    allowed = f"0 to {_INT32}"
    verbosity = effective.get("logging.verbosity")
    if isinstance(verbosity, int) and verbosity > _INT32:
        yield Finding("logging", "is out of range", ("verbosity",), verbosity, allowed)
    for index, item in enumerate(effective.items("logging.vmodule")):
        level = item.get("verbosity") if isinstance(item, Mapping) else None
        if isinstance(level, int) and level > _INT32:
            yield Finding("logging", "is out of range", ("vmodule", index, "verbosity"), level, allowed)
    flush = effective.get("logging.flushFrequency")
    seconds = Decimal(flush) if _number(flush) else parse_duration(flush)
    if seconds is not None and seconds <= 0:
        yield Finding("logging", "is not positive", ("flushFrequency",), flush, 'a duration such as "5s"')


def vmodule_patterns(effective: Effective) -> Findings:
    """A pattern is not empty and has neither equals signs nor commas."""
    for index, item in enumerate(effective.items("logging.vmodule")):
        pattern = item.get("filePattern") if isinstance(item, Mapping) else ""
        if not pattern or any(char in str(pattern) for char in "=,"):
            yield Finding("logging", "is not a pattern of file names", ("vmodule", index, "filePattern"), pattern, "text without = and ,")


def sampling_rate(effective: Effective) -> Findings:
    """0 to one million."""
    value = effective.get("tracing.samplingRatePerMillion")
    if _number(value) and not 0 <= value <= 1_000_000:
        yield Finding("tracing", "is out of range", ("samplingRatePerMillion",), value, "0 to 1000000")


_ENDPOINT = re.compile(r"[!-$&-~]*", re.ASCII)
"""Characters that Go's URLs take without a closer look: no blanks, no control characters, no percent signs."""


def tracing_endpoint(effective: Effective) -> Findings:
    """A name that gRPC resolves: host and port, or dns, unix or unix-abstract."""
    value = effective.get("tracing.endpoint")
    if not isinstance(value, str):
        return
    scheme, found, rest = value.partition("://")
    host = rest if found else value
    if (found and scheme not in ("dns", "unix", "unix-abstract")) or "//" in rest or not _plain_host(host):
        yield Finding("tracing", "is not an endpoint", ("endpoint",), value, "HOST:PORT, or unix:///PATH")


def _plain_host(text: str) -> bool:
    return re.fullmatch(r"(?:[A-Za-z0-9._-]*|\[[0-9A-Fa-f:]+\])(?::[0-9]{0,5})?(?:/[A-Za-z0-9._/-]*)?", text, re.ASCII) is not None


def log_size(effective: Effective) -> Findings:
    """A quantity that is a whole number of bytes."""
    size = parse_quantity(effective.get("containerLogMaxSize"))
    if size is not None and (size != size.to_integral_value() or abs(size) > _INT64):
        value = effective.get("containerLogMaxSize")
        yield Finding("containerLogMaxSize", "is not a whole number of bytes", value=value, allowed='a quantity such as "10Mi"')


def pod_logs_dir(effective: Effective) -> Findings:
    """An absolute path in its shortest form, in ASCII."""
    value = effective.get("podLogsDir")
    if isinstance(value, str) and (not value.isascii() or not value.startswith("/") or value != _clean(value)):
        yield Finding("podLogsDir", "is not a normalized absolute path", value=value, allowed="such as /var/log/pods")


def _clean(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


_CPUS = re.compile(r"[0-9]{1,5}(?:-[0-9]{1,5})?(?:,[0-9]{1,5}(?:-[0-9]{1,5})?)*", re.ASCII)


def parse_cpus(value: Any) -> set[int] | None:
    """The CPUs of a list such as C(0,2-3), or None if it is invalid."""
    if not isinstance(value, str) or (value and not _CPUS.fullmatch(value)):
        return None
    found: set[int] = set()
    for part in filter(None, value.split(",")):
        first, _unused, last = part.partition("-")
        if last and int(last) < int(first):
            return None
        found |= set(range(int(first), int(last or first) + 1))
    return found


def cpu_list(effective: Effective) -> Findings:
    """Numbers and ranges."""
    if parse_cpus(effective.get("reservedSystemCPUs")) is None:
        value = effective.get("reservedSystemCPUs")
        yield Finding("reservedSystemCPUs", "is not a list of CPUs", value=value, allowed='such as "0,2-3"')


_SYSCTL = re.compile(r"(?:[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?[./])*(?:[a-z0-9][-_a-z0-9]*)?[a-z0-9*]", re.ASCII)
_SYSCTL_NAMES: tuple[str, ...] = ("kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.shm")
_SYSCTL_NAMES += ("kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg")


def sysctls(effective: Effective) -> Findings:
    """Names or prefixes of sysctls that belong to a namespace."""
    for index, value in enumerate(effective.items("allowedUnsafeSysctls")):
        if not isinstance(value, str):
            continue
        if len(value) > 253 or not _SYSCTL.fullmatch(value):
            yield Finding("allowedUnsafeSysctls", "is not a sysctl", (index,), value, "such as net.core.somaxconn or net.ipv4.*")
            continue
        dots, slashes = value.find("."), value.find("/")
        name = value if slashes < 0 or 0 <= dots < slashes else value.translate(str.maketrans("./", "/."))
        prefix = name.partition("*")[0]
        if prefix not in _SYSCTL_NAMES and not prefix.startswith(("net.", "fs.mqueue.")):
            yield Finding(
                "allowedUnsafeSysctls",
                "does not belong to a namespace",
                (index,),
                value,
                "kernel.shm*, kernel.msg*, kernel.sem, fs.mqueue.*, net.*",
            )


_IMAGE = re.compile(
    r"[a-z0-9]+(?:[.-][a-z0-9]+)*(?::[0-9]{1,5})?(?:(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)+|(?:/[a-z0-9]+(?:[._-][a-z0-9]+)*)*/\*)",
    re.ASCII,
)


def image_patterns(effective: Effective) -> Findings:
    """Repositories, or C(/*) at the end of one."""
    for index, value in enumerate(effective.items("preloadedImagesVerificationAllowlist")):
        if isinstance(value, str) and not _IMAGE.fullmatch(value):
            yield Finding("preloadedImagesVerificationAllowlist", "is not a repository", (index,), value, "HOST/PATH or HOST/PATH/*")


def endpoints(effective: Effective) -> Findings:
    """Sockets: kubelet talks to its runtime through nothing else on Linux."""
    for name in ("containerRuntimeEndpoint", "imageServiceEndpoint"):
        value = effective.get(name)
        if isinstance(value, str) and name in effective.origins and not value.startswith("unix:///") and (value or name[0] == "c"):
            yield Finding(name, "is not a socket", value=value, allowed="such as unix:///run/containerd/containerd.sock")


_CIPHERS = frozenset(
    {
        "TLS_AES_128_GCM_SHA256",
        "TLS_AES_256_GCM_SHA384",
        "TLS_CHACHA20_POLY1305_SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
        "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
        "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
        "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
        "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
        "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
        "TLS_RSA_WITH_AES_128_CBC_SHA",
        "TLS_RSA_WITH_AES_128_CBC_SHA256",
        "TLS_RSA_WITH_AES_128_GCM_SHA256",
        "TLS_RSA_WITH_AES_256_CBC_SHA",
        "TLS_RSA_WITH_AES_256_GCM_SHA384",
        "TLS_RSA_WITH_RC4_128_SHA",
    }
)
"""The names of Go's package crypto/tls, and two older ones that Kubernetes keeps."""


def cipher_suites(effective: Effective) -> Findings:
    """Names that Go knows."""
    for index, value in enumerate(effective.items("tlsCipherSuites")):
        if isinstance(value, str) and value not in _CIPHERS:
            yield Finding("tlsCipherSuites", "is not a cipher suite of kubelet", (index,), value, nearest=nearest(value, _CIPHERS))


_CURVES = (23, 24, 25, 29, 4588)
"""P-256, P-384, P-521, X25519 and X25519MLKEM768 in Go since 1.24."""


def curves(effective: Effective) -> Findings:
    """Identifiers that Go knows, each once."""
    values = effective.items("tlsCurvePreferences")
    for index, value in enumerate(values):
        if value not in _CURVES or value in values[:index]:
            yield Finding("tlsCurvePreferences", "is not another curve of kubelet", (index,), value, ", ".join(map(str, _CURVES)))


NO_SWAP_SINCE = 30


def swap_behavior(effective: Effective) -> Findings:
    """UnlimitedSwap gave way to NoSwap."""
    value = effective.get("memorySwap.swapBehavior")
    allowed = ["LimitedSwap", "NoSwap" if effective.minor >= NO_SWAP_SINCE else "UnlimitedSwap"]
    if value in ("NoSwap", "UnlimitedSwap") and value not in allowed and effective.gates.enabled("NodeSwap"):
        yield Finding("memorySwap", f"does not exist in kubelet 1.{effective.minor}", ("swapBehavior",), value, ", ".join(allowed))


def hidden_metrics(effective: Effective) -> Findings:
    """The minor before kubelet's own."""
    value, previous = effective.get("showHiddenMetricsForVersion"), f"1.{effective.minor - 1}"
    if value and value != previous:
        yield Finding("showHiddenMetricsForVersion", "is not the minor before kubelet's", value=value, allowed=previous)


def run_once(effective: Effective) -> Findings:
    """kubelet no longer runs pods once."""
    if effective.get("runOnce") is True:
        yield Finding("runOnce", "is no longer supported", value=True, allowed="false", fix="remove it")


def reserved_quantities(effective: Effective) -> Findings:
    """Quantities that are not negative."""
    for name in ("kubeReserved", "systemReserved"):
        for key, value in effective.mapping(name).items():
            if name in effective.origins and effective.quantity(name, key) < 0:
                yield Finding(name, "is negative", (key,), value, "a quantity such as 100m or 100Mi")


def qos_reserved(effective: Effective) -> Findings:
    """Memory in whole percent."""
    for key, value in effective.mapping("qosReserved").items():
        if key != "memory":
            yield Finding("qosReserved", "cannot be reserved", (key,), allowed="memory")
        elif not isinstance(value, str) or not re.fullmatch(r"\+?0*(?:100|[0-9]{1,2})%", value, re.ASCII):
            yield Finding("qosReserved", "is not a percentage", (key,), value, "0% to 100%")


# --- Eviction ---------------------------------------------------------------------------------------------------------------------

_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%", re.ASCII)
_OFF = ("0%", "100%")
CONTAINERFS_SINCE = 29


def eviction_values(effective: Effective) -> Findings:
    """Thresholds are positive, what is reclaimed and grace periods are not negative; signals of a container file system came later."""
    for name in ("evictionHard", "evictionSoft", "evictionMinimumReclaim", "evictionSoftGracePeriod"):
        if name not in effective.origins:
            continue
        for signal, value in effective.mapping(name).items():
            if signal.startswith("containerfs.") and effective.minor < CONTAINERFS_SINCE:
                yield Finding(name, f"does not exist in kubelet 1.{effective.minor}", (signal,))
            elif reason := _eviction_problem(name, value):
                yield Finding(name, reason, (signal,), value)


def _eviction_problem(name: str, value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    if name == "evictionSoftGracePeriod":
        return "is negative" if (parse_duration(value) or 0) < 0 else None
    percent = _PERCENT.fullmatch(value)
    if name == "evictionMinimumReclaim":
        return "is not positive" if percent and float(percent[1]) == 0 else "is negative" if (parse_quantity(value) or 0) < 0 else None
    quantity = parse_quantity(value)
    return "is not positive" if quantity is not None and quantity <= 0 else None


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


# --- Reserved memory --------------------------------------------------------------------------------------------------------------

_HUGEPAGES = "hugepages-"


def reserved_memory(effective: Effective) -> Findings:
    """Memory or huge pages, more than zero, of a NUMA node."""
    for index, item in enumerate(effective.items("reservedMemory")):
        if not isinstance(item, Mapping):
            continue
        limits, node = item.get("limits"), item.get("numaNode", 0)
        if _number(node) and node < 0:
            yield Finding("reservedMemory", "is negative", (index, "numaNode"), node, "0 or more")
        for key, value in limits.items() if isinstance(limits, Mapping) else ():
            if key != "memory" and not key.startswith(_HUGEPAGES):
                yield Finding("reservedMemory", "cannot be reserved", (index, "limits", key), allowed="memory, hugepages-SIZE")
            elif quantity_of(value) == 0:
                yield Finding("reservedMemory", "is zero", (index, "limits", key), value, "more than zero")


def quantity_of(value: Any) -> Decimal | None:
    """A quantity as text or number."""
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else parse_quantity(value)


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


# --- Feature gates of fields ------------------------------------------------------------------------------------------------------


def _gate(name: str, below: tuple[Any, ...], gate: str, what: str = "") -> Finding:
    return Finding(name, f"{what}needs the feature gate {gate}, which is off", below, fix=f"set kubelet.config.featureGates.{gate}: true")


def needs_gate(path: str, gate: str) -> Callable[[Effective], Findings]:
    """A field that must be empty where a gate is off."""
    name, *below = path.split(".")

    def check(effective: Effective) -> Findings:
        value = effective.get(path)
        # Options that are there, and empty, are options; a duration or a quantity of zero is nothing.
        given = value is not None if path.endswith("PolicyOptions") else bool(value) and not _is_zero(value)
        if given and effective.gates.state(gate) is not None and not effective.gates.enabled(gate):
            yield _gate(name, tuple(below), gate)

    return check


def _is_zero(value: Any) -> bool:
    return parse_duration(value) == 0 or quantity_of(value) == 0


def topology_manager_gate(effective: Effective) -> Findings:
    """Another policy or scope than the default one."""
    for name, default in (("topologyManagerPolicy", "none"), ("topologyManagerScope", "container")):
        if effective.get(name) != default and not effective.gates.enabled("TopologyManager"):
            yield _gate(name, (), "TopologyManager")


def tiered_reservation_gate(effective: Effective) -> Findings:
    """TieredReservation is a part of MemoryQoS."""
    if effective.get("memoryReservationPolicy") == "TieredReservation" and not effective.gates.enabled("MemoryQoS"):
        yield _gate("memoryReservationPolicy", (), "MemoryQoS")


def json_format_gate(effective: Effective) -> Findings:
    """JSON is a beta option of logging."""
    if effective.get("logging.format") == "json" and not effective.gates.enabled("LoggingBetaOptions"):
        yield _gate("logging", ("format",), "LoggingBetaOptions")


# --- Fields that contradict each other --------------------------------------------------------------------------------------------


def image_gc_thresholds(effective: Effective) -> Findings:
    """The low threshold is below the high one."""
    low, high = effective.get("imageGCLowThresholdPercent"), effective.get("imageGCHighThresholdPercent")
    if _number(low) and _number(high) and low >= high:
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


def parallel_pulls(effective: Effective) -> Findings:
    """More than one pull at a time is not serial."""
    pulls = effective.get("maxParallelImagePulls")
    if effective.get("serializeImagePulls") is True and _number(pulls) and pulls > 1:
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
