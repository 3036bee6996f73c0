# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs kind, clusterctl, kubectl and docker on the admin machine. Standard library, Python 3.7 and newer.

Each program has a time limit and a session of its own. While it runs, a file in the work folder names it, so that a later run finds what
a killed run left behind.
"""

from __future__ import annotations

import copy
import os
import shutil
import time
from typing import Callable, Dict, List, Mapping, Optional, Sequence

from .._node.programs import ProgramTimedOut, Result, execute
from .._node.redaction import redact_string
from . import work_folder

PROGRAMS = ("docker", "kind", "kubectl", "clusterctl")
_LINES, _WIDTH = 6, 400
"""How much of the output of a failed program a message shows."""


class StepFailed(Exception):
    """A step that could not be done. The text is the whole message."""


Execute = Callable[[Sequence[str], str, float], Result]
"""Runs a program: its words, its standard input, its time limit in seconds. Raises C(StepFailed) after the time limit."""


class AdminPrograms:
    """The programs of the admin machine. work_dir: an absolute path, None to record nothing."""

    def __init__(
        self,
        work_dir: Optional[str],
        execute: Optional[Execute] = None,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.work_dir = work_dir
        self.now = now
        self.sleep = sleep
        self._variables: Dict[str, str] = {}
        self._execute = execute

    def with_variables(self, variables: Mapping[str, str]) -> "AdminPrograms":
        """The same programs with more variables in their environment. They may be secret."""
        other = copy.copy(self)
        other._variables = dict(self._variables, **variables)
        return other

    def missing(self, names: Sequence[str] = PROGRAMS) -> List[str]:
        """The programs that are not in C(PATH)."""
        return [name for name in names if shutil.which(name) is None]

    def try_run(self, argv: Sequence[str], timeout: float = 60.0, stdin: str = "") -> Result:
        """Run a program, and return how it ended. Raises C(StepFailed) if it is missing, or after the time limit."""
        return (self._execute or self._execute_recorded)(argv, stdin, timeout)

    def run(self, argv: Sequence[str], timeout: float = 60.0, stdin: str = "") -> str:
        """The output of a program that succeeds. Raises C(StepFailed) with its last lines otherwise."""
        result = self.try_run(argv, timeout, stdin)
        if result.status:
            raise StepFailed(failure(argv, result))
        return result.output

    def _execute_recorded(self, argv: Sequence[str], stdin: str, timeout: float) -> Result:
        try:
            return execute(
                argv,
                timeout,
                dict(environment(), **self._variables),
                stdin=stdin.encode("utf-8"),
                during=lambda pid: work_folder.recorded(self.work_dir, pid, argv),
            )
        except ProgramTimedOut:
            raise StepFailed("{0} did not end within {1:g} seconds".format(_shown(argv), timeout)) from None
        except OSError as error:
            raise StepFailed("{0} cannot be run: {1}".format(argv[0], error.strerror or error)) from None


def environment() -> Dict[str, str]:
    """The environment of the programs: that of the task, without a kubeconfig that would be used by accident."""
    values = {name: text for name, text in os.environ.items() if name != "KUBECONFIG"}
    # clusterctl asks the internet for a newer version of itself otherwise, which takes minutes without a network.
    values["CLUSTERCTL_DISABLE_VERSIONCHECK"] = "true"
    return values


def failure(argv: Sequence[str], result: Result) -> str:
    """The message of a program that failed: its last lines, without secrets."""
    lines = [line.strip() for line in (result.errors + "\n" + result.output).splitlines() if line.strip()]
    shown = [redact_string(line)[:_WIDTH] for line in lines[-_LINES:]] or ["it printed nothing"]
    return "{0} failed with status {1}: {2}".format(_shown(argv), result.status, "; ".join(shown))


def _shown(argv: Sequence[str]) -> str:
    """The beginning of a command line. Manifests and secrets are passed by standard input only."""
    return " ".join(redact_string(word) for word in list(argv)[:3])
