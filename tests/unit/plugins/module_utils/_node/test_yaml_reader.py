# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML on the node: both parts of the reader read it like the library, which tests/oracle/test_yaml_reader.py compares with kubelet's."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import yaml_parser, yaml_reader
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml as of_the_library

SCALARS = [
    "y", "N", "yes", "oN", "On", "OFF", "true", "tRue", "null", "nUll", "~", "0", "-1", "+5", "-0", "010", "08", "0o17", "0x1F", "0xg",
    "0b11", "0b2", "1_000", "_1", "1.0", "5.", ".5", ".5_0", "1e3", "1E3", "1.5e3", "1e", "e1", "1e400", "inf", "1:30", "190:20:30.15",
    "2026-01-02", "10.100.0.0/16", "1.2.3.4", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1.30", "v1.30",
    "--node-labels=a=b,c=d", "a:b", "a#b", "arn:aws:iam::111122223333:role/x", "70m", "100Mi", "10%", "0.5", "-.5", "+.5", "..", ".",
]  # fmt: skip
WHOLE = """\
---
# kubelet
kind: KubeletConfiguration
maxPods: 29
kubeReserved: {cpu: 70m, memory: "574Mi", pid: 1000}
clusterDNS: [10.100.0.10]
featureGates:
  A: true
  "B": off
registerWithTaints:
- key: k
  value: 'yes'
  effect: NoSchedule
-
  key: 5
evictionHard:
    memory.available: 100Mi
3: empty
nothing:
...
"""


def of_pyyaml(text: str) -> Any:
    return yaml_parser.parse_with_pyyaml(text)


def as_in_go(text: str) -> str:
    """The value as kubelet reads it, as text: true is not 1, and 1 is 1.0."""
    return json.dumps(of_the_library.load(text, strict=False), sort_keys=True)


@pytest.mark.parametrize("read", [yaml_parser.parse_plainly, of_pyyaml])
@pytest.mark.parametrize("scalar", SCALARS)
def test_plain_scalars_are_read_as_kubelet_reads_them(scalar: str, read: Any) -> None:
    text = f"a: {scalar}\n"
    assert json.dumps(read(text)) == as_in_go(text)


@pytest.mark.parametrize("read", [yaml_parser.parse_plainly, of_pyyaml])
def test_a_configuration_is_read_as_kubelet_reads_it(read: Any) -> None:
    assert json.dumps(read(WHOLE), sort_keys=True) == as_in_go(WHOLE)
    assert read(WHOLE)["featureGates"] == {"A": True, "B": False} and read(WHOLE)["3"] == "empty"


@pytest.mark.parametrize("text", ["a: 1\n---\na: 2\n", "---\na: 1\n...\nb: [\n", "--- # x\na: 1\n---\n"])
def test_the_first_document_counts(text: str) -> None:
    assert yaml_reader.parse(text) == {"a": 1}


@pytest.mark.parametrize(
    "text",
    [
        "a: >-\n  folded\n  text\n", "a: &x [1]\nb: *x\n", "base: &b {a: 1}\nc:\n  <<: *b\n  d: 2\n", "a: plain\n  goes on\n",
        "a: |\n  one: 1\n", "a: é\n", "? a\n: y\n", "a: 0o17\nb: |\n  1:30\n", 'a: "x\n  y"\n',
    ],
)  # fmt: skip
def test_what_our_parser_does_not_know_is_left_to_pyyaml(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert json.dumps(yaml_reader.parse(text), sort_keys=True) == as_in_go(text)
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(yaml_reader.YamlError) as caught:
        yaml_reader.parse(text)
    assert caught.value.lacks_pyyaml


@pytest.mark.parametrize(
    "text", ["{{{", "a: [1, 2", "\ta: 1", "a: 'b' c", "a: .nan", "a: -.inf\n", "a: b: c", "a: \"\\q\"", "\0", "? \n: 1\n", "? true\n: 1\n",
             "a: !!str 1\n", "a: ! x\n"],
)  # fmt: skip
def test_text_that_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(yaml_reader.YamlError) as caught:
        yaml_reader.parse(text)
    assert not caught.value.lacks_pyyaml


@pytest.mark.parametrize(
    "text",
    ["", "   \n# x\n", "{{{", "a: &x 1", "a: *x", "a: !x 1", "a: |\n  b", "a\n", "\ta: 1", "a: [1, 2", "a: {b}", "a: 1\na: 2",
     "a: 1\n   b: 2", "a: 'b' c", "a: b: c", "a:\n    b: 1\n  c: 2", "- a\n b", "a: [" * 5000, "- " * 5000 + "a", "a: \"\\q\"",
     "a: 'b", "a: ]b", "a: }", "a: ,b", "a: - b", "a: ? b", "[a: 'b]",
     "a: b\u2028c: d", "a: b\x85c: d", "<<: {a: 1}", "null: 1", "1.5: 1", "a: .inf"],
)  # fmt: skip
def test_what_our_parser_does_not_know_is_refused(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        yaml_parser.parse_plainly(text)


def test_errors_name_a_line_and_show_nothing() -> None:
    for text in ("a: b\ntoken cAnArY\n", "a: b\n\npassword: &cAnArY: x\n", "a: 'b' cAnArY\n", "a: |\n  cAnArY\n b: [\n"):
        with pytest.raises(yaml_reader.YamlError) as caught:
            yaml_reader.parse(text)
        assert "cAnArY" not in str(caught.value) and str(caught.value).startswith("line ")


WORD = st.text(alphabet="abcXYZ019-_./:#'\"{}[],&*!|>%@` \\", max_size=12)
VALUES = st.dictionaries(
    st.sampled_from(["a", "b-c", "server", "d.e"]), st.one_of(WORD, st.lists(WORD, max_size=3)), min_size=1, max_size=4
)


@given(value=VALUES)
def test_it_reads_what_a_writer_of_yaml_writes_or_refuses(value: dict[str, Any]) -> None:
    text = pyyaml.safe_dump(value, width=1000)
    try:
        found = yaml_parser.parse_plainly(text)
    except ValueError:
        return
    assert json.dumps(found, sort_keys=True) == as_in_go(text)


@given(value=VALUES)
def test_it_reads_what_the_library_writes(value: dict[str, Any]) -> None:
    assert yaml_reader.parse(of_the_library.dump(value)) == value


# fmt: off
FRAGMENTS = [
    "a", "b", "- ", ": ", "\n", "  ", "    ", "{", "}", "[", "]", ", ", "'x'", '"y"', "1", "0o7", "yes", "~", "# c", "- - 1", "a: 1\n",
    "a:\n  b: 2\n", "- a: 1\n  b: 2\n", "key: [1, {a: b}]\n", "'", '"', "---\n", "|\n", "&x ", "*x", "<<: ", "!!str ", "?", ".5", "1_0",
]
# fmt: on


@given(
    st.one_of(
        st.text(alphabet="0123456789abcdefxoXOB_.+-:eEinfyNT", min_size=1, max_size=12).map(lambda scalar: f"a: {scalar}\n"),
        st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=9).map("".join),
    )
)
def test_neither_part_reads_something_else_than_kubelet(text: str) -> None:
    for read in (yaml_parser.parse_plainly, of_pyyaml):
        try:
            found = read(text)
        except (ValueError, pyyaml.YAMLError):
            continue
        assert json.dumps(found, sort_keys=True) == as_in_go(text)
