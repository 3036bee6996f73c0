# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence of a unit whose process exits again and again: how it exits, how often systemd restarted it, and its last lines."""

from __future__ import annotations

import time
from typing import Iterable

from .._node import journald, redaction
from .._node.systemd import Unit, read_units

LINES = 6


def evidence(units: Iterable[str]) -> list[str]:
    """Lines about the units among these that fail, each with its source."""
    return [line for unit in read_units(units).values() if unit.exists for line in _of_unit(unit)]


def _of_unit(unit: Unit) -> list[str]:
    found = journald.entries(unit.name)
    # A process that runs now may be the next one of the loop.
    began = unit.main_started if unit.pid and unit.main_started is not None else time.monotonic() + 1
    failure = journald.last_failure(found, began)
    if failure is None:
        return []
    restarts = unit.restarts if unit.restarts is not None else journald.count_restarts(found)
    lines = [redaction.redact_string(line) for line in failure.lines[-LINES:]]
    count = f"systemd has restarted it {restarts} time{'' if restarts == 1 else 's'}"
    return [f"{unit.name}: its process {failure.how}, and {count}", *(f"journal of {unit.name}: {line}" for line in lines)]
