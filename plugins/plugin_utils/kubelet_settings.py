# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of kubelet that a flag and a field of KubeletConfiguration both set, with their values in one form.

kubelet reads its flags again over its configuration (k8s.io/kubernetes, cmd/kubelet/app/server.go): a flag replaces the field, with
these exceptions. A flag that is a map or a list replaces the whole field with everything that all its occurrences contain.
C(--feature-gates) replaces only the gates that it names. Of other flags, the last occurrence counts.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import data
from .kubelet_flags import flag_field_value
from .quantities import parse_bool, parse_duration, parse_quantity

Field = tuple[str, ...]

NODE_LABELS, TAINTS, FEATURE_GATES = "node-labels", "register-with-taints", "feature-gates"

_FIELDS_OF_OTHER_FLAGS: Mapping[str, Field] = {
    "log-flush-frequency": ("logging", "flushFrequency"),
    "logging-format": ("logging", "format"),
    "seccomp-default": ("seccompDefault",),
    "v": ("logging", "verbosity"),
}
"""Flags that the table of flags does not link to their field: kubelet registers them with its logging and with its own options."""

_SIGNS = {"map": "=", "map_bool": "=", "thresholds": "<"}


def flag_name(word: str) -> str:
    """The name in C(--name=value), as kubelet normalises it."""
    return word.partition("=")[0].lstrip("-").replace("_", "-")


def field_of(flag: str) -> Field | None:
    """The KubeletConfiguration field that C(flag), a name without dashes, also sets; None if there is no such field."""
    if flag in _FIELDS_OF_OTHER_FLAGS:
        return _FIELDS_OF_OTHER_FLAGS[flag]
    field = data.kubelet_flags()["flags"].get(flag, {}).get("config")
    return tuple(field.split(".")) if field else None


def _type(flag: str) -> str:
    found: str = data.kubelet_flags()["flags"].get(flag, {}).get("type", "string")
    return found


def is_map(flag: str) -> bool:
    """Whether the values of several occurrences are united by key."""
    return _type(flag) in _SIGNS


def is_list(flag: str) -> bool:
    """Whether the values of several occurrences are appended, so that no later one can replace an earlier one."""
    return _type(flag) == "list"


def value_of(flag: str, texts: Sequence[str]) -> Any:
    """The occurrences of C(flag), without C(--name=), as the value of its field. Text that the flag cannot have stays text."""
    row = data.kubelet_flags()["flags"].get(flag, {"type": "string"})
    value = flag_field_value(row, texts)
    return texts[-1] if value is None else value


def text_of(flag: str, value: Any) -> str | None:
    """C(value) of the field as the value of C(flag); None if a flag cannot express it."""
    kind = _type(flag)
    if kind in _SIGNS and isinstance(value, Mapping):
        items = {str(key): _scalar_text(item) for key, item in value.items()}
        return None if None in items.values() else ",".join(f"{key}{_SIGNS[kind]}{items[key]}" for key in sorted(items))
    if kind == "list" and isinstance(value, (list, tuple)):
        texts = [_scalar_text(item) for item in value]
        return None if None in texts else ",".join(map(str, texts))
    return _scalar_text(value)


def _scalar_text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int)) else None


def is_same(flag: str, one: Any, other: Any) -> bool:
    """Whether two values of the field of C(flag) mean the same, whatever their spelling."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(is_same_scalar(value, other[key]) for key, value in one.items())
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(is_same_scalar(first, second) for first, second in zip(one, other, strict=True))
    return is_same_scalar(one, other)


def is_same_scalar(one: Any, other: Any) -> bool:
    """Whether two texts, numbers or booleans mean the same: C("20") and 20, C("1Gi") and C("1024Mi"), C("60s") and C("1m")."""
    if isinstance(one, (Mapping, list, tuple)) or isinstance(other, (Mapping, list, tuple)):
        return bool(one == other)
    first, second = _scalar_text(one), _scalar_text(other)
    if first is None or second is None:
        return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
    if first == second:
        return True
    readers: tuple[Callable[[str], object], ...] = (parse_bool, parse_duration, parse_quantity, _percentage, _address)
    return any(read(first) is not None and read(first) == read(second) for read in readers)


def _percentage(text: str) -> float | None:
    try:
        return float(text[:-1]) if text.endswith("%") else None
    except ValueError:
        return None


def _address(text: str) -> object:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
