# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""cloud-init of two releases (22.4 of bookworm, 25.1 of trixie) runs what the table says."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.tests.oracle.truth_table import ROWS

from nodelab import CloudInitNode, Node  # isort: skip # found through conftest.py

pytestmark = pytest.mark.docker

DRIVER = Path(__file__).with_name("cloud_init_driver.py")


def ask(node: Node) -> list[list[str]]:
    node.write({"/opt/cloud_init_driver.py": DRIVER.read_text()})
    lines = "".join(json.dumps(base64.b64encode(row.document).decode()) + "\n" for row in ROWS)
    done = node.exec(["python3", "/opt/cloud_init_driver.py"], lines, timeout=240, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_cloud_init_runs_what_the_table_says(cloud_init: CloudInitNode) -> None:
    assert dict(zip([row.name for row in ROWS], ask(cloud_init), strict=True)) == {row.name: list(row.runs) for row in ROWS}


def test_a_newer_cloud_init_runs_the_same(cloud_init_new: CloudInitNode) -> None:
    assert dict(zip([row.name for row in ROWS], ask(cloud_init_new), strict=True)) == {row.name: list(row.runs) for row in ROWS}
