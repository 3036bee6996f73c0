# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cases of a test run in C(make test). All of them run in C(make matrix)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def repeated(cases: Iterable[Any], *kept: Any) -> list[Any]:
    """Mark all cases but C(kept) for the matrix."""
    cases = [*cases]
    unknown = [case for case in kept if case not in cases]
    if unknown:
        raise ValueError(f"no such cases: {unknown}")
    return [case if case in kept else pytest.param(case, marks=pytest.mark.matrix) for case in cases]
