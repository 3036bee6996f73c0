# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubernetes syntax that a node's description is checked against: versions, labels, taints, kubelet's configuration and flags."""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Protocol

from . import data
from .errors import Problems, joined, nearest, shown
from .network import ip_problem
from .quantities import parse_bool, parse_duration, parse_quantity

_VERSION = re.compile(r"v?([0-9]{1,3})\.([0-9]{1,3})(?:\.[0-9]{1,3})?(?:[-+][0-9A-Za-z.-]*)?", re.ASCII)
_LABEL_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*", re.ASCII)
_NAME_LENGTH = 63
_PREFIX_LENGTH = 253

taint_effects = ("NoSchedule", "PreferNoSchedule", "NoExecute")

_KUBELET_LABELS = frozenset(
    {
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
    }
)
_KUBELET_LABEL_DOMAINS = ("kubelet.kubernetes.io", "node.kubernetes.io")
_KUBERNETES_DOMAINS = ("kubernetes.io", "k8s.io")


class Taint(Protocol):
    """What C(taints_flag) reads of a taint; C(value) may be empty or None."""

    @property
    def key(self) -> str:
        """The key."""

    @property
    def value(self) -> str | None:
        """The value."""

    @property
    def effect(self) -> str:
        """One of C(taint_effects)."""


def parse_version(text: Any) -> tuple[int, int] | None:
    """C((1, 31)) of C("1.31"), C("v1.31.4") or C("1.31.4-eks-abc"); None of anything else.

    A number is nothing: 1.3 and 1.30 are the same one.
    """
    match = _VERSION.fullmatch(text) if isinstance(text, str) else None
    return (int(match[1]), int(match[2])) if match else None


def label_key_problem(key: Any) -> str | None:
    """Why C(key) is not a valid label or taint key (C(name) or C(prefix/name)), or None if it is valid."""
    if not isinstance(key, str):
        return "the key must be text"
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return "a key has at most one slash"
    if slash and not prefix:
        return "the part before the slash is empty"
    if len(prefix) > _PREFIX_LENGTH:
        return f"the part before the slash is longer than {_PREFIX_LENGTH} characters"
    if prefix and not _DNS_SUBDOMAIN.fullmatch(prefix):
        return "the part before the slash is not a DNS name (lower case letters, digits, - and .)"
    return _name_problem(name, "the name of a key")


def label_value_problem(value: Any) -> str | None:
    """Why C(value) is not a valid label or taint value, or None if it is valid, as the empty text is."""
    if not isinstance(value, str):
        return "a value is text; quote it"
    return _name_problem(value, "a value") if value else None


def _name_problem(name: str, what: str) -> str | None:
    if not name:
        return f"{what} is empty"
    if len(name) > _NAME_LENGTH:
        return f"{what} is longer than {_NAME_LENGTH} characters"
    if not _LABEL_NAME.fullmatch(name):
        return f"{what} can contain only letters, digits, -, _ and ., and must begin and end with a letter or digit"
    return None


def _within(domain: str, parents: Iterable[str]) -> bool:
    return any(domain == parent or domain.endswith(f".{parent}") for parent in parents)


def kubelet_label_problem(key: Any) -> str | None:
    """Why kubelet refuses to start with label C(key), or None when it does not (k8s.io/kubelet, pkg/apis, 1.24 to 1.36)."""
    if not isinstance(key, str):
        return None
    domain = key.partition("/")[0] if "/" in key else ""
    if key in _KUBELET_LABELS or not _within(domain, _KUBERNETES_DOMAINS) or _within(domain, _KUBELET_LABEL_DOMAINS):
        return None
    return "kubelet refuses to start with this label: it can set only a few labels below kubernetes.io and k8s.io"


def node_labels_flag(labels: Mapping[str, str]) -> str:
    """The value of C(--node-labels): C(k=v,…), sorted by key."""
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels))


def taints_flag(taints: Iterable[Taint]) -> str:
    """The value of C(--register-with-taints): C(k=v:Effect,…) in the given order; C(k=:Effect) without a value."""
    return ",".join(f"{taint.key}={taint.value or ''}:{taint.effect}" for taint in taints)


_Version = tuple[int, int] | None

