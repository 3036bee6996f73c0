# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration that kubelet runs with: its defaults, then its file, then a drop-in, then flags, as kubelet of a minor merges them.

C(kubelet_rules) checks it. Source: Go module k8s.io/kubernetes, cmd/kubelet/app/server.go and pkg/kubelet/apis/config/v1beta1.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, cached_property
from typing import Any

from . import data
from .kubelet_flags import flag_field_value
from .quantities import parse_duration, parse_quantity

_FIRST_DROP_INS = 29
"""Before it only nodeadm has the user's fields in a configuration of their own, and merges them into kubelet's file."""

_DROP_INS_WITH_DEFAULTS = 32
"""Before it kubelet merges a drop-in into its internal configuration: null changes nothing, and no default replaces a zero."""

_LOST_IN_OLD_DROP_INS = frozenset({"resolvConf"})
"""Fields with another name in that internal configuration: a drop-in does not reach them."""

_EVICTION_HARD = {
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
    "imagefs.available": "15%",
}
_EVICTION_HARD_SINCE_30 = {"imagefs.inodesFree": "5%"}
_ZEROS: tuple[Any, ...] = (0, "", "0", "0s")


class Gates:
    """kubelet's feature gates in one minor, with the gates that a configuration sets."""

    def __init__(self, minor: int, given: Mapping[str, Any]) -> None:
        self.minor = minor
        self.given = {name: value for name, value in given.items() if isinstance(value, bool)}

    def state(self, name: str) -> tuple[str, bool, bool] | None:
        """Stage, default and whether it is locked, or None where this kubelet does not have the gate."""
        return _states(self.minor).get(name)

    def known(self) -> list[str]:
        """Every name that can be set."""
        return [*_SPECIAL, *_states(self.minor)]

    def enabled(self, name: str) -> bool:
        """Is the gate on? One that a minor no longer has is on: gates go when their feature stays."""
        state = self.state(name)
        if state is None:
            rows = data.kubelet_gates()["gates"].get(name)
            return bool(rows) and self.minor > rows[-1][1] and rows[-1][3]
        stage, default, locked = state
        if name in self.given and not locked:
            return self.given[name]
        group = _SPECIAL_OF.get(stage)
        return self.given[group] if group in self.given and not locked else default

    def needs(self, name: str) -> tuple[str, ...]:
        """The gates that have to be on where this one is."""
        for first, last, names in data.kubelet_gates()["needs"].get(name, ()):
            if first <= self.minor <= last:
                return tuple(names)
        return ()


@cache
def _states(minor: int) -> Mapping[str, tuple[str, bool, bool]]:
    """The gates of a minor. The table is read once for each: a text can name thousands of gates."""
    table: dict[str, tuple[str, bool, bool]] = {}
    for name, rows in data.kubelet_gates()["gates"].items():
        for first, last, stage, default, locked in rows:
            if first <= minor <= last:
                table.setdefault(name, (stage, default, locked))
    return table


_SPECIAL = ("AllAlpha", "AllBeta")
_SPECIAL_OF = {"alpha": "AllAlpha", "beta": "AllBeta"}


@dataclass(frozen=True)
class Origin:
    """Where the user's value of a field is.

    path: the path in the input.
    inside: how a message names the field in a text at that path (user data, override); empty where the path names it.
    is_flag: whether a flag sets it.
    """

    path: str
    inside: str = ""
    is_flag: bool = False


@dataclass(frozen=True)
class Effective:
    """What kubelet of a minor runs with.

    config: every field that has a value, defaults included.
    origins: top-level field → where the user set it. Fields of kubelet or the image are not in it.
    cgroup_v1: whether the machine has cgroup v1; None if unknown.
    vcpus: of the machine; None if unknown.
    image_computes_memory: whether the image computes kubeReserved.memory on the node.
    """

    minor: int
    config: Mapping[str, Any]
    origins: Mapping[str, Origin] = field(default_factory=dict)
    cgroup_v1: bool | None = None
    vcpus: int | None = None
    image_computes_memory: bool = False

    @cached_property
    def gates(self) -> Gates:
        """The feature gates."""
        return Gates(self.minor, self.mapping("featureGates"))

    def get(self, path: str) -> Any:
        """The value of a field such as C(logging.format), or None."""
        node: Any = self.config
        for key in path.split("."):
            node = node.get(key) if isinstance(node, Mapping) else None
        return node

    def mapping(self, path: str) -> Mapping[str, Any]:
        """The value of a field that is a mapping; empty otherwise."""
        value = self.get(path)
        return value if isinstance(value, Mapping) else {}

    def items(self, path: str) -> list[Any]:
        """The value of a field that is a list; empty otherwise."""
        value = self.get(path)
        return list(value) if isinstance(value, (list, tuple)) else []

    def seconds(self, path: str) -> Decimal:
        """The value of a field that is a duration, in seconds; zero otherwise."""
        return parse_duration(self.get(path)) or Decimal(0)

    def quantity(self, path: str, key: str) -> Decimal:
        """A quantity in a field that is a mapping; zero otherwise."""
        value = self.mapping(path).get(key)
        return (Decimal(value) if isinstance(value, int) else parse_quantity(value)) or Decimal(0)


