# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What actions that run for a long time share: their options, and the end of the playbook."""

from __future__ import annotations

import multiprocessing
import os
import time
from typing import Any, Callable, Dict, Mapping, Optional, Sequence

from .._aws import client as aws
from .client import OPTIONS

LOOK_SECONDS = 0.5
"""How long a task may outlive its playbook while it sleeps."""


def validated_options(action: Any, specification: Mapping[str, Any], rules: Mapping[str, Sequence[Any]]) -> Mapping[str, Any]:
    """The options of the task, with those of Kubernetes and AWS."""
    names = {*rules, *aws.RULES} - {"required_by"}
    merged: Dict[str, Any] = {name: [*rules.get(name, ()), *aws.RULES.get(name, ())] for name in names}
    _unused, found = action.validate_argument_spec(
        {**specification, **OPTIONS, **aws.OPTIONS}, required_by=aws.RULES["required_by"], **merged
    )
    options: Mapping[str, Any] = found
    return options


def playbook_pid() -> int:
    """The process of the playbook, which started the process of this task.

    It is not the parent process: a task may begin after its playbook was killed, and its parent is process 1 then.
    """
    # multiprocessing.parent_process() is younger than Python 3.7.
    playbook: Optional[int] = getattr(multiprocessing.current_process(), "_parent_pid", None)
    return playbook or os.getpid()


def sleep_until_end() -> Callable[[float], None]:
    """A function that sleeps, and ends the task soon after the playbook has ended: otherwise, a task survives a playbook that is killed.

    If the playbook has ended already, the task ends now.
    """
    playbook = playbook_pid()

    def sleep(seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while True:
            if playbook not in (os.getpid(), os.getppid()):
                raise KeyboardInterrupt
            rest = deadline - time.monotonic()
            if rest <= 0:
                return
            time.sleep(min(rest, LOOK_SECONDS))

    sleep(0)
    return sleep


def until_end(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, except that the task ends instead of a call if the playbook has ended."""
    sleep = sleep_until_end()

    def call(*args: Any, **kwargs: Any) -> Any:
        sleep(0)
        return function(*args, **kwargs)

    return call
