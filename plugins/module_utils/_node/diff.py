# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One change as C(--diff) shows it. Standard library, Python 3.7 and newer."""

from __future__ import annotations

from typing import NamedTuple


class Diff(NamedTuple):
    """The names are those of Ansible."""

    before_header: str
    after_header: str
    before: str
    after: str
