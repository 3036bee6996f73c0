# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Create, upgrade and delete on the model: killed at every moment, the same command run again finishes, with every machine made once."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.decide import decide
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.move import MoveStep, Side
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.observed import Action, Container, Observed, Providers, Step
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.world import Decide, World, run
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.world_parts import SHAPES, Shape, Violation

SMALL = SHAPES["siblings"]


def created(shape: Shape = SMALL) -> World:
    """A cluster that manages itself."""
    world = World(shape)
    run(world, "create")
    return world


def before(command: str, shape: Shape = SMALL) -> World:
    """The world before a command. For an upgrade, Cluster API is old, a new version is wanted, and there may be other clusters."""
    if command == "create":
        return World(shape)
    world = created(shape)
    if command == "upgrade":
        world.target.providers, world.wanted, world.config = Providers.OLD, 2, False
        world.siblings = [""] * shape.siblings
    return world


def check_end(world: World, command: str, action: Action | None) -> None:
    """What is true after a command that finished."""
    assert action is not None and action.step is Step.DONE, action
    assert world.container is Container.ABSENT and not world.bootstrap.objects
    assert "marked" not in world.siblings and not world.has_backup
    if command == "delete":
        assert not world.machines and not world.target.objects and not world.kubeconfig
    else:
        assert world.kubeconfig and world.config and world.target.works and not world.leftovers
        assert world.is_complete(list(world.goal)) and len(world.machines) == sum(world.goal.values())
        assert world.created == (world.shape.needed if world.wanted > 1 else sum(world.shape.before.values()))


def kills(command: str, shape: Shape = SMALL) -> Iterator[int]:
    """Every moment of a command after which it can be killed."""
    _action, moments = run(before(command, shape), command)
    return iter(range(1, moments + 1))


SINGLE = [(command, moment) for command in ("create", "upgrade", "delete") for moment in kills(command)]


@pytest.mark.parametrize("command", ["create", "upgrade", "delete"])
def test_an_undisturbed_run_finishes_and_a_second_one_does_nothing(command: str) -> None:
    world = before(command)
    action, moments = run(world, command)
    check_end(world, command, action)
    assert moments > 5
    assert run(world, command) == (Action(Step.DONE), 0)


@pytest.mark.parametrize(("command", "moment"), SINGLE)
def test_a_run_that_is_killed_once_is_finished_by_the_next_one(command: str, moment: int) -> None:
    world = before(command)
    assert run(world, command, kill_after=moment)[0] is None
    for _unused in range(3):
        world.tick()
    check_end(world, command, run(world, command)[0])


def test_two_kills_at_all_pairs_of_moments() -> None:
    count = 0
    for command, first in SINGLE:
        killed = before(command)
        run(killed, command, kill_after=first)
        _end, rest = run(copy.deepcopy(killed), command)
        for second in range(1, rest + 1):
            world = copy.deepcopy(killed)
            run(world, command, kill_after=second)
            check_end(world, command, run(world, command)[0])
            count += 1
    assert count + len(SINGLE) >= 200


@pytest.mark.parametrize(("first", "second"), [("create", "delete"), ("delete", "create")])
def test_a_killed_run_is_undone_by_the_opposite_command(first: str, second: str) -> None:
    for moment in kills(first):
        world = before(first)
        run(world, first, kill_after=moment)
        if world.deleting:
            # A deletion that has begun cannot be undone. It ends on its own, and create then makes a new cluster.
            while world.deleting:
                world.tick()
        world.created = len(world.machines)
        check_end(world, second, run(world, second)[0])


@settings.get_profile("family")
@given(st.sampled_from(["create", "upgrade", "delete"]), st.randoms(use_true_random=False))
def test_kills_reboots_and_outages_at_random(command: str, chance: random.Random) -> None:
    world = before(command)
    for _unused in range(chance.randint(1, 6)):
        if chance.random() < 0.3 and world.container is Container.RUNNING:
            world.is_stopped = True
        if chance.random() < 0.3:
            world.outage = chance.randint(1, 3)
        action, _moments = run(world, command, kill_after=chance.randint(1, 30))
        # What cannot be read is never taken for absent: the run stops, and the next one continues.
        assert action is None or action.step in (Step.DONE, Step.STOP)
        if action is not None and action.step is Step.STOP:
            assert action.reason and action.way_out
    world.outage = 0
    check_end(world, command, run(world, command)[0])


def _naive(command: str, seen: Observed) -> Action:
    """What users do today: unpause the source and move again, whatever was moved."""
    action = decide(command, seen)
    return Action(Step.MOVE, MoveStep.UNPAUSE_SOURCE) if action.move is MoveStep.FINISH_DELETION else action


