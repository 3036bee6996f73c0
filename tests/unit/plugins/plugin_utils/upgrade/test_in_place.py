# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Upgrades in place of simulated nodes, killed after any step and begun again, keep max_unavailable and leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade import availability, in_place, steps
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade.model import (
    Act,
    Action,
    Done,
    DrainState,
    Mark,
    Node,
    Observed,
    Release,
    Reserve,
    SetMark,
    Stop,
    Wait,
    Wanted,
)  # fmt: skip
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade.order import in_order

OLD, NEW = "v1.35.1", "v1.36.0"
WANTED = Wanted(run="r1", kubelet="1.36", settle_seconds=20, node_seconds=120)
Step = Callable[[Observed, Wanted, str], Action]


class Killed(Exception):
    """The process ends."""


class Fleet:
    """Nodes that change as the actions say. lives: after how many actions each process is killed; the last one is not."""

    def __init__(self, nodes: list[Node], wanted: Wanted = WANTED, lives: tuple[int, ...] = ()) -> None:
        self.nodes = {node.name: node for node in nodes}
        self.before = dict(self.nodes)
        self.wanted, self.now = wanted, 0.0
        self.refused = ""
        self.tasks_work = True
        self._lives = list(lives)
        self._drains: dict[str, DrainState] = {}
        self._left, self._began, self._changed = -1, 0.0, 0.0

    def observe(self) -> Observed:
        return Observed(self.now, tuple(self.nodes.values()), began=self._began, changed=self._changed, drains=dict(self._drains))

    def drive(self, step: Step, name: str) -> Action:
        """Repeat a step until it ends."""
        for _turn in range(200):
            action = step(self.observe(), self.wanted, name)
            if isinstance(action, (Done, Stop, Act)):
                return action
            if isinstance(action, Wait):
                self.now += 10
                self._drains.update({node: DrainState(refused=self.refused) for node in action.drain})
            else:
                self._apply(action)
        raise AssertionError(f"{name}: no end")

    def _apply(self, action: Action) -> None:
        if self._left == 0:
            raise Killed
        self._left -= 1
        self._changed = self.now
        assert isinstance(action, (Reserve, SetMark, Release))
        node = self.nodes[action.node]
        if isinstance(action, Reserve):
            self._drains.pop(node.name, None)
            self.nodes[node.name] = replace(node, mark=action.mark, is_cordoned=True)
            most = availability.limit(self.wanted.max_unavailable, len(self.nodes))
            assert not node.is_available or availability.unavailable(self.observe()) <= most
        elif isinstance(action, SetMark):
            self.nodes[node.name] = replace(node, mark=action.mark, is_excluded=node.is_excluded or action.exclude)
        else:
            self.nodes[node.name] = replace(
                node,
                mark=action.mark,
                is_cordoned=node.is_cordoned and not action.uncordon,
                is_excluded=node.is_excluded and not action.include,
            )

    def run(self) -> Action:
        """The whole playbook, begun again after each kill."""
        while True:
            self._left = self._lives.pop(0) if self._lives else -1
            self._began, self._drains = self.now, {}
            try:
                return self._play()
            except Killed:
                self.now += 30

    def _play(self) -> Action:
        for name in list(self.nodes):
            node = self.nodes[name]
            if (node.mark is None and node.kubelet == NEW) or (node.mark is not None and node.mark.step == "done"):
                continue
            for step in (in_place.reserve, in_place.prepare):
                action = self.drive(step, name)
                if isinstance(action, Stop):
                    return self._failed(name, action)
            assert isinstance(action, Act)
            # Nothing is upgraded while pods are on the node, or load balancers use it.
            assert self.nodes[name].is_cordoned and self.nodes[name].is_excluded
            if self.tasks_work:
                self.nodes[name] = replace(self.nodes[name], kubelet=NEW)
            action = self.drive(in_place.finish, name)
            if isinstance(action, Stop):
                return self._failed(name, action)
        return self.drive(_clean_up, "")

    def _failed(self, name: str, action: Stop) -> Stop:
        self.drive(in_place.put_back, name)
        return action

    def problems(self) -> list[str]:
        """What differs from before the upgrade, other than kubelet."""
        return [name for name, node in self.nodes.items() if replace(node, kubelet="") != replace(self.before[name], kubelet="")]


def _clean_up(observed: Observed, wanted: Wanted, _name: str) -> Action:
    return in_place.clean_up(observed, wanted)


def nodes(number: int, **fields: bool) -> list[Node]:
    return [Node(f"node-{one}", kubelet=OLD, **{"is_ready": True, **fields}) for one in range(number)]


