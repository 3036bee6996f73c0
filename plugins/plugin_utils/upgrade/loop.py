# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries out an upgrade: observe, decide, act, until it ends. The caller passes the world, so that tests can pass another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from .decide import decide
from .model import (
    Act,
    Action,
    Done,
    DrainState,
    Finish,
    Observed,
    Reserve,
    ResumeProcesses,
    Run,
    SetGroup,
    Stop,
    Terminate,
    Wait,
    Wanted,
    WriteCapacity,
    WriteRun,
)
from .replacement import NO_INSTANCE, View, settle_operation, waits
from .steps import release
from .text import describe

_SHOWN = 2
"""Failures of the group that a message has. They are often the same."""


class TemporaryError(Exception):
    """A request failed, and may succeed later. The text is a whole message."""


class RequestRefused(Exception):
    """A request was refused, and will be again. The text is a whole message."""


class LeaseLost(Exception):
    """Another process has taken over. The text is a whole message."""


class World(Protocol):
    """The cluster and the Auto Scaling group. The methods raise C(TemporaryError) and C(RequestRefused)."""

    def clock(self) -> float:
        """Seconds since the epoch."""

    def observe(self) -> Observed:
        """The state now, without what only this process knows."""

    def perform(self, action: Action) -> None:
        """Carry out one step."""

    def drain(self, node: str) -> DrainState:
        """Evict the pods of a node once, and return what is left. It fails after the timeout."""

    def hold(self) -> None:
        """Make sure that this process still has the lease. Raises C(LeaseLost)."""

    def sleep(self, seconds: float) -> None:
        """Wait."""

    def failures(self) -> list[str]:
        """Why the group did not launch or terminate instances, newest first."""


Outcome = Done | Stop | Act


def upgrade(
    world: World,
    wanted: Wanted,
    say: Callable[[str], None],
    *,
    choose: Callable[[Observed, Wanted], Action] = decide,
    pause: float = 5.0,
    patience: float = 300.0,
) -> Outcome:
    """Run until the upgrade ends, or until the tasks of a node can run.

    choose: decides the next step. pause: seconds between two looks at the world. patience: seconds for which requests may fail before the
    upgrade gives up; the state that is recorded lets the next run continue.
    """
    return _Loop(world, wanted, say, choose, pause, patience).run()


