# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""TOML: what is written reads back with tomllib, in the subset that EKS's merger takes; what is read is what tomllib reads."""

from __future__ import annotations

import builtins
import datetime
import math
import re
import sys

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems, SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import toml
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

try:
    import tomllib
except ImportError:  # Python 3.10 has none; tomlkit is as independent of the writer

    def read(text):
        return tomlkit.parse(text).unwrap()

else:

    def read(text):
        return tomllib.loads(text)


NASTY = [
    '"',
    "'",
    "'''",
    '"""',
    "\\",
    "\\u0041",
    "\n",
    "\r",
    "\t",
    "#",
    "=",
    "[",
    "]",
    ".",
    " ",
    "\x7f",
    "\x00",
    "\x1f",
    "é",
    "\u2028",
    "a.b/c",
    "%",
]
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.lists(st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"]), max_size=3))).map("".join),
)
KEY = st.one_of(TEXT, st.from_regex(r"[A-Za-z0-9_-]{1,8}", fullmatch=True))
SCALAR = st.one_of(TEXT, st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False))
VALUE = st.recursive(SCALAR, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEY, inner, max_size=4)), max_leaves=12)
DOCUMENT = st.dictionaries(KEY, VALUE, max_size=5)

SETTINGS = {
    "settings": {
        "kubernetes": {
            "cluster-name": "demo",
            "max-pods": 29,
            "node-labels": {"alpha.eksctl.io/cluster-name": "demo", "plain": "true"},
            "node-taints": {"dedicated": ["exp:NoSchedule", "exp:NoExecute"], "a/b": [":NoSchedule"]},
            "eviction-hard": {"memory.available": "5%"},
        },
        "host-containers": {"admin": {"enabled": True}, "my.own": {"enabled": False, "deep": {"x": 1}}},
        "container-registry": {"mirrors": [{"registry": "docker.io", "endpoint": ["https://a"]}, {"registry": "*", "endpoint": []}]},
        "motd": 'a "quoted" word',
    }
}


