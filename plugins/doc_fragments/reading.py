# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation shared by modules that only read."""

from __future__ import annotations


class ModuleDocFragment:
    """Attributes of a module that changes nothing."""

    DOCUMENTATION = r"""
attributes:
  check_mode:
    description: Only reads, so check mode makes no difference.
    support: full
  diff_mode:
    description: Changes nothing, so there is no difference to show.
    support: none
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
"""
