# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The move of the objects of Cluster API from one cluster to another, and what becomes of one that was interrupted.

C(clusterctl move) pauses the source, creates every object in the destination, deletes every object of the source, and unpauses the
destination. Killed in between, it refuses to run again. What is there tells where it was: while it creates, the destination has a part of
the source; while it deletes, the source has a part of the destination. An incomplete source must never be unpaused: its controllers
would create the machines that they miss.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class Side:
    """The objects of one cluster on one side. objects: such as C(Machine/eksa-system/dev-md-0-abc).

    paused: of the object Cluster; None if there is no such object.
    """

    objects: frozenset[str] = frozenset()
    paused: bool | None = None

    @property
    def is_empty(self) -> bool:
        """Are there no objects?"""
        return not self.objects

    @property
    def is_running(self) -> bool:
        """Do the controllers of this side change machines?"""
        return self.paused is False


NOTHING = Side()
"""A side without objects."""


class MoveStep(Enum):
    """The next step of a move."""

    START = "save a backup, and move"
    MOVE_AGAIN = "move again, which updates what exists"
    UNPAUSE_SOURCE = "unpause the complete source, so that the move can run again"
    FINISH_DELETION = "delete the remaining objects of the source without their finalizers"
    UNPAUSE_DESTINATION = "unpause the complete destination"
    DONE = "nothing: the destination is complete and running"
    STOP = "stop, because the two sides do not fit together"
    REMOVE_COPIES = "delete the copies in the destination without their finalizers"


@dataclass(frozen=True)
class MoveDecision:
    """The next step, and why. The way out of a stop is for a person."""

    step: MoveStep
    reason: str
    way_out: str = ""


_BACKUP = "compare the machines with the objects of both sides, and restore the backup of the move (clusterctl move --from-directory)"


def decide(source: Side, destination: Side) -> MoveDecision:
    """The next step that completes a move. Both sides are those of one cluster, and were read after all processes of a move had ended."""
    if source.is_empty:
        return _without_source(destination)
    if source.is_running and destination.is_running:
        message = "both sides are running: two sets of controllers change the same machines"
        return MoveDecision(MoveStep.STOP, message, "pause one side (spec.paused of its Cluster), and decide which one is right")
    if destination.objects <= source.objects:
        return _while_creating(source, destination)
    if source.objects <= destination.objects:
        return _while_deleting(source)
    missing = len(destination.objects - source.objects), len(source.objects - destination.objects)
    message = f"each side has objects that the other one does not have ({missing[0]} and {missing[1]})"
    return MoveDecision(MoveStep.STOP, message, _BACKUP)


def _without_source(destination: Side) -> MoveDecision:
    if destination.is_empty:
        message = "neither side has objects of the cluster"
        return MoveDecision(MoveStep.STOP, message, "if machines exist, restore a backup (clusterctl move --from-directory)")
    if destination.paused is None:
        message = "the source has no objects, and the destination has no Cluster"
        return MoveDecision(MoveStep.STOP, message, _BACKUP)
    if destination.paused:
        return MoveDecision(MoveStep.UNPAUSE_DESTINATION, "everything was moved, and the destination is still paused")
    return MoveDecision(MoveStep.DONE, "everything was moved")


def _while_creating(source: Side, destination: Side) -> MoveDecision:
    """The source is complete: it has everything that the destination has."""
    if source.paused is None:
        return MoveDecision(MoveStep.STOP, "the source has no Cluster", _BACKUP)
    if destination.is_running:
        message = "the destination is running, and the source is not moved"
        return MoveDecision(MoveStep.STOP, message, "pause the Cluster in the destination, and run again")
    if source.paused:
        return MoveDecision(MoveStep.UNPAUSE_SOURCE, "the move was interrupted while it created objects")
    if destination.is_empty:
        return MoveDecision(MoveStep.START, "nothing was moved")
    return MoveDecision(MoveStep.MOVE_AGAIN, "the destination has a part of the objects")


def _while_deleting(source: Side) -> MoveDecision:
    """The source is incomplete, and the destination has everything."""
    if source.is_running:
        message = "the source is incomplete and running: its controllers may have created machines a second time"
        way_out = "pause the Cluster in the source, and compare its machines with those of the destination"
        return MoveDecision(MoveStep.STOP, message, way_out)
    return MoveDecision(MoveStep.FINISH_DELETION, "the move was interrupted while it deleted objects")


def decide_roll_back(source: Side, destination: Side) -> MoveDecision:
    """The next step that undoes a move, which is possible while the source is complete."""
    forward = decide(source, destination)
    if forward.step is MoveStep.STOP:
        return forward
    if source.is_empty or not destination.objects <= source.objects:
        message = "the source is not complete any more, so the move can only be completed"
        return MoveDecision(MoveStep.STOP, message, "run again without roll_back")
    if not destination.is_empty:
        return MoveDecision(MoveStep.REMOVE_COPIES, "the source is complete, so the copies are not needed")
    if source.paused:
        return MoveDecision(MoveStep.UNPAUSE_SOURCE, "the copies are removed")
    return MoveDecision(MoveStep.DONE, "the source is complete and running")


def deletion_order(owners: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Objects in the order in which they are deleted: what is owned before its owners, so that an interruption leaves owners.

    owners: object → the objects that own it; owners outside of the mapping do not count. Deterministic: sorted by name otherwise.
    """
    return tuple(reversed(list(_owners_first(owners))))


def _owners_first(owners: Mapping[str, frozenset[str]]) -> Iterator[str]:
    waiting = {name: {one for one in above if one in owners and one != name} for name, above in owners.items()}
    while waiting:
        # A circle of owners cannot be made by controllers. If there is one, its first object begins.
        free = sorted(name for name, above in waiting.items() if not above) or [min(waiting)]
        for name in free:
            del waiting[name]
            yield name
        for above in waiting.values():
            above.difference_update(free)
