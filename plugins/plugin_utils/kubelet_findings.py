# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rule of C(kubelet_rules) finds in a configuration, and the readers of values that several of them share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .quantities import parse_quantity

_ABSENT: Any = object()


@dataclass(frozen=True)
class Finding:
    """What is wrong with one value.

    field: the top-level field. below: the keys below it. message, value, allowed, nearest and fix: those of C(errors.Problem).
    """

    field: str
    message: str
    below: tuple[Any, ...] = ()
    value: Any = _ABSENT
    allowed: str | None = None
    nearest: str | None = None
    fix: str | None = None

    @property
    def has_value(self) -> bool:
        """Is C(value) given? None is a value, too."""
        return self.value is not _ABSENT


Findings = Iterator[Finding]


def is_number(value: Any) -> bool:
    """An integer or a float, and not a boolean."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def quantity_of(value: Any) -> Decimal | None:
    """A quantity as text or number."""
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else parse_quantity(value)


_CPUS = re.compile(r"[0-9]{1,5}(?:-[0-9]{1,5})?(?:,[0-9]{1,5}(?:-[0-9]{1,5})?)*", re.ASCII)


def parse_cpus(value: Any) -> set[int] | None:
    """The CPUs of a list such as C(0,2-3), or None if it is invalid."""
    if not isinstance(value, str) or (value and not _CPUS.fullmatch(value)):
        return None
    found: set[int] = set()
    for part in filter(None, value.split(",")):
        first, _unused, last = part.partition("-")
        if last and int(last) < int(first):
            return None
        found |= set(range(int(first), int(last or first) + 1))
    return found
