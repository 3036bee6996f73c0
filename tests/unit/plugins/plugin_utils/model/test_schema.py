# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The schema language: what each kind returns, and what it reports."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model import schema
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.plain import INVALID
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.schema import boolean, choice, integer, list_of, map_of, mapping
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.schema import record as record_of
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.schema import text as text_of

WORD = text_of(pattern="[a-z]+", what="a word", allowed="small letters", fix="use small letters")
LINE = text_of()
SCRIPT = text_of(multiline=True, secret=True)
COLOUR = choice("red", "green", aliases={"Rouge": "red"})
POINT = record_of({"x": integer(0, 9), "y": integer(0, 9)}, required={"x": "0 to 9"}, unknown={"z": "use three dimensions"})


def checked(kind: schema.Kind, value: Any) -> tuple[Any, list[str]]:
    problems = Problems()
    return kind(value, "p", problems), [str(problem) for problem in problems]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (WORD, "abc", "abc"),
        (LINE, "a b", "a b"),
        (text_of(empty=True), "", ""),
        (SCRIPT, "a\nb\tc", "a\nb\tc"),
        (COLOUR, "red", "red"),
        (COLOUR, "RED", "red"),
        (COLOUR, "rouge", "red"),
        (choice("2019", "2022"), 2019, "2019"),
        (boolean, False, False),
        (integer(1, 5), 5, 5),
        (integer(-5, 5), "-5", -5),
        (mapping, {"a": 1}, {"a": 1}),
        (list_of(LINE), [], []),
        (list_of(LINE), ["a"], ["a"]),
        (list_of(LINE, single=True), "a", ["a"]),
        (map_of(integer(1, 5)), {"a": "3"}, {"a": 3}),
        (POINT, {"x": 1, "y": None}, {"x": 1}),
    ],
)
def test_what_is_right_comes_back_normalised(kind: schema.Kind, value: Any, expected: Any) -> None:
    found = checked(kind, value)
    assert found == (expected, [])
    assert type(found[0]) is type(expected)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (WORD, "ABC", 'p: is not a word (got "ABC"); allowed: small letters; fix: use small letters'),
        (WORD, "", "p: is empty; allowed: small letters; fix: set a value or remove the field"),
        (WORD, 7, "p: must be text, not an integer (got 7); allowed: small letters; fix: quote it"),
        (WORD, None, "p: must be text, not null (got null); allowed: small letters"),
        (LINE, "a\nb", 'p: contains a line break or another control character (got "a\\nb"); allowed: one line of text'),
        (LINE, "a\u2028b", 'p: contains a line break or another control character (got "a\\u2028b"); allowed: one line of text'),
        (SCRIPT, ["password"], "p: must be text, not a list"),
        (COLOUR, "gren", 'p: is not a known value (got "gren"); allowed: red, green; did you mean "green"?'),
        (COLOUR, True, "p: is not a known value (got true); allowed: red, green"),
        (choice("2019", "2022"), "2016", 'p: is not a known value (got "2016"); allowed: 2019, 2022'),
        (boolean, "true", 'p: must be true or false, not text (got "true")'),
        (boolean, 1, "p: must be true or false, not an integer (got 1)"),
        (integer(1, 5), 6, "p: is out of range (got 6); allowed: 1 to 5"),
        (integer(1, 5), "0", "p: is out of range (got 0); allowed: 1 to 5"),
        (integer(1, 5), "1e0", 'p: must be an integer from 1 to 5, not text (got "1e0")'),
        (integer(1, 5), "１", 'p: must be an integer from 1 to 5, not text (got "\\uff11")'),
        (integer(1, 5), True, "p: must be an integer from 1 to 5, not a boolean (got true)"),
        (integer(1, 5), 1.0, "p: must be an integer from 1 to 5, not a number (got 1.0)"),
        (mapping, [], "p: must be a mapping, not a list (got [])"),
        (list_of(LINE), "a", 'p: must be a list, not text (got "a")'),
        (list_of(LINE, single=True), {"a": 1}, 'p: must be a list, not a mapping (got {"a": 1})'),
        (list_of(LINE, filled=True), [], "p: is an empty list; allowed: at least one item; fix: add an item or remove the field"),
        (map_of(LINE), ["a"], 'p: must be a mapping, not a list (got ["a"])'),
        (POINT, "x", 'p: must be a mapping, not text (got "x"); allowed: the fields x, y'),
    ],
)
def test_what_is_wrong_is_reported(kind: schema.Kind, value: Any, message: str) -> None:
    assert checked(kind, value) == (INVALID, [message])


def test_what_is_whole_goes_on_without_what_is_wrong() -> None:
    assert checked(list_of(integer(1, 5)), [1, 9, "2"]) == ([1], ["p[1]: is out of range (got 9); allowed: 1 to 5"])
    found, problems = checked(map_of(integer(1, 5), key=WORD), {"a": 1, "b": 9, "C": 3})
    assert found == {"a": 1}
    assert problems == [
        "p.b: is out of range (got 9); allowed: 1 to 5",
        'p.C: is not a word (got "C"); allowed: small letters; fix: use small letters',
    ]
    found, problems = checked(POINT, {"y": 10, "z": 1, "yy": 2})
    assert found == {}
    assert problems == [
        "p.y: is out of range (got 10); allowed: 0 to 9",
        "p.z: is not a field; fix: use three dimensions",
        "p.yy: is not a field; allowed: x, y; fix: remove it, because y is set, too",
        "p.x: is required; allowed: 0 to 9; fix: add x",
    ]


def test_a_long_list_of_fields_is_left_out_where_the_right_one_is_known() -> None:
    many = record_of({f"field_{letter}": mapping for letter in "abcdefghijklmn"})
    assert checked(many, {"field-a": {}})[1] == ["p.field-a: is not a field; fix: rename it to field_a"]
    assert "; allowed: field_a, field_b" in checked(many, {"colour": 1})[1][0]


@pytest.mark.parametrize(
    ("value", "name"),
    [({}, "a mapping"), ([], "a list"), ("", "text"), (True, "a boolean"), (1, "an integer"), (1.5, "a number"), (None, "null")],
)
def test_names_of_types(value: Any, name: str) -> None:
    assert schema.type_name(value) == name
