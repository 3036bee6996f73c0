# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Durations of EKS Anywhere as whole seconds."""

from __future__ import annotations

import math

from ..quantities import parse_duration


def seconds(duration: str) -> int:
    """A valid duration in whole seconds, rounded up."""
    return math.ceil(parse_duration(duration) or 0)
