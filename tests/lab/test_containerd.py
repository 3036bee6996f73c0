# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What containerd 2, built from its Go module, makes of rendered configurations and mirrors."""

from __future__ import annotations

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import binaries
from ansible_collections.nodebootstrap.eks.tests.oracle import containerd_rows
from ansible_collections.nodebootstrap.eks.tests.oracle.containerd_daemon import Programs


@pytest.fixture(scope="module")
def programs() -> Programs:
    return Programs(*(str(binaries.path_of(binary)) for binary in (binaries.CONTAINERD, binaries.CTR)), binaries.CONTAINERD.version[1:])


TestContainerd = containerd_rows.tests_of(2)
