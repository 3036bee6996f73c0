# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs programs of the node: one environment, one PATH, no shell. Standard library, Python 3.7 and newer.

No other file starts a program. A program with a time limit runs in a session of its own, so that everything it started ends with it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from contextlib import nullcontext, suppress
from typing import IO, Any, Callable, ContextManager, Mapping, NamedTuple, Sequence

from .errors import ApplyRefused

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin"
"""Only directories that root alone can write to."""

ENVIRONMENT = {"PATH": PATH, "LC_ALL": "C", "HOME": "/root"}
"""The whole environment of a program: nothing of the caller's environment is passed on."""

NOT_INSTALLED, NOT_RUNNABLE = 127, 126
"""The status of a program that does not exist, and of one that cannot be run, as in a shell."""


class Result(NamedTuple):
    """How a program ended. C(output) and C(errors) are its standard output and standard error as text."""

    status: int
    output: str
    errors: str


class ProgramTimedOut(ApplyRefused):
    """A program took longer than its time limit and was killed."""


def run(argv: Sequence[str], timeout: float = 60.0) -> Result:
    """Run a program to its end. Raises ProgramTimedOut. Without a program that can be run, the status says so."""
    try:
        return execute(argv, timeout)
    except FileNotFoundError:
        return Result(NOT_INSTALLED, "", f"{argv[0]} is not installed")
    except OSError as error:
        return Result(NOT_RUNNABLE, "", f"{argv[0]} cannot be run: {error.strerror or error}")


def execute(
    argv: Sequence[str],
    timeout: float | None = None,
    environment: Mapping[str, str] | None = None,
    merge_errors: bool = False,
    stdin: bytes = b"",
    during: Callable[[int], ContextManager[None]] | None = None,
) -> Result:
    """Run a program to its end. Raises ProgramTimedOut, and OSError when the program cannot be started.

    C(merge_errors): standard error is part of C(output), in the order of writing. C(stdin): its standard input. C(during): a context that
    is open while the program runs, from its process ID.
    """
    # There is no module object here, and its run_command has no time limit.
    # pylint: disable-next=ansible-bad-function
    process = subprocess.Popen(
        list(argv),
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merge_errors else subprocess.PIPE,
        env=dict(ENVIRONMENT if environment is None else environment),
        cwd="/",
        start_new_session=timeout is not None,
    )
    with process:
        try:
            with nullcontext() if during is None else during(process.pid):
                output, errors = process.communicate(stdin or None, timeout=timeout)
        except subprocess.TimeoutExpired:
            _kill_session(process)
            shown = " ".join(argv[:3])
            raise ProgramTimedOut(f"{shown} did not end within {timeout:g} seconds: check the load of the node, then run again") from None
        except BaseException:
            process.kill()
            raise
    return Result(process.returncode, output.decode("utf-8", "replace"), (errors or b"").decode("utf-8", "replace"))


def _kill_session(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and everything it started, and close the pipes, which one of them may keep open."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def first_lines(argv: Sequence[str], count: int, timeout: float, max_bytes: int) -> list[bytes]:
    """The first lines that a program prints, at most C(count) and C(max_bytes). The program is killed when there are enough.

    When the time is over, the lines that were read by then are the answer. A program that cannot be started prints nothing.
    """
    try:
        # Its output may have any length, and run_command of a module reads all of it.
        # pylint: disable-next=ansible-bad-function
        process = subprocess.Popen(
            list(argv), env=ENVIRONMENT, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError:
        return []
    lines: list[bytes] = []
    timer = threading.Timer(timeout, process.kill)
    timer.daemon = True
    timer.start()
    with process:
        try:
            while process.stdout is not None and len(lines) < count and max_bytes > 0:
                line = process.stdout.readline(max_bytes)
                if not line:
                    break
                lines.append(line)
                max_bytes -= len(line)
        finally:
            timer.cancel()
            process.kill()
    return lines


class RunningProgram(NamedTuple):
    """A program that was started. C(output): its standard output."""

    process: subprocess.Popen[bytes]
    output: IO[bytes]


def start(argv: Sequence[str], stdin: int, stderr: int) -> RunningProgram:
    """Start a program in a session of its own with the given descriptors."""
    # Its output is followed line by line, which run_command of a module cannot do.
    # pylint: disable-next=ansible-bad-function
    process: Any = subprocess.Popen(
        list(argv), stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, cwd="/", env=ENVIRONMENT, start_new_session=True
    )
    return RunningProgram(process, process.stdout)


def find(name: str) -> str | None:
    """The path of a program, None when it is not installed."""
    return shutil.which(name, path=ENVIRONMENT["PATH"])