def effective_config(
    minor: int, base: Mapping[str, Any], drop_in: Mapping[str, Any] | None, flags: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The configuration out of kubelet's file, a drop-in and the fields that flags set (C(flag_fields))."""
    return with_layers(minor, file_config(minor, base), drop_in, flags)


def file_config(minor: int, base: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of kubelet's file, with the defaults of kubelet."""
    config = _with_defaults(minor, _without_nulls(base))
    if "evictionHard" not in config:
        config["evictionHard"] = {**_EVICTION_HARD, **(_EVICTION_HARD_SINCE_30 if minor >= 30 else {})}
    return config


def with_layers(
    minor: int, file: Mapping[str, Any], drop_in: Mapping[str, Any] | None, flags: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """C(file_config) with a drop-in, and with the fields that flags set."""
    config = dict(file)
    if drop_in:
        if _FIRST_DROP_INS <= minor < _DROP_INS_WITH_DEFAULTS:
            config = _overlaid(config, {key: value for key, value in drop_in.items() if key not in _LOST_IN_OLD_DROP_INS})
        else:
            # The file has its defaults. Only what the drop-in changes can need one again.
            changed = None if "featureGates" in drop_in else drop_in.keys()
            config = _with_defaults(minor, _patched(config, drop_in), changed)
    for path, value in (flags or {}).items():
        old = config.get(path)
        # Gates of flags are added to those of the files; every other mapping is replaced.
        _set(config, path.split("."), {**old, **value} if path == "featureGates" and isinstance(old, Mapping) else value)
    return config


def flag_fields(flags: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, Any]]:
    """Flag → the path of the configuration field that it sets, and the value."""
    table = data.kubelet_flags()["flags"]
    found = {}
    for name, values in flags.items():
        row = table.get(name)
        if row is None or "config" not in row or row["type"] == "taints" or row["config"] == "staticPodURLHeader":
            continue
        words = tuple(values)
        value = _reserved_memory(words) if row["config"] == "reservedMemory" else flag_field_value(row, words)
        if value is not None:
            found[name] = (row["config"], value)
    return found


def _reserved_memory(words: Iterable[str]) -> list[dict[str, Any]]:
    """C(--reserved-memory=0:memory=1Gi,hugepages-2Mi=1Gi;1:memory=2Gi) as the field."""
    found = []
    for group in (group for word in words for group in word.split(";") if group):
        node, _unused, limits = group.partition(":")
        pairs = dict(pair.partition("=")[::2] for pair in limits.split(",") if pair)
        found.append({"numaNode": int(node) if node.isdecimal() else -1, "limits": pairs})
    return found


def _set(config: dict[str, Any], path: list[str], value: Any) -> None:
    key, *below = path
    if not below:
        config[key] = value
        return
    old = config.get(key)
    child = dict(old) if isinstance(old, Mapping) else {}
    _set(child, below, value)
    config[key] = child


def _without_nulls(config: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _without_nulls(value) if isinstance(value, Mapping) else value for key, value in config.items() if value is not None}


def _patched(base: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON merge patch: null removes."""
    result = dict(base)
    for key, value in patch.items():
        old = result.get(key)
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            result[key] = _patched(old if isinstance(old, Mapping) else {}, value)
        else:
            result[key] = value
    return result


def _overlaid(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        if isinstance(value, Mapping):
            result[key] = _overlaid(old if isinstance(old, Mapping) else {}, value)
        elif value is not None:
            result[key] = value
    return result


@cache
def _defaults(minor: int) -> tuple[tuple[tuple[str, ...], Mapping[str, Any]], ...]:
    """The defaults of a minor with the keys of their paths."""
    table = data.kubelet_defaults()["fields"]
    return tuple((tuple(path.split(".")), row) for path, rows in table.items() for row in rows if row["since"] <= minor <= row["until"])


def _with_defaults(minor: int, config: Mapping[str, Any], changed: Container[str] | None = None) -> dict[str, Any]:
    """C(config) with the defaults of kubelet. changed: the fields to look at; None for all."""
    result = dict(config)
    gates: Gates | None = None
    for path, row in _defaults(minor):
        if changed is not None and path[0] not in changed:
            continue
        if "gate" in row:
            given = result.get("featureGates")
            gates = gates or Gates(minor, given if isinstance(given, Mapping) else {})
            if not gates.enabled(row["gate"]):
                continue
        _set_default(result, path, row["value"], zero=row["zero"])
    if result.get("serializeImagePulls") is None:
        parallel = result.get("maxParallelImagePulls")
        result["serializeImagePulls"] = not (isinstance(parallel, int) and parallel >= 2)
    return result


def _set_default(config: dict[str, Any], path: Iterable[str], value: Any, *, zero: bool) -> None:
    key, *below = path
    old = config.get(key)
    if below:
        if old is None or isinstance(old, Mapping):
            child = dict(old or {})
            _set_default(child, below, value, zero=zero)
            config[key] = child
    elif old is None or (zero and not isinstance(old, bool) and old in _ZEROS):
        config[key] = value
