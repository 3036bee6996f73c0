# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of C(kubelet_rules) about kubelet's managers of CPUs, memory and topology, and about the machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from .errors import Suggestions, rename
from .kubelet_effective import Effective
from .kubelet_findings import Finding, Findings, parse_cpus, quantity_of
from .quantities import parse_bool, parse_quantity

CPU_OPTIONS: Mapping[str, tuple[tuple[int, int, str], ...]] = {
    "full-pcpus-only": ((24, 32, "Beta"), (33, 36, "")),
    "distribute-cpus-across-numa": ((24, 32, "Alpha"), (33, 36, "Beta")),
    "align-by-socket": ((25, 36, "Alpha"),),
    "distribute-cpus-across-cores": ((31, 36, "Alpha"),),
    "strict-cpu-reservation": ((32, 32, "Alpha"), (33, 34, "Beta"), (35, 36, "")),
    "prefer-align-cpus-by-uncorecache": ((32, 33, "Alpha"), (34, 35, "Beta"), (36, 36, "")),
}
"""Option of the static CPU manager → first minor, last minor and the maturity whose feature gate it needs."""

TOPOLOGY_OPTIONS: Mapping[str, tuple[tuple[int, int, str], ...]] = {
    "prefer-closest-numa-nodes": ((26, 27, "Alpha"), (28, 31, "Beta"), (32, 36, "")),
    "max-allowable-numa-nodes": ((31, 32, "Beta"), (33, 34, "Beta"), (35, 36, "")),
}

_CPU_CONFLICTS = (
    ("full-pcpus-only", "distribute-cpus-across-cores"),
    ("distribute-cpus-across-numa", "distribute-cpus-across-cores"),
    ("prefer-align-cpus-by-uncorecache", "distribute-cpus-across-cores"),
    ("prefer-align-cpus-by-uncorecache", "distribute-cpus-across-numa"),
)


def _options(effective: Effective, field: str, table: Mapping[str, tuple[tuple[int, int, str], ...]], gate: str) -> list[Finding]:
    """What is wrong with the names of policy options, and the gates that they need."""
    found, suggestions = [], Suggestions()
    known = [name for name, rows in table.items() if any(first <= effective.minor <= last for first, last, _unused in rows)]
    for name in effective.mapping(field):
        if name not in known:
            message = f"is not an option of kubelet 1.{effective.minor}"
            guess = suggestions.nearest(name, known)
            fix = rename(guess, effective.mapping(field))
            found.append(Finding(field, message, (name,), allowed=", ".join(known), nearest=guess, fix=fix))
            continue
        [stage] = [stage for first, last, stage in table[name] if first <= effective.minor <= last]
        needed = gate.format(stage)
        if stage and not effective.gates.enabled(needed):
            message = f"needs the feature gate {needed}, which is off"
            found.append(Finding(field, message, (name,), fix=f"set kubelet.config.featureGates.{needed}: true"))
    return found


def cpu_options(effective: Effective) -> Findings:
    """Options of the static policy: names, values, gates, combinations."""
    field = "cpuManagerPolicyOptions"
    options = effective.mapping(field)
    if not options or not effective.gates.enabled("CPUManagerPolicyOptions"):
        return
    if effective.get("cpuManagerPolicy") != "static":
        yield Finding(field, "needs cpuManagerPolicy: static", fix="set cpuManagerPolicy: static, or remove the options")
        return
    yield from _options(effective, field, CPU_OPTIONS, "CPUManagerPolicy{}Options")
    for name, value in options.items():
        if name in CPU_OPTIONS and parse_bool(value) is None:
            yield Finding(field, "is not a boolean", (name,), value, '"true" or "false"')
    on = {name for name, value in options.items() if parse_bool(value)}
    for first, second in _CPU_CONFLICTS:
        if {first, second} <= on:
            yield Finding(field, f"cannot be combined with {second}", (first,), fix="remove one of the two")
    if "align-by-socket" in on and effective.get("topologyManagerPolicy") == "single-numa-node":
        yield Finding(
            field, "cannot be combined with topologyManagerPolicy: single-numa-node", ("align-by-socket",), fix="remove one of the two"
        )


