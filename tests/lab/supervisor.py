# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The supervisor of a lab: the process that starts the control plane, stops it, and cleans up.

    python -m ….lab.run supervisor FOLDER [stay]

It ends on SIGTERM or SIGINT, when a program of the control plane ends (FOLDER/failed says which one), and, without `stay`, when its
standard input is closed, because the program that started it has ended. If it is killed, its programs end with it, and the next lab
cleans up the rest.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType

from . import network
from .control_plane import ControlPlane
from .progress import LabError, engine

STATE = "lab.json"
FAILED = "failed"
OWNER = "owner"

#: Seconds between two checks of the programs.
CHECK_SECONDS = 0.25


#: The inotify instances that root needs: a node with kubelet takes 13, and by default Linux gives 128 to all nodes together.
INSTANCES = 1024
LIMIT = Path("/proc/sys/fs/inotify/max_user_instances")


class EndRequested(Exception):
    """The lab was asked to end."""


def supervise(folder: Path, stay: bool) -> None:
    owner = engine.owner()
    (folder / OWNER).write_text(owner)
    raise_limit(LIMIT)
    net = network.create(owner)
    plane = ControlPlane(folder, net)
    try:
        state = plane.start()
        state.write(folder / STATE)
        while not (ended := plane.processes.ended()):
            # Nothing is ever written to it: if it is readable, the other end is closed.
            if select.select([] if stay else [sys.stdin], [], [], CHECK_SECONDS)[0]:
                raise EndRequested
        raise LabError(ended)
    finally:
        # Nothing may interrupt the cleanup.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        plane.stop()
        net.remove()


def raise_limit(limit: Path) -> None:
    """Raise the limit that the tenth node would exceed ("too many open files"). It stays raised."""
    before = int(limit.read_text())
    # Other users than root cannot raise it and have room for nine nodes.
    if before < INSTANCES and os.access(limit, os.W_OK):
        limit.write_text(f"{INSTANCES}\n")
        print(f"{limit}: {INSTANCES} instead of {before}", flush=True)


def _request_end(_number: int, _frame: FrameType | None) -> None:
    raise EndRequested


def main(where: str, *mode: str) -> None:
    folder = Path(where)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _request_end)
    try:
        supervise(folder, "stay" in mode)
    except EndRequested:
        shutil.rmtree(folder, ignore_errors=True)
    except Exception as error:
        # The program that waits for the state reads this; the folder stays, with the logs.
        draft = folder / f"{FAILED}.new"
        draft.write_text(str(error) if isinstance(error, LabError) else f"{type(error).__name__}: {error}")
        draft.replace(folder / FAILED)
        (folder / STATE).unlink(missing_ok=True)
        sys.exit(f"the lab ended: {error}")
