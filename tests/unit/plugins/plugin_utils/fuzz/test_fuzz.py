# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No user data makes a function fail, hang or fill the memory.

Every function that takes user data gets thousands of damaged documents (C(make matrix): 200,000 different ones), and documents that are
built to cost time or memory. Each returns a result, or raises C(SpecError).
"""

from __future__ import annotations

import os
import resource
import tracemalloc

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.fuzz.bombs import BOMBS
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.fuzz.calls import OTHERS, READERS, run
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.fuzz.inputs import fuzzed

SHARDS = 40
INPUTS = {"ci": 4_000, "matrix": 200_000, "fuzz": 1_000_000}.get(os.environ.get("HYPOTHESIS_PROFILE", ""), 1_000)
"""Different inputs for every function. ansible-test sets no profile."""
MEGABYTE = 1 << 20
GROWTH = 400 * MEGABYTE
"""What a process may grow while it works on the inputs of a shard. They are small, but some stand for large values."""
PEAK = 300 * MEGABYTE
"""The memory of Python objects for one bomb: at most a MiB after decompression, in which each character can be a command."""


def given(number: int) -> str | bytes:
    """The input with this number: text for a filter, or bytes of a file."""
    data = fuzzed(number)
    if number % 2:
        return data
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data


def _largest_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize("shard", range(SHARDS))
def test_damaged_user_data(shard: int) -> None:
    before = _largest_memory()
    for number in range(shard, INPUTS, SHARDS):
        try:
            run(given(number), READERS | OTHERS)
        except AssertionError as error:
            raise AssertionError(f"input {number}: {error}") from error
    assert _largest_memory() - before < GROWTH


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_read_in_time(name: str) -> None:
    data = BOMBS[name]()
    run(data, READERS)


@pytest.mark.matrix
@pytest.mark.parametrize("name", BOMBS)
def test_bomb_in_every_function(name: str) -> None:
    data = BOMBS[name]()
    run(data, OTHERS)


@pytest.mark.matrix
@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_read_in_bounded_memory(name: str) -> None:
    data = BOMBS[name]()
    tracemalloc.start()
    try:
        run(data, READERS | OTHERS, factor=10)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < PEAK
