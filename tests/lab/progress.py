# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lab shares with the laboratory of nodes (tests/oracle/docker/nodelab): its error, its progress lines, its polling."""

from __future__ import annotations

import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
NODELAB = TOP / "tests" / "oracle" / "docker"

# nodelab is a top-level package: its own command line runs without the collection.
if str(NODELAB) not in sys.path:
    sys.path.insert(0, str(NODELAB))

from nodelab import engine  # noqa: E402

#: The lab itself failed; never a verdict about the code under test.
LabError = engine.HarnessError
wait_for = engine.wait_for
docker = engine.docker
machine_lock = engine.machine_lock


def say(message: str) -> None:
    """One progress line: a minute of silence looks like a hang."""
    engine.speaker[-1](f"[lab] {message}")


def lives(owner: str) -> bool:
    """Whether the process that nodelab calls `owner` still runs. One that its parent has not buried yet does not."""
    if not engine._alive(owner):
        return False
    try:
        return Path(f"/proc/{owner.split('/')[-2]}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        # Of another PID namespace: nodelab says that it cannot be judged from here.
        return True
