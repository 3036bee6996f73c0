# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Child processes that never outlive their parent, with their output in a file each."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def _die_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:  # it ended before prctl
        os.kill(os.getpid(), signal.SIGKILL)


class Processes:
    """Programs by name, in the order of their start. Start them from the main thread: on Linux, that thread is the "parent"."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, argv: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> None:
        with (self._logs / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                [str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                start_new_session=True, preexec_fn=_die_with_parent,  # noqa: PLW1509 - started before there are threads
            )  # fmt: skip

    def ended(self) -> str:
        """The first program that has ended, with the end of its output; '' while all of them run."""
        for name, process in self._running.items():
            if process.poll() is not None:
                return f"{name} ended with status {process.returncode}:\n{self.tail(name)}"
        return ""

    def tail(self, name: str, characters: int = 3000) -> str:
        return (self._logs / f"{name}.log").read_text(errors="replace")[-characters:]

    def pids(self) -> dict[str, int]:
        return {name: process.pid for name, process in self._running.items()}

    def stop(self, names: Sequence[str], seconds: float) -> None:
        """Ask these programs to end, and kill the ones that still run after `seconds`. Names of programs that never started are ignored."""
        wanted = [self._running.pop(name) for name in names if name in self._running]
        for process in wanted:
            if process.poll() is None:
                process.terminate()
        limit = time.monotonic() + seconds
        for process in wanted:
            try:
                process.wait(max(0.0, limit - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
