# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The decision about an interrupted move: the table of the rows that were tried with real clusters, and its properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.move import (
    MoveStep,
    Side,
    decide,
    decide_roll_back,
    deletion_order,
)

GRAPH = frozenset({"Cluster/c", "KubeadmControlPlane/c", "Machine/m1", "Machine/m2", "Secret/c"})
PART = frozenset({"Cluster/c", "Machine/m1"})
OTHER = frozenset({"Cluster/c", "Machine/m9"})


@pytest.mark.parametrize(
    ("source", "destination", "step"),
    [
        # not started
        (Side(GRAPH, False), Side(), MoveStep.START),
        # killed while creating, tried: 6 of 22 and 16 of 26 objects, then all of them, the same machines
        (Side(GRAPH, True), Side(PART, True), MoveStep.UNPAUSE_SOURCE),
        (Side(GRAPH, True), Side(), MoveStep.UNPAUSE_SOURCE),
        (Side(GRAPH, False), Side(PART, True), MoveStep.MOVE_AGAIN),
        (Side(GRAPH, False), Side(frozenset({"Machine/m1"}), None), MoveStep.MOVE_AGAIN),
        # killed between creating and deleting
        (Side(GRAPH, True), Side(GRAPH, True), MoveStep.UNPAUSE_SOURCE),
        (Side(GRAPH, False), Side(GRAPH, True), MoveStep.MOVE_AGAIN),
        # killed while deleting, tried: an unpaused source creates machines within 12 seconds
        (Side(PART, True), Side(GRAPH, True), MoveStep.FINISH_DELETION),
        (Side(frozenset({"Secret/c"}), None), Side(GRAPH, True), MoveStep.FINISH_DELETION),
        (Side(PART, True), Side(GRAPH, False), MoveStep.FINISH_DELETION),
        (Side(PART, False), Side(GRAPH, True), MoveStep.STOP),
        # killed before the last patch
        (Side(), Side(GRAPH, True), MoveStep.UNPAUSE_DESTINATION),
        # done
        (Side(), Side(GRAPH, False), MoveStep.DONE),
        # something else
        (Side(PART, True), Side(OTHER, True), MoveStep.STOP),
        (Side(GRAPH, False), Side(GRAPH, False), MoveStep.STOP),
        (Side(GRAPH, True), Side(PART, False), MoveStep.STOP),
        (Side(GRAPH - PART, None), Side(), MoveStep.STOP),
        (Side(), Side(GRAPH - PART, None), MoveStep.STOP),
        (Side(), Side(), MoveStep.STOP),
    ],
)
def test_the_table(source: Side, destination: Side, step: MoveStep) -> None:
    decision = decide(source, destination)
    assert decision.step is step
    assert bool(decision.way_out) == (step is MoveStep.STOP)


@pytest.mark.parametrize(
    ("source", "destination", "step"),
    [
        (Side(GRAPH, True), Side(PART, True), MoveStep.REMOVE_COPIES),
        (Side(GRAPH, True), Side(GRAPH, True), MoveStep.REMOVE_COPIES),
        (Side(GRAPH, True), Side(), MoveStep.UNPAUSE_SOURCE),
        (Side(GRAPH, False), Side(), MoveStep.DONE),
        (Side(PART, True), Side(GRAPH, True), MoveStep.STOP),
        (Side(), Side(GRAPH, True), MoveStep.STOP),
        (Side(), Side(GRAPH, False), MoveStep.STOP),
        (Side(GRAPH, False), Side(GRAPH, False), MoveStep.STOP),
    ],
)
def test_rolling_back(source: Side, destination: Side, step: MoveStep) -> None:
    assert decide_roll_back(source, destination).step is step


SIDES = st.builds(Side, st.frozensets(st.sampled_from(sorted(GRAPH))), st.sampled_from([None, True, False]))


@given(SIDES, SIDES)
def test_an_incomplete_side_is_never_unpaused(source: Side, destination: Side) -> None:
    for function in (decide, decide_roll_back):
        step = function(source, destination).step
        if step is MoveStep.UNPAUSE_SOURCE:
            assert destination.objects <= source.objects and not destination.is_running
        if step is MoveStep.UNPAUSE_DESTINATION:
            assert source.is_empty
        if step is MoveStep.FINISH_DELETION:
            assert source.objects < destination.objects and not source.is_running
        if step is MoveStep.REMOVE_COPIES:
            assert destination.objects <= source.objects and not destination.is_running


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.frozensets(st.sampled_from("abcdefghz"), max_size=3)))
def test_objects_are_deleted_before_their_owners(owners: dict[str, frozenset[str]]) -> None:
    order = deletion_order(owners)
    assert sorted(order) == sorted(owners)
    assert order == deletion_order(dict(reversed(owners.items())))
    place = {name: index for index, name in enumerate(order)}
    acyclic = {name: {one for one in above if one > name} for name, above in owners.items()}
    place = {name: index for index, name in enumerate(deletion_order({name: frozenset(above) for name, above in acyclic.items()}))}
    assert all(place[name] < place[one] for name, above in acyclic.items() for one in above if one in place)
