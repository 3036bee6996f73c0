# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ledger: what was begun and not finished, and files that are not a ledger."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import ledger
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.ledger import BEGUN, DONE, FAILED, Ledger
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import rule_and_path

EMPTY = Ledger("dev", "create")


def test_a_step_is_begun_before_it_is_finished() -> None:
    begun = EMPTY.begin("apply", "d1", "10:00")
    assert begun.interrupted == ("apply",) and begun.entry("move") is None
    done = begun.finish("apply", "10:01")
    assert done.interrupted == ()
    assert [entry.state for entry in (*begun.entries, *done.entries)] == [BEGUN, DONE]
    assert EMPTY.entries == ()
    with pytest.raises(LookupError):
        EMPTY.finish("apply", "10:00")


def test_a_step_that_is_begun_again_replaces_its_entry() -> None:
    failed = EMPTY.begin("apply", "d1", "10:00").finish("apply", "10:01", "no space", failed=True)
    assert [(entry.state, entry.message) for entry in failed.entries] == [(FAILED, "no space")]
    again = failed.begin("move", "d1", "10:02").begin("apply", "d2", "10:03")
    assert [(entry.step, entry.state, entry.digest) for entry in again.entries] == [("move", BEGUN, "d1"), ("apply", BEGUN, "d2")]


STEPS = st.lists(st.tuples(st.text(min_size=1, max_size=8), st.text(max_size=8), st.booleans()), max_size=6)


@given(st.sampled_from(ledger.COMMANDS), STEPS)
def test_what_is_written_is_read_again(command: str, steps: list[tuple[str, str, bool]]) -> None:
    wanted = Ledger("dev", command)
    for name, digest, fails in steps:
        wanted = wanted.begin(name, digest, "t1")
        wanted = wanted.finish(name, "t2", "x", failed=True) if fails else wanted
    problems = Problems()
    assert ledger.load(ledger.dump(wanted), problems) == wanted
    assert not list(problems)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", "ledger"),
        ("[]", "ledger.format"),
        ('{"format": 2}', "ledger.format"),
        ('{"format": 1}', "ledger"),
        ('{"format": 1, "cluster": "dev", "command": "move", "steps": []}', "ledger"),
        ('{"format": 1, "cluster": "dev", "command": "create", "steps": [1]}', "ledger.steps[0]"),
        ('{"format": 1, "cluster": "dev", "command": "create", "steps": [{"step": "", "state": "done"}]}', "ledger.steps[0]"),
    ],
)
def test_a_file_that_is_not_a_ledger_is_refused(text: str, path: str) -> None:
    problems = Problems()
    assert ledger.load(text, problems) is None
    assert [rule_and_path(problem) for problem in problems] == [f"anywhere.ledger {path}"]
