# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What containerd 2, built from its Go module, makes of rendered configurations and mirrors."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import binaries
from ansible_collections.nodebootstrap.eks.tests.oracle import containerd_daemon
from ansible_collections.nodebootstrap.eks.tests.oracle import containerd_rows as rows
from ansible_collections.nodebootstrap.eks.tests.oracle.containerd_daemon import Programs


@pytest.fixture(scope="module")
def programs() -> Programs:
    return Programs(*(str(binaries.path_of(binary)) for binary in (binaries.CONTAINERD, binaries.CTR)), binaries.CONTAINERD.version[1:])


@pytest.mark.parametrize("name", [name for name, row in rows.ACCEPTED.items() if 2 in row[0]])
def test_it_loads_what_we_render(programs: Programs, name: str) -> None:
    rows.loads_what_we_render(programs, rows.ACCEPTED[name][1])


@pytest.mark.parametrize("name", [name for name, row in rows.REFUSED.items() if 2 in row[0]])
def test_what_we_refuse_lacks_cri(programs: Programs, name: str) -> None:
    _generations, rule, config = rows.REFUSED[name]
    rows.lacks_cri(programs, rule, config)


def test_mirrors(programs: Programs, tmp_path: Path) -> None:
    with containerd_daemon.running(programs) as daemon:
        rows.asks_for_every_path(daemon)
        rows.asks_in_order(daemon, tmp_path)
