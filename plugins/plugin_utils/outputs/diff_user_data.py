# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The differences between two versions of user data as plain data."""

from __future__ import annotations

from typing import Any

from ..difference.compare import differences
from ..errors import Problems
from .read_user_data import check_arguments


def diff_user_data(old: Any, new: Any, family: str | None = None) -> list[dict[str, Any]]:
    """C([{path, before, after}]), empty if both mean the same. Raises C(SpecError) for wrong arguments.

    old, new: text or bytes. family: for scripts that call C(/etc/eks/bootstrap.sh), which two families have.
    """
    problems = Problems()
    check_arguments({"user_data": old, "new": new}, family, problems)
    problems.raise_any()
    return [found.plain() for found in differences(old, new, family)]
