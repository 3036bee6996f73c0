# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drains one node: cordons it, evicts its pods with progress, and takes the cordon back if that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..workloads.model import Pod
from .api import ClusterApi
from .decide import DRAINED, Left, Turn, begin, record, refused, step
from .finding import Settings, plural, seconds

PROGRESS_SECONDS = 30.0
"""How often progress is shown while nothing changes."""

UNCORDON_SECONDS = 60.0
"""How long uncordoning is tried if the API server is away."""

_SHOWN = 5
"""Pods that a line of progress names."""


class World(NamedTuple):
    """What a drain touches: clock, sleep and output."""

    clock: Callable[[], float]
    sleep: Callable[[float], None]
    say: Callable[[str], None]


class UncordonFailed(Exception):
    """A node may still be cordoned. The text is the whole message. cause: the error of the client. after: what ended the drain."""

    def __init__(self, name: str, cause: Exception, after: Exception | None = None) -> None:
        before = f"{after}; " if after is not None else ""
        detail = f" ({cause})" if str(cause) != str(after) else ""
        super().__init__(
            f"{before}{name} may still be cordoned, because it could not be uncordoned{detail}; fix: run kubectl uncordon {name}"
        )
        self.cause = cause


class Result(NamedTuple):
    """How a drain ended. is_drained: no pod is left that has to go. left: the pods that are still there. evicted: the pods that left.

    is_cordoned: whether the node is cordoned now. was_cordoned: whether it was before. problem: why it could not be uncordoned.
    """

    is_drained: bool
    left: tuple[Left, ...]
    evicted: tuple[str, ...]
    is_cordoned: bool
    was_cordoned: bool
    problem: str = ""

    @property
    def changed(self) -> bool:
        """Was anything changed that is still so?"""
        return bool(self.evicted) or self.is_cordoned != self.was_cordoned


def drain_node(api: ClusterApi, name: str, settings: Settings, world: World) -> Result:
    """Drain a node. A drain that fails, or is interrupted, takes back a cordon that was not there before.

    Pods that the settings do not allow to remove are found before anything is changed. Raises the error of the client if it cannot go on,
    or C(UncordonFailed) if it cannot take back the cordon either.
    """
    cordon = _Cordon(api, name, world)
    daemon_sets = api.daemon_sets()
    not_allowed = refused(api.pods_on(name), settings, daemon_sets)
    if not_allowed:
        return Result(False, not_allowed, (), cordon.was_there, cordon.was_there)
    try:
        cordon.set()
        turn, evicted = _evict(api, name, settings, world, cordon)
    except BaseException as error:
        _take_back(cordon, error)
        raise
    if turn.outcome == DRAINED:
        return Result(True, (), evicted, True, cordon.was_there)
    try:
        cordon.take_back()
    except UncordonFailed as failed:
        return Result(False, turn.left, evicted, True, cordon.was_there, str(failed))
    return Result(False, turn.left, evicted, cordon.was_there, cordon.was_there)


def _take_back(cordon: _Cordon, error: BaseException) -> None:
    try:
        cordon.take_back()
    except UncordonFailed as failed:
        # An interruption is more than a failure.
        if isinstance(error, Exception):
            raise UncordonFailed(cordon.name, failed.cause, error) from error


class _Cordon:
    """The cordon of a drain. Only a cordon that was not there before is taken back. was_there: whether it was."""

    def __init__(self, api: ClusterApi, name: str, world: World) -> None:
        self._api, self.name, self._world = api, name, world
        self.was_there = api.node(name).is_cordoned
        self._is_ours = False

    def set(self) -> None:
        """Cordon the node, unless it is cordoned."""
        if self.was_there:
            return
        self._is_ours = True
        try:
            self._api.cordon(self.name, True)
        except self._api.error as error:
            # A request that was refused, or not sent, changed nothing. Without an answer, it may have.
            self._is_ours = getattr(error, "was_sent", True) and not 0 < getattr(error, "status", 0) < 500
            raise

    def renew(self) -> None:
        """Cordon the node again if others uncordoned it: a drain whose playbook was killed takes back its cordon a moment later."""
        try:
            is_cordoned = self._api.node(self.name).is_cordoned
        except self._api.error as error:
            if getattr(error, "status", 0) != 404:
                raise
            return
        if not is_cordoned:
            self._world.say(f"{self.name}: the node was uncordoned during the drain; cordoning it again")
            self.was_there = False
            self.set()

    def take_back(self) -> None:
        """Uncordon the node, if it was cordoned here."""
        if self._is_ours:
            uncordon(self._api, self.name, self._world)


