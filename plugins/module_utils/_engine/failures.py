# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explains a failed transaction: the command that failed, the last messages of kubelet, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from .._node import journald, redaction
from .._node.errors import ApplyRefused
from .._transaction.transaction import StepFailed
from . import service_commands

if TYPE_CHECKING:
    from .._join.model import Finding

_IS_BACK = "The node is back in the state it was in"


def explain(failure: StepFailed, began: float, undo_began: float | None, kubelet: str | None) -> ApplyRefused:
    """The message for a failed transaction. The times limit which entries of the journal count. C(kubelet): the unit of kubelet, if any."""
    argv = failure.command.argv if failure.command else ()
    units = [word for word in argv if word.endswith(".service")]
    if units and kubelet:
        units.append(kubelet)
    logs = {
        unit: [redaction.redact_string(line) for line in journald.messages_between(unit, began, undo_began)]
        for unit in dict.fromkeys(units)
    }
    cause, fix, evidence = _symptom(failure), "correct the cause and run again", []
    # The journal of kubelet shows the cause only if kubelet itself failed. Otherwise its messages may be from an earlier process.
    exit_finding = _kubelet_exit(kubelet, logs[kubelet]) if kubelet and kubelet in argv else None
    if kubelet and exit_finding is not None:
        evidence = [exit_finding.evidence[0], cause]
        cause, fix = f"the node did not join: {exit_finding.message}", exit_finding.fix
        del logs[kubelet]
    cause = f"{cause}. {_IS_BACK}"
    if failure.not_restored:
        commands = ", ".join(service_commands.describe(command) for command in failure.not_restored)
        cause += f", except for what these commands should have undone: {commands}"
        fix = f"check the units of those commands first, then {fix}"
    return ApplyRefused(cause, fix, evidence + [f"journal of {unit}: {line}" for unit, lines in logs.items() for line in lines])


def _symptom(failure: StepFailed) -> str:
    """The failed command or file operation, and the last lines of its output."""
    if failure.command is None:
        return f"a file could not be replaced ({failure.output.strip()})"
    status = "" if failure.status is None else f" (status {failure.status})"
    lines = [line for line in failure.output.strip().splitlines() if line.strip()][-6:]
    return f"{service_commands.describe(failure.command)} failed{status}" + (f": {' | '.join(lines)}" if lines else "")


def _kubelet_exit(kubelet: str, lines: Sequence[str]) -> Finding | None:
    """The Finding for the last lines of a kubelet; None if their meaning is not known."""
    from .._join import kubelet_exit_diagnosis, model

    finding = kubelet_exit_diagnosis.diagnose(kubelet, None, model.KubeletExit(tuple(lines)))
    return finding if finding.final else None
