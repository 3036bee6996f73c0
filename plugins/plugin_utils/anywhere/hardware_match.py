# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which machines each group of a Bare Metal cluster can have: label selectors, and a matching of groups and machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Group:
    """A group of machines. selector: labels that a machine must have. terms: of C(hardwareAffinity), of which one must match."""

    path: str
    name: str
    count: int
    selector: Mapping[str, str]
    terms: Sequence[Mapping[str, Any]]

    @property
    def words(self) -> str:
        """The selection for messages."""
        if self.selector:
            return "the label " + ", ".join(f"{key}={value}" for key, value in self.selector.items())
        return "the labels of hardwareAffinity"

    def fits(self, labels: Mapping[str, str]) -> bool:
        """Whether the group selects a machine with these labels."""
        if any(labels.get(key) != value for key, value in self.selector.items()):
            return False
        return not self.terms or any(_matches(term.get("labelSelector") or {}, labels) for term in self.terms)


def _matches(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """A label selector of Kubernetes. An operator that does not exist matches nothing."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_meets(one, labels) for one in selector.get("matchExpressions") or ())


def _meets(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = requirement.get("key"), requirement.get("values") or ()
    operator = requirement.get("operator")
    if operator == "In":
        return labels.get(str(key)) in values
    if operator == "NotIn":
        return labels.get(str(key)) not in values
    if operator == "Exists":
        return key in labels
    return operator == "DoesNotExist" and key not in labels


def several_selectors(groups: Sequence[Group], labels: Mapping[str, str]) -> tuple[Group, Group] | None:
    """Two groups whose different C(hardwareSelector) both select a machine. EKS Anywhere refuses such hardware."""
    fitting = [group for group in groups if group.selector and group.fits(labels)]
    return next(((fitting[0], other) for other in fitting[1:] if other.selector != fitting[0].selector), None)


def unmatched(groups: Sequence[Group], machines: Sequence[Mapping[str, str]]) -> Iterator[tuple[Group, int, int]]:
    """Every group that cannot have all its machines: the group, how many are missing, and how many machines fit it.

    machines: their labels. A machine belongs to one group, so the largest matching is found: a machine that a group
    has already is exchanged if that gives another group one.
    """
    fitting = [[index for index, labels in enumerate(machines) if group.fits(labels)] for group in groups]
    owner: dict[int, int] = {}
    for number, group in enumerate(groups):
        missing = sum(not _assign(number, fitting, owner) for _unused in range(group.count))
        if missing:
            yield group, missing, len(fitting[number])


def _assign(number: int, fitting: Sequence[Sequence[int]], owner: dict[int, int]) -> bool:
    """Give a group one more machine. Searches without recursion for a chain of exchanges that ends at a free machine."""
    came_from: dict[int, tuple[int, int | None]] = {}
    waiting: list[tuple[int, int | None]] = [(number, None)]
    asked = {number}
    while waiting:
        group, last = waiting.pop()
        for machine in fitting[group]:
            if machine in came_from:
                continue
            came_from[machine] = (group, last)
            if machine not in owner:
                _exchange(machine, came_from, owner)
                return True
            if owner[machine] not in asked:
                asked.add(owner[machine])
                waiting.append((owner[machine], machine))
    return False


def _exchange(machine: int, came_from: Mapping[int, tuple[int, int | None]], owner: dict[int, int]) -> None:
    current: int | None = machine
    while current is not None:
        group, before = came_from[current]
        owner[current] = group
        current = before
