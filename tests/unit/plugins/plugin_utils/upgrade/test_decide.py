# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The upgrade of a simulated group keeps its promises in every interleaving of failures, kills and changes by others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade import marks
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade.model import Done, Stop, Wanted
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

from .simulation import NEW, OLD, PROCESS_EVENTS, WORLD_EVENTS, Event, World, run_to_end

WANTED = Wanted(run="r1", version=NEW, settle_seconds=10, node_seconds=120)


def problems(world: World, outcome: Done | Stop, before: World) -> list[str]:
    """Promises that are broken when the upgrade has ended."""
    found = list(world.broken)
    active = [machine for machine in world.machines if machine.is_active]
    if isinstance(outcome, Stop) and not outcome.is_restored:
        if marks.NODE not in world.tags:
            found.append("the state is not recorded any more")
        if outcome.rule == "surplus_node" and world.suspended != before.suspended:
            found.append(f"suspended: {world.suspended}")
        return found
    if world.tags:
        found.append(f"tags: {world.tags}")
    if world.suspended != before.suspended:
        found.append(f"suspended: {world.suspended}")
    if world.desired != world.user_desired:
        found.append(f"desired {world.desired} instead of {world.user_desired}")
    if world.max_size > max(before.max_size, world.user_desired):
        found.append(f"maximum {world.max_size}")
    cordoned = {event.kind for event in before.events} & {"cordon"}
    for machine in active:
        if machine.annotation is not None or machine.protected or machine.excluded:
            found.append(f"{machine.name}: {machine.annotation} {machine.protected} {machine.excluded}")
        if machine.cordoned and not cordoned:
            found.append(f"{machine.name} is cordoned")
    if isinstance(outcome, Done) and not before.wanted.abort:
        found += [f"{machine.name} is old" for machine in active if machine.version != NEW]
        if world.resolve(world.version) != NEW:
            found.append(f"the group has version {world.version}")
    has_begun = any("WriteRun" in line for line in world.log)
    if (
        isinstance(outcome, Stop)
        and has_begun
        and any(machine.version == OLD for machine in active)
        and world.resolve(world.version) != OLD
    ):
        found.append(f"the group was not put back to the old version: {world.version}")
    return found


def check(world: World, wanted: Wanted = WANTED) -> Done | Stop:
    before = _copy(world, wanted)
    outcome = run_to_end(world, wanted)
    found = problems(world, outcome, before)
    assert not found, "\n".join([*found, str(outcome), *world.log])
    return outcome


def _copy(world: World, wanted: Wanted) -> World:
    made = World(
        world.desired, world.max_size, world.version, azrebalance_was_suspended=world.azrebalance_was_suspended, events=list(world.events)
    )
    made.wanted = wanted
    return made


@pytest.mark.parametrize("surge", [True, False])
@pytest.mark.parametrize("most", ["1", "2", "50%", "100%"])
@pytest.mark.parametrize("number", [1, 2, 3, 7])
def test_a_healthy_group_is_upgraded(number: int, most: str, surge: bool) -> None:
    world = World(number, number)
    outcome = check(world, replace(WANTED, surge=surge, max_unavailable=most))
    assert isinstance(outcome, Done)
    assert {machine.version for machine in world.machines if machine.is_active} == {NEW}


@pytest.mark.parametrize("surge", [True, False])
def test_a_node_that_does_not_become_ready_stops_the_upgrade_and_the_group_is_put_back(surge: bool) -> None:
    world = World(3, 3, new_ready_seconds=10_000)
    outcome = check(world, replace(WANTED, surge=surge))
    assert isinstance(outcome, Stop)
    assert (outcome.rule, outcome.is_restored, world.version) == ("node_not_ready", True, OLD)
    assert {machine.version for machine in world.machines if machine.is_active} == {OLD}


@pytest.mark.parametrize("surge", [True, False])
def test_a_group_that_launches_no_instance_says_why(surge: bool) -> None:
    world = World(3, 3, launch_fails=True)
    outcome = run_to_end(world, replace(WANTED, surge=surge))
    assert isinstance(outcome, Stop)
    assert (outcome.rule, world.version) == ("no_instance", OLD)
    assert mentions(outcome.message, "InsufficientInstanceCapacity")


def test_a_pod_that_does_not_leave_stops_the_upgrade() -> None:
    world = World(3, 3)
    world.machines[0].refuses_until = 10.0**9
    outcome = check(world)
    assert isinstance(outcome, Stop)
    assert (outcome.rule, world.desired, world.max_size) == ("PodEvictionFailure", 3, 3)
    assert world.machines[0].is_active


EVENTS = st.lists(
    st.builds(
        Event,
        step=st.integers(1, 250),
        kind=st.sampled_from(PROCESS_EVENTS + WORLD_EVENTS),
        number=st.integers(0, 5),
    ),
    max_size=12,
)

WORLDS = st.builds(
    World,
    desired=st.integers(1, 5),
    max_size=st.just(5),
    version=st.sampled_from([OLD, "$Latest", "$Default"]),
    zones=st.integers(1, 3),
    new_ready_seconds=st.sampled_from([1.0, 20.0, 90.0, 10_000.0]),
    azrebalance_was_suspended=st.booleans(),
    events=EVENTS,
    deletes_pods=st.booleans(),
    seed=st.integers(0, 100),
)

WANTS = st.builds(
    lambda **fields: replace(WANTED, **fields),
    max_unavailable=st.sampled_from(["1", "2", "3", "34%", "100%"]),
    surge=st.booleans(),
    by_zone=st.booleans(),
    canary=st.integers(0, 2),
)


@settings.get_profile("family")
@given(world=WORLDS, wanted=WANTS)
def test_every_interleaving_keeps_the_promises(world: World, wanted: Wanted) -> None:
    check(world, wanted)


@settings.get_profile("part")
@given(world=WORLDS, wanted=WANTS)
def test_what_was_interrupted_can_be_aborted(world: World, wanted: Wanted) -> None:
    """After any outcome, abort leaves nothing behind as soon as the world is healthy again."""
    before = _copy(world, replace(wanted, abort=True))
    run_to_end(world, wanted)
    world.events.clear()
    world.errors.clear()
    world.launch_fails = False
    for machine in world.machines:
        machine.refuses_until = machine.failed_until = 0.0
        machine.cordoned = machine.cordoned and machine.annotation is not None
    outcome = run_to_end(world, replace(wanted, abort=True))
    found = problems(world, outcome, before)
    found += [] if isinstance(outcome, Done) else ["abort fails"]
    assert not found, "\n".join([*found, str(outcome), *world.log])
