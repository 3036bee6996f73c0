# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evicts the pods of several nodes, one turn at a time, so that a run can drain nodes side by side."""

from __future__ import annotations

from collections.abc import Callable

from ..drain import decide
from ..drain.api import ClusterApi
from ..drain.finding import Settings
from .model import DrainState, Mark

_DAEMON_SETS_SECONDS = 60.0


class Drainer:
    """The drains of one process. A process that starts again gives every drain its whole time again."""

    def __init__(self, api: ClusterApi, settings: Settings, now: Callable[[], float]) -> None:
        self._api, self._settings, self._now = api, settings, now
        self._drains: dict[str, tuple[Mark, decide.Drain]] = {}
        self._daemon_sets: decide.DaemonSets = None
        self._read_at = 0.0

    def turn(self, node: str, mark: Mark) -> DrainState:
        """One turn for a node: send the requests that are due, and return what is left. mark: a new one begins a new drain."""
        now = self._now()
        if now - self._read_at > _DAEMON_SETS_SECONDS:
            self._daemon_sets, self._read_at = self._api.daemon_sets(), now
        pods = self._api.pods_on(node)
        known = self._drains.get(node)
        drain = known[1] if known is not None and known[0] == mark else decide.begin(node, pods, self._settings, now)
        turn = decide.step(drain, pods, self._daemon_sets, now)
        drain = turn.drain
        for request in turn.requests:
            drain = decide.record(drain, request, self._api.send(request), self._now())
        self._drains[node] = (mark, drain)
        # The reasons of the refusals are known only now.
        shown = decide.step(drain, pods, self._daemon_sets, now) if turn.requests else turn
        left = tuple(f"{one.pod.full_name} ({one.reason})" for one in shown.left)
        if turn.outcome != decide.FAILED:
            return DrainState(left)
        final = [one for one in turn.left if one.is_final] or list(turn.left)
        return DrainState(left, "; ".join(f"{one.pod.full_name}: {one.reason}" for one in final[:5]))
