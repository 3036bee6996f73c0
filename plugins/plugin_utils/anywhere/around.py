# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens around the steps of a run: checks before the lock is taken, and diagnostics when a step failed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..errors import Problem, SpecError
from . import ledger, preflight
from .acts import Plan, RunFailed
from .decide import decide
from .diagnostics_task import Write, diagnostics_task
from .observed import Observed
from .preflight_run import Preflights
from .run import Extras, Run

_MOST_LINES = 20
"""Lines of the summary of diagnostics in the message of an error."""


@dataclass(frozen=True)
class Diagnostics:
    """Where diagnostics are written. work_dir: the folder of the files of all clusters. folder: on the controller, an absolute path.

    secrets: values that are removed from everything, in addition to those of both clusters.
    """

    work_dir: str
    folder: str
    write: Write
    secrets: tuple[str, ...] = ()


def around(preflights: Preflights | None, diagnostics: Diagnostics | None, more: Extras | None = None) -> Extras:
    """The extras of a run. more: those of its command, which come after the checks and before the diagnostics."""

    def before(this: Run, seen: Observed) -> Mapping[str, Any]:
        check_kubeconfig(this, seen)
        problems: list[Problem] = []
        found: dict[str, Any] = {}
        parts = (None if preflights is None else partial(check, preflights), None if more is None else more.before)
        for part in parts:
            try:
                found |= {} if part is None else part(this, seen)
            except SpecError as error:
                # What the command refuses is told together with the checks that failed.
                problems += error.problems
        if problems:
            raise SpecError(problems)
        return found

    def failed(this: Run) -> str:
        text = "" if more is None else more.failed(this)
        return text + ("" if diagnostics is None else collect(diagnostics, this))

    return Extras(before, failed) if more is None else Extras(before, failed, more.after)


def check(preflights: Preflights, this: Run, seen: Observed) -> Mapping[str, Any]:
    """Print the table, and refuse the run for checks that failed. A run that has nothing to do needs nothing."""
    if decide(this.plan.command, seen).is_end:
        return {}
    if preflights.checks:
        this.admin.say(preflight.report(preflights.checks))
    preflights.refuse()
    return {"checks": preflights.plain()}


def check_kubeconfig(this: Run, seen: Observed) -> None:
    """Refuse a kubeconfig of another cluster, into which a run would install and apply. Raises C(SpecError)."""
    if not seen.has_kubeconfig or seen.target_side is None or seen.machines is None:
        return
    try:
        nodes = this.step("nodes", kubeconfig=this.plan.kubeconfig)["nodes"]
    except RunFailed:
        return
    check_nodes(this.plan, seen.machines, nodes)


def check_nodes(plan: Plan, machines: frozenset[str], nodes: Sequence[str]) -> None:
    """A cluster with nodes has at least one of the machines. Raises C(SpecError) if it has none of them."""
    if not nodes or machines & set(nodes):
        return
    message = f"is of another cluster: its nodes are {_some(nodes)}, and the machines of {plan.name} are {_some(machines)}"
    fix = "put the right kubeconfig there; or move the file away, and the run reads it from the cluster"
    raise SpecError([Problem("anywhere.kubeconfig", plan.kubeconfig, message, fix=fix)])


def _some(found: Collection[str]) -> str:
    rows = sorted(found)
    return (", ".join(rows[:3]) or "none") + (f" and {len(rows) - 3} more" if len(rows) > 3 else "")


def collect(diagnostics: Diagnostics, this: Run) -> str:
    """Collect diagnostics if a step failed, and return the summary for the message. No failure of it hides the first one."""
    if not has_failed_step(this):
        return ""
    name = this.plan.name
    options = {
        "name": name,
        "work_dir": diagnostics.work_dir,
        "kubeconfigs": {},
        "folder": diagnostics.folder,
        "secrets": list(diagnostics.secrets),
        "timeout": 30.0,
    }
    said: list[str] = []
    try:
        result = diagnostics_task(options, this.admin.call, write=diagnostics.write, say=said.append, check_mode=False)
    except SpecError as error:
        return _not_collected("; ".join(problem.message for problem in error.problems))
    except Exception as error:
        # The connection can be gone, and the message of the step must survive anything.
        return _not_collected(" ".join(str(error).split()) or type(error).__name__)
    if result.get("failed") or "archive" not in result:
        return _not_collected(str(result.get("msg") or "the admin machine did not answer"))
    lines = [line for text in said for line in text.splitlines() if line]
    return "\n".join(["", *lines[:_MOST_LINES], f"The archive is {result['archive']}, and the whole summary {result['summary']}"])


def _not_collected(reason: str) -> str:
    return f"\nno diagnostics were collected: {reason}"


def has_failed_step(this: Run) -> bool:
    """Did a step of this run fail? What was decided to stop has the reason already."""
    found = this.ledgers.get(this.plan.command)
    return bool(this.steps and found and found.entries and found.entries[-1].state == ledger.FAILED)
