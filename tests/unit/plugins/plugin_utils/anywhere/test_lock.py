# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The decision about a lock: only an owner that is proved dead is replaced, and a move that it left running is waited for."""

from __future__ import annotations

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.lock import LockDecision, Machine, Owner, Process, decide
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

HERE = Machine("admin1", "boot-1", {100: 5000, 200: 6000, 201: 6001, 300: 7000})
MOVE, WAIT = Process(200, 6000, "clusterctl move --to-kubeconfig x"), Process(201, 6001, "kubectl wait --for=condition=Available")
ALIVE, DEAD = Process(100, 5000), Process(99, 4000)


def test_a_free_lock_is_taken() -> None:
    assert decide(None, HERE) == LockDecision()


@pytest.mark.parametrize("take_lock", [False, True])
def test_a_living_owner_on_this_machine_keeps_the_lock(take_lock: bool) -> None:
    decision = decide(Owner("admin1", "boot-1", ALIVE, since="10:00"), HERE, take_lock=take_lock)
    assert decision.refusal is not None
    assert mentions(decision.refusal, "100", "admin1", "10:00")


@pytest.mark.parametrize(
    ("owner", "reason"),
    [
        (Owner("admin1", "boot-1", DEAD), "the process is gone"),
        (Owner("admin1", "boot-1", Process(100, 4999)), "another process has its pid"),
        (Owner("admin1", "boot-0", ALIVE), "the machine has booted since"),
    ],
)
def test_an_owner_that_is_proved_dead_is_replaced(owner: Owner, reason: str) -> None:
    decision = decide(owner, HERE)
    assert decision.refusal is None and decision.replaces is owner, reason
    assert not decision.wait_for and not decision.end


def test_children_of_a_dead_owner_are_waited_for_or_ended_first() -> None:
    decision = decide(Owner("admin1", "boot-1", DEAD, (MOVE, WAIT, Process(300, 1, "clusterctl move"))), HERE)
    assert decision.refusal is None
    assert (decision.wait_for, decision.end) == ((MOVE,), (WAIT,))


def test_children_of_another_boot_are_gone() -> None:
    decision = decide(Owner("admin1", "boot-0", DEAD, (MOVE,)), HERE)
    assert decision.refusal is None and not decision.wait_for


def test_an_owner_on_another_machine_needs_the_consent_of_the_user() -> None:
    owner = Owner("admin2", "boot-1", ALIVE, (MOVE,))
    refused = decide(owner, HERE)
    assert refused.refusal is not None
    assert mentions(refused.refusal, "admin2", "eks_anywhere_take_lock")
    taken = decide(owner, HERE, take_lock=True)
    assert taken.refusal is None and taken.replaces is owner