class _Loop:
    def __init__(
        self,
        world: World,
        wanted: Wanted,
        say: Callable[[str], None],
        choose: Callable[[Observed, Wanted], Action],
        pause: float,
        patience: float,
    ) -> None:
        self._world, self._wanted, self._say, self._choose = world, wanted, say, choose
        self._pause, self._patience = pause, patience
        self._memory: Observed | None = None
        self._failing_since: float | None = None
        self._changes = 0
        self._reason = ""
        self._said = ""

    def run(self) -> Outcome:
        while True:
            outcome: Outcome | None
            try:
                outcome = self._step()
            except TemporaryError as error:
                outcome = self._retry(str(error))
            except RequestRefused as error:
                outcome = self._refused(str(error))
            except LeaseLost as error:
                return Stop("lease_lost", str(error), is_restored=False)
            if outcome is not None:
                return outcome

    def _step(self) -> Outcome | None:
        self._world.hold()
        observed = self._remember(self._world.observe())
        action = self._choose(observed, self._wanted)
        if isinstance(action, (Done, Stop, Act)):
            return action
        if isinstance(action, WriteRun):
            action = self._with_cause(action)
        self._tell(describe(action, observed))
        if isinstance(action, Wait):
            self._drain(action, observed)
            self._failing_since = None
            self._world.sleep(self._pause)
            return None
        if isinstance(action, WriteRun) and action.message:
            self._reason = action.message
        self._changes += 1
        self._world.perform(action)
        # What was evicted before a node is cordoned again says nothing about the pods that it has now.
        drains = {name: drain for name, drain in observed.drains.items() if not (isinstance(action, Reserve) and name == action.node)}
        self._memory = replace(observed, changed=observed.now, drains=drains)
        self._request(action, observed)
        # Not after the observation: reading can work while every change fails.
        self._failing_since = None
        return self._explained(action.outcome) if isinstance(action, Finish) else None

    def _with_cause(self, action: WriteRun) -> WriteRun:
        """The failure to launch instances with what the group reports, which does not decide about the next step."""
        if not action.run.stopped.startswith(NO_INSTANCE):
            return action
        found = list(dict.fromkeys(self._world.failures()))[:_SHOWN]
        return replace(action, message="; ".join([action.message, *(f"the group reports: {text}" for text in found)]))

    def _request(self, action: Action, observed: Observed) -> None:
        """Send the request of an operation as soon as it is recorded: meanwhile, others could change the capacity."""
        if isinstance(action, WriteCapacity) and action.capacity.operation is not None and observed.group is not None:
            request = settle_operation(replace(observed.group, capacity=action.capacity), observed.nodes)
            if isinstance(request, (SetGroup, Terminate)):
                self._tell(describe(request, observed))
                self._world.perform(request)

    def _remember(self, observed: Observed) -> Observed:
        """Add what this process knows: when it began, the results of its evictions, and for how long it has waited for what."""
        last = self._memory
        began, changed = (observed.now, observed.now) if last is None else (last.began, last.changed)
        known = replace(observed, began=began, changed=changed, drains={} if last is None else last.drains)
        group = known.group
        if group is not None and group.run is not None:
            since = {} if last is None else last.waiting
            keys = waits(View(known, group, group.run, self._wanted))
            known = replace(known, waiting={key: since.get(key, known.now) for key in keys})
        self._memory = known
        return known

    def _drain(self, action: Wait, observed: Observed) -> None:
        """Evict once on each node. The changes of others are seen with the next observation."""
        drains = dict(observed.drains)
        for name in action.drain:
            drains[name] = self._world.drain(name)
            self._memory = replace(observed, drains=drains)

    def _retry(self, message: str) -> Stop | None:
        """Pause after a failed request, until it has failed for too long."""
        now = self._world.clock()
        self._failing_since = now if self._failing_since is None else self._failing_since
        if now - self._failing_since > self._patience:
            return self._interrupted("unreachable", f"{message}, for {self._patience:.0f} s")
        self._tell(f"trying again: {message}")
        self._world.sleep(self._pause)
        return None

    def _refused(self, message: str) -> Stop | None:
        """Put the group back, if the request belonged to the upgrade; give up if putting back is refused, too."""
        run = self._run
        if run is None or run.stopped or self._reason:
            return self._interrupted("refused", message)
        self._reason = message
        try:
            self._world.perform(WriteRun(replace(run, stopped="refused"), message))
        except (TemporaryError, RequestRefused):
            return self._interrupted("refused", message)
        return None

    def _interrupted(self, rule: str, message: str) -> Stop:
        """Some of the changes stay. The message names them, and the next run continues."""
        nodes = self._uncordon()
        suspended = self._resume()
        if self._changes == 0:
            return Stop(rule, f"{message}; nothing was changed", is_restored=self._run is None)
        cordoned = f" {', '.join(nodes)} may still be cordoned." if nodes else ""
        processes = f" {', '.join(suspended)} of the group may still be suspended." if suspended else ""
        fix = "Run the playbook again to continue, or with --tags abort to put the group back"
        return Stop(rule, f"{message}.{cordoned}{processes} {fix}", is_restored=False)

    def _uncordon(self) -> list[str]:
        """Uncordon what still runs. Returns the nodes for which that failed. In place, the play decides what happens to a node."""
        failed = []
        for node in () if self._memory is None or self._memory.group is None else self._memory.nodes:
            if node.mark is None:
                continue
            try:
                self._world.perform(release(node, node.mark))
            except (TemporaryError, RequestRefused):
                failed.append(node.name)
        return failed

    def _resume(self) -> tuple[str, ...]:
        """Resume the processes that the upgrade suspended. Returns them if that failed. The next run suspends them again when it must."""
        run = self._run
        if run is None or not run.suspended:
            return ()
        try:
            self._world.perform(ResumeProcesses(run.suspended))
        except (TemporaryError, RequestRefused):
            return run.suspended
        return ()

    @property
    def _run(self) -> Run | None:
        return None if self._memory is None or self._memory.group is None else self._memory.group.run

    def _tell(self, line: str) -> None:
        if line and line != self._said:
            self._say(line)
            self._said = line

    def _explained(self, outcome: Done | Stop) -> Done | Stop:
        """The outcome with the message of the failure, if it was in this process."""
        return replace(outcome, message=self._reason + "; " + outcome.message) if isinstance(outcome, Stop) and self._reason else outcome
