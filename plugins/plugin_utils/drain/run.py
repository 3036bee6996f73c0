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


class Result(NamedTuple):
    """How a drain ended. is_drained: no pod is left that has to go. left: the pods that are still there. evicted: the pods that left.

    is_cordoned: whether the node is cordoned now. was_cordoned: whether it was before.
    """

    is_drained: bool
    left: tuple[Left, ...]
    evicted: tuple[str, ...]
    is_cordoned: bool
    was_cordoned: bool

    @property
    def changed(self) -> bool:
        """Was anything changed that is still so?"""
        return bool(self.evicted) or self.is_cordoned != self.was_cordoned


def drain_node(api: ClusterApi, name: str, settings: Settings, world: World, *, keep_cordon: bool = False) -> Result:
    """Drain a node. A drain that fails, or is interrupted, takes back a cordon that was not there before.

    keep_cordon: the caller takes it back, because it has more to restore. Raises the error of the client if the node cannot be read or
    cordoned. Pods that the settings do not allow to remove are found before anything is changed.
    """
    was_cordoned = api.node(name).is_cordoned
    daemon_sets = api.daemon_sets()
    not_allowed = refused(api.pods_on(name), settings, daemon_sets)
    if not_allowed:
        return Result(False, not_allowed, (), was_cordoned, was_cordoned)
    ended = False
    try:
        if not was_cordoned:
            api.cordon(name, True)
        turn, evicted = _evict(api, name, settings, world)
        ended = turn.outcome == DRAINED
        is_cordoned = ended or was_cordoned or keep_cordon
        return Result(ended, () if ended else turn.left, evicted, is_cordoned, was_cordoned)
    finally:
        if not ended and not was_cordoned and not keep_cordon:
            uncordon(api, name, world)


def _evict(api: ClusterApi, name: str, settings: Settings, world: World) -> tuple[Turn, tuple[str, ...]]:
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
        pods = _pods(api, name, pods, world, drain.started + settings.timeout)


def _pods(api: ClusterApi, name: str, before: list[Pod], world: World, deadline: float) -> list[Pod]:
    """The pods that are there now. While the API server is away, the pods of the last answer."""
    try:
        return api.pods_on(name)
    except api.error as error:
        if getattr(error, "status", 0) in (401, 403) or world.clock() >= deadline:
            raise
        world.say(f"{name}: {error}; trying again")
        return before


def uncordon(api: ClusterApi, name: str, world: World) -> None:
    """Take the cordon back, also if the API server is away for a moment."""
    deadline = world.clock() + UNCORDON_SECONDS
    while True:
        try:
            return api.cordon(name, False)
        except api.error as error:
            if world.clock() >= deadline or getattr(error, "status", 0) in (401, 403, 404):
                world.say(f"{name}: the node is still cordoned, because it could not be uncordoned ({error}); run: kubectl uncordon {name}")
                raise
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
