# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs steps, several at a time. The output of each step is printed as one block when the step ends."""

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

#: Seconds between two progress lines.
PROGRESS_SECONDS = 30.0

#: Seconds between two checks of the running processes.
POLL_SECONDS = 0.1

#: Signals that end a step, each with the seconds that it has afterwards to clean up (Docker containers, clusters).
KILL_SEQUENCE = ((signal.SIGINT, 15.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))

# The percentage that pytest prints, and the progress lines of the labs.
_PROGRESS = re.compile(r"(?<=\[) *\d+%(?=\])|^\[[a-z]+\] .*", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """One command.

    name               unique among all steps, C(LAYER) or C(LAYER: DETAIL)
    command            program and arguments
    folder             working directory; None is the current one
    variables          environment variables in addition to the current ones
    after              name of the step that must succeed first, if it runs at all
    estimated_seconds  duration on two idle cores; it decides the order and need not be exact
    """

    name: str
    command: tuple[str, ...]
    folder: Path | None = None
    variables: tuple[tuple[str, str], ...] = ()
    after: str = ""
    estimated_seconds: float = 0.0

    @property
    def layer(self) -> str:
        return self.name.partition(":")[0]


def file_name(name: str) -> str:
    """The name of a step, usable as a part of a file name."""
    return re.sub("[^A-Za-z0-9._-]+", "-", name)


@dataclass(frozen=True)
class StepResult:
    """How a step ended.

    status   exit status, negative for a signal, None if the step could not be started
    seconds  duration
    cpu      processor seconds of the process and its children, without those of containers
    problem  why the step was not started
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

    def poll(self) -> StepResult | None:
        """Return the result, or None while the step runs. Unlike C(Popen.poll), this knows the processor time of this process."""
        try:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        except ChildProcessError:
            # Ctrl-C came in the middle of an earlier call: the step has ended, and its status is lost.
            self.send(signal.SIGKILL)
            return StepResult(self.step, None, time.monotonic() - self.started, problem="interrupted")
        if pid == 0:
            return None
        self.process.returncode = os.waitstatus_to_exitcode(status)
        # Processes that it left behind would disturb the next steps.
        self.send(signal.SIGKILL)
        return StepResult(self.step, self.process.returncode, time.monotonic() - self.started, usage.ru_utime + usage.ru_stime)

    def send(self, number: int) -> None:
        """Send a signal to the step and to every process of its session."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def progress(self) -> str:
        """Describe how far the step is: C(oracle 2:10 43%), C(lab: programs 3:00 [lab] 2/6 kube-apiserver: 60 s)."""
        minutes, seconds = divmod(int(time.monotonic() - self.started), 60)
        found = _PROGRESS.findall(_tail(self.log)) if self.log else []
        return " ".join([self.step.name, f"{minutes}:{seconds:02d}", *(word.strip() for word in found[-1:])])


def _tail(log: Path, size: int = 4096) -> str:
    with log.open("rb") as handle:
        handle.seek(max(0, log.stat().st_size - size))
        return handle.read().decode(errors="replace")


def say(line: str) -> None:
    """Print a line and flush."""
    print(line, flush=True)


class StepRunner:
    """Runs up to C(jobs) steps at a time, in the given order as far as C(after) allows, and calls C(on_end) with each result.

    A single step, or a step that runs with C(jobs=1), writes directly to the standard streams. Otherwise the output is kept in
    the directory C(logs) until the step ends. An exception during C(run), C(KeyboardInterrupt) included, ends all running steps and
    every process that they started.
    """

    def __init__(
        self, jobs: int, logs: Path, environment: Callable[[Step], Mapping[str, str]], on_end: Callable[[StepResult], None]
    ) -> None:
        self.jobs = jobs
        self.logs = logs
        self.environment = environment
        self.on_end = on_end
        self._waiting: list[Step] = []
        self._running: list[_Running] = []
        self._results: dict[str, StepResult] = {}
        self._direct_output = False

    def run(self, steps: Sequence[Step]) -> None:
        self._waiting, self._results = [*steps], {}
        self._direct_output = self.jobs == 1 or len(steps) == 1
        reported = time.monotonic()
        try:
            while self._waiting or self._running:
                self._collect()
                self._start_next()
                if not self._direct_output and time.monotonic() - reported >= PROGRESS_SECONDS:
                    reported = time.monotonic()
                    say(f"   running: {', '.join(one.progress() for one in self._running)}; {len(self._waiting)} waiting")
                if self._running:
                    time.sleep(POLL_SECONDS)
        finally:
            self._stop()

    def _collect(self) -> None:
        for one in [*self._running]:
            result = one.poll()
            if result is not None:
                self._running.remove(one)
                self._finish(result, one.log)

    def _start_next(self) -> None:
        for step in [*self._waiting]:
            if len(self._running) < self.jobs and not self._is_blocked(step):
                self._waiting.remove(step)
                self._start(step)

    def _is_blocked(self, step: Step) -> bool:
        return any(step.after == other.name for other in (*self._waiting, *(one.step for one in self._running)))

    def _start(self, step: Step) -> None:
        required = self._results.get(step.after)
        if required is not None and required.status != 0:
            self._finish(StepResult(step, None, problem=f"not run, because of {step.after}"), None)
            return
        log = None if self._direct_output else self.logs / f"{file_name(step.name)}.log"
        if log is None:
            say(f"\n== {step.name}")
        try:
            self._running.append(self._popen(step, log))
        except OSError as error:
            self._finish(StepResult(step, None, problem=f"{step.command[0]} cannot be run: {error}. Did 'make setup' succeed?"), None)

    def _popen(self, step: Step, log: Path | None) -> _Running:
        with log.open("wb") if log else nullcontext() as output:
            # In a session of its own, so that a signal reaches every process that it starts.
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

    def _finish(self, result: StepResult, log: Path | None) -> None:
        self._results[result.step.name] = result
        if log is not None:
            say(f"\n== {result.step.name}, after {result.seconds:.0f} s")
            output = log.read_text(errors="replace").strip("\n")
            if output:
                say(output)
        if result.problem:
            say(f"{result.step.name}: {result.problem}")
        self.on_end(result)

    def _stop(self) -> None:
        left = self._running
        for number, seconds in KILL_SEQUENCE:
            for one in left:
                one.send(number)
            limit = time.monotonic() + seconds
            while left and time.monotonic() < limit:
                left = [one for one in left if one.poll() is None]
                time.sleep(POLL_SECONDS if left else 0)
        self._running = left
