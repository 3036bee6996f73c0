# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The copy into plain data: what comes back, and what is refused because no document holds it."""

from __future__ import annotations

import collections
import copy
import datetime
import enum
import types
from typing import Any

import pytest
from hypothesis import given

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.plain import INVALID, MAX_DEPTH, plain
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import anything


class Tagged(str):
    """A text as ansible-core hands it out: it may print as something else."""

    def __str__(self) -> str:
        return "<tagged>"


class Count(enum.IntEnum):
    THREE = 3


def copied(value: Any) -> tuple[Any, list[str]]:
    problems = Problems()
    return plain(value, "x", problems), [str(problem) for problem in problems]


def types_of(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: types_of(item) for key, item in value.items()}
    return [types_of(item) for item in value] if isinstance(value, list) else type(value)


def nested(levels: int) -> Any:
    tree: Any = "x"
    for _unused in range(levels):
        tree = [tree]
    return tree


@pytest.mark.parametrize("value", [None, True, 0, -(2**63), 2**63 - 1, 1.5, "", "ü\n", [], {}, {"a": [1, {"b": None}]}], ids=str)
def test_plain_data_comes_back_equal_and_of_the_same_types(value: Any) -> None:
    found, problems = copied(value)
    assert (found, types_of(found), problems) == (value, types_of(value), [])


def test_it_is_a_copy() -> None:
    value = {"a": [{"b": 1}]}
    found, _unused = copied(value)
    found["a"][0]["b"] = 2
    assert value == {"a": [{"b": 1}]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Tagged("secret"), "secret"),
        ({Tagged("key"): Tagged("value")}, {"key": "value"}),
        (Count.THREE, 3),
        ((1, 2), [1, 2]),
        (collections.OrderedDict(a=1), {"a": 1}),
        (types.MappingProxyType({"a": (1,)}), {"a": [1]}),
        (collections.UserList([1]), [1]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_tagged_and_other_containers_become_exact_types(value: Any, expected: Any) -> None:
    found, problems = copied(value)
    assert (found, types_of(found), problems) == (expected, types_of(expected), [])


def test_a_date_of_a_class_of_its_own_is_a_date() -> None:
    class Tagged(datetime.date):
        pass

    assert copied(Tagged(2026, 7, 1))[1][0].startswith("x: is a date; a value must be text")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("a\0b", "x: contains a NUL character, which files, shells and units cannot contain; fix: remove it"),
        ("\ud800", "x: contains half of a surrogate pair, which is not text; fix: use valid Unicode"),
        (2**63, "x: is an integer of more than 64 bits; allowed: -2^63 to 2^63-1; fix: quote it if it is text"),
        (float("nan"), "x: is not a finite number; fix: use a number, or quote it if it is text"),
        (float("-inf"), "x: is not a finite number; fix: use a number, or quote it if it is text"),
        (
            datetime.date(2026, 7, 1),
            "x: is a date; a value must be text, a number, a boolean, a list or a mapping; fix: quote it, so that it is text",
        ),
        (b"x", "x: is bytes; a value must be text, a number, a boolean, a list or a mapping; fix: decode it to text first"),
        ({1}, "x: is a set; a value must be text, a number, a boolean, a list or a mapping; fix: quote it, so that it is text"),
        (object, "x: is a type; a value must be text, a number, a boolean, a list or a mapping; fix: quote it, so that it is text"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_no_document_holds_is_refused(value: Any, message: str) -> None:
    assert copied(value) == (INVALID, [message])
    found, problems = copied({"good": 1, "bad": value, "list": [value, 2]})
    # Without an item, the other items would be checked at places that are not theirs.
    assert found == {"good": 1}
    assert problems == [message.replace("x:", "x.bad:", 1), message.replace("x:", "x.list[0]:", 1)]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (1, "x.1: the key is an integer, not text; fix: quote the key"),
        (True, "x.True: the key is a boolean, not text; fix: quote the key"),
        (None, "x.None: the key is null, not text; fix: quote the key"),
        (1.5, 'x["1.5"]: the key is a number, not text; fix: quote the key'),
        ((1, 2), 'x["(1, 2)"]: the key is a list, not text; fix: quote the key'),
        (10**5000, 'x["<int>"]: the key is an integer, not text; fix: quote the key'),
        ("a\0", 'x["a\\u0000"]: contains a NUL character, which files, shells and units cannot contain; fix: remove it'),
    ],
    ids=["int", "bool", "null", "float", "tuple", "huge", "nul"],
)
def test_keys_are_text(key: Any, message: str) -> None:
    assert copied({key: 1, "good": 2}) == ({"good": 2}, [message])


def test_depth_is_limited_and_does_not_stop_the_rest() -> None:
    assert copied(nested(MAX_DEPTH)) == (nested(MAX_DEPTH), [])
    found, problems = copied({"deep": nested(MAX_DEPTH), "b\0": 1, "good": 1})
    assert len(problems) == 2
    assert problems[0].endswith(f": is nested more than {MAX_DEPTH} levels deep; fix: flatten it")
    assert found == {"good": 1}
    assert copied(nested(100_000))[1][0].endswith("levels deep; fix: flatten it")


def test_what_contains_itself_is_too_deep() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    assert copied(loop)[1][0].endswith("levels deep; fix: flatten it")


@given(anything)
def test_anything_is_copied_or_refused(value: Any) -> None:
    before = copy.deepcopy(value)
    found, problems = copied(value)
    assert found is INVALID or not isinstance(found, (bytes, datetime.date))
    assert (found is INVALID) <= bool(problems)
    assert repr(value) == repr(before)
    if found is not INVALID:
        assert repr(copied(found)) == repr((found, [])), "a second copy changes nothing"
