# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The work folder of a cluster on the admin machine: private files, the lock, and the programs that are running.

The folder has mode 0700 and its files 0600. A file is replaced as a whole, so that a kill leaves the old or the new content.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import stat
import time
from contextlib import contextmanager, suppress
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from .._node.host import read_hostname

LOCK = "lock.json"
LEDGERS = "ledger-"
"""How the names of the ledgers of the engine capi begin."""

EKSCTL_RECORD = "eksctl.json"
"""The record of the engine eksctl. One engine does not continue what the other one began."""

_RUNNING, _GUARD = "running-", ".guard"


def make(path: str) -> None:
    """Create the folder with mode 0700, or take away the access of others."""
    os.makedirs(path, mode=0o700, exist_ok=True)
    if stat.S_IMODE(os.stat(path).st_mode) != 0o700:
        os.chmod(path, 0o700)


def read(path: str) -> Optional[str]:
    """The text of a file, None if it does not exist."""
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except OSError:
        return None


def write(path: str, text: str) -> bool:
    """Replace a file with mode 0600 and return whether it was changed. The content is on disk before it has the name."""
    if read(path) == text and stat.S_IMODE(os.stat(path).st_mode) == 0o600:
        return False
    folder, name = os.path.split(path)
    staged = os.path.join(folder, ".{0}.{1}.new".format(name, os.getpid()))
    handle = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(text.encode("utf-8"))
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(staged, path)
    _sync(folder)
    return True


def remove(path: str) -> bool:
    """Remove a file, and return whether it existed."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    _sync(os.path.dirname(path))
    return True


def _sync(folder: str) -> None:
    handle = os.open(folder or ".", os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# --- processes ---------------------------------------------------------------------------------------------------------------------------


def host() -> str:
    """The name of this machine."""
    return read_hostname()


def boot_id() -> str:
    """The boot of this machine. C('') where the system does not tell."""
    return (read("/proc/sys/kernel/random/boot_id") or "").strip()


def start_time(pid: int) -> Optional[int]:
    """When a process began, in ticks since the boot; None if it does not exist, or has ended."""
    text = read("/proc/{0}/stat".format(pid))
    if text is None:
        return None
    # The name of the program, in parentheses, may contain spaces.
    words = text.rpartition(")")[2].split()
    return None if words[0] in ("Z", "X") else int(words[19])


@contextmanager
def recorded(folder: Optional[str], pid: int, argv: Sequence[str]) -> Iterator[None]:
    """While a program runs, a file in the work folder names it."""
    if folder is None or not os.path.isdir(folder):
        yield
        return
    path = os.path.join(folder, "{0}{1}.json".format(_RUNNING, pid))
    row = {"boot_id": boot_id(), "pid": pid, "start_time": start_time(pid) or 0, "command": " ".join(list(argv)[:2])}
    write(path, json.dumps(row))
    try:
        yield
    finally:
        remove(path)


def running(folder: str) -> List[Dict[str, Any]]:
    """The programs of this work folder that are running, also those of a run that was killed. Files of other programs are removed."""
    found = []
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    for name in names:
        if not name.startswith(_RUNNING):
            continue
        path = os.path.join(folder, name)
        try:
            row = json.loads(read(path) or "")
            is_running = row["boot_id"] == boot_id() and start_time(row["pid"]) == row["start_time"]
        except (ValueError, KeyError, TypeError):
            is_running = False
        if is_running:
            found.append({"pid": row["pid"], "start_time": row["start_time"], "command": row["command"]})
        else:
            remove(path)
    return found


def settle(wait_for: Sequence[Mapping[str, Any]], end: Sequence[Mapping[str, Any]], timeout: float) -> List[str]:
    """Wait for some programs, and end others. Returns the programs that are still running after the time limit."""
    for row in end:
        if start_time(row["pid"]) == row["start_time"]:
            with suppress(OSError):
                os.killpg(row["pid"], signal.SIGTERM)
    limit = time.monotonic() + timeout
    rows = [*wait_for, *end]
    while True:
        alive = [row for row in rows if start_time(row["pid"]) == row["start_time"]]
        if not alive or time.monotonic() >= limit:
            return ["{0} (pid {1})".format(row["command"], row["pid"]) for row in alive]
        time.sleep(0.1)


# --- the lock ----------------------------------------------------------------------------------------------------------------------------


def replace_lock(folder: str, expected: Optional[str], new: Optional[str]) -> bool:
    """Replace the lock if it is still the expected one, and return whether it was. None: there is no lock."""
    path = os.path.join(folder, LOCK)
    handle = os.open(os.path.join(folder, _GUARD), os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if read(path) != expected:
            return False
        if new is None:
            remove(path)
        else:
            write(path, new)
        return True
    finally:
        os.close(handle)
