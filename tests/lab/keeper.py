# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that keeps a lab: starts the control plane, stops it, and takes everything away.

    python -m ….lab.run keeper FOLDER [stay]

It ends when it is asked to (TERM, INT), when a program of the control plane ends (FOLDER/failed says which), and, without `stay`, when
its standard input does: whoever started it is gone then. Killed itself, its programs go with it, and the next lab removes the rest.
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

#: Seconds between two looks at the programs.
PULSE = 0.25


#: How many inotify instances root should have: a node with kubelet takes 13 of them, and Linux gives 128 to all nodes together.
INSTANCES = 1024
LIMIT = Path("/proc/sys/fs/inotify/max_user_instances")


class Asked(Exception):
    """Somebody wants this lab to end."""


def keep(folder: Path, stay: bool) -> None:
    owner = engine.owner()
    (folder / OWNER).write_text(owner)
    make_room(LIMIT)
    net = network.create(owner)
    plane = ControlPlane(folder, net)
    try:
        state = plane.start()
        state.write(folder / STATE)
        while not (ended := plane.processes.ended()):
            # Nobody ever writes to it: readable means that the other end is closed.
            if select.select([] if stay else [sys.stdin], [], [], PULSE)[0]:
                raise Asked
        raise LabError(ended)
    finally:
        # Asked once is enough: nothing shall interrupt this.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        plane.stop()
        net.remove()


def make_room(limit: Path) -> None:
    """Raise the limit that the tenth node would run into: "too many open files". It stays, and hurts nobody."""
    before = int(limit.read_text())
    # Only root may; anybody else has room for nine nodes.
    if before < INSTANCES and os.access(limit, os.W_OK):
        limit.write_text(f"{INSTANCES}\n")
        print(f"{limit}: {INSTANCES} instead of {before}", flush=True)


def _asked(_number: int, _frame: FrameType | None) -> None:
    raise Asked


def main(where: str, *mode: str) -> None:
    folder = Path(where)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _asked)
    try:
        keep(folder, "stay" in mode)
    except Asked:
        shutil.rmtree(folder, ignore_errors=True)
    except Exception as error:
        # For whoever waits for the state; the folder stays, with the logs.
        draft = folder / f"{FAILED}.new"
        draft.write_text(str(error) if isinstance(error, LabError) else f"{type(error).__name__}: {error}")
        draft.replace(folder / FAILED)
        (folder / STATE).unlink(missing_ok=True)
        sys.exit(f"the lab ended: {error}")