_INTEGERS = {"int": (-(2**63), 2**63 - 1), "int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1), "uint32": (0, 2**32 - 1)}
_PERCENT = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,6})?%", re.ASCII)


def _threshold(text: str) -> bool:
    return (bool(_PERCENT.fullmatch(text)) and float(text[:-1]) <= 100) or parse_quantity(text) is not None


def _node_ip(text: str) -> bool:
    """C(--node-ip): kubelet ignores words that are not addresses, and exits with other pairs (k8s.io/component-helpers, node/util)."""
    words = [word.strip() for word in text.split(",")] if text else []
    if any(ip_problem(word) for word in words):
        return False
    addresses = [ipaddress.ip_address(word) for word in words]
    is_pair = {address.version for address in addresses} == {4, 6} and not any(address.is_unspecified for address in addresses)
    return len(addresses) < 2 or (len(addresses) == 2 and is_pair)


_FORMATS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "duration": (lambda text: parse_duration(text) is not None, 'a duration such as "30s" or "1h5m"'),
    "quantity": (lambda text: parse_quantity(text) is not None, 'a quantity such as "100m", "1Gi" or "500"'),
    "threshold": (_threshold, 'a quantity such as "100Mi", or a percentage such as "10%"'),
    "ip": (lambda text: ip_problem(text) is None, "an IP address"),
    "node_ip": (_node_ip, "one IP address, or an IPv4 and an IPv6 address that are joined with a comma"),
    "label_key": (lambda text: label_key_problem(text) is None, "a key such as example.com/name"),
    "label_value": (lambda text: not text or label_value_problem(text) is None, "a label value"),
}


def _minor(version: _Version, table: Mapping[str, Any]) -> int | None:
    """The minor to look up: newer kubelets than the table knows are read as the newest that it knows."""
    return None if version is None else max(table["first"], min(version[1], table["last"]))


def _gone(row: Mapping[str, Any], minor: int | None, what: str) -> str | None:
    """Why the kubelet of this minor does not know a row of a table, or None when it does."""
    if minor is not None and minor < row.get("since", 0):
        return f"kubelet 1.{minor} does not have this {what}, which was added in 1.{row['since']}"
    if minor is not None and minor > row.get("until", minor):
        return f"kubelet 1.{minor} does not have this {what}, which was removed in 1.{row['until'] + 1}"
    return None


def kubelet_config_problems(config: Any, version: _Version, path: str, problems: Problems) -> None:
    """Report what kubelet would refuse in a KubeletConfiguration, or in a part of one.

    Fields and types per minor: Go module k8s.io/kubelet; values: kubelet's own validation. Without a version a field of any known
    minor will do.
    """
    table = data.kubelet_fields()
    _check_node(config, {"type": "struct", "fields": table["fields"]}, _minor(version, table), path, problems)


def _check_node(value: Any, node: Mapping[str, Any], minor: int | None, path: str, problems: Problems) -> None:
    kind = node["type"]
    # JSON's null leaves a field as it is.
    if value is None:
        return
    if kind in {"struct", "map"}:
        _check_mapping(value, node, minor, path, problems)
    elif kind == "list":
        if not isinstance(value, (list, tuple)):
            problems.add(
                "kubelet.wrong_type",
                path,
                "is not a list",
                value=value,
                allowed="a list",
                fix=f"write [{shown(value)}]" if isinstance(value, str) else None,
            )
            return
        for index, item in enumerate(value):
            _check_node(item, node["items"], minor, joined(path, index), problems)
    else:
        before = node.get("before")
        if before is not None and minor is not None and minor <= before["until"]:
            node = before
        _check_scalar(value, node, path, problems)