def _evict(api: ClusterApi, name: str, settings: Settings, world: World, cordon: _Cordon) -> tuple[Turn, tuple[str, ...]]:
    daemon_sets = api.daemon_sets()
    pods = api.pods_on(name)
    drain = begin(name, pods, settings, world.clock())
    progress = _Progress(name, world)
    seen: dict[str, Pod] = {}
    asked: set[str] = set()
    while True:
        seen.update((pod.uid, pod) for pod in pods)
        turn = step(drain, pods, daemon_sets, world.clock())
        drain = turn.drain
        for request in turn.requests:
            drain = record(drain, request, api.send(request), world.clock())
            asked.add(request.pod.uid)
        # The reasons of the refusals are known only now.
        shown = step(drain, pods, daemon_sets, world.clock()) if turn.requests else turn
        progress.show(shown.left)
        if turn.outcome:
            remaining = {pod.uid for pod in pods}
            return turn, tuple(sorted(pod.full_name for uid, pod in seen.items() if uid in asked and uid not in remaining))
        world.sleep(turn.wait)
        pods = _pods(api, cordon, pods, world, drain.started + settings.timeout)


def _pods(api: ClusterApi, cordon: _Cordon, before: list[Pod], world: World, deadline: float) -> list[Pod]:
    """The pods that are there now. While the API server is away, the pods of the last answer."""
    try:
        cordon.renew()
        return api.pods_on(cordon.name)
    except api.error as error:
        if getattr(error, "status", 0) in (401, 403) or world.clock() >= deadline:
            raise
        world.say(f"{cordon.name}: {error}; trying again")
        return before


def uncordon(api: ClusterApi, name: str, world: World) -> None:
    """Uncordon a node, also if the API server is away for a moment. Raises C(UncordonFailed)."""
    deadline = world.clock() + UNCORDON_SECONDS
    while True:
        try:
            return api.cordon(name, False)
        except api.error as error:
            status = getattr(error, "status", 0)
            if status == 404:
                return None
            if world.clock() >= deadline or status in (401, 403):
                raise UncordonFailed(name, error) from None
            world.say(f"{name}: it could not be uncordoned ({error}); trying again")
        world.sleep(1.0)


class _Progress:
    """Says which pods are left and what blocks each, when that changes and every 30 seconds."""

    def __init__(self, name: str, world: World) -> None:
        self._name = name
        self._world = world
        self._last: tuple[tuple[str, str], ...] = ()
        self._said_at = world.clock() - PROGRESS_SECONDS
        self._started = world.clock()

    def show(self, left: tuple[Left, ...]) -> None:
        """Show the pods that are left."""
        state = tuple(sorted((one.pod.full_name, one.reason) for one in left))
        now = self._world.clock()
        if state == self._last and now - self._said_at < PROGRESS_SECONDS:
            return
        if state or self._last:
            self._world.say(f"{self._name}: {describe(left)} ({seconds(now - self._started)})")
        self._last, self._said_at = state, now


def describe(left: tuple[Left, ...]) -> str:
    """The pods that are left, with the reason of each."""
    if not left:
        return "no pod is left to evict"
    names = [f"{one.pod.full_name} ({one.reason})" for one in left[:_SHOWN]]
    more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
    return f"{plural(len(left), 'pod')} left: {', '.join(names)}{more}"
