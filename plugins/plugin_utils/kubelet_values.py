# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of C(kubelet_rules) about the value of one field: its range, its form, its names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from .errors import Suggestions
from .kubelet_effective import Effective
from .kubelet_findings import Finding, Findings, is_number, parse_cpus, quantity_of
from .network import ip_problem
from .quantities import parse_duration, parse_quantity

_INT32, _INT64 = 2**31 - 1, 2**63 - 1


def not_negative(name: str) -> Callable[[Effective], Findings]:
    """A duration that is not negative."""

    def check(effective: Effective) -> Findings:
        if effective.seconds(name) < 0:
            yield Finding(name, "is negative", value=effective.get(name), allowed='a duration such as "2m0s"')

    return check


CFS_MILLISECOND_SINCE = 26


def cfs_quota_period(effective: Effective) -> Findings:
    """1 ms (1 µs before 1.26) to 1 s."""
    seconds = effective.seconds("cpuCFSQuotaPeriod")
    least, text = (Decimal("0.001"), "1ms") if effective.minor >= CFS_MILLISECOND_SINCE else (Decimal("0.000001"), "1us")
    if effective.gates.enabled("CustomCPUCFSQuotaPeriod") and not least <= seconds <= 1:
        yield Finding("cpuCFSQuotaPeriod", "is out of range", value=effective.get("cpuCFSQuotaPeriod"), allowed=f"{text} to 1s")


def log_monitor_interval(effective: Effective) -> Findings:
    """At least 3 s."""
    if effective.get("containerLogMonitorInterval") is not None and effective.seconds("containerLogMonitorInterval") < 3:
        value = effective.get("containerLogMonitorInterval")
        yield Finding("containerLogMonitorInterval", "is too short", value=value, allowed="3s or longer")


def lease_duration(effective: Effective) -> Findings:
    """At least 1 s. kubelet replaces a zero by its default, except in a drop-in of old kubelets."""
    if effective.get("nodeLeaseDurationSeconds") == 0:
        yield Finding("nodeLeaseDurationSeconds", "is out of range", value=0, allowed="1 or more")


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
    if is_number(value) and (value < _IDS or value % _IDS or value > 2**32 - 1):
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
    seconds = Decimal(flush) if is_number(flush) else parse_duration(flush)
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
    if is_number(value) and not 0 <= value <= 1_000_000:
        yield Finding("tracing", "is out of range", ("samplingRatePerMillion",), value, "0 to 1000000")


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


def cpu_list(effective: Effective) -> Findings:
    """Numbers and ranges."""
    if parse_cpus(effective.get("reservedSystemCPUs")) is None:
        value = effective.get("reservedSystemCPUs")
        yield Finding("reservedSystemCPUs", "is not a list of CPUs", value=value, allowed='such as "0,2-3"')


def listen_address(effective: Effective) -> Findings:
    """An IP address. kubelet replaces the empty text by its default, except in a drop-in of old kubelets."""
    value = effective.get("address")
    if ip_problem(value) is not None:
        yield Finding("address", "cannot be read", value=value, allowed="an IP address")


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
    r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
    r"|[a-z0-9]+(?:[.-][a-z0-9]+)*(?::[0-9]{1,5})?(?:(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)+|(?:/[a-z0-9]+(?:[._-][a-z0-9]+)*)*/\*)",
    re.ASCII,
)


def image_patterns(effective: Effective) -> Findings:
    """Repositories, or C(/*) at the end of one."""
    for index, value in enumerate(effective.items("preloadedImagesVerificationAllowlist")):
        if isinstance(value, str) and not _IMAGE.fullmatch(value):
            allowed = "HOST/PATH, HOST/PATH/*, or a name without a host"
            yield Finding("preloadedImagesVerificationAllowlist", "is not a repository", (index,), value, allowed)


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
    suggestions = Suggestions()
    for index, value in enumerate(effective.items("tlsCipherSuites")):
        if isinstance(value, str) and value not in _CIPHERS:
            yield Finding(
                "tlsCipherSuites", "is not a cipher suite of kubelet", (index,), value, nearest=suggestions.nearest(value, _CIPHERS)
            )


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


_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%", re.ASCII)
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


_HUGEPAGES = "hugepages-"


def reserved_memory(effective: Effective) -> Findings:
    """Memory or huge pages, more than zero, of a NUMA node."""
    for index, item in enumerate(effective.items("reservedMemory")):
        if not isinstance(item, Mapping):
            continue
        limits, node = item.get("limits"), item.get("numaNode", 0)
        if is_number(node) and node < 0:
            yield Finding("reservedMemory", "is negative", (index, "numaNode"), node, "0 or more")
        for key, value in limits.items() if isinstance(limits, Mapping) else ():
            if key != "memory" and not key.startswith(_HUGEPAGES):
                yield Finding("reservedMemory", "cannot be reserved", (index, "limits", key), allowed="memory, hugepages-SIZE")
            elif quantity_of(value) == 0:
                yield Finding("reservedMemory", "is zero", (index, "limits", key), value, "more than zero")