def cpu_reservation(effective: Effective) -> Findings:
    """The static policy needs a CPU, or a part of one, that is reserved."""
    if effective.get("cpuManagerPolicy") != "static" or effective.get("reservedSystemCPUs"):
        return
    if effective.quantity("kubeReserved", "cpu") + effective.quantity("systemReserved", "cpu") <= 0:
        yield Finding(
            "cpuManagerPolicy", "needs reserved CPUs, but none are reserved", value="static", fix="set reserved.kube.cpu, such as 100m"
        )


def memory_reservation(effective: Effective) -> Findings:
    """The static policy: reservedMemory adds up to what is reserved otherwise, kind by kind."""
    if effective.get("memoryManagerPolicy") != "Static":
        return
    field = "reservedMemory"
    sums: dict[str, Decimal] = {}
    for item in effective.items(field):
        limits = item.get("limits") if isinstance(item, Mapping) else None
        for key, value in limits.items() if isinstance(limits, Mapping) else ():
            sums[key] = sums.get(key, Decimal(0)) + (quantity_of(value) or 0)
    for key in sums:
        if key != "memory":
            yield Finding(
                field, f"reserves {key}, which memoryManagerPolicy: Static compares with reservations of memory only", fix="remove it"
            )
    threshold = effective.mapping("evictionHard").get("memory.available")
    if effective.image_computes_memory or (isinstance(threshold, str) and threshold.endswith("%") and threshold not in ("0%", "100%")):
        message = "needs sums of memory that are known before the node exists"
        fix = 'set reserved.kube.memory, and evictionHard["memory.available"] as a quantity'
        yield Finding("memoryManagerPolicy", message, value="Static", fix=fix)
        return
    evicted = parse_quantity(threshold) or Decimal(0)
    due = effective.quantity("kubeReserved", "memory") + effective.quantity("systemReserved", "memory") + evicted
    if sums.get("memory", Decimal(0)) != due or due <= 0:
        amount = _memory(due)
        message = f"needs reservedMemory for {amount} of memory: kubeReserved, systemReserved and the hard eviction threshold"
        fix = f'set reservedMemory: [{{numaNode: 0, limits: {{memory: "{amount}"}}}}]'
        yield Finding("memoryManagerPolicy", message, value="Static", fix=fix)


def _memory(quantity: Decimal) -> str:
    mebibytes = quantity / 2**20
    return f"{mebibytes:f}Mi" if mebibytes == mebibytes.to_integral_value() else f"{quantity:f}"


_NUMA_NODES = 8


def topology_options(effective: Effective) -> Findings:
    """Options of the topology manager: names, values, gates."""
    field = "topologyManagerPolicyOptions"
    if effective.get("topologyManagerPolicy") in (None, "none") or not effective.gates.enabled("TopologyManagerPolicyOptions"):
        return
    yield from _options(effective, field, TOPOLOGY_OPTIONS, "TopologyManagerPolicy{}Options")
    for name, value in effective.mapping(field).items():
        if name == "prefer-closest-numa-nodes" and parse_bool(value) is None:
            yield Finding(field, "is not a boolean", (name,), value, '"true" or "false"')
        if name == "max-allowable-numa-nodes" and not (
            isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value, re.ASCII) and int(value) >= _NUMA_NODES
        ):
            yield Finding(field, "is out of range", (name,), value, f'"{_NUMA_NODES}" or more, as text')


