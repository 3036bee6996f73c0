# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an upgrade writes to annotations and tags is what it reads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade import marks
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade.model import Capacity, Mark, Operation, Run

NAMES = st.from_regex(r"[A-Za-z0-9-]{1,20}", fullmatch=True)
SIZES = st.integers(0, 1000)

MARKS = st.builds(
    Mark,
    run=NAMES,
    step=st.sampled_from(["drain", "settle", "act", "verify", "done"]),
    since=st.integers(0, 10**11).map(float),
    was_cordoned=st.booleans(),
    was_excluded=st.booleans(),
    is_surplus=st.booleans(),
)
OPERATIONS = st.builds(Operation, kind=st.sampled_from(["raise", "terminate", "lower"]), before=SIZES, after=SIZES, instance=NAMES)
RUNS = st.builds(
    Run,
    id=NAMES,
    version=st.integers(1, 10_000).map(str),
    before=st.sampled_from(["1", "77", "$Latest", "$Default"]),
    max_size=SIZES,
    suspended=st.sampled_from([(), ("AZRebalance",), ("AZRebalance", "ReplaceUnhealthy")]),
    stopped=st.sampled_from(["", "aborted", "node_not_ready:i-0123456789abcdef0"]),
)


@given(MARKS)
def test_a_mark_is_read_as_it_was_written(mark: Mark) -> None:
    assert marks.read_mark(marks.write_mark(mark)) == mark


@given(RUNS)
def test_a_run_is_read_as_it_was_written(run: Run) -> None:
    assert marks.read_run(marks.write_run(run)) == run


@given(st.builds(Capacity, surge=SIZES, max_size=SIZES, operation=st.none() | OPERATIONS), NAMES)
def test_a_capacity_is_read_as_it_was_written_by_the_same_run(capacity: Capacity, run: str) -> None:
    text = marks.write_capacity(run, capacity)
    assert marks.read_capacity(text, run) == capacity
    assert marks.read_capacity(text, f"{run}-2") == Capacity()


@given(RUNS, st.text())
def test_values_fit_in_tags_of_auto_scaling_groups(run: Run, reason: str) -> None:
    text = marks.write_run(Run(run.id, run.version, run.before, run.max_size, run.suspended, f"refused:{reason}" * 20))
    assert len(text) <= marks.LONGEST_TAG
    assert all(char.isascii() and (char.isalnum() or char in "+-=._:/@ ") for char in text)


@given(st.text())
def test_damaged_values_are_read(text: str) -> None:
    marks.read_mark(text)
    marks.read_run(text)
    marks.read_capacity(text, "")


def test_nothing_is_recorded_without_a_value() -> None:
    assert (marks.read_mark(None), marks.read_run(None), marks.read_capacity(None, "r")) == (None, None, Capacity())
