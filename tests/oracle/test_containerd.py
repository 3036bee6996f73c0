# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What containerd 1, Debian's package, makes of rendered configurations and mirrors."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from ansible_collections.nodebootstrap.eks.tests.oracle import containerd_rows
from ansible_collections.nodebootstrap.eks.tests.oracle.containerd_daemon import Programs


@pytest.fixture(scope="module")
def programs() -> Programs:
    if shutil.which("containerd") is None or shutil.which("ctr") is None:
        pytest.fail("containerd and ctr are not on the PATH: install the package containerd")
    version = subprocess.run(["containerd", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    return Programs("containerd", "ctr", version.lstrip("v"))


TestContainerd = containerd_rows.tests_of(1)
