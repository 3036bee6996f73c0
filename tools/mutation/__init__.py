# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of tools/mutants.py: operators (possible changes), choose (a seeded sample), trees (finding and applying), stages (what to run)."""

from __future__ import annotations
