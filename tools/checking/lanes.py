# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs steps, several at a time: each keeps its output to itself, which is shown whole when it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

#: Seconds between two lines that say what is running.
PULSE = 30.0

#: Seconds between two looks at what runs.
INTERVAL = 0.1

#: What a step that has to go is told, and for how many seconds it may then clean up (Docker containers, clusters).
FAREWELL = ((signal.SIGINT, 15.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))

# What pytest writes behind its dots, and the lines of our own laboratories.
_PROGRESS = re.compile(r"(?<=\[) *\d+%(?=\])|^\[[a-z]+\] .*", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """One command.

    name       unique among all steps, C(LAYER) or C(LAYER: WHAT)
    command    program and arguments
    folder     where it runs; None is where we run
    variables  what it finds in its environment beside ours
    after      the step without which it makes no sense, where that one runs, too
    about      seconds that it takes, roughly
    """

    name: str
    command: tuple[str, ...]
    folder: Path | None = None
    variables: tuple[tuple[str, str], ...] = ()
    after: str = ""
    about: float = 0.0

    @property
    def layer(self) -> str:
        return self.name.partition(":")[0]


def file_name(name: str) -> str:
    """The name of a step as a part of a file's name."""
    return re.sub("[^A-Za-z0-9._-]+", "-", name)


@dataclass(frozen=True)
class Ended:
    """How a step ended.

    status   its exit status, negative for a signal, None where it could not be started
    seconds  from its start to its end
    cpu      seconds of processor time of it and its children; what runs in containers is not theirs
    problem  why it was not started
    """

    step: Step
    status: int | None
    seconds: float = 0.0
    cpu: float = 0.0
    problem: str = ""


@dataclass
class _Running:
    step: Step
    process: subprocess.Popen[bytes]
    log: Path | None
    started: float = field(default_factory=time.monotonic)

    def look(self) -> Ended | None:
        """How it ended; None while it runs. Unlike C(Popen.poll), this learns what this one process and its children used."""
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid == 0:
            return None
        self.process.returncode = os.waitstatus_to_exitcode(status)
        # What it left behind would disturb the steps that follow.
        self.tell(signal.SIGKILL)
        return Ended(self.step, self.process.returncode, time.monotonic() - self.started, usage.ru_utime + usage.ru_stime)

    def tell(self, number: int) -> None:
        """Send a signal to it and to all that it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def progress(self) -> str:
        """C(oracle 2:10 43%), C(lab: programs 3:00 [lab] 2/6 kube-apiserver: 60 s): the time, and how far it says that it is."""
        minutes, seconds = divmod(int(time.monotonic() - self.started), 60)
        found = _PROGRESS.findall(_tail(self.log)) if self.log else []
        return " ".join([self.step.name, f"{minutes}:{seconds:02d}", *(word.strip() for word in found[-1:])])


def _tail(log: Path, size: int = 4096) -> str:
    with log.open("rb") as handle:
        handle.seek(max(0, log.stat().st_size - size))
        return handle.read().decode(errors="replace")


def say(line: str) -> None:
    """A line that is seen at once."""
    print(line, flush=True)


class Lanes:
    """Runs steps, C(width) of them at a time, in their order as far as C(after) allows; C(ended) hears of each.

    A step that runs alone writes to our streams; of others, C(logs) keeps the output until they end. Whatever interrupts C(run)
    (C(KeyboardInterrupt) included) ends what runs and what it started.
    """

    def __init__(self, width: int, logs: Path, environment: Callable[[Step], Mapping[str, str]], ended: Callable[[Ended], None]) -> None:
        self.width = width
        self.logs = logs
        self.environment = environment
        self.ended = ended
        self._waiting: list[Step] = []
        self._running: list[_Running] = []
        self._over: dict[str, Ended] = {}
        self._live = False

    def run(self, steps: Sequence[Step]) -> None:
        self._waiting, self._over = [*steps], {}
        self._live = self.width == 1 or len(steps) == 1
        spoken = time.monotonic()
        try:
            while self._waiting or self._running:
                self._bury()
                self._fill()
                if not self._live and time.monotonic() - spoken >= PULSE:
                    spoken = time.monotonic()
                    say(f"   running: {', '.join(one.progress() for one in self._running)}; {len(self._waiting)} to come")
                if self._running:
                    time.sleep(INTERVAL)
        finally:
            self._stop()

    def _bury(self) -> None:
        for one in [*self._running]:
            result = one.look()
            if result is not None:
                self._running.remove(one)
                self._finish(result, one.log)

    def _fill(self) -> None:
        for step in [*self._waiting]:
            if len(self._running) < self.width and not self._held_up(step):
                self._waiting.remove(step)
                self._start(step)

    def _held_up(self, step: Step) -> bool:
        return any(step.after == other.name for other in (*self._waiting, *(one.step for one in self._running)))

    def _start(self, step: Step) -> None:
        before = self._over.get(step.after)
        if before is not None and before.status != 0:
            self._finish(Ended(step, None, problem=f"not run, because of {step.after}"), None)
            return
        log = None if self._live else self.logs / f"{file_name(step.name)}.log"
        if log is None:
            say(f"\n== {step.name}")
        try:
            self._running.append(self._popen(step, log))
        except OSError as error:
            self._finish(Ended(step, None, problem=f"{step.command[0]} cannot be run: {error}. Did 'make setup' succeed?"), None)

    def _popen(self, step: Step, log: Path | None) -> _Running:
        with log.open("wb") if log else nullcontext() as output:
            # A session of its own, so that it can be ended with all that it started.
            process = subprocess.Popen(
                step.command,
                cwd=step.folder,
                env=dict(self.environment(step)),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT if log else None,
                start_new_session=True,
            )
        return _Running(step, process, log)

    def _finish(self, result: Ended, log: Path | None) -> None:
        self._over[result.step.name] = result
        if log is not None:
            say(f"\n== {result.step.name}, after {result.seconds:.0f} s")
            output = log.read_text(errors="replace").strip("\n")
            if output:
                say(output)
        if result.problem:
            say(f"{result.step.name}: {result.problem}")
        self.ended(result)

    def _stop(self) -> None:
        left = self._running
        for number, patience in FAREWELL:
            for one in left:
                one.tell(number)
            limit = time.monotonic() + patience
            while left and time.monotonic() < limit:
                left = [one for one in left if one.look() is None]
                time.sleep(INTERVAL if left else 0)
        self._running = left