def _check_mapping(value: Any, node: Mapping[str, Any], minor: int | None, path: str, problems: Problems) -> None:
    if not isinstance(value, Mapping):
        problems.add("kubelet.wrong_type", path, "is not a mapping", value=value, allowed="a mapping")
        return
    fields = node.get("fields")
    names = node.get("keys") if fields is None else fields
    for key, item in value.items():
        where = joined(path, key)
        if not isinstance(key, str):
            problems.add("input.key_not_text", where, "the key must be text", value=key, fix="quote it")
        elif names is not None and key not in names:
            known = list(names) if fields is None else sorted(name for name, row in fields.items() if not _gone(row, minor, "field"))
            unknown = "kubelet does not have this field" if fields is not None else "kubelet does not have this key"
            allowed = ", ".join(known) if len(known) <= 12 else None
            guess = nearest(key, known)
            problems.add(
                "kubelet.unknown_field",
                where,
                unknown,
                allowed=allowed,
                nearest=guess,
                fix=f"rename it to {guess}" if guess else "remove it",
            )
        elif fields is not None and (gone := _gone(fields[key], minor, "field")):
            problems.add("kubelet.field_not_in_version", where, gone, fix="remove it")
        else:
            _check_node(item, fields[key] if fields is not None else node["items"], minor, where, problems)
    for name in node.get("required", ()):
        if name not in value:
            problems.add("kubelet.missing_field", path, f"{name} is missing", fix=f"add {name}")


def _check_scalar(value: Any, node: Mapping[str, Any], path: str, problems: Problems) -> None:
    kind = node["type"]
    if kind == "duration_or_nanoseconds":
        kind = "int64" if isinstance(value, int) else "duration"
    if kind in _INTEGERS or kind == "nanoseconds":
        least, most = _INTEGERS.get(kind, _INTEGERS["int64"])
        least, most = node.get("minimum", least), node.get("maximum", most)
        if not isinstance(value, int) or isinstance(value, bool):
            problems.add(
                "kubelet.wrong_type", path, "is not a whole number", value=value, allowed=f"a number from {least} to {most}, unquoted"
            )
        elif not least <= value <= most:
            problems.add("kubelet.out_of_range", path, "is out of range", value=value, allowed=f"{least} to {most}")
    elif kind == "bool":
        if not isinstance(value, bool):
            problems.add("kubelet.wrong_type", path, "is not a boolean", value=value, allowed="true or false, unquoted")
    elif kind == "float64":
        if isinstance(value, bool) or not isinstance(value, (int, float)) or (isinstance(value, float) and not math.isfinite(value)):
            problems.add("kubelet.wrong_type", path, "is not a number", value=value, allowed="a number")
    elif kind == "quantity" and isinstance(value, int) and not isinstance(value, bool):
        pass
    elif not isinstance(value, str):
        form = node.get("format", kind)
        problems.add(
            "kubelet.wrong_type",
            path,
            "is not text",
            value=value,
            allowed=_FORMATS[form][1] if form in _FORMATS else "text",
            fix="quote it",
        )
    else:
        _check_text(value, node.get("format", kind), node.get("enum"), path, problems)


def _check_text(value: str, form: str, enum: Iterable[str] | None, path: str, problems: Problems) -> None:
    if enum is not None and value not in enum:
        problems.add(
            "kubelet.unknown_value",
            path,
            "is not a valid value for kubelet",
            value=value,
            allowed=", ".join(one or '""' for one in enum),
            nearest=nearest(value, enum),
        )
    elif form in _FORMATS and not _FORMATS[form][0](value):
        problems.add("kubelet.invalid_value", path, "cannot be read", value=value, allowed=_FORMATS[form][1])


def kubelet_config_contradictions(config: Mapping[str, Any], path: str, problems: Problems) -> None:
    """What kubelet checks across fields, as far as both are given here. For families whose whole configuration is unknown; the others
    use C(kubelet_rules).
    """
    soft, grace = config.get("evictionSoft"), config.get("evictionSoftGracePeriod")
    if isinstance(soft, Mapping) and isinstance(grace, Mapping):
        for one, other, field in ((soft, grace, "evictionSoftGracePeriod"), (grace, soft, "evictionSoft")):
            for key in one:
                if key not in other:
                    problems.add(
                        "kubelet.inconsistent_fields",
                        joined(path, field),
                        f"{key} is missing: a soft threshold and its grace period go together",
                        fix=f"add {key}",
                    )
    low, high = config.get("imageGCLowThresholdPercent"), config.get("imageGCHighThresholdPercent")
    if isinstance(low, int) and isinstance(high, int) and low >= high:
        problems.add(
            "kubelet.inconsistent_fields",
            joined(path, "imageGCLowThresholdPercent"),
            "is not below imageGCHighThresholdPercent",
            value=low,
            allowed=f"less than {high}",
        )
    critical, total = (parse_duration(config.get(f"shutdownGracePeriod{rest}")) for rest in ("CriticalPods", ""))
    if critical is not None and total is not None and critical > total:
        field = "shutdownGracePeriodCriticalPods"
        problems.add(
            "kubelet.inconsistent_fields",
            joined(path, field),
            "is longer than shutdownGracePeriod, of which it is a part",
            value=config[field],
        )


