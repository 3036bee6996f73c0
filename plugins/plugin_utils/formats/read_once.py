# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets every stage of a render read the same user data, while it is parsed only once."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from ..errors import Problem, Problems

Result = TypeVar("Result")
Reader = Callable[[str, str, Problems], Result]

_KEPT = 16
"""Results that a reader keeps: more than the documents of one node group."""


def read_once(reader: Reader[Result]) -> Reader[Result]:
    """Decorate a pure reader C((text, path, problems) -> value): for the same text and path, it runs once.

    Every call reports the problems, and returns a copy of the value, which the caller may change.
    """

    @lru_cache(maxsize=_KEPT)
    def run(text: str, path: str) -> tuple[Result, tuple[Problem, ...]]:
        problems = Problems()
        return reader(text, path, problems), tuple(problems)

    @wraps(reader)
    def read(text: str, path: str, problems: Problems) -> Result:
        value, found = run(text, path)
        problems.extend(found)
        return copy.deepcopy(value)

    return read
