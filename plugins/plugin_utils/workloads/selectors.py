# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Label selectors and node selectors, as the API server and the scheduler evaluate them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Requirement(NamedTuple):
    """One condition on a label. operator: C(In), C(NotIn), C(Exists), C(DoesNotExist), C(Gt) or C(Lt)."""

    key: str
    operator: str
    values: frozenset[str]

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Do these labels meet the condition?"""
        value = labels.get(self.key)
        if self.operator == "In":
            return value in self.values
        if self.operator == "NotIn":
            return value is None or value not in self.values
        if self.operator == "Exists":
            return value is not None
        if self.operator == "DoesNotExist":
            return value is None
        return _compare(self.operator, value, self.values)


def _compare(operator: str, value: str | None, values: frozenset[str]) -> bool:
    """Whether a label is greater (Gt) or less (Lt) than the one value. Anything else matches nothing."""
    try:
        left, right = int(value or ""), int(next(iter(values), ""))
    except ValueError:
        return False
    return left > right if operator == "Gt" else left < right if operator == "Lt" else False


class Selector(NamedTuple):
    """A label selector. Without requirements, it selects everything."""

    requirements: tuple[Requirement, ...]

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Are these labels selected?"""
        return all(one.matches(labels) for one in self.requirements)

    def with_labels(self, keys: Sequence[str], labels: Mapping[str, str]) -> Selector:
        """The same, limited to the values that C(labels) have for the keys."""
        more = tuple(Requirement(key, "In", frozenset((labels[key],))) for key in keys if key in labels)
        return Selector(self.requirements + more) if more else self


class NodeTerm(NamedTuple):
    """One term of a node selector: conditions on labels, and on C(metadata.name). Without conditions, it matches no node."""

    expressions: tuple[Requirement, ...]
    fields: tuple[Requirement, ...]

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Does a node match?"""
        if not self.expressions and not self.fields:
            return False
        return all(one.matches(labels) for one in self.expressions) and all(one.matches({"metadata.name": name}) for one in self.fields)


def label_selector(raw: Any) -> Selector | None:
    """A LabelSelector of the API. None for none, which selects nothing, and for an invalid one."""
    if not isinstance(raw, Mapping):
        return None
    equal = [Requirement(str(key), "In", frozenset((str(value),))) for key, value in (raw.get("matchLabels") or {}).items()]
    return Selector((*equal, *_requirements(raw.get("matchExpressions"))))


def node_terms(raw: Any) -> tuple[NodeTerm, ...] | None:
    """The terms of a NodeSelector, None without one."""
    if not isinstance(raw, Mapping):
        return None
    terms = raw.get("nodeSelectorTerms") or []
    return tuple(NodeTerm(_requirements(term.get("matchExpressions")), _requirements(term.get("matchFields"))) for term in terms)


def _requirements(raw: Any) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(str(one.get("key")), str(one.get("operator")), frozenset(map(str, one.get("values") or ()))) for one in raw or ()
    )
