# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads values of unknown shape: a node can return anything. What has another type than expected is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def mapping(value: Any, *path: str) -> Mapping[str, Any]:
    """The mapping at a path; {} without one."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def mappings(value: Any) -> list[Mapping[str, Any]]:
    """The mappings in a list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, (list, tuple)) else []


def text(value: Any) -> str:
    """A text on one line; '' without one."""
    return " ".join("".join(char if char.isprintable() else " " for char in value).split()) if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None
