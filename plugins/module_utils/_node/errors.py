# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The error of everything that refuses to change a node. Standard library, Python 3.7 and newer."""

from __future__ import annotations


class ApplyRefused(Exception):
    """A change that is not allowed or not possible. The text is the whole message: what is wrong, where, and what to do."""
