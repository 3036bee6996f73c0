# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON as text: the very bytes, and one kind of error for everything that is not JSON."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import json
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

CYCLE: list[Any] = []
CYCLE.append(CYCLE)


def test_written() -> None:
    value = {"b": [1, 1.5, None, True], "a": {"é": "\U0001f600"}}
    assert json.dump(value) == '{"a":{"\\u00e9":"\\ud83d\\ude00"},"b":[1,1.5,null,true]}'
    assert json.dump({"b": 1, "a": []}, indent=2) == '{\n  "a": [],\n  "b": 1\n}\n'
    assert json.load(json.dump(value)) == value


@pytest.mark.parametrize(
    "value", [float("nan"), [float("inf")], {1: 2}, "\ud800", {"\udfff": 1}, {"a": {1}}, CYCLE, 10**5000], ids=range(8)
)
def test_unwritable(value: Any) -> None:
    with pytest.raises(json.JsonError):
        json.dump(value)


UNREADABLE = [
    '{"a": 1, "a": 2}',
    "[NaN]",
    "[1e999]",
    '{"a"}',
    '["\\ud800"]',
    "[" * 200 + "]" * 200,
    "[" * 100_000,
    "1" * 5000,
]


@pytest.mark.parametrize("text", UNREADABLE, ids=range(len(UNREADABLE)))
def test_unreadable(text: str, golden_message: GoldenMessages) -> None:
    with pytest.raises(json.JsonError) as caught:
        json.load(text)
    golden_message(caught.value)


def test_the_later_key_wins_where_nodeadm_is_asked() -> None:
    assert json.load('{"a": 1, "a": 2}', strict=False) == {"a": 2}


@given(st.text(st.characters()))
def test_no_text_brings_another_error(text: str) -> None:
    try:
        json.load(text)
    except json.JsonError as error:
        assert str(error)
