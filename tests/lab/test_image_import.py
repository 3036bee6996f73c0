# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Container images in containerd 2, built from its Go module."""

from __future__ import annotations

from ansible_collections.nodebootstrap.eks.tests.lab.test_containerd import programs
from ansible_collections.nodebootstrap.eks.tests.oracle.image_import_rows import TestImport, containerd, daemon

__all__ = ["TestImport", "containerd", "daemon", "programs"]
