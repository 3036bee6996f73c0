# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML as text: the very bytes that are written, what cannot be written, and errors that name their place.

That readers agree about it is tests/oracle/test_yaml_reader.py's business.
"""

from __future__ import annotations

import types
from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

WRITTEN = [
    ({}, "{}\n"),
    ([], "[]\n"),
    (None, "null\n"),
    ("word", "word\n"),
    ({"b": 1, "a": True, "c": None}, "a: true\nb: 1\nc: null\n"),
    ({"y": "y", "08": "1e3"}, "'08': '1e3'\n'y': 'y'\n"),
    ({"a": {"b": {}, "c": []}}, "a:\n  b: {}\n  c: []\n"),
    ({"a": ["x", {"b": 1, "c": [2]}, [3, [4]]]}, "a:\n- x\n- b: 1\n  c:\n  - 2\n- - 3\n  - - 4\n"),
    ({"a": ("x", types.MappingProxyType({"b": 1}))}, "a:\n- x\n- b: 1\n"),
    ({"cidr": "10.100.0.0/16", "url": "https://a.b/c"}, "cidr: 10.100.0.0/16\nurl: https://a.b/c\n"),
    (["--node-labels=a=b,c=d", "- a", "a: b", "it's", " a"], "- --node-labels=a=b,c=d\n- '- a'\n- 'a: b'\n- \"it's\"\n- ' a'\n"),
    ({"s": "a\nb\n"}, "s: |\n  a\n  b\n"),
    ({"s": "a\n\n  b"}, "s: |-\n  a\n\n    b\n"),
    (["a\nb\n\n"], "- |+\n  a\n  b\n\n"),
    ({"s": " a\nb"}, 's: " a\\nb"\n'),
    ({"s": "a\r\nb"}, 's: "a\\r\\nb"\n'),
    ({"é": "\U0001f600\0\x85\u2028"}, '"\\xe9": "\\U0001f600\\0\\x85\\u2028"\n'),
    ({"f": [1.0, 1e16, -0.5, 1e-7]}, "f:\n- 1.0\n- 1.0e+16\n- -0.5\n- 1.0e-07\n"),
    ({"i": 2**70}, f"i: {2**70}\n"),
    ({"k" * 1000: 1}, "? " + "k" * 1000 + "\n: 1\n"),
]


@pytest.mark.parametrize(("value", "text"), WRITTEN)
def test_written(value: Any, text: str) -> None:
    assert yaml.dump(value) == text


def nested(levels: int) -> Any:
    value: Any = 1
    for _unused in range(levels):
        value = [value]
    return value


CYCLE: list[Any] = []
CYCLE.append(CYCLE)

UNWRITABLE = [
    (float("nan"), "nan cannot be written: nodeadm and kubelet convert YAML to JSON, which does not have this number"),
    ({"a": [float("-inf")]}, "-inf cannot be written: nodeadm and kubelet convert YAML to JSON, which does not have this number"),
    ({1: 2}, "the key 1 is not text: quote it"),
    ({None: 2, "a": 1}, "the key None is not text: quote it"),
    ({"a": "\ud800"}, "the text contains a lone surrogate (U+D800), which UTF-8 cannot represent"),
    ({"\udfff": 1}, "the text contains a lone surrogate (U+DFFF), which UTF-8 cannot represent"),
    ({"a": {1, 2}}, "a set cannot be written as YAML"),
    ({"a": b"x"}, "a bytes cannot be written as YAML"),
    (10**5000, "an integer of more than 4300 digits cannot be written"),
    (nested(101), "nested more than 100 levels deep"),
    (CYCLE, "nested more than 100 levels deep"),
]


@pytest.mark.parametrize(("value", "message"), UNWRITABLE, ids=[message for _unused, message in UNWRITABLE])
def test_unwritable(value: Any, message: str) -> None:
    with pytest.raises(yaml.YamlError) as caught:
        yaml.dump(value)
    assert str(caught.value) == message


def test_the_deepest_value_comes_back() -> None:
    assert yaml.load(yaml.dump(nested(100))) == nested(100)


UNREADABLE = [
    "a: 1\nb: 2\na: 3\n",
    "a: 1\n'a': 3\n",
    "1: a\n'1': b\n",
    "x: &x {a: 1}\ny: {a: 2, <<: *x}\n",
    "a: {<<: b}",
    "~: 1",
    "{[a]: 1}",
    "a: .inf",
    "a: [b",
    "a: *b",
    "\ta: b",
    "a: |\n\tb\n",
    "a: b\n\tc: d",
    "a:\n  b: \x01",
    "a: \ud800",
    'a: "\\ud800"',
    'a: "\\UFFFFFFFF"',
    "!!int x",
    "%FOO\n---\na",
    "%YAML 1.2\n---\na",
    "\ufeff\ufeffa",
    "[" * 5000,
    "- " * 5000,
    "&a [*a]",
]


@pytest.mark.parametrize("text", UNREADABLE, ids=range(len(UNREADABLE)))
def test_unreadable(text: str, golden_message: GoldenMessages) -> None:
    with pytest.raises(yaml.YamlError) as caught:
        yaml.load(text)
    golden_message(caught.value)


def test_aliases_cannot_multiply_without_end(golden_message: GoldenMessages) -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    with pytest.raises(yaml.YamlError) as caught:
        yaml.load(bomb)
    golden_message(caught.value)


def test_the_later_key_wins_where_nodeadm_is_asked() -> None:
    assert yaml.load("a: 1\na: 2\n", strict=False) == {"a": 2}


def test_aliases_are_copies() -> None:
    found = yaml.load("a: &a {b: []}\nc: *a\n")
    found["a"]["b"].append(1)
    assert found["c"] == {"b": []}


def test_documents() -> None:
    assert yaml.load_all("a: 1\n---\nb\n---\n") == [{"a": 1}, "b", None]
    assert yaml.load_all("") == []
    assert yaml.load("a: 1\n---\nb: [broken") == {"a": 1}


JSON = st.recursive(
    st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.integers(-(2**63), 2**63), st.booleans(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
)


@given(JSON)
def test_comes_back(value: Any) -> None:
    text = yaml.dump(value)
    assert yaml.load(text) == value
    assert pyyaml.safe_load(text) == value


@given(st.dictionaries(st.text("abcdef", min_size=1), st.integers(), min_size=2), st.randoms())
def test_the_order_of_keys_does_not_matter(value: dict[str, int], random: Any) -> None:
    items = list(value.items())
    random.shuffle(items)
    assert yaml.dump(dict(items)) == yaml.dump(value)


@given(st.text(st.characters()))
def test_no_text_brings_another_error(text: str) -> None:
    try:
        yaml.load_all(text)
    except yaml.YamlError as error:
        assert str(error)
