# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The wait for a node, until it is healthy and has joined its cluster. Pure, as C(live.apply) is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import report

FIRST_WAIT = 5
"""Seconds that the first call of the module waits, the one that does everything."""

_WAIT_FOR_HEALTH, _WAIT_FOR_JOIN = 10, 5
"""Seconds that each of the following calls waits. The reason why a node does not join changes, and the user wants to see it."""

_RECONNECT_SECONDS = 5
"""Seconds between two attempts to reach a node whose connection was lost."""

_SILENT_SECONDS = 10
"""Seconds without a line of progress, at most."""


@dataclass(frozen=True)
class Terms:
    """timeout: seconds for the whole wait. units: those whose logs tell more."""

    timeout: int
    units: Sequence[str]


class Wait:
    """One wait, with one deadline for the node's health and for its join.

    node: a C(live.apply.Node). ask: checks again, for at most so many seconds, and returns the module's answer.
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
        """Wait from the first answer on. Returns the part of the task's result that describes the wait; a failed answer as it came.

        worth_a_line: whether to print a line for a node that needs no wait.
        """
        self.began = self.node.clock() - float(answer.get("waited") or 0) - _waited(answer)
        timeout = self.terms.timeout
        while True:
            if answer.get("failed"):
                return dict(answer)
            if answer.get("healthy") and self.healthy_since is None:
                self.healthy_since = self.node.clock() - _waited(answer)
            known = {"healthy": bool(answer.get("healthy")), "missing": _missing(answer), "join": answer.get("join")}
            if _is_final(answer):
                return {**known, "failed": True, "msg": self.node.explain(answer["join"])}
            if _is_done(answer):
                if worth_a_line or self.text:
                    self._say(self._success(answer))
                return known
            passed = self.node.clock() - self.began
            if passed >= timeout:
                return {**known, **self._failure(answer)}
            self._show_progress(_why(answer), passed)
            if answer.get("unreachable"):
                self.node.pause(_RECONNECT_SECONDS)
            usual = _WAIT_FOR_HEALTH if self.healthy_since is None else _WAIT_FOR_JOIN
            answer = self.ask(max(1, min(usual, round(timeout - passed))))

    def _show_progress(self, text: str, passed: float) -> None:
        now = self.node.clock()
        if text != self.text or now - self.last_line >= _SILENT_SECONDS:
            self._say(report.progress(text, passed, self.terms.timeout))
            self.text, self.last_line = text, now

    def _say(self, line: str) -> None:
        self.node.say(f"{self.node.name}: {line}")

    def _success(self, answer: Mapping[str, Any]) -> str:
        healthy = (self.healthy_since or self.began) - self.began
        join = answer.get("join")
        return report.healthy(healthy) if not join else report.joined(healthy, self.node.clock() - self.began, join)

    def _failure(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Why the task fails at its deadline."""
        if answer.get("unreachable"):
            return {"unreachable": True, "msg": f"the node was set up, but the connection to it was lost: {answer.get('msg')}"}
        join = answer.get("join") or {}
        reason = self.node.explain(join) if join.get("cause") else ""
        if answer.get("healthy"):
            return {"failed": True, "msg": report.not_joined(reason, self.terms.timeout)}
        return {"failed": True, "msg": report.not_healthy(_missing(answer), self.terms.timeout, self.terms.units, reason)}


def _waited(answer: Mapping[str, Any]) -> float:
    return float((answer.get("join") or {}).get("waited") or 0)


def _is_final(answer: Mapping[str, Any]) -> bool:
    return bool((answer.get("join") or {}).get("final"))


def _is_done(answer: Mapping[str, Any]) -> bool:
    """Whether the node is healthy, and has joined where the module checked that."""
    return bool(answer.get("healthy")) and (answer.get("join") or {}).get("cause") is None


def _missing(answer: Mapping[str, Any]) -> list[str]:
    return [str(what) for what in answer.get("missing") or []]


def _why(answer: Mapping[str, Any]) -> str:
    """Why the wait goes on, for a line of progress."""
    if answer.get("unreachable"):
        return f"no connection: {answer.get('msg') or 'no reason given'}"
    if answer.get("healthy"):
        return str(answer["join"]["message"])
    return "; ".join(_missing(answer)) or "not healthy yet"