def reserved_cpus_of_machine(effective: Effective) -> Findings:
    """Only CPUs of the machine can be reserved."""
    cpus = parse_cpus(effective.get("reservedSystemCPUs"))
    if cpus and effective.vcpus is not None and max(cpus) >= effective.vcpus:
        value = effective.get("reservedSystemCPUs")
        yield Finding(
            "reservedSystemCPUs", "has a CPU that the instance type does not have", value=value, allowed=f"0 to {effective.vcpus - 1}"
        )


def cgroup_v1(effective: Effective) -> Findings:
    """What cgroup v1 does not have."""
    if not effective.cgroup_v1:
        return
    message = "needs cgroup v2, and Amazon Linux 2 has cgroup v1"
    if effective.get("failCgroupV1") is True:
        yield Finding("failCgroupV1", "does not let kubelet start on Amazon Linux 2, which has cgroup v1", value=True, fix="remove it")
    if effective.get("singleProcessOOMKill") is False:
        yield Finding("singleProcessOOMKill", message, value=False, fix="remove it")
    if effective.get("memorySwap.swapBehavior") == "LimitedSwap" and effective.gates.enabled("NodeSwap"):
        yield Finding("memorySwap", message, ("swapBehavior",), "LimitedSwap", fix="remove it")


def cgroup_root(effective: Effective) -> Findings:
    """With the driver systemd, a root is a slice: kubelet joins its parts with dashes, and adds C(.slice) itself."""
    parts = _root_parts(effective)
    if not parts or effective.get("cgroupDriver") != "systemd":
        return
    value = effective.get("cgroupRoot")
    if "" in parts:
        message = "has an empty part, of which kubelet cannot make a slice"
        yield Finding("cgroupRoot", message, value=value, fix=f"write {'/'.join(['', *filter(None, parts)])}")
    elif any(part.endswith(_SLICE) for part in parts):
        own = "/".join(part.removesuffix(_SLICE) for part in parts[-1:]).replace("-", "/")
        message = f"ends with {_SLICE}, which kubelet adds itself: it looks for {_slice(parts)}"
        yield Finding("cgroupRoot", message, value=value, fix=f"write /{own}")


def cgroup_root_exists(effective: Effective) -> Findings:
    """The images have the root of all cgroups; kubelet exits where another one is missing, or lacks a controller."""
    parts = _root_parts(effective)
    if parts:
        place = _slice(parts) if effective.get("cgroupDriver") == "systemd" else "/" + "/".join(parts)
        message = f"is not checked: kubelet exits if the node does not have the cgroup {place} with all controllers"
        yield Finding("cgroupRoot", message, value=effective.get("cgroupRoot"), fix="remove it, or create the cgroup before kubelet starts")


_SLICE = ".slice"


def _root_parts(effective: Effective) -> list[str]:
    """The parts of a root that kubelet looks for; none for the root of all cgroups."""
    root = effective.get("cgroupRoot")
    if not isinstance(root, str) or root in ("", "/", "//") or effective.get("cgroupsPerQOS") is False:
        return []
    return root.removeprefix("/").split("/")


def _slice(parts: list[str]) -> str:
    """C(/a.slice/a-b.slice) for C(/a/b)."""
    names = [part.replace("-", "_") for part in parts]
    return "".join(f"/{'-'.join(names[: index + 1])}{_SLICE}" for index in range(len(names)))


def cgroup_driver(effective: Effective) -> Findings:
    """The images run containerd with systemd's cgroups."""
    if effective.get("cgroupDriver") == "cgroupfs":
        message = "differs from the driver of containerd, which is systemd: two managers of cgroups disagree under pressure"
        yield Finding("cgroupDriver", message, value="cgroupfs", fix="remove it")


MANY_PODS = 1000


def many_pods(effective: Effective) -> Findings:
    """kubelet takes any number; nodes do not."""
    pods = effective.get("maxPods")
    if isinstance(pods, int) and pods > MANY_PODS:
        message = "is more than kubelet is run with: Kubernetes recommends 110, and EKS at most 250"
        yield Finding("maxPods", message, value=pods, allowed=f"at most {MANY_PODS}")
