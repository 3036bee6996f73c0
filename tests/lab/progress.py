# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared with nodelab (tests/oracle/docker/nodelab): the error class, progress lines and polling."""

from __future__ import annotations

import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
NODELAB = TOP / "tests" / "oracle" / "docker"

# nodelab is a top-level package: its own command line runs without the collection.
if str(NODELAB) not in sys.path:
    sys.path.insert(0, str(NODELAB))

from nodelab import engine  # noqa: E402

#: The lab itself failed: this says nothing about the code under test.
LabError = engine.HarnessError
wait_for = engine.wait_for
docker = engine.docker
machine_lock = engine.machine_lock


def say(message: str) -> None:
    """One progress line: a minute of silence looks like a hang."""
    engine.speaker[-1](f"[lab] {message}")


def lives(owner: str) -> bool:
    """Does the process with this run ID still run? A zombie does not."""
    if not engine._alive(owner):
        return False
    try:
        return Path(f"/proc/{owner.split('/')[-2]}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        # A process of another PID namespace cannot be checked from here.
        return True