@given(
    number=st.integers(1, 5),
    most=st.sampled_from(["1", "2", "50%"]),
    cordoned=st.integers(0, 2),
    excluded=st.booleans(),
    lives=st.lists(st.integers(0, 12), max_size=5),
)
def test_every_node_is_upgraded_whenever_the_process_is_killed(
    number: int, most: str, cordoned: int, excluded: bool, lives: list[int]
) -> None:
    first, *others = nodes(number)
    # An administrator cordoned some nodes, or took one out of load balancers, and they stay so.
    found = [replace(first, is_excluded=excluded), *others]
    found = [replace(node, is_cordoned=index < cordoned) for index, node in enumerate(found)]
    fleet = Fleet(found, replace(WANTED, max_unavailable=most), tuple(lives))
    reason = in_place.obstacle(fleet.observe(), fleet.wanted, [node.name for node in found])
    limit = availability.limit(most, number)
    # Cordoned nodes are unavailable all the time, and another one has to be.
    assert bool(reason) == (min(cordoned, number) > limit or min(cordoned, number) == limit < number)
    if reason:
        assert all(node.name in reason for node in found[:cordoned])
        return
    assert isinstance(fleet.run(), Done)
    assert {node.kubelet for node in fleet.nodes.values()} == {NEW}
    assert fleet.problems() == []


def test_a_pod_that_does_not_leave_stops_and_its_node_is_uncordoned() -> None:
    fleet = Fleet(nodes(3))
    fleet.refused = "default/web-0: the budget allows no disruption"
    outcome = fleet.run()
    assert isinstance(outcome, Stop)
    assert (outcome.rule, "default/web-0" in outcome.message) == (steps.EVICTION, True)
    assert fleet.problems() == []


@pytest.mark.parametrize("step", ["drain", "settle", "act"])
def test_a_node_that_was_uncordoned_meanwhile_is_cordoned_and_drained_again(step: str) -> None:
    """An administrator uncordoned it after an interruption: pods can be on it again."""
    fleet = Fleet(nodes(3))
    held = Mark("r1", step, 0.0, was_cordoned=True, was_excluded=False)
    fleet.nodes["node-1"] = replace(fleet.nodes["node-1"], mark=held, is_cordoned=False, is_excluded=True)
    fleet.nodes["node-0"] = replace(fleet.nodes["node-0"], is_ready=False)
    # It is available, so others are waited for before it is cordoned.
    outcome = fleet.drive(in_place.prepare, "node-1")
    assert isinstance(outcome, Stop) and not fleet.nodes["node-1"].is_cordoned
    fleet.nodes["node-0"] = replace(fleet.nodes["node-0"], is_ready=True)
    assert isinstance(fleet.drive(in_place.reserve, "node-1"), Done)
    taken = fleet.nodes["node-1"]
    # The label was set by the upgrade, and that it was cordoned before is not true any more.
    assert taken.is_cordoned and taken.mark == Mark("r1", "drain", fleet.now, was_cordoned=False, was_excluded=False)
    fleet.refused = "default/web-0: came back"
    stopped = fleet.drive(in_place.prepare, "node-1")
    assert isinstance(stopped, Stop) and stopped.rule == steps.EVICTION


def test_a_node_with_another_version_after_its_tasks_stops() -> None:
    fleet = Fleet(nodes(3))
    fleet.tasks_work = False
    outcome = fleet.run()
    assert isinstance(outcome, Stop)
    assert (outcome.rule, OLD in outcome.message, fleet.problems()) == ("node_not_ready", True, [])


def test_a_node_that_is_not_ready_stays_cordoned_until_the_upgrade_is_aborted() -> None:
    fleet = Fleet(nodes(3))
    fleet.drive(in_place.reserve, "node-0")
    fleet.nodes["node-0"] = replace(fleet.nodes["node-0"], is_ready=False)
    stopped = fleet.drive(in_place.put_back, "node-0")
    assert isinstance(stopped, Stop)
    assert (stopped.is_restored, fleet.nodes["node-0"].is_cordoned) == (False, True)
    fleet.wanted = replace(WANTED, abort=True)
    assert isinstance(fleet.drive(_clean_up, ""), Done)
    assert not fleet.nodes["node-0"].is_cordoned


@pytest.mark.parametrize("step", [in_place.reserve, in_place.prepare, in_place.finish])
def test_a_node_that_has_disappeared_stops(step: Step) -> None:
    outcome = Fleet(nodes(1)).drive(step, "other")
    assert isinstance(outcome, Stop)
    assert outcome.rule == "no_node"


def test_a_node_is_not_taken_while_too_many_are_unavailable() -> None:
    fleet = Fleet([*nodes(2), replace(nodes(3)[2], is_ready=False)])
    outcome = fleet.drive(in_place.reserve, "node-0")
    assert isinstance(outcome, Stop)
    assert (outcome.rule, "node-2" in outcome.message, fleet.problems()) == ("no_progress", True, [])


def test_an_interrupted_node_comes_first() -> None:
    """It is unavailable until it is finished: others would wait for it, and it for them."""
    interrupted = Node("node-9", kubelet=NEW, zone="b", mark=Mark("r1", "verify", 0.0), is_cordoned=True)
    others = [replace(node, zone="a") for node in nodes(2)]
    for by_zone in (False, True):
        order = in_order([*others, interrupted], replace(WANTED, by_zone=by_zone))
        assert [node.name for node in order] == ["node-9", "node-0", "node-1"]