_REPEATABLE = frozenset({"list", "map", "map_bool", "thresholds"})
_PAIR = {"map": "key=value", "map_bool": "key=true or key=false", "thresholds": "signal<threshold"}
_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,18})", re.ASCII)
"""As Go reads it in base 0, where a leading zero means octal."""
_SEPARATORS = {"map": "=", "map_bool": "=", "thresholds": "<"}


def kubelet_flag_problems(
    flags: Any, version: _Version, path: str, problems: Problems, *, has_config: bool = True, fields: Mapping[str, str] | None = None
) -> None:
    """Report what kubelet would refuse in C({name: value}), names without dashes, values scalars or lists for repeatable flags.

    Flags per minor: Go module k8s.io/kubernetes, cmd/kubelet/app/options. Without a version a flag of any known minor will do.
    has_config: whether a field of the configuration can be advised instead of a removed flag. fields: flags that have a field of the
    node group, which is advised instead.
    """
    table = data.kubelet_flags()
    known = table["flags"]
    minor = _minor(version, table)
    if not isinstance(flags, Mapping):
        problems.add(
            "kubelet.wrong_type", path, "is not a mapping", value=flags, allowed="a mapping of flag names, without dashes, to values"
        )
        return
    for name, value in flags.items():
        where = joined(path, name)
        row = known.get(name) if isinstance(name, str) else None
        if row is None:
            available = [other for other, one in known.items() if not _gone(one, minor, "flag")]
            bare = name.lstrip("-").partition("=")[0] if isinstance(name, str) else ""
            dashed = bare in available and bare != name
            guess = nearest(bare, available)
            fix = f"write {bare}: VALUE" if dashed else f"rename it to {guess}" if guess else "remove it"
            if (field := (fields or {}).get(bare if dashed else str(guess))) is not None:
                fix = f"write node_group.{field}"
            problems.add("kubelet.unknown_flag", where, "kubelet does not have this flag", nearest=guess, fix=fix)
        elif gone := _gone(row, minor, "flag"):
            field = field_of_flag(name, version) if has_config else None
            instead = f"write kubelet.config.{field}" if field else "remove it"
            if field and (other := flags_of_field(field, value, version)):
                instead = f"rename it to {other[0]}"
            problems.add("kubelet.flag_not_in_version", where, gone, fix=row.get("instead", instead))
        else:
            _check_flag(value, row, minor, where, problems)


def _check_flag(value: Any, row: Mapping[str, Any], minor: int | None, path: str, problems: Problems) -> None:
    if isinstance(value, (list, tuple)):
        if row["type"] not in _REPEATABLE:
            problems.add("kubelet.repeated_flag", path, "kubelet accepts this flag only once", value=value, allowed="one value")
            return
        for index, item in enumerate(value):
            _check_flag_value(item, row, minor, joined(path, index), problems)
    else:
        _check_flag_value(value, row, minor, path, problems)


def _check_flag_value(value: Any, row: Mapping[str, Any], minor: int | None, path: str, problems: Problems) -> None:
    kind = row["type"]
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, int) and abs(value) < 2**63:
        value = str(value)
    if not isinstance(value, str):
        problems.add("kubelet.wrong_type", path, "is not one value", value=value, allowed="text, a whole number or a boolean")
        return
    if kind == "bool" and parse_bool(value) is None:
        problems.add("kubelet.wrong_type", path, "is not a boolean", value=value, allowed="true or false")
    elif kind == "int" and not _NUMBER.fullmatch(value):
        problems.add("kubelet.wrong_type", path, "is not a whole number", value=value, allowed="a whole number")
    elif kind == "int" and "config" in row:
        _check_node(int(value), _field(row["config"]), minor, path, problems)
    elif kind in _PAIR:
        before = len(problems)
        _check_pairs(value, kind, path, problems)
        if len(problems) == before and "config" in row and kind != "map_bool":
            _check_node(flag_field_value(row, (value,)), _field(row["config"]), minor, path, problems)
    elif row.get("config") == "staticPodURLHeader":
        for pair in value.split(","):
            if pair and ":" not in pair:
                problems.add("kubelet.invalid_value", path, "cannot be read", value=pair, allowed="NAME:VALUE, joined with commas")
    elif kind == "list" and "config" in row and _field(row["config"])["type"] == "list" and row["config"] != "reservedMemory":
        for item in flag_field_value(row, (value,)):
            _check_node(item, _field(row["config"])["items"], minor, path, problems)
    elif "values" in row:
        allowed = [one["value"] for one in row["values"] if not _gone(one, minor, "value")]
        _check_text(value, "string", allowed, path, problems)
    else:
        _check_text(value, row.get("format", kind), _enum(row.get("config")), path, problems)


