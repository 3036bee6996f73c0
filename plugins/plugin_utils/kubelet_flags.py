# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks flags of kubelet by their table (C(_data/kubelet_flags.json)), and maps them to the fields that they set."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from . import data
from .errors import Problems, joined, rename
from .kubelet_fields import Version, check_text, check_value, minor_of, row_of, why_gone
from .quantities import parse_bool

_REPEATABLE = frozenset({"list", "map", "map_bool", "thresholds"})
_PAIR = {"map": "key=value", "map_bool": "key=true or key=false", "thresholds": "signal<threshold"}
_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,18})", re.ASCII)
"""As Go reads it in base 0, where a leading zero means octal."""
_SEPARATORS = {"map": "=", "map_bool": "=", "thresholds": "<"}


def kubelet_flag_problems(
    flags: Any, version: Version, path: str, problems: Problems, *, has_config: bool = True, fields: Mapping[str, str] | None = None
) -> None:
    """Report what kubelet would refuse in C({name: value}), names without dashes, values scalars or lists for repeatable flags.

    Flags per minor: Go module k8s.io/kubernetes, cmd/kubelet/app/options. Without a version a flag of any known minor will do.
    has_config: whether a field of the configuration can be advised instead of a removed flag. fields: flags that have a field of the
    node group, which is advised instead.
    """
    table = data.kubelet_flags()
    known = table["flags"]
    minor = minor_of(version, table)
    if not isinstance(flags, Mapping):
        problems.add(
            "kubelet.wrong_type", path, "is not a mapping", value=flags, allowed="a mapping of flag names, without dashes, to values"
        )
        return
    for name, value in flags.items():
        where = joined(path, name)
        row = known.get(name) if isinstance(name, str) else None
        if row is None:
            available = [other for other, one in known.items() if not why_gone(one, minor, "flag")]
            bare = name.lstrip("-").partition("=")[0] if isinstance(name, str) else ""
            dashed = bare in available and bare != name
            guess = problems.nearest(bare, available)
            fix = f"write {bare}: VALUE" if dashed else rename(guess, flags)
            if (field := (fields or {}).get(bare if dashed else str(guess))) is not None:
                fix = f"write node_group.{field}"
            problems.add("kubelet.unknown_flag", where, "kubelet does not have this flag", nearest=guess, fix=fix)
        elif gone := why_gone(row, minor, "flag"):
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
        check_value(int(value), row_of(row["config"]), minor, path, problems)
    elif kind in _PAIR:
        before = len(problems)
        _check_pairs(value, kind, path, problems)
        if len(problems) == before and "config" in row and kind != "map_bool":
            check_value(flag_field_value(row, (value,)), row_of(row["config"]), minor, path, problems)
    elif row.get("config") == "staticPodURLHeader":
        for pair in value.split(","):
            if pair and ":" not in pair:
                problems.add("kubelet.invalid_value", path, "cannot be read", value=pair, allowed="NAME:VALUE, joined with commas")
    elif kind == "list" and "config" in row and row_of(row["config"])["type"] == "list" and row["config"] != "reservedMemory":
        for item in flag_field_value(row, (value,)):
            check_value(item, row_of(row["config"])["items"], minor, path, problems)
    elif "values" in row:
        allowed = [one["value"] for one in row["values"] if not why_gone(one, minor, "value")]
        check_text(value, "string", allowed, path, problems)
    else:
        check_text(value, row.get("format", kind), _enum(row.get("config")), path, problems)


def _check_pairs(value: str, kind: str, path: str, problems: Problems) -> None:
    sign = "<" if kind == "thresholds" else "="
    for pair in filter(None, value.split(",")):
        key, found, item = pair.partition(sign)
        if not key.strip() or not found or (kind == "map_bool" and parse_bool(item.strip()) is None):
            problems.add("kubelet.invalid_value", path, "cannot be read", value=pair, allowed=f"{_PAIR[kind]}, joined with commas")


def field_of_flag(flag: str, version: Version) -> str | None:
    """The field of KubeletConfiguration that a flag sets, if kubelet of this version has the field."""
    table = data.kubelet_fields()
    minor, fields = minor_of(version, table), table["fields"]
    path: str | None = data.kubelet_flags()["flags"].get(flag, {}).get("config")
    for name in path.split(".") if path else ():
        if name not in fields or why_gone(fields[name], minor, "field"):
            return None
        fields = fields[name].get("fields", {})
    return path


def unsafe_value_fix(flag: str, version: Version) -> str:
    """What to do about a value of a flag that does not survive the way to kubelet."""
    field = field_of_flag(flag, version)
    return "use a value without it" + (f", or write kubelet.config.{field}" if field else "")


@cache
def _flags_by_field(minor: int | None) -> Mapping[str, str]:
    table = data.kubelet_flags()
    minor = minor or table["last"]
    flags = {row["config"]: name for name, row in table["flags"].items() if "config" in row and not why_gone(row, minor, "flag")}
    return MappingProxyType({**flags, "logging.verbosity": "v"})


def flags_of_field(field: str, value: Any, version: Version = None) -> list[str]:
    """The flags that set a field of KubeletConfiguration and the fields below it; none if one of them has no flag in this version.

    Without a version, flags that a known version has removed are left out.
    """
    flags = _flags_by_field(minor_of(version, data.kubelet_flags()))
    if field in flags:
        return [flags[field]]
    if not isinstance(value, Mapping) or not any(config.startswith(f"{field}.") for config in flags):
        return []
    below = [flags_of_field(f"{field}.{name}", item, version) for name, item in value.items() if item is not None]
    return [flag for names in below for flag in names] if all(below) else []


def _enum(config: str | None) -> Iterable[str] | None:
    """The values of the configuration field that a flag sets."""
    found: Iterable[str] | None = row_of(config).get("enum") if config else None
    return found


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
