# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The wait for a node: until its kubelet is well, and from then on until the node has joined its cluster. Pure, as C(live.apply) is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import report

FIRST = 5
"""Seconds that the first call of the module waits, the one that does everything."""

_HEALTH, _JOIN = 10, 5
"""Seconds that each of the calls waits that follow. Why a node does not join changes on the way, and people like to see it."""

_RECONNECT = 5
"""Seconds between two tries to reach a node that is gone."""

_SILENCE = 10
"""Seconds without a line, at most."""


@dataclass(frozen=True)
class Terms:
    """What is waited for. healthy, joined: seconds for each. units: those whose logs tell more."""

    healthy: int
    joined: int
    units: Sequence[str]


class Wait:
    """One wait.

    node: a C(live.apply.Node). ask: looks again, for at most so many seconds, and returns the module's answer.
    """

    def __init__(self, node: Any, terms: Terms, ask: Callable[[int], Mapping[str, Any]]) -> None:
        self.node = node
        self.terms = terms
        self.ask = ask
        self.began = 0.0
        self.healthy_since: float | None = None
        self.text = ""
        self.last_line = 0.0

    def end(self, answer: Mapping[str, Any], worth_a_line: bool) -> dict[str, Any]:
        """Wait from the first answer on. Returns what the result of the task says of it; a failed answer as it came.

        worth_a_line: whether a node that needs no wait is one.
        """
        self.began = self.node.clock() - float(answer.get("waited") or 0) - _waited(answer)
        while True:
            if answer.get("failed"):
                return dict(answer)
            if answer.get("healthy") and self.healthy_since is None:
                self.healthy_since = self.node.clock() - _waited(answer)
            known = {"healthy": bool(answer.get("healthy")), "missing": _missing(answer), "join": answer.get("join")}
            if _is_final(answer):
                return {**known, "failed": True, "msg": f"{self.node.sentence(answer['join'])}."}
            if _is_done(answer):
                if worth_a_line or self.text:
                    self._say(self._success(answer))
                return known
            passed, bound = self._passed()
            if passed >= bound:
                return {**known, **self._failure(answer, bound)}
            self._tell(_why(answer), passed, bound)
            if answer.get("unreachable"):
                self.node.pause(_RECONNECT)
            usual = _HEALTH if self.healthy_since is None else _JOIN
            answer = self.ask(max(1, min(usual, round(bound - passed))))

    def _passed(self) -> tuple[float, int]:
        """The seconds of the present wait, and how many there are for it."""
        if self.healthy_since is None:
            return self.node.clock() - self.began, self.terms.healthy
        return self.node.clock() - self.healthy_since, self.terms.joined

    def _tell(self, text: str, passed: float, bound: int) -> None:
        now = self.node.clock()
        if text != self.text or now - self.last_line >= _SILENCE:
            self._say(report.progress(text, passed, bound))
            self.text, self.last_line = text, now

    def _say(self, line: str) -> None:
        self.node.say(f"{self.node.name}: {line}")

    def _success(self, answer: Mapping[str, Any]) -> str:
        healthy = (self.healthy_since or self.began) - self.began
        join = answer.get("join")
        return report.healthy(healthy) if not join else report.joined(healthy, self.node.clock() - self.began, join)

    def _failure(self, answer: Mapping[str, Any], bound: int) -> dict[str, Any]:
        """Why the task fails when the time is over."""
        if answer.get("unreachable"):
            return {"unreachable": True, "msg": f"the node was set up, but cannot be reached any more: {answer.get('msg')}"}
        join = answer.get("join") or {}
        reason = self.node.sentence(join) if join.get("cause") else ""
        if answer.get("healthy"):
            return {"failed": True, "msg": report.not_joined(reason, bound)}
        # One that was healthy once is waited for as long as for its join.
        option = "verify_timeout" if self.healthy_since is None else "join_timeout"
        return {"failed": True, "msg": report.not_healthy(_missing(answer), bound, self.terms.units, reason, option)}


def _waited(answer: Mapping[str, Any]) -> float:
    return float((answer.get("join") or {}).get("waited") or 0)


def _is_final(answer: Mapping[str, Any]) -> bool:
    return bool((answer.get("join") or {}).get("final"))


def _is_done(answer: Mapping[str, Any]) -> bool:
    """Healthy; and joined, where somebody looked for that."""
    return bool(answer.get("healthy")) and (answer.get("join") or {}).get("cause") is None


def _missing(answer: Mapping[str, Any]) -> list[str]:
    return [str(what) for what in answer.get("missing") or []]


def _why(answer: Mapping[str, Any]) -> str:
    """What the node is still waited for."""
    if answer.get("unreachable"):
        return f"no connection: {answer.get('msg') or 'it does not say why'}"
    if answer.get("healthy"):
        return str(answer["join"]["message"])
    return "; ".join(_missing(answer)) or "not healthy yet"
