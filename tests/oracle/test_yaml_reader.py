# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML between us and the reader inside nodeadm and kubelet (sigs.k8s.io/yaml 1.6, a small Go program beside this file).

What we write comes back from it, from PyYAML and from a YAML 1.2 reader; what it reads, we read alike.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import yaml_reader
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.tests.oracle import go_programs

HERE = Path(__file__).parent

Reader = Callable[[list[str]], list[dict[str, Any]]]


@pytest.fixture(scope="session")
def go_reader() -> Reader:
    """Asks the Go reader about many documents at once: one {"json": …} or {"error": …} each."""
    program = go_programs.built("yaml_reader")

    def ask(documents: list[str]) -> list[dict[str, Any]]:
        lines = "\n".join(json.dumps(document) for document in documents)
        answers = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout
        return [json.loads(line) for line in answers.split("\n") if line]

    return ask


def same(one: Any, other: Any) -> bool:
    """Equality that tells true from 1 and "1" from 1, but not 1 from 1.0, as JSON does."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, float) or isinstance(other, float):
        return isinstance(one, (int, float)) and isinstance(other, (int, float)) and float(one) == float(other)
    return type(one) is type(other) and bool(one == other)


# --- What we write -----------------------------------------------------------------------------------------------------------

# fmt: off
HOSTILE = [
    "y", "n", "Y", "N", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF", "yEs", "oN",
    "true", "True", "TRUE", "tRue", "false", "False", "FALSE", "null", "Null", "NULL", "nUll", "~", "", " ", "  ", "\t", "\n", "\n\n",
    "0", "1", "-1", "+5", "-0", "010", "08", "09", "0o17", "0O17", "0o8", "0x1F", "0X1F", "0xg", "0b11", "0B11", "0b2", "1_000", "_1",
    "1_",
    "1.0", "5.", ".5", ".5_0", "1e3", "1E3", "1e+3", "1e-3", "1.5e3", "1e", "e1", ".inf", "-.inf", "+.Inf", ".nan", ".NaN", "inf", "nan",
    "Infinity",
    "1:30", "12:30:45", "190:20:30.15", "2026-01-02", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10 -5", "10.100.0.0/16",
    "1.2.3.4",
    "=", "<<", "-", "--", "---", "---a", "...", "...a", "--- x", "- a", "-a", "--a", "--a=b", "--node-labels=a=b,c=d", "?", "? a", "?a",
    ":", ": a", ":a",
    "a:", "a: b", "a:b", "a :b", "a #b", "a#b", "#a", " #a", "a ", " a", "a\t", "\ta", "a\tb", "a\t#b", ",", "a,b", "[", "]", "{", "}",
    "[a]", "{a}", "{a: b}",
    "&a", "*a", "!a", "!!str", "! ", "|", "|-", ">", ">-", "%", "%YAML 1.1", "@", "`", "'", '"', "'a'", '"a"', "it's", 'say "x"', "'\"",
    "\\", "\\n", "a\\",
    "a\nb", "a\nb\n", "a\n\nb\n\n", "\na", " a\nb", "a\n b", "a\n  b\nc", "a \nb ", "a\n ", "a\n\t", "\ta\nb", "a\n\tb\n", "a\n---\nb\n",
    "---\na\n", "...\na\n",
    "#!/bin/bash\necho 'hi' # x\n", "a: b\nc: d\n", "- a\n- b\n", "# a\nb\n", "a\r\nb\r\n", "a\rb", "a\n\n\n",
    "key = 'v'\n[a.\"b.c\"]\n", "x\n" * 50,
    "é", "日本", "\U0001f600", "\U0010ffff", "a\nü\n", "\x85", "a\x85b", "\u2028", "a\u2029b", "\ufeff", "a\ufeffb", "\u200b", "\xa0",
    "\ufffe", "\uffff", "\u0000", "a\0b",
    "\x01", "\x07", "\x08", "\x0b", "\x0c", "\x1b", "\x1f", "\x7f", "\x80", "\x9f", "a" * 80, "a b " * 50, "a" * 999, "a" * 1000,
    "a" * 1024, "a b" * 500, "\n" * 1100,
    "LS0tLS1CRUdJTg==", "https://EXAMPLE.gr7.us-west-2.eks.amazonaws.com", "a=", "=a", "a/b:c", "arn:aws:iam::1:role/x", "5%", "100Mi",
    "50%,a", "/a b", "~.", "~a",
]
# fmt: on


def readers_agree(values: list[Any], go_reader: Reader) -> None:
    texts = [yaml.dump(value) for value in values]
    for value, text, answer in zip(values, texts, go_reader(texts), strict=True):
        assert text.isascii() and text.endswith("\n"), text
        assert same(answer.get("json"), value), f"Go reads {answer} from {text!r}"
        assert same(yaml.load(text), value), f"we read {yaml.load(text)!r} from {text!r}"
        assert same(pyyaml.safe_load(text), value), f"PyYAML reads {pyyaml.safe_load(text)!r} from {text!r}"
        modern = YAML(typ="safe", pure=True).load(text)
        assert same(modern, value), f"YAML 1.2 reads {modern!r} from {text!r}"


def test_hostile_strings_as_values(go_reader: Reader) -> None:
    readers_agree(HOSTILE, go_reader)
    readers_agree([{"a": text} for text in HOSTILE], go_reader)
    readers_agree([{"a": [text, [text, {"b": text}]]} for text in HOSTILE], go_reader)


def test_hostile_strings_as_keys(go_reader: Reader) -> None:
    readers_agree([{text: 1} for text in HOSTILE], go_reader)
    readers_agree([{"a": [{text: {text: [text]}, "b": {}}]} for text in HOSTILE], go_reader)
    readers_agree([{text: text for text in HOSTILE}], go_reader)


CHARACTERS = st.characters(exclude_categories=["Cs"])
LINES = st.lists(st.text(st.one_of(st.sampled_from(" \t#:-'\"ay0"), CHARACTERS), max_size=12), min_size=2, max_size=5).map("\n".join)
TEXTS = st.one_of(st.text(CHARACTERS, max_size=30), st.text("0123456789abefxoyn_.:+-eE~ ", max_size=8), LINES, st.sampled_from(HOSTILE))
NUMBERS = st.one_of(st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False, allow_infinity=False))
VALUES = st.recursive(
    st.one_of(TEXTS, NUMBERS, st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


@given(st.lists(VALUES, min_size=15, max_size=25))
def test_any_value(go_reader: Reader, values: list[Any]) -> None:
    readers_agree(values, go_reader)


# --- What it reads -----------------------------------------------------------------------------------------------------------

SCALARS = [text for text in HOSTILE if "\n" not in text and len(text) < 100]
# fmt: off
TRICKY = [
    "", "\n", "# only a comment\n", "---\n", "---\n...\n", "---\na: 1\n---\nb: 2\n", "a: 1\n...\nnot: [yaml\n", "%YAML 1.1\n---\na: y\n",
    "%FOO\n---\na\n",
    "{y: 1, n: 2}", "{1: a, 1.5: b, true: c}", "{~: 1}", "{null: 1}", "{[a]: 1}", "{{a: 1}: 1}", "? [a]\n: 1\n", "? a\n: b\n", "? a\n",
    "{? a}", "{a, b}",
    "a: &x {b: 1}\nc: *x\n", "a: *x\n", "&a [*a]", "a: &x y\nb: *x\n", "{&k y: 1, *k : 2}", "x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\n",
    "x: &x {a: 1}\ny: {b: 2, <<: *x, c: 3}\n", "x: &x {a: 1}\nz: &z {a: 2}\ny: {<<: [*x, *z]}\n", "{<<: a}", "{<<: [a]}", '{"<<": a}',
    "{!!merge <<: {a: 1}}",
    "a:\tb\n", "a: b\t\n", "a: b\tc\n", "a: b \t# c\n", "\ta: b\n", "a:\n\tb: c\n", "a:\n  b\n\tc\n", "[a,\tb]", "- \ta\n", "-\ta\n",
    "a: |\n\tb\n", "a: |\n  b\n\tc\n",
    "a: b: c\n", "a: 'b\n", 'a: "b\n', "a: [b\n", "a: {b\n", "a: ]\n", "- a\nb: c\n", "a: 1\n b: 2\n", "a:\n- b\n-c\n", "a\nb: c\n",
    "a: @b\n", "a: `b\n", "a: %b\n", "a: b%c\n",
    "a: |\n  b\n   c\n", "a: |-\n  b\n\n", "a: |+\n  b\n\n", "a: >\n  b\n  c\n\n  d\n", "a: |2\n   b\n", "a: |\n\n  b\n", "a: |\n",
    "|\n a\n", "a: |\n b\nc: d\n", "a: >-\n  b\n",
    "a: b\n c\n", "a: b\n\n c\n", "a: 'b\n  c'\n", 'a: "b\n  c"\n', 'a: "b\\\n  c"\n',
    'a: "\\x41\\u00e9\\U0001F600\\N\\_\\L\\P\\e\\0\\/"\n', 'a: "\\q"\n', "a: 'it''s'\n",
    'a: "\\ud83d\\ude00"\n', 'a: "\\U00110000"\n', "a: \x01\n", "a: \x7f\n", "a: é\n", "a: \x85b\n", "a: b\u2028c\n", "\ufeffa: b\n",
    "a: \ufeffb\n", "a: \U0001f600\n",
    "!!str 5", "!!int '5'", "!!int x", "!!float 5", "!!float x", "!!bool yes", "!!bool x", "!!null ''", "!!null x", "!!binary aGk=",
    "!!binary x", "!foo 5", "! 5", "! '5'",
    "!!timestamp 2001-01-01", "!!timestamp x", "!!set {a, b}", "!!omap [a: 1]", "!!map [a]", "!<tag:yaml.org,2002:int> '7'", "!e!a b",
    "%TAG !e! tag:yaml.org,2002:\n---\n!e!int '3'\n",
    "{a: .inf}", "{.inf: a}", "{.nan: a}", "{1e3: a, 1e10: b, 0.00001: c, 123456789.5: d}",
    "[1e400, 1e20, 1e21, 1e-7, 18446744073709551615, 18446744073709551616]",
    "{12:30:45: here}", "{a:1}", "{a: http://x/y}", "[a:b, c: d]", "{'a':1}", '{"a":1}', "[?a, ?]", "{a: [b, c], }", "[a, , b]", "[,]",
    "{,}", "[-1, - 1]", "-- a", "--- a", "---a",
    "!a/b!c x", "!'!in x", "!!str\ta", "!a\tb", "!\ta", "!! a", "!a! b", "!a!b!c x", "!<x%41> b", "!!%73tr 5", "!%zz a", "!%ff a",
    "[!!str,a]", "!<x>a",
    "a: |\t\n  b\n", "a: |-\t# c\n  b\n", "a: |2\t\n   b\n", "a: |0\n b\n", "a: |12\n b\n", "a: |#c\n b\n", "a: |\tx\n b\n",
    *[f"%YAML {version}\n---\na: y\n" for version in ("1.0", "1.2", "2.0", "1.01", "1", "1.1.1", "1.1x", "1.1 x", "01.1", "0000000001.1")],
    "%YAML\t1.1\n---\na\n", "%YAML 1.1\t# c\n---\na\n", "%YAML 1.1#c\n---\na\n", "%YAML 1.1\n%YAML 1.1\n---\na\n", "%YAML\n---\na\n",
    "%TAG\t!e!\ttag:yaml.org,2002:\t\n---\n!e!int '3'\n", "%TAG ! tag:yaml.org,2002:\n---\n!int '3'\n", "%TAG !e tag:x\n---\na\n",
    "%TAG\n---\na\n",
    "- \ufeffa: b\n  c: d\n", "\ufeff a\n", "---\n\ufeffa\n",
]
# fmt: on


def verdict(text: str, strict: bool) -> dict[str, Any]:
    try:
        return {"json": yaml.load(text, strict=strict)}
    except yaml.YamlError as error:
        return {"error": str(error)}


def agree(texts: list[str], go_reader: Reader) -> None:
    for text, answer in zip(texts, go_reader(texts), strict=True):
        ours = verdict(text, strict=False)
        assert ours.keys() == answer.keys(), f"{text!r}: Go {answer}, we {ours}"
        assert "error" in ours or same(ours["json"], answer["json"]), f"{text!r}: Go {answer}, we {ours}"


def test_reads_scalars_alike(go_reader: Reader) -> None:
    agree([f"a: {text}\n" for text in SCALARS], go_reader)
    agree([f"? {text}\n: 1\n" for text in SCALARS], go_reader)
    agree([f"- {text}\n- [{text}]\n" for text in SCALARS], go_reader)


def test_reads_tricky_documents_alike(go_reader: Reader) -> None:
    agree(TRICKY, go_reader)


def test_reads_recorded_node_configs_alike(go_reader: Reader) -> None:
    cases = json.loads((HERE / "data" / "nodeadm.json").read_text())["cases"]
    agree([case["user_data"] for case in cases if case["group"] == "decode"], go_reader)


def test_the_reader_on_the_node_reads_nothing_else(go_reader: Reader) -> None:
    cases = json.loads((HERE / "data" / "nodeadm.json").read_text())["cases"]
    texts = [*(f"a: {text}\n" for text in SCALARS), *TRICKY, *(case["user_data"] for case in cases if case["group"] == "decode")]
    count = 0
    for text, answer in zip(texts, go_reader(texts), strict=True):
        try:
            ours = yaml_reader.parse(text)
        except yaml_reader.YamlError:
            continue
        # kubelet reads JSON without this reader. What it refuses shows in its log.
        if "json" in answer and text[:1] not in "[{":
            assert same(ours, answer["json"]), f"{text!r}: Go {answer}, the node {ours!r}"
            count += 1
    assert count > len(SCALARS) / 2


@given(st.lists(st.text("0123456789abefxoXOB_.+-eEyn", min_size=1, max_size=8), min_size=20, max_size=40))
def test_reads_any_number_alike(go_reader: Reader, texts: list[str]) -> None:
    agree([f"a: {text}\n" for text in texts], go_reader)


TOKENS = [
    "a",
    "b",
    "y",
    "1",
    " ",
    "  ",
    "\n",
    "\n  ",
    "\n    ",
    "\n- ",
    "\n  - ",
    ": ",
    ":",
    "- ",
    "-",
    "{",
    "}",
    "[",
    "]",
    ", ",
    ",",
    '"x"',
    "'y'",
]
TOKENS += [
    " #c",
    "&a ",
    "*a",
    "!!str ",
    "!f ",
    "|\n",
    "|-\n",
    ">\n ",
    "\t",
    "? ",
    "\n? ",
    "\n: ",
    "\n---\n",
    "\n...\n",
    "<<: ",
    '"',
    "'",
    "%",
    "@",
    "\\n",
    "\r\n",
]
TOKENS += ["\x85", "\u2028", "é", "~", "=", "\n\n", "  x: 1\n", "k: v\n"]


@given(st.lists(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=12).map("".join), min_size=30, max_size=50))
def test_never_reads_something_else(go_reader: Reader, texts: list[str]) -> None:
    """For any text: if we read it at all, the node reads the same."""
    for text, answer in zip(texts, go_reader(texts), strict=True):
        ours = verdict(text, strict=False)
        assert "error" in ours or ("json" in answer and same(ours["json"], answer["json"])), f"{text!r}: Go {answer}, we {ours}"


def test_the_comparison_can_fail(go_reader: Reader) -> None:
    """PyYAML's own output is misread by the node: the reason for all of this."""
    assert [answer["json"] for answer in go_reader([pyyaml.safe_dump({"a": text}) for text in ("y", "08", "1e3")])] == [
        {"a": True},
        {"a": 8},
        {"a": 1000},
    ]
    assert not same({"a": True}, {"a": 1}) and not same("1", 1)
