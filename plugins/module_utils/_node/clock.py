# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts times. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import datetime
import time


def to_wall_time(moment: float) -> float:
    """Seconds since 1970 of seconds of the monotonic clock."""
    return time.time() - time.monotonic() + moment


def format_time(seconds: float) -> str:
    """C(2026-01-01T00:00:00Z) of seconds since 1970."""
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
