# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One fact that user data states, and the comparison of values without their spelling."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import joined
from ..quantities import parse_duration, parse_quantity

Key = tuple[Any, ...]
"""The names of the mappings around a value: a path, in which long keys are not cut."""


@dataclass(frozen=True)
class Fact:
    """A value in the form of the input.

    path: in the input. value: as it is written. meaning: equal for values that mean the same. is_computed: whether the value follows from
    another fact, so that a difference is only one if the other side states it. is_of_both: whether it is compared only if both sides
    state it.
    """

    path: str
    value: Any
    meaning: Any
    is_computed: bool = False
    is_of_both: bool = False


def path_of(key: Key, start: str = "") -> str:
    """The path of a key."""
    for name in key:
        start = joined(start, name)
    return start


def exact(value: Any) -> Any:
    """The meaning of a value whose spelling and type count. Unlike with C(==), 1, 1.0 and true differ, and NaN equals itself."""
    if isinstance(value, Mapping):
        return {(type(name), name): exact(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [exact(item) for item in value]
    return type(value), repr(value) if isinstance(value, float) else value


def typed(value: Any, row: Mapping[str, Any]) -> Any:
    """The meaning of a value of KubeletConfiguration. row: of the table of its fields."""
    if isinstance(value, Mapping):
        fields, items = row.get("fields"), row.get("items", {})
        return {name: typed(item, fields.get(name, {}) if fields is not None else items) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [typed(item, row.get("items", {})) for item in value]
    kind, text = row.get("format", row.get("type")), str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if kind in ("quantity", "threshold"):
        found: object = parse_quantity(text)
    elif kind == "duration":
        found = parse_duration(text)
    elif kind == "ip":
        found = address(text)
    else:
        found = None
    return exact(value) if found is None else found


def address(text: Any) -> object:
    """An IP address or a CIDR. None for other text."""
    try:
        return ipaddress.ip_interface(text) if isinstance(text, str) else None
    except ValueError:
        return None


def leaves(value: Any, key: Key) -> Iterator[tuple[Key, Any]]:
    """The values in mappings, each with its key. A list and an empty mapping are values."""
    if isinstance(value, Mapping) and value:
        for name, item in value.items():
            yield from leaves(item, (*key, name))
    else:
        yield key, value
