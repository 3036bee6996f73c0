# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated cluster with an Auto Scaling group: nodes fail, requests fail before or after their effect, evictions are refused, pods come
back, others change the capacity, and the process is killed. It checks in every step that the upgrade breaks no promise.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade import availability, marks
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade.loop import LeaseLost, RequestRefused, TemporaryError, upgrade
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade.model import (
    Action,
    Capacity,
    Done,
    DrainState,
    Finish,
    Group,
    Instance,
    Node,
    Observed,
    Protect,
    Release,
    Reserve,
    ResumeProcesses,
    SetGroup,
    SetMark,
    Stop,
    Suspend,
    Terminate,
    Wanted,
    WriteCapacity,
    WriteRun,
)  # fmt: skip

OLD, NEW = "1", "2"
NEVER = 10.0**9
DRAIN_SECONDS = 60.0
PROCESS_EVENTS = ("kill_before", "kill_after", "error_before", "error_after")
WORLD_EVENTS = (
    "scale_up", "fail", "fail_for_ever", "refuse", "refuse_for_ever", "reclaim", "cordon", "launch_fails",
)  # fmt: skip


class Killed(BaseException):
    """The process was killed."""


@dataclass
class Machine:
    """An instance and its Node object."""

    id: str
    zone: str
    version: str
    born: float
    ready_at: float
    lifecycle: str = "InService"
    pods: int = 0
    leaving_at: float = NEVER
    refuses_until: float = 0.0
    failed_until: float = 0.0
    cordoned: bool = False
    excluded: bool = False
    annotation: str | None = None
    protected: str = ""

    @property
    def name(self) -> str:
        return f"node-{self.id}"

    @property
    def is_active(self) -> bool:
        return self.lifecycle == "InService"


@dataclass(frozen=True)
class Event:
    """Something that happens before the step with this number. kind: see C(World._happen)."""

    step: int
    kind: str
    number: int = 0


