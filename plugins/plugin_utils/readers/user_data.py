# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads user data of any tool."""

from __future__ import annotations

from . import document
from .model import UserData


def read(data: str | bytes) -> UserData:
    """The parts of C(data), what they mean, and what was not understood. It accepts everything and raises nothing."""
    return document.structure(data)
