# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a cluster does not become available: the first failing object, its condition, its last events, and a known cause with its cure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .cause_findings import Finding, Object, findings
from .cause_table import KnownCause, recognize

_EVENTS = 5
"""Events that are shown of an object."""

_MAX_TEXT = 500


@dataclass(frozen=True)
class Cause:
    """The first failing object. events: its last ones, oldest first. known: None if no text is known. others: objects that also fail."""

    finding: Finding
    events: tuple[str, ...]
    known: KnownCause | None
    others: int

    @property
    def name(self) -> str:
        """The object, as C(kubectl) takes it."""
        place = f" in {self.finding.namespace}" if self.finding.namespace else ""
        return f"{self.finding.kind} {self.finding.name}{place}"

    def lines(self) -> list[str]:
        """The cause for people."""
        finding = self.finding
        found = [f"{self.name}: {finding.condition} ({finding.reason or 'no reason'}): {_one_line(finding.message) or 'no message'}"]
        found += [f"  event: {event}" for event in self.events]
        if self.known is not None:
            found += [f"  cause: {self.known.title}", f"  cure:  {self.known.cure}"]
        if self.others:
            found.append(f"  {self.others} more object{' fails or waits' if self.others == 1 else 's fail or wait'}")
        return found

    def plain(self) -> dict[str, Any]:
        """The cause as plain data."""
        finding, known = self.finding, self.known
        return {
            "kind": finding.kind,
            "namespace": finding.namespace,
            "name": finding.name,
            "condition": finding.condition,
            "reason": finding.reason,
            "message": _one_line(finding.message),
            "events": list(self.events),
            "known_cause": None if known is None else {"id": known.id, "title": known.title, "cure": known.cure},
            "others": self.others,
        }


def find(objects: Sequence[Object], logs: Sequence[str] = ()) -> Cause | None:
    """The cause, or None if no object fails.

    objects: those of Cluster API, pods and Deployments of the managers, and events, in any order. logs: of the managers, newest line first.
    """
    found = findings(objects)
    if not found:
        return None
    first = found[0]
    events = sorted((one for one in objects if one.get("kind") == "Event"), key=_event_time)
    own = [one for one in events if _is_about(one, first)]
    warnings = [_event_text(one) for one in reversed(events) if one.get("type") == "Warning"]
    texts = (first.text, *map(_event_text, reversed(own)), *(other.text for other in found[1:]), *warnings, *logs)
    places = {(other.kind, other.namespace, other.name) for other in found} - {(first.kind, first.namespace, first.name)}
    return Cause(first, tuple(map(_event_text, own[-_EVENTS:])), recognize(texts), len(places))


def _is_about(event: Object, finding: Finding) -> bool:
    about = event.get("involvedObject") or event.get("regarding") or {}
    return (about.get("kind"), about.get("namespace") or "", about.get("name")) == (finding.kind, finding.namespace, finding.name)


def _event_time(event: Object) -> str:
    meta = event.get("metadata") or {}
    times = (event.get("lastTimestamp"), (event.get("series") or {}).get("lastObservedTime"), event.get("eventTime"))
    return next((str(time) for time in times if time), str(meta.get("creationTimestamp") or ""))


def _event_text(event: Object) -> str:
    message = event.get("message") or event.get("note") or ""
    return _one_line(f"{event.get('reason') or ''}: {message}")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_MAX_TEXT]
