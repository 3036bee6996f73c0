# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What actions that run for a long time share: their options, and the end of the playbook."""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Dict, Mapping, Sequence

from .._aws import client as aws
from .client import OPTIONS


def validated_options(action: Any, specification: Mapping[str, Any], rules: Mapping[str, Sequence[Any]]) -> Mapping[str, Any]:
    """The options of the task, with those of Kubernetes and AWS."""
    names = {*rules, *aws.RULES} - {"required_by"}
    merged: Dict[str, Any] = {name: [*rules.get(name, ()), *aws.RULES.get(name, ())] for name in names}
    _unused, found = action.validate_argument_spec(
        {**specification, **OPTIONS, **aws.OPTIONS}, required_by=aws.RULES["required_by"], **merged
    )
    options: Mapping[str, Any] = found
    return options


def sleep_until_end() -> Callable[[float], None]:
    """A function that sleeps, and ends the task if the playbook has ended: otherwise, a task survives a playbook that is killed."""
    playbook = os.getppid()

    def sleep(seconds: float) -> None:
        if os.getppid() != playbook:
            raise KeyboardInterrupt
        time.sleep(seconds)

    return sleep
