# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From any change on, requests are refused or get no answer: no node stays cordoned, and the processes of the group are resumed."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade.loop import RequestRefused, TemporaryError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade.model import (
    Action,
    Done,
    Release,
    ResumeProcesses,
    Stop,
    Wanted,
)  # fmt: skip
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.upgrade.simulation import World, run_to_end

WANTED = Wanted(run="r", version="2", settle_seconds=20, node_seconds=120)
CHANGES = range(1, 26)


@dataclass
class FailingWorld(World):
    """From the change C(first) on, only what undoes the upgrade works. error: how the others fail."""

    first: int = 10**6
    error: type[Exception] = RequestRefused
    changes: int = 0

    def perform(self, action: Action) -> None:
        self.changes += 1
        if self.changes >= self.first and not isinstance(action, (Release, ResumeProcesses)):
            raise self.error("no")
        super().perform(action)


def test_the_numbers_of_the_changes_reach_over_a_whole_upgrade() -> None:
    world = FailingWorld(desired=3, max_size=3)
    assert isinstance(run_to_end(world, WANTED), Done) and 20 < world.changes <= CHANGES.stop * 2


@pytest.mark.parametrize("error", [RequestRefused, TemporaryError])
@pytest.mark.parametrize("first", CHANGES)
def test_an_upgrade_that_cannot_go_on_leaves_nothing_suspended_or_cordoned(first: int, error: type[Exception]) -> None:
    world = FailingWorld(desired=3, max_size=4, first=first, error=error)
    outcome = run_to_end(world, WANTED)
    assert isinstance(outcome, Stop)
    assert world.suspended == set() and not any(machine.cordoned for machine in world.machines), world.log[-20:]
    world.first = 10**6
    # What was recorded lets the next run finish, or put the group back.
    assert isinstance(run_to_end(world, WANTED), (Done, Stop))
    assert world.suspended == set() and world.tags == {} and world.broken == []


def test_processes_that_were_suspended_before_stay_so() -> None:
    for first in CHANGES:
        world = FailingWorld(desired=3, max_size=4, first=first, azrebalance_was_suspended=True)
        assert isinstance(run_to_end(world, WANTED), Stop) and world.suspended == {"AZRebalance"}


def test_a_request_to_resume_that_fails_is_told() -> None:
    world = FailingWorld(desired=3, max_size=4, first=4, forbidden={"ResumeProcesses"})
    outcome = run_to_end(world, WANTED)
    assert isinstance(outcome, Stop) and "AZRebalance" in outcome.message