def _impatient(command: str, seen: Observed) -> Action:
    """Takes a cluster that cannot be reached for one that does not exist."""
    action = decide(command, seen)
    return Action(Step.APPLY_CLUSTER) if action.step is Step.STOP and command == "create" else action


def test_the_model_shows_what_a_wrong_decision_does() -> None:
    broken = 0
    for moment in kills("create"):
        world = before("create")
        run(world, "create", kill_after=moment)
        try:
            run(world, "create", choose=_naive, most=40)
        except Violation:
            broken += 1
    assert broken >= 3
    world = created()
    world.container, world.bootstrap.providers, world.outage = Container.RUNNING, Providers.READY, 2
    with pytest.raises(Violation):
        run(world, "create", choose=_impatient, most=40)


def _hasty(command: str, seen: Observed) -> Action:
    """Upgrades the workers while machines of the control plane are old."""
    action = decide(command, seen)
    return Action(Step.APPLY_WORKERS) if action.step is Step.WAIT_CONTROL_PLANE_READY else action


def _careless(command: str, seen: Observed) -> Action:
    """Upgrades without a backup."""
    action = decide(command, seen)
    return Action(Step.APPLY_CONTROL_PLANE) if action.step is Step.SAVE_BACKUP else action


@pytest.mark.parametrize("choose", [_hasty, _careless])
def test_the_model_shows_what_a_wrong_upgrade_does(choose: Decide) -> None:
    with pytest.raises(Violation):
        run(before("upgrade", SHAPES["ha"]), "upgrade", choose=choose)


COMPLETE, PART = frozenset({"Cluster/c", "Machine/m1", "Machine/m2"}), frozenset({"Machine/m1"})
PART_PAUSED, TWO = frozenset({"Cluster/c", "Machine/m1"}), frozenset({"m1", "m2"})
IN_CLUSTER = {
    "bootstrap": Container.ABSENT,
    "bootstrap_side": Side(),
    "target_side": Side(COMPLETE, False),
    "has_kubeconfig": True,
    "is_available": True,
}
BASE = Observed(bootstrap=Container.RUNNING, bootstrap_providers=Providers.READY, was_applied=True, machines=frozenset({"m1"}))


def seen(**changes: object) -> Observed:
    """An observation with changes."""
    return Observed(**{**{name: getattr(BASE, name) for name in Observed.__dataclass_fields__}, **changes})


@pytest.mark.parametrize(
    ("command", "observed", "step"),
    [
        ("create", seen(bootstrap=Container.ABSENT, bootstrap_side=Side()), Step.STOP),
        ("create", seen(bootstrap=Container.ABSENT, bootstrap_side=Side(), machines=None), Step.STOP),
        ("create", seen(bootstrap=Container.ABSENT, bootstrap_side=Side(), machines=frozenset(), was_applied=False), Step.CREATE_BOOTSTRAP),
        ("create", seen(bootstrap_side=Side(), has_kubeconfig=True), Step.STOP),
        ("create", seen(bootstrap_side=Side(), target_side=Side(), has_kubeconfig=True), Step.STOP),
        ("create", seen(bootstrap_side=Side(COMPLETE, True), has_kubeconfig=True), Step.STOP),
        ("create", seen(bootstrap_side=Side(COMPLETE, True), is_initialized=True), Step.SAVE_KUBECONFIG),
        ("create", seen(bootstrap=Container.DEBRIS, bootstrap_side=None), Step.START_BOOTSTRAP),
        ("create", seen(bootstrap=Container.DEBRIS, bootstrap_side=None, tried_start=True), Step.STOP),
        (
            "create",
            seen(bootstrap=Container.DEBRIS, bootstrap_side=None, machines=frozenset(), was_applied=False),
            Step.REPLACE_BOOTSTRAP,
        ),
        ("create", seen(bootstrap=Container.ABSENT, bootstrap_side=Side(), target_side=Side(PART, None), has_kubeconfig=True), Step.STOP),
        ("upgrade", seen(bootstrap_side=Side(PART, True), target_side=Side(COMPLETE, False), has_kubeconfig=True), Step.STOP),
        ("upgrade", seen(bootstrap=Container.ABSENT, bootstrap_side=Side(), has_kubeconfig=True, paused_siblings=True), Step.STOP),
        ("upgrade", seen(bootstrap=Container.ABSENT, bootstrap_side=Side(), machines=frozenset()), Step.STOP),
        ("create", seen(bootstrap=Container.ABSENT, bootstrap_side=Side(), target_side=Side(PART_PAUSED, True), machines=TWO), Step.STOP),
        ("create", seen(**IN_CLUSTER, is_changed=True), Step.STOP),
        ("create", seen(**IN_CLUSTER, is_changed=True, config_written=True), Step.STOP),
        ("create", seen(**{**IN_CLUSTER, "bootstrap": Container.RUNNING}, is_changed=True), Step.DELETE_BOOTSTRAP),
        ("create", seen(**IN_CLUSTER), Step.WRITE_CONFIG),
        ("delete", seen(**IN_CLUSTER, siblings=frozenset({"a/b"})), Step.STOP),
        ("delete", seen(**IN_CLUSTER), Step.CREATE_BOOTSTRAP),
        (
            "upgrade",
            seen(bootstrap=Container.ABSENT, bootstrap_side=Side(), target_side=Side(COMPLETE, True), paused_siblings=True),
            Step.RESUME_SIBLINGS,
        ),
        ("delete", seen(bootstrap=Container.ABSENT, bootstrap_side=Side(), has_kubeconfig=True), Step.STOP),
        ("delete", seen(bootstrap=Container.ABSENT, bootstrap_side=Side(), machines=None, has_kubeconfig=True), Step.STOP),
        (
            "delete",
            seen(bootstrap=Container.ABSENT, bootstrap_side=Side(), machines=None, has_kubeconfig=True, was_deleted=True),
            Step.REMOVE_FILES,
        ),
        ("delete", seen(bootstrap_side=Side(PART, None), target_side=None, has_kubeconfig=True), Step.STOP),
        ("delete", seen(bootstrap_side=Side(COMPLETE, False)), Step.DELETE_CLUSTER),
        ("delete", seen(bootstrap=Container.DEBRIS, bootstrap_side=None, target_side=Side(COMPLETE, False)), Step.REPLACE_BOOTSTRAP),
        ("delete", seen(bootstrap=Container.DEBRIS, bootstrap_side=None, tried_start=True), Step.STOP),
    ],
)
def test_states_that_need_care(command: str, observed: Observed, step: Step) -> None:
    action = decide(command, observed)
    assert action.step is step, action
    assert bool(action.way_out) == (step is Step.STOP)


