# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of C(kubelet_rules) about feature gates: the gates that a field needs, and C(featureGates) itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from . import data
from .errors import Suggestions, rename
from .kubelet_effective import Effective
from .kubelet_findings import Finding, Findings, quantity_of
from .quantities import parse_duration


def _gate(name: str, below: tuple[Any, ...], gate: str, what: str = "") -> Finding:
    return Finding(name, f"{what}needs the feature gate {gate}, which is off", below, fix=f"set kubelet.config.featureGates.{gate}: true")


def needs_gate(path: str, gate: str) -> Callable[[Effective], Findings]:
    """A field that must be empty where a gate is off."""
    name, *below = path.split(".")

    def check(effective: Effective) -> Findings:
        value = effective.get(path)
        # A mapping that is there, and empty, is set; a duration or a quantity of zero is not.
        given = isinstance(value, Mapping) or (bool(value) and not _is_zero(value))
        if given and effective.gates.state(gate) is not None and not effective.gates.enabled(gate):
            yield _gate(name, tuple(below), gate)

    return check


def _is_zero(value: Any) -> bool:
    return parse_duration(value) == 0 or quantity_of(value) == 0


def cfs_quota_period_gate(effective: Effective) -> Findings:
    """Another period than 100 ms needs a gate."""
    if not effective.gates.enabled("CustomCPUCFSQuotaPeriod") and effective.seconds("cpuCFSQuotaPeriod") != Decimal("0.1"):
        yield _gate("cpuCFSQuotaPeriod", (), "CustomCPUCFSQuotaPeriod", "other than 100ms ")


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


def unknown_gates(effective: Effective) -> Findings:
    """A gate that this kubelet does not have."""
    gates, suggestions = effective.gates, Suggestions()
    for name in effective.mapping("featureGates"):
        if name not in ("AllAlpha", "AllBeta") and gates.state(name) is None:
            guess = suggestions.nearest(name, gates.known())
            message = f"kubelet 1.{effective.minor} does not have this feature gate"
            fix = rename(guess, effective.mapping("featureGates"))
            yield Finding("featureGates", message, (name,), nearest=guess, fix=fix)


def locked_gates(effective: Effective) -> Findings:
    """A gate that can no longer be changed."""
    for name, value in effective.gates.given.items():
        state = effective.gates.state(name)
        if state and state[2] and value != state[1]:
            fixed = "true" if state[1] else "false"
            yield Finding("featureGates", f"is locked to {fixed} in kubelet 1.{effective.minor}", (name,), value, fixed, fix="remove it")


def gate_dependencies(effective: Effective) -> Findings:
    """A gate that is on although one that it needs is off."""
    gates = effective.gates
    given = gates.given
    for name in sorted(_affected(effective, given)):
        if not gates.enabled(name):
            continue
        for needed in gates.needs(name):
            if not gates.enabled(needed):
                at = name if name in given else needed
                fix = f"set kubelet.config.featureGates.{needed}: true"
                yield Finding("featureGates", f"{name} needs {needed}, which is off", (at,) if at in given else (), fix=fix)


def _affected(effective: Effective, given: Mapping[str, Any]) -> set[str]:
    """The gates whose dependencies a configuration can break."""
    every = data.kubelet_gates()["needs"]
    if {"AllAlpha", "AllBeta"} & given.keys():
        return set(every)
    return {name for name in every if name in given or given.keys() & set(effective.gates.needs(name))}