@dataclass
class World:
    """The truth. C(user_desired): the capacity that others asked for. C(limit): MAX_STEPS ends a test that does not end by itself."""

    desired: int
    max_size: int
    version: str = OLD
    latest: str = NEW
    zones: int = 2
    new_ready_seconds: float = 20.0
    launch_fails: bool = False
    azrebalance_was_suspended: bool = False
    events: list[Event] = field(default_factory=list)
    deletes_pods: bool = False
    seed: int = 0

    time: float = 1_000_000.0
    steps: int = 0
    machines: list[Machine] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    suspended: set[str] = field(default_factory=set)
    user_desired: int = 0
    errors: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    has_events: bool = False
    launched: int = 0
    drains: dict[str, float] = field(default_factory=dict)
    forbidden: set[str] = field(default_factory=set)
    log: list[str] = field(default_factory=list)

    MAX_STEPS = 8_000

    def __post_init__(self) -> None:
        self.user_desired = self.desired
        self.min_size = 0
        self.random = random.Random(self.seed)
        self.wanted = Wanted(run="r")
        self.has_events = bool(self.events)
        if self.azrebalance_was_suspended:
            self.suspended.add("AZRebalance")
        for _number in range(self.desired):
            self._launch(OLD, ready_at=self.time - 1000)
        for machine in self.machines:
            machine.pods = 2

    # --- the world moves -------------------------------------------------------------------------------------------------------------

    def _launch(self, version: str, ready_at: float) -> None:
        self.launched += 1
        zone = f"z{self.launched % self.zones}"
        self.machines.append(Machine(f"i{self.launched:03}", zone, version, self.time, ready_at))

    def resolve(self, version: str) -> str:
        return {"$Latest": self.latest, "$Default": OLD}.get(version, version)

    def advance(self, seconds: float) -> None:
        self.time += seconds
        for machine in self.machines:
            if machine.leaving_at <= self.time:
                machine.leaving_at = NEVER
                self._move_pods(machine)
            if machine.lifecycle == "Terminating" and self.random.random() < 0.5:
                machine.lifecycle = "gone"
        self.machines = [machine for machine in self.machines if machine.lifecycle != "gone"]
        active = [machine for machine in self.machines if machine.is_active]
        if len(active) < self.desired and "Launch" not in self.suspended and not self.launch_fails:
            version = self.resolve(self.version)
            delay = self.new_ready_seconds if version == NEW else 10.0
            self._launch(version, ready_at=self.time + delay)
        if len(active) > self.desired:
            victim = self.random.choice(active)
            self.broken.append(f"the group itself terminates {victim.name}: {len(active)} instances, desired {self.desired}")
            victim.lifecycle = "Terminating"

    def _move_pods(self, machine: Machine) -> None:
        """Controllers create evicted pods again, where there is room."""
        others = [other for other in self.machines if other is not machine and self.is_available(other)]
        for _pod in range(machine.pods if others else 0):
            self.random.choice(others).pods += 1
        machine.pods = 0

    def is_ready(self, machine: Machine) -> bool:
        return machine.is_active and machine.ready_at <= self.time and machine.failed_until <= self.time

    def is_available(self, machine: Machine) -> bool:
        return self.is_ready(machine) and not machine.cordoned

    def unavailable(self) -> int:
        return self.user_desired - sum(map(self.is_available, self.machines))

    # --- events ---------------------------------------------------------------------------------------------------------------------

    def tick(self, is_change: bool = False) -> None:
        """One request. Events precede it. Before a change, only those of the process: what happens between an observation and the change
        that it leads to cannot be prevented."""
        self.steps += 1
        if self.steps > self.MAX_STEPS:
            raise AssertionError("it does not end: " + "\n".join(self.log[-40:]))
        for event in [event for event in self.events if event.step <= self.steps]:
            # Others may change the capacity while a request of the upgrade is recorded, but not yet sent: the two could not be told apart.
            is_ambiguous = event.kind in ("scale_up", "reclaim") and " do=" in self.tags.get(marks.CAPACITY, "")
            if event.kind in PROCESS_EVENTS or not (is_change or is_ambiguous):
                self.events.remove(event)
                self._happen(event)

    def _happen(self, event: Event) -> None:
        self.log.append(f"   ! {event}")
        active = [machine for machine in self.machines if machine.is_active]
        machine = active[event.number % len(active)] if active else None
        if event.kind in PROCESS_EVENTS:
            self.errors.append(event.kind)
        elif event.kind == "scale_up":
            if self.desired < self.max_size:
                self.desired += 1
                self.user_desired += 1
        elif event.kind == "launch_fails":
            self.launch_fails = not self.launch_fails
        elif machine is None:
            return
        elif event.kind == "fail":
            machine.failed_until = self.time + 30
        elif event.kind == "fail_for_ever":
            machine.failed_until = NEVER
        elif event.kind == "refuse":
            machine.refuses_until = self.time + 40
        elif event.kind == "refuse_for_ever":
            machine.refuses_until = NEVER
        elif event.kind == "reclaim":
            machine.lifecycle = "Terminating"
        elif event.kind == "cordon":
            machine.cordoned = True
        else:
            raise AssertionError(event.kind)

    # --- the interface of the loop ---------------------------------------------------------------------------------------------------

    def clock(self) -> float:
        return self.time

    def hold(self) -> None:
        """No other process runs."""

    def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def failures(self) -> list[str]:
        return ["InsufficientInstanceCapacity"]

    def observe(self) -> Observed:
        self.tick()
        self.advance(0.2)
        self._fail("before")
        run = marks.read_run(self.tags.get(marks.NODE))
        capacity = Capacity() if run is None else marks.read_capacity(self.tags.get(marks.CAPACITY), run.id)
        group = Group(
            "g", self.desired, self.min_size, self.max_size, self.version, (("$Latest", self.latest), ("$Default", OLD)),
            tuple(Instance(machine.id, machine.zone, machine.lifecycle, machine.version) for machine in self.machines),
            frozenset(self.suspended), run, capacity,
        )  # fmt: skip
        nodes = tuple(self._node(machine) for machine in self.machines if machine.ready_at <= self.time)
        return Observed(self.time, nodes, group)

    def _node(self, machine: Machine) -> Node:
        return Node(
            machine.name, machine.id, machine.zone, "v1.36.0", self.is_ready(machine), machine.cordoned, False, machine.excluded,
            bool(machine.protected), machine.protected, marks.read_mark(machine.annotation), f"{machine.born:.0f}",
        )  # fmt: skip

    def _fail(self, when: str) -> None:
        if self.errors and self.errors[0].endswith(when):
            kind = self.errors.pop(0)
            if kind.startswith("kill"):
                raise Killed
            raise TemporaryError("no answer")

    def drain(self, node: str) -> DrainState:
        self.tick()
        self._fail("before")
        machine = self._machine(node)
        if machine is None:
            raise TemporaryError("not found")
        passed = self.time - self.drains.setdefault(f"{node} {machine.annotation}", self.time)
        if machine.pods and machine.leaving_at == NEVER:
            may_delete = self.deletes_pods and passed > DRAIN_SECONDS
            if (machine.refuses_until <= self.time or may_delete) and self.is_ready(machine):
                machine.leaving_at = self.time + self.random.choice((0.0, 3.0, 12.0))
        self._fail("after")
        left = tuple(f"pod-{number}" for number in range(machine.pods))
        is_late = passed > DRAIN_SECONDS + (60 if self.deletes_pods else 0)
        return DrainState(left, f"pods are left after {passed:.0f} s" if left and is_late else "")

    def _machine(self, name: str) -> Machine | None:
        return next((machine for machine in self.machines if name in (machine.name, machine.id)), None)

    def perform(self, action: Action) -> None:
        self.tick(is_change=True)
        self.log.append(f"{self.time - 1_000_000:7.1f} {action}")
        if type(action).__name__ in self.forbidden:
            raise RequestRefused("forbidden")
        self._fail("before")
        self._effect(action)
        self._fail("after")

    def _effect(self, action: Action) -> None:
        if isinstance(action, WriteRun):
            self.tags[marks.NODE] = marks.write_run(action.run)
        elif isinstance(action, Finish):
            # Two requests: the process may be killed between them.
            self.tags.pop(marks.CAPACITY, None)
            self._fail("after")
            self.tags.pop(marks.NODE, None)
        elif isinstance(action, WriteCapacity):
            run = marks.read_run(self.tags.get(marks.NODE))
            assert run is not None, "a run is recorded first"
            self.tags[marks.CAPACITY] = marks.write_capacity(run.id, action.capacity)
        elif isinstance(action, SetGroup):
            self.desired = self.desired if action.desired is None else action.desired
            self.max_size = self.max_size if action.max_size is None else action.max_size
            self.version = action.version or self.version
            if self.desired > self.max_size:
                self.broken.append(f"desired {self.desired} is more than the maximum {self.max_size}")
        elif isinstance(action, Suspend):
            self.suspended |= set(action.processes)
        elif isinstance(action, ResumeProcesses):
            self.suspended -= set(action.processes)
        elif isinstance(action, Terminate):
            self._terminate(action)
        elif isinstance(action, (Reserve, SetMark, Release, Protect)):
            self._patch(action)
        else:
            raise AssertionError(action)

    def _terminate(self, action: Terminate) -> None:
        machine = self._machine(action.instance)
        if machine is None or not machine.is_active:
            raise TemporaryError("it is terminating already")
        if "AZRebalance" not in self.suspended and marks.read_run(self.tags[marks.NODE]).stopped == "":  # type: ignore[union-attr]
            self.broken.append(f"{machine.name} is terminated while AZRebalance is not suspended")
        if self.is_ready(machine) and (not machine.cordoned or machine.pods):
            self.broken.append(f"{machine.name} is terminated with {machine.pods} pods")
        machine.lifecycle = "Terminating"
        if action.decrement:
            self.desired -= 1

    def _patch(self, action: Reserve | SetMark | Release | Protect) -> None:
        machine = self._machine(action.node)
        if machine is None:
            raise TemporaryError("not found")
        if isinstance(action, Protect):
            machine.protected = action.run
        elif isinstance(action, Reserve):
            was_available = self.is_available(machine)
            machine.annotation, machine.cordoned = marks.write_mark(action.mark), True
            most = availability.limit(self.wanted.max_unavailable, self.user_desired)
            if was_available and self.unavailable() > most:
                self.broken.append(f"{self.unavailable()} of {self.user_desired} nodes are unavailable with {machine.name}")
            if was_available and self.wanted.surge and not self.has_events and self.unavailable() > 0:
                self.broken.append(f"{machine.name} is cordoned before a new node is Ready")
        elif isinstance(action, SetMark):
            machine.annotation = marks.write_mark(action.mark)
            machine.excluded = machine.excluded or action.exclude
        else:
            machine.cordoned = machine.cordoned and not action.uncordon
            machine.excluded = machine.excluded and not action.include
            machine.annotation = None if action.mark is None else marks.write_mark(action.mark)


def run_to_end(world: World, wanted: Wanted) -> Done | Stop:
    """Run the upgrade, and start it again after each kill."""
    world.wanted = wanted
    for _attempt in range(200):
        world.drains.clear()
        try:
            world.log.append(f"--- run {wanted}")
            return upgrade(world, wanted, lambda line: world.log.append(f"          {line}"), patience=120.0)
        except Killed:
            world.log.append("--- killed")
            wanted = replace(wanted, run=f"{wanted.run}x"[:20])
    raise AssertionError("it was killed too often")


__all__ = ["NEW", "OLD", "Event", "Killed", "LeaseLost", "Machine", "World", "run_to_end"]
