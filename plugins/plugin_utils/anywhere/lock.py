# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may work on a cluster: the decision about a lock that another run left, from facts that the caller observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import Problem, Problems
from ..formats import json

PATH = "lock"

_WAITED_FOR = "move"
"""The word in a command line of a process that must not be ended: C(clusterctl move). Ended in the middle, it leaves two halves."""


@dataclass(frozen=True)
class Process:
    """A process. start_time: of the kernel, in ticks since the boot. With the pid, it names one process of a boot."""

    pid: int
    start_time: int
    command: str = ""


@dataclass(frozen=True)
class Owner:
    """Who holds a lock. host, boot_id: of the machine. children: the programs that the run started. since: for messages only."""

    host: str
    boot_id: str
    process: Process
    children: tuple[Process, ...] = ()
    since: str = ""

    @property
    def words(self) -> str:
        """The owner for messages."""
        return f"process {self.process.pid} on {self.host}" + (f", since {self.since}" if self.since else "")


@dataclass(frozen=True)
class Machine:
    """This machine. running: the start time of every process by its pid."""

    host: str
    boot_id: str
    running: Mapping[int, int]


@dataclass(frozen=True)
class LockDecision:
    """What a run does with a lock: take it if there is no refusal, but first wait for some processes and end others."""

    refusal: Problem | None = None
    wait_for: tuple[Process, ...] = ()
    end: tuple[Process, ...] = ()
    replaces: Owner | None = None


def decide(owner: Owner | None, machine: Machine, *, take_lock: bool = False) -> LockDecision:
    """The decision. take_lock: whether the user allows to replace an owner that may be alive on another machine.

    An owner on this machine is either alive or provably dead, so C(take_lock) does not matter then: to end a run that is alive is
    safe, and to work beside it never is.
    """
    if owner is None:
        return LockDecision()
    if owner.host != machine.host:
        return LockDecision(replaces=owner) if take_lock else LockDecision(_unproved(owner, machine))
    if owner.boot_id != machine.boot_id:
        # The machine has booted since. Nothing of that boot is alive.
        return LockDecision(replaces=owner)
    if _is_alive(owner.process, machine):
        return LockDecision(_alive(owner))
    wait_for, end = leftovers([child for child in owner.children if _is_alive(child, machine)])
    return LockDecision(wait_for=wait_for, end=end, replaces=owner)


def leftovers(running: Sequence[Process]) -> tuple[tuple[Process, ...], tuple[Process, ...]]:
    """Programs that a dead run left: the programs that are waited for, and the programs that are ended."""
    moves = _moves(running)
    return moves, tuple(one for one in running if one not in moves)


def dump(owner: Owner) -> str:
    """The text of the lock. Its children are found by the files that they have in the work folder."""
    process = owner.process
    rows = {"host": owner.host, "boot_id": owner.boot_id, "pid": process.pid, "start_time": process.start_time, "since": owner.since}
    return json.dump(rows, indent=1)


def load(text: str, problems: Problems) -> Owner | None:
    """The owner of a lock, or None with the reason reported. A lock that cannot be read is never taken without a word."""
    try:
        rows = json.load(text)
        return Owner(str(rows["host"]), str(rows["boot_id"]), Process(int(rows["pid"]), int(rows["start_time"])), since=str(rows["since"]))
    except (json.JsonError, KeyError, TypeError, ValueError):
        fix = "make sure that no other run works on the cluster, then remove the file"
        problems.add("anywhere.locked", PATH, "is not a lock of this collection", fix=fix)
        return None


def _is_alive(process: Process, machine: Machine) -> bool:
    """Another process can have the pid. It started at another time."""
    return machine.running.get(process.pid) == process.start_time


def _moves(processes: Sequence[Process]) -> tuple[Process, ...]:
    return tuple(one for one in processes if _WAITED_FOR in one.command.split())


def _alive(owner: Owner) -> Problem:
    return Problem("anywhere.locked", PATH, f"is held by {owner.words}, which is running", fix="wait for it, or end it, and run again")


def _unproved(owner: Owner, machine: Machine) -> Problem:
    message = f"is held by {owner.words}, and {machine.host} cannot see whether it is running"
    fix = f"make sure that it does not run on {owner.host}, then set eks_anywhere_take_lock: true"
    return Problem("anywhere.locked", PATH, message, fix=fix)
