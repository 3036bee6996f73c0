# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks fields of KubeletConfiguration by the table of their types, values and versions (C(_data/kubelet_fields.json))."""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import data
from .errors import Problems, joined, rename, shown
from .kubernetes import label_key_problem, label_value_problem
from .network import ip_problem
from .quantities import parse_duration, parse_quantity

Version = tuple[int, int] | None
"""A version of Kubernetes, such as (1, 32); None if it is not known."""

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


def minor_of(version: Version, table: Mapping[str, Any]) -> int | None:
    """The minor to look up: newer kubelets than the table knows are read as the newest that it knows."""
    return None if version is None else max(table["first"], min(version[1], table["last"]))


def why_gone(row: Mapping[str, Any], minor: int | None, what: str) -> str | None:
    """Why the kubelet of this minor does not know a row of a table, or None when it does."""
    if minor is not None and minor < row.get("since", 0):
        return f"kubelet 1.{minor} does not have this {what}, which was added in 1.{row['since']}"
    if minor is not None and minor > row.get("until", minor):
        return f"kubelet 1.{minor} does not have this {what}, which was removed in 1.{row['until'] + 1}"
    return None


def kubelet_config_problems(config: Any, version: Version, path: str, problems: Problems) -> None:
    """Report what kubelet would refuse in a KubeletConfiguration, or in a part of one.

    Fields and types per minor: Go module k8s.io/kubelet; values: kubelet's own validation. Without a version a field of any known
    minor will do.
    """
    table = data.kubelet_fields()
    check_value(config, {"type": "struct", "fields": table["fields"]}, minor_of(version, table), path, problems)


def check_value(value: Any, node: Mapping[str, Any], minor: int | None, path: str, problems: Problems) -> None:
    """Report what kubelet would refuse in a value. node: its row in the table."""
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
            check_value(item, node["items"], minor, joined(path, index), problems)
    else:
        before = node.get("before")
        if before is not None and minor is not None and minor <= before["until"]:
            node = before
        _check_scalar(value, node, path, problems)


def _names(node: Mapping[str, Any], minor: int | None) -> list[str]:
    """The keys that a mapping can have in a version."""
    fields = node.get("fields")
    return list(node["keys"]) if fields is None else sorted(name for name, row in fields.items() if not why_gone(row, minor, "field"))


def _check_mapping(value: Any, node: Mapping[str, Any], minor: int | None, path: str, problems: Problems) -> None:
    if not isinstance(value, Mapping):
        problems.add("kubelet.wrong_type", path, "is not a mapping", value=value, allowed="a mapping")
        return
    fields = node.get("fields")
    names = node.get("keys") if fields is None else fields
    known: list[str] = []
    for key, item in value.items():
        where = joined(path, key)
        if not isinstance(key, str):
            problems.add("input.key_not_text", where, "the key must be text", value=key, fix="quote it")
        elif names is not None and key not in names:
            known = known or _names(node, minor)
            unknown = "kubelet does not have this field" if fields is not None else "kubelet does not have this key"
            allowed = ", ".join(known) if len(known) <= 12 else None
            guess = problems.nearest(key, known)
            problems.add(
                "kubelet.unknown_field",
                where,
                unknown,
                allowed=allowed,
                nearest=guess,
                fix=rename(guess, value),
            )
        elif fields is not None and (gone := why_gone(fields[key], minor, "field")):
            problems.add("kubelet.field_not_in_version", where, gone, fix="remove it")
        else:
            check_value(item, fields[key] if fields is not None else node["items"], minor, where, problems)
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
        check_text(value, node.get("format", kind), node.get("enum"), path, problems)


def check_text(value: str, form: str, enum: Iterable[str] | None, path: str, problems: Problems) -> None:
    """Report text that is not one of C(enum), or not of a form, such as duration."""
    if enum is not None and value not in enum:
        problems.add(
            "kubelet.unknown_value",
            path,
            "is not a valid value for kubelet",
            value=value,
            allowed=", ".join(one or '""' for one in enum),
            nearest=problems.nearest(value, enum),
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


def row_of(config: str) -> Mapping[str, Any]:
    """The row of a configuration field such as C(logging.format)."""
    node: Mapping[str, Any] = {"fields": data.kubelet_fields()["fields"]}
    for name in config.split("."):
        node = node["fields"][name]
    return node
