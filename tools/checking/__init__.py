# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tools/check.py is made of: steps (what there is to run), lanes (running it) and results (what came of it).

Standard library only: it also says what the setup could not bring.
"""

from __future__ import annotations