def _check_pairs(value: str, kind: str, path: str, problems: Problems) -> None:
    sign = "<" if kind == "thresholds" else "="
    for pair in filter(None, value.split(",")):
        key, found, item = pair.partition(sign)
        if not key.strip() or not found or (kind == "map_bool" and parse_bool(item.strip()) is None):
            problems.add("kubelet.invalid_value", path, "cannot be read", value=pair, allowed=f"{_PAIR[kind]}, joined with commas")


def field_of_flag(flag: str, version: _Version) -> str | None:
    """The field of KubeletConfiguration that a flag sets, if kubelet of this version has the field."""
    table = data.kubelet_fields()
    minor, fields = _minor(version, table), table["fields"]
    path: str | None = data.kubelet_flags()["flags"].get(flag, {}).get("config")
    for name in path.split(".") if path else ():
        if name not in fields or _gone(fields[name], minor, "field"):
            return None
        fields = fields[name].get("fields", {})
    return path


def unsafe_value_fix(flag: str, version: _Version) -> str:
    """What to do about a value of a flag that does not survive the way to kubelet."""
    field = field_of_flag(flag, version)
    return "use a value without it" + (f", or write kubelet.config.{field}" if field else "")


@cache
def _flags_by_field(minor: int | None) -> Mapping[str, str]:
    table = data.kubelet_flags()
    minor = minor or table["last"]
    flags = {row["config"]: name for name, row in table["flags"].items() if "config" in row and not _gone(row, minor, "flag")}
    return MappingProxyType({**flags, "logging.verbosity": "v"})


def flags_of_field(field: str, value: Any, version: _Version = None) -> list[str]:
    """The flags that set a field of KubeletConfiguration and the fields below it; none if one of them has no flag in this version.

    Without a version, flags that a known version has removed are left out.
    """
    flags = _flags_by_field(_minor(version, data.kubelet_flags()))
    if field in flags:
        return [flags[field]]
    if not isinstance(value, Mapping) or not any(config.startswith(f"{field}.") for config in flags):
        return []
    below = [flags_of_field(f"{field}.{name}", item, version) for name, item in value.items() if item is not None]
    return [flag for names in below for flag in names] if all(below) else []


def _enum(config: str | None) -> Iterable[str] | None:
    """The values of the configuration field that a flag sets."""
    found: Iterable[str] | None = _field(config).get("enum") if config else None
    return found


def _field(config: str) -> Mapping[str, Any]:
    """The row of a configuration field such as C(logging.format)."""
    node: Mapping[str, Any] = {"fields": data.kubelet_fields()["fields"]}
    for name in config.split("."):
        node = node["fields"][name]
    return node


def flag_field_value(row: Mapping[str, Any], values: Iterable[str]) -> Any:
    """The value that the values of a flag, a row of the table, give its configuration field; None where they cannot be read."""
    kind, words = row["type"], list(values)
    last = words[-1] if words else ""
    if kind == "bool":
        return parse_bool(last)
    if kind == "int":
        return int(last) if _NUMBER.fullmatch(last) else None
    if kind == "list":
        return [item for word in words for item in word.split(",") if item]
    if (sign := _SEPARATORS.get(kind)) is not None:
        pairs = {
            key.strip(): item.strip() for word in words for pair in word.split(",") if pair for key, _sign, item in [pair.partition(sign)]
        }
        if kind != "map_bool":
            return pairs
        switches = {key: parse_bool(item) for key, item in pairs.items()}
        return None if None in switches.values() else switches
    return last