_SIDES = st.one_of(
    st.none(),
    st.just(Side()),
    st.builds(Side, st.sampled_from([COMPLETE, PART, frozenset({"Cluster/c"})]), st.sampled_from([None, True, False])),
)


@st.composite
def observations(draw: st.DrawFn) -> Observed:
    """Any observation that can be made."""
    bootstrap = draw(st.sampled_from(Container))
    sides = {Container.ABSENT: st.just(Side()), Container.DEBRIS: st.none(), Container.RUNNING: _SIDES}
    flags = {
        name: draw(st.booleans())
        for name in Observed.__dataclass_fields__
        if name.startswith(("has_", "is_", "was_", "config_", "packages_", "tried_", "paused_", "running_", "removed_"))
    }
    return Observed(
        bootstrap=bootstrap,
        bootstrap_side=draw(sides[bootstrap]),
        bootstrap_providers=draw(st.sampled_from(Providers)),
        target_providers=draw(st.sampled_from(Providers)),
        target_side=draw(_SIDES),
        machines=draw(st.sampled_from([None, frozenset(), frozenset({"m1"})])),
        siblings=draw(st.sampled_from([frozenset(), frozenset({"n/other"})])),
        interrupted=draw(st.sampled_from(["", "create", "upgrade", "delete"])),
        backup=draw(st.sampled_from(["", "backup-create"])),
        **flags,
    )


@settings.get_profile("family")
@given(st.sampled_from(["create", "upgrade", "delete", "recover"]), observations())
def test_every_observation_has_a_step_and_nothing_is_thrown_away(command: str, observed: Observed) -> None:
    action = decide(command, observed)
    target, source = observed.target_side, observed.bootstrap_side
    assert decide(command, observed) == action
    assert bool(action.reason and action.way_out) or action.step is not Step.STOP
    is_whole = target is not None and target.is_running
    if action.step in (Step.DELETE_BOOTSTRAP, Step.REPLACE_BOOTSTRAP):
        assert source is None or source.is_empty
        assert is_whole or not observed.has_machines
    if action.step is Step.APPLY_CLUSTER and command == "create":
        assert source is not None and not is_whole
        assert not source.is_empty or not observed.has_machines
    if action.move is MoveStep.UNPAUSE_SOURCE:
        first, second = (target, source) if (action.of or command) == "delete" else (source, target)
        assert first is not None and second is not None and second.objects <= first.objects
    if action.step is Step.RESTORE_BACKUP:
        assert observed.backup and (source is None or source.is_empty) and (target is None or target.is_empty)
    if action.step in (Step.STOP, Step.DONE) and command in ("upgrade", "recover"):
        assert not observed.paused_siblings or target is None
    if action.step is Step.REMOVE_FILES:
        assert not observed.has_machines
