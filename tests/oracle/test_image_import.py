# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Container images in containerd 1, Debian's package."""

from __future__ import annotations

from ansible_collections.nodebootstrap.eks.tests.oracle.image_import_rows import TestImport, containerd, daemon
from ansible_collections.nodebootstrap.eks.tests.oracle.test_containerd import programs

__all__ = ["TestImport", "containerd", "daemon", "programs"]
