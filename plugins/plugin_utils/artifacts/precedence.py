# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides, value by value, whether the fields, the existing user data or C(override) set it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import Problems, joined, shown
from ..formats.secrets import find_secrets
from ..kubelet_settings import is_same_scalar
from ..model.merge import Place
from ..model.spec import NodeSpec
from . import origins
from .comparison import FIX

_SPELLED_IN_ANY_CASE: Place = ("instance", "localStorage", "strategy")


class Precedence:
    """Collects the problems of values that nothing decides, and a warning for each value that C(override) changes."""

    def __init__(self, spec: NodeSpec, problems: Problems, warnings: Problems) -> None:
        self._spec = spec
        self._choice = spec.user_data_precedence
        self.problems = problems
        self.warnings = warnings

    def ours(self, where: str, value: Any, other: Any, origin: str) -> bool:
        """Is our value written? Reports a conflict that C(user_data_precedence) does not resolve.

        where: the place in the user's document that sets C(other). origin: the path that gives C(value).
        """
        if value == other and isinstance(value, bool) == isinstance(other, bool):
            return True
        if self._choice is None:
            message = f"sets {where} to {shown_at(where, other)}, but {origin} is {shown_at(where, value)}"
            self.problems.add("user_data.conflict", "node_group.user_data", message, fix=FIX)
        return self._choice != "theirs"

    def warn(self, where: str, value: Any, before: Any, source: str) -> None:
        """Add the warning that C(override) changes C(before), which C(source) gives, to C(value)."""
        message = f"sets {where} to {shown_at(where, value)}, which replaces {shown_at(where, before)} of {source}"
        self.warnings.add("user_data.replaced_by_override", "node_group.override", message, fix="set it in one place only")

    def tree(self, value: Any, other: Any, place: Place) -> Any:
        """C(value) without the leaves that the user's document keeps."""
        if other is None:
            return value
        if isinstance(value, Mapping) and isinstance(other, Mapping):
            result = {key: self.tree(item, other.get(key), (*place, key)) for key, item in value.items()}
            return {key: item for key, item in result.items() if item is not None}
        if is_same_at(value, other, place):
            return value
        return value if self.ours(_where(place), value, other, origins.of_place(self._spec, place)) else None

    def overridden(self, before: Any, last: Any, place: Place, ours: Any) -> None:
        """Warn about every leaf of C(before) that C(override) replaces. ours: the part of C(before) that we write."""
        if isinstance(before, Mapping) and isinstance(last, Mapping):
            for key, value in last.items():
                if key in before:
                    self.overridden(before[key], value, (*place, key), ours.get(key) if isinstance(ours, Mapping) else None)
        elif before is not None and last is not None and not is_same_at(before, last, place):
            source = "node_group.user_data" if ours is None else origins.of_place(self._spec, place)
            self.warn(_where(place), last, before, source)


def shown_at(where: str, value: Any) -> str:
    """C(value) for a message, unless it may be a secret."""
    key = where.rpartition(".")[2]
    return "another value" if isinstance(value, str) and any(find_secrets(f"{key} = {value}")) else shown(value)


def _where(place: Place) -> str:
    path = "spec"
    for key in place:
        path = joined(path, key)
    return path


def is_same_at(one: Any, other: Any, place: Place) -> bool:
    """Whether two values of a place below C(spec) mean the same."""
    if place == _SPELLED_IN_ANY_CASE:
        return str(one).upper() == str(other).upper()
    if place[:2] == ("kubelet", "config") and not isinstance(one, (Mapping, list)) and not isinstance(other, (Mapping, list)):
        return is_same_scalar(one, other)
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