def same(left, right):
    """Equal in value and type, an integer being no float and no boolean."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(one, other) for one, other in zip(left, right, strict=True))
    return type(left) is type(right) and left == right


@given(DOCUMENT)
def test_what_is_written_reads_back(document):
    text = toml.dump(document)
    assert same(read(text), document)
    assert text.endswith("\n") or not document


@given(DOCUMENT)
def test_headers_have_bare_keys_only(document):
    text = toml.dump(document)
    for line in text.split("\n"):
        if line.startswith("["):
            assert re.fullmatch(r"\[\[?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\]?\]", line)


@given(DOCUMENT, st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(document, dice):
    def shuffled(value):
        if isinstance(value, dict):
            keys = list(value)
            dice.shuffle(keys)
            return {key: shuffled(value[key]) for key in keys}
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    assert toml.dump(shuffled(document)) == toml.dump(document)


@given(TEXT)
def test_quotes_are_escaped_only_where_nothing_else_helps(text):
    written = toml.dump({"k": text})
    if '\\"' in written and "\\" not in text:
        assert re.search(r"'''|'\Z|[\x00-\x08\x0a-\x1f\x7f]", text)


def test_a_document_is_readable():
    assert toml.dump(SETTINGS) == (
        "[settings]\nmotd = 'a \"quoted\" word'\n"
        '\n[[settings.container-registry.mirrors]]\nendpoint = ["https://a"]\nregistry = "docker.io"\n'
        '\n[[settings.container-registry.mirrors]]\nendpoint = []\nregistry = "*"\n'
        '\n[settings.host-containers]\n"my.own" = { deep = { x = 1 }, enabled = false }\n'
        "\n[settings.host-containers.admin]\nenabled = true\n"
        '\n[settings.kubernetes]\ncluster-name = "demo"\nmax-pods = 29\n'
        '\n[settings.kubernetes.eviction-hard]\n"memory.available" = "5%"\n'
        '\n[settings.kubernetes.node-labels]\n"alpha.eksctl.io/cluster-name" = "demo"\nplain = "true"\n'
        '\n[settings.kubernetes.node-taints]\n"a/b" = [":NoSchedule"]\ndedicated = ["exp:NoSchedule", "exp:NoExecute"]\n'
    )


def test_an_empty_table_keeps_its_header():
    assert toml.dump({"a": {}, "b": {"c": {}}}) == "[a]\n\n[b.c]\n"


@pytest.mark.parametrize(("value", "text"), [(math.inf, "inf"), (-math.inf, "-inf"), (math.nan, "nan"), (1e16, "1e+16"), (1e-7, "1e-07")])
def test_unusual_floats(value, text):
    assert toml.dump({"k": value}) == f"k = {text}\n"


@pytest.mark.parametrize(
    ("document", "messages"),
    [
        ({"a": None}, ["toml.a: is null"]),
        ({"a": {"b": [1, 2**63]}}, ["toml.a.b[1]: does not fit"]),
        ({"a": 10**5000}, ["toml.a: does not fit"]),
        ({1: "x"}, ["toml: has a key that is not text"]),
        ({1: "x", "a": None}, ["toml.a: is null", "toml: has a key"]),
        ({"a": b"x", "b": {1}, "c": datetime.date(2026, 1, 1)}, ["toml.a: is a bytes", "toml.b: is a set", "toml.c: is a date"]),
        ({"a": "\ud800", "\udc00": 1}, ["toml.a: contains a lone surrogate", "toml: has a key with a lone surrogate"]),
        ({"x/y": {"b": None}}, ['toml["x/y"].b: is null']),
    ],
)
def test_what_toml_cannot_carry_is_refused_all_at_once(document, messages):
    with pytest.raises(SpecError) as caught:
        toml.dump(document)
    lines = str(caught.value).split("\n")
    assert len(lines) == len(messages)
    for message in messages:
        assert any(message in line for line in lines), lines


@pytest.mark.parametrize("nest", [lambda inner: {"a": inner}, lambda inner: [inner], lambda inner: {"a.b": inner}])
def test_deep_nesting_is_refused(nest, golden_message: GoldenMessages):
    value = 1
    for _unused in range(5_000):
        value = nest(value)
    with pytest.raises(SpecError) as caught:
        toml.dump({"k": value})
    golden_message(caught.value)


@given(
    st.dictionaries(
        st.one_of(KEY, st.integers(), st.none(), st.text(st.characters())),
        st.one_of(VALUE, st.none(), st.binary(), st.dates(), st.text(st.characters())),
    )
)
def test_anything_else_is_refused_never_a_traceback(document):
    try:
        toml.dump(document)
    except SpecError as error:
        assert error.problems


# --- what EKS's own merger takes -----------------------------------------------------------------------------------------


def merge_problems(settings):
    problems = Problems()
    toml.eks_merge_problem(settings, "settings", problems)
    return [str(problem) for problem in problems]


def test_ordinary_settings_suit_eks():
    assert merge_problems(SETTINGS["settings"]) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"a": {'k"x': 1}}, "quotes or a backslash in its key"),
        ({"a": {"k'x": 1}}, "quotes or a backslash in its key"),
        ({"a": 'it\'s "x"\n'}, "escaped quotes"),
        ({"a": [1, 2.0]}, "mixes types"),
        ({"a": ["x", 1]}, "mixes types"),
        ({"a": [True, 1]}, "mixes types"),
        ({"a": [[1], {"x": 1}]}, "mixes types"),
        ({"a": [{"b": ["x", False]}]}, "settings.a[0].b: mixes types"),
    ],
)
def test_what_eks_cannot_merge_is_a_problem(settings, message):
    (found,) = merge_problems(settings)
    assert message in found


@given(DOCUMENT)
def test_a_clean_document_escapes_no_quote(document):
    if not merge_problems(document):
        assert '\\"' not in toml.dump(document).replace("\\\\", "")


# --- reading -------------------------------------------------------------------------------------------------------------


def loaded(text):
    problems = Problems()
    return toml.load(text, "user_data", problems), [str(problem) for problem in problems]


@given(DOCUMENT)
def test_what_is_written_is_read(document):
    assert same(loaded(toml.dump(document))[0], document)


def test_the_result_is_plain_data():
    data, _unused = loaded('[settings.kubernetes]\n"a/b" = "x"\nn = 1\nl = [1, 2]\n')

    def kinds(value):
        yield type(value)
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
            yield from kinds(item)

    assert set(kinds(data)) == {dict, list, str, int}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[settings.kubernetes]\na = 1\n[settings.kubernetes]\nb = 2\n", "[settings.kubernetes] in line 3 is defined in line 1 already"),
        ("a = 1\na = 2\n", "line 2"),
        ("a = \n", "line 1"),
        ("a = {b=1, b=2}\n", "is not TOML: "),
        ("[settings]\nx = 'y\n", "line 2"),
        ("#!/bin/bash\necho hi\n", "line 2"),
        ("a = 2026-01-01\n", "user_data.a: is a date"),
        ("a = [{b = 12:00:00}]\n", "user_data.a[0].b: is a date"),
        ("a = " + "[" * 20_000, "is not TOML"),
    ],
)
def test_what_is_no_toml_is_a_problem(text, message):
    data, problems = loaded(text)
    assert data == {}
    assert message in problems[0]
    assert len(problems) == 1


@given(
    st.one_of(
        st.text(st.characters()),
        st.lists(st.sampled_from([*NASTY, "a", "1", "[a]\n", "[[a]]\n", "a.b=", "{", "}", ",", "\n", "nan", "0x"])).map("".join),
    )
)
def test_reading_never_raises(text):
    data, problems = loaded(text)
    assert isinstance(data, dict)
    assert not (data and problems)


def without(monkeypatch, *names):
    """Imports of these modules fail, as if they were not installed."""
    real = builtins.__import__

    def imported(name, *rest):
        if name.partition(".")[0] in names:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", imported)


def rules(text):
    problems = Problems()
    return toml.load(text, "user_data", problems), [problem.rule for problem in problems]


def test_without_tomllib_tomlkit_reads(monkeypatch):
    without(monkeypatch, "tomllib")
    assert rules('[a]\n"b/c" = [1, 2.5, "x"]\n') == ({"a": {"b/c": [1, 2.5, "x"]}}, [])
    assert rules("a = \n") == ({}, ["toml.unreadable"])
    assert rules("a = 2026-01-01\n") == ({}, ["toml.date"])


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no tomllib")
def test_with_tomllib_tomlkit_is_not_needed(monkeypatch):
    without(monkeypatch, "tomlkit")
    assert rules("a = 1\n") == ({"a": 1}, [])
    assert rules("a = \n") == ({}, ["toml.unreadable"])


def test_without_both_the_message_says_what_to_install(monkeypatch, golden_message: GoldenMessages):
    without(monkeypatch, "tomlkit", "tomllib")
    data, (message,) = loaded("not_read_before = 1\n")
    assert (data, rules("not_read_before = 1\n")[1]) == ({}, ["toml.missing_package"])
    golden_message(message)
    assert toml.dump({"a": 1}) == "a = 1\n"


DATES = st.one_of(
    st.dates(),
    st.times(),
    st.datetimes(),
    st.datetimes(timezones=st.sampled_from([datetime.timezone.utc, datetime.timezone(datetime.timedelta(hours=-3))])),
)


@given(st.dictionaries(st.text("ab./", min_size=1), st.one_of(DATES, st.lists(DATES, max_size=2)), max_size=3))
def test_dates_are_written_where_they_are_allowed(document):
    text = toml.dump({"x": document}, dates=True, quoted_headers=True)
    assert tomlkit.parse(text).unwrap() == {"x": document}
    assert toml.parse(text) == {"x": document}
    if document and any(document.values()):
        with pytest.raises(SpecError):
            toml.dump({"x": document})


@given(DOCUMENT, st.booleans())
def test_both_readers_and_two_runs_agree_on_what_is_written(document, quoted_headers):
    text = toml.dump(document, quoted_headers=quoted_headers)
    assert same(tomlkit.parse(text).unwrap(), document)
    assert same(read(text), document)
    assert text == toml.dump(dict(reversed(document.items())), quoted_headers=quoted_headers)
