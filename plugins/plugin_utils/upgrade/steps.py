# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a node on which an upgrade is working, which replacement and upgrade in place share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .model import DrainState, Mark, Node, Observed, Release, SetMark, Wanted

EVICTION = "PodEvictionFailure"
"""EKS has the same name for it."""


def begin(node: Node, observed: Observed, run: str, is_surplus: bool = False) -> Mark:
    """The first mark of a node. It records what to leave as it was. The label of a node that has a mark already can be from the upgrade."""
    excluded = node.is_excluded if node.mark is None else node.mark.was_excluded
    return Mark(run, "drain", observed.now, was_cordoned=node.is_cordoned, was_excluded=excluded, is_surplus=is_surplus)


def next_step(node: Node, mark: Mark, observed: Observed, wanted: Wanted) -> SetMark | None:
    """The step after draining or settling, if that has ended."""
    if mark.step == "drain" and is_drained(observed.drains.get(node.name)):
        return SetMark(node.name, replace(mark, step="settle", since=observed.now), exclude=not node.is_excluded)
    if mark.step == "settle" and observed.now - mark.since >= wanted.settle_seconds:
        return SetMark(node.name, replace(mark, step="act", since=observed.now))
    return None


def is_drained(drain: DrainState | None) -> bool:
    """Whether every pod that has to leave has left. Without an attempt in this process, it is not known."""
    return drain is not None and not drain.left and not drain.refused


def drain_failure(node: Node, mark: Mark, observed: Observed) -> str:
    """Why the pods of a node do not leave, '' while they may."""
    drain = observed.drains.get(node.name)
    return f"{node.name}: {drain.refused}" if mark.step == "drain" and drain is not None and drain.refused else ""


def pods(left: Iterable[str], most: int = 5) -> str:
    """The pods that are left, for messages."""
    names = list(left)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{len(names)} pod{'' if len(names) == 1 else 's'} left: {', '.join(names[:most])}{more}"


def release(node: Node, mark: Mark) -> Release:
    """Undo what the upgrade did to a node."""
    return Release(
        node.name,
        uncordon=node.is_cordoned and not mark.was_cordoned,
        include=node.is_excluded and not mark.was_excluded,
    )
