# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every state that create, upgrade, delete and recover reach, for five kinds of clusters, is walked to an end."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.observed import Container, Step
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.test_decide import before, check_end, kills
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.world import World, run
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.world_parts import SHAPES

COMMANDS = ("create", "upgrade", "delete")
_REACH = 6
"""How many moments further each state is looked at. Together with the states after them, all moments are reached."""


def reachable(command: str, shape: str, most: int = 4000) -> dict[str, World]:
    """Every state that a command reaches with any number of kills, and with a reboot of the admin machine at any moment."""
    found: dict[str, World] = {}
    waiting = [before(command, SHAPES[shape])]
    while waiting and len(found) < most:
        state = waiting.pop()
        if (key := repr(state)) in found:
            continue
        found[key] = state
        if state.container is Container.RUNNING and not state.is_stopped:
            rebooted = copy.deepcopy(state)
            rebooted.is_stopped = True
            waiting.append(rebooted)
        for moment in range(1, _REACH + 1):
            world = copy.deepcopy(state)
            action, _moments = run(world, command, kill_after=moment)
            waiting.append(world)
            if action is not None:
                break
    return found


def recovered(world: World) -> World:
    """The world after a recovery: one side has everything, nothing is paused, and the kubeconfig is there."""
    had_kubeconfig, machines, created = world.kubeconfig, list(world.machines), world.created
    action, _moments = run(world, "recover")
    assert action is not None and action.step is Step.DONE, action
    assert "marked" not in world.siblings
    # A container that does not run, beside a whole cluster, has nothing of value: the next command removes it.
    assert world.is_stopped or not (world.bootstrap.objects and world.target.objects)
    assert (world.is_stopped or not world.bootstrap.side.paused) and not world.target.side.paused
    assert world.kubeconfig or not had_kubeconfig
    # Controllers go on with what a command applied, but a recovery asks for nothing new.
    assert world.deleting or set(machines) <= set(world.machines) or world.command != "create" or created <= world.created
    return world


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_reachable_state_is_walked_to_the_end(command: str, shape: str) -> None:
    states = reachable(command, shape)
    for state in states.values():
        check_end(state, command, run(state, command)[0])
    assert len(states) >= {"create": 40, "upgrade": 12, "delete": 30}[command]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_recovery_of_every_reachable_state_is_consistent_and_the_command_then_finishes(command: str, shape: str) -> None:
    for state in reachable(command, shape).values():
        recovered(state)
        assert run(copy.deepcopy(state), "recover")[1] == 0
        check_end(state, command, run(state, command)[0])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_recovery_that_is_killed_at_any_moment_is_finished_by_the_next_one(command: str, shape: str) -> None:
    count = 0
    for moment in kills(command, SHAPES[shape]):
        killed = before(command, SHAPES[shape])
        run(killed, command, kill_after=moment)
        _action, moments = run(copy.deepcopy(killed), "recover")
        for second in range(1, moments + 1):
            world = copy.deepcopy(killed)
            assert run(world, "recover", kill_after=second)[0] is None
            check_end(recovered(world), command, run(world, command)[0])
            count += 1
    assert count > 0 or (command == "upgrade" and not SHAPES[shape].siblings)


def lost(world: World) -> None:
    """Someone deletes the bootstrap cluster with all its objects."""
    world.container, world.bootstrap = Container.ABSENT, type(world.bootstrap)()


def emptied(world: World) -> None:
    """Someone deletes the objects of the cluster itself without their machines."""
    world.target.objects, world.target.paused = [], False


@pytest.mark.parametrize("damage", [lost, emptied])
def test_lost_objects_are_restored_only_from_a_backup_of_exactly_these_machines(damage: Callable[[World], None]) -> None:
    outcomes = set()
    for command in ("create", "delete"):
        for moment in kills(command):
            world = before(command)
            run(world, command, kill_after=moment)
            machines = len(world.machines)
            damage(world)
            action, _moments = run(world, "recover")
            assert action is not None
            outcomes.add((action.step, bool(machines)))
            if action.step is Step.STOP:
                assert action.reason and action.way_out
            elif machines and not world.deleting:
                check_end(world, command, run(world, command)[0])
    assert outcomes >= {(Step.STOP, True), (Step.DONE, True)}


@pytest.mark.matrix
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_pair_of_kills_of_a_command_with_a_recovery_between(command: str, shape: str) -> None:
    for first in kills(command, SHAPES[shape]):
        killed = before(command, SHAPES[shape])
        run(killed, command, kill_after=first)
        recovered(killed)
        _end, rest = run(copy.deepcopy(killed), command)
        for second in range(1, rest + 1):
            world = copy.deepcopy(killed)
            run(world, command, kill_after=second)
            check_end(recovered(world), command, run(world, command)[0])
