# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems as lines: one line for any content, sorted, each once, never a traceback."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import (
    MOST_SUGGESTIONS,
    Problem,
    Problems,
    SpecError,
    joined,
    listed,
    nearest,
    shown,
)
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.lint import lint
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import problems_of
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import anything

HUGE = 10**5000
"""Python refuses to print integers of more than 4,300 digits."""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", '"a"'),
        (7, "7"),
        (None, "null"),
        (True, "true"),
        ([1, {"b": 2}], '[1, {"b": 2}]'),
        ("ü\n", '"\\u00fc\\n"'),
        ("\ud800", '"\\ud800"'),
        ("x" * 78, '"' + "x" * 78 + '"'),
        ("x" * 79, '"' + "x" * 79 + "… (81 characters)"),
        (b"x", '"<bytes>"'),
        (HUGE, '"<int>"'),
        ({1, 2}, '"<set>"'),
    ],
    ids=lambda value: str(value)[:20] if value is not HUGE else "huge",
)
def test_shown(value: Any, expected: str) -> None:
    assert shown(value) == expected


def test_shown_of_what_contains_itself() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert shown(loop) == '"<list>"'


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("labels", "labels"),
        ("lables", "labels"),
        ("LABELS", "labels"),
        ("max-pods", "max_pods"),
        ("maxPods", "max_pods"),
        ("colour", None),
        ("", None),
        (7, None),
        (None, None),
        (HUGE, None),
        ("x" * 10**6, None),
    ],
    ids=lambda value: str(value)[:20] if value is not HUGE else "huge",
)
def test_nearest(word: Any, expected: str | None) -> None:
    assert nearest(word, ["max_pods", "labels", "taints"]) == expected


UNKNOWN = MOST_SUGGESTIONS + 10
MANY = {
    "feature gates of kubelet": lambda: "  kubelet:\n    config:\n      featureGates:\n" + lines(8, "MemoryQoSs"),
    "fields of kubelet": lambda: "  kubelet:\n    config:\n" + lines(6, "maxPodss"),
    "flags of kubelet": lambda: "  kubelet:\n    flags:\n" + "".join(f"    - --max-podss{number}=1\n" for number in range(UNKNOWN)),
    "feature gates of nodeadm": lambda: "  featureGates:\n" + lines(4, "FastImagePulls"),
    "fields of nodeadm": lambda: lines(2, "kubelets"),
}


def lines(indent: int, name: str) -> str:
    return "".join(f"{' ' * indent}{name}{number}: true\n" for number in range(UNKNOWN))


@pytest.mark.parametrize("text", MANY.values(), ids=MANY)
def test_thousands_of_unknown_names_get_few_suggestions(text: Callable[[], str]) -> None:
    document = f"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n{text()}"
    unknown = [one for one in lint(document, "al2023", (1, 33)).findings if ".unknown_" in one.rule.id]
    suggested = [one for one in unknown if mentions(one.fix, "rename")]
    assert (len(unknown), len(suggested)) == (UNKNOWN, MOST_SUGGESTIONS)
    assert suggested == unknown[:MOST_SUGGESTIONS]


def test_nearest_is_the_same_whatever_the_order() -> None:
    assert nearest("ab", ["abc", "abd"]) == nearest("ab", ["abd", "abc"])


@pytest.mark.parametrize(
    ("path", "key", "expected"),
    [
        ("a", "b", "a.b"),
        ("", "b", "b"),
        ("a", 0, "a[0]"),
        ("a", "max-pods", "a.max-pods"),
        ("a", "x/y", 'a["x/y"]'),
        ("a", "x.y", 'a["x.y"]'),
        ("a", "", 'a[""]'),
        ("a", "ü", 'a["\\u00fc"]'),
        ("a", "x\ny", 'a["x\\ny"]'),
        ("a", True, "a.True"),
        ("a", "x" * 80, "a." + "x" * 80),
        ("a", "x" * 81, 'a["' + "x" * 79 + "… (83 characters)]"),
        ("a", HUGE, "a[<int>]"),
    ],
    ids=lambda value: str(value)[:20] if value is not HUGE else "huge",
)
def test_joined(path: str, key: Any, expected: str) -> None:
    assert joined(path, key) == expected


def test_listed_leaves_out_a_long_list_beside_a_guess() -> None:
    many = [f"n{number}" for number in range(13)]
    assert listed(["a", "b"], "a") == "a, b"
    assert listed(many) == ", ".join(many)
    assert listed(many, "n1") is None


def test_a_problem_is_one_line_in_a_fixed_order(golden_message: GoldenMessages) -> None:
    golden_message(Problem("input.conflict", "a.b", "is wrong", 7, "1 to 5", "five", "write five"))
    golden_message(Problem("input.conflict", "a.b", "is wrong", 7, "1 to 5", "five", "write fives"))
    golden_message(Problem("input.conflict", "a", "is wrong", fix="c"))
    golden_message(Problem("input.conflict", "a", "is wrong", allowed="b"))
    golden_message(Problem("input.conflict", "a", "is wrong", None))
    assert str(Problem("input.conflict", "a\nb", "is\x1b[0m", fix="c\rd")) == "a\\nb: is\\x1b[0m; fix: c\\rd"
    assert not Problem("input.conflict", "a", "b").has_value
    assert Problem("input.conflict", "a", "b", None).has_value


def test_an_error_sorts_its_problems_and_says_each_once() -> None:
    error = SpecError(
        [
            Problem("input.conflict", "b", "x"),
            Problem("input.conflict", "a", "y"),
            Problem("input.conflict", "b", "x"),
            Problem("input.conflict", "a", "x"),
        ]
    )
    assert [(problem.path, problem.message) for problem in error.problems] == [("a", "x"), ("a", "y"), ("b", "x")]
    assert len(error.problems) == 3


def test_problems_know_what_they_touch() -> None:
    problems = Problems()
    assert not problems
    problems.raise_any()
    problems.add("input.conflict", "a.b[0].c", "x")
    assert problems.touches("a")
    assert problems.touches("a.b")
    assert problems.touches("a.b[0].c")
    assert not problems.touches("a.b[0].cd")
    assert not problems.touches("a.b[0].c.d")
    assert len(problems) == 1
    assert problems_of(problems.raise_any) == [("input.conflict", "a.b[0].c")]


def test_a_rule_must_be_in_the_catalogue() -> None:
    with pytest.raises(LookupError):
        Problem("input.no_such_rule", "a", "x")
    with pytest.raises(TypeError):
        Problem("input.conflict", "a")  # type: ignore[call-arg]


def test_a_problem_without_a_fix_has_the_fix_of_its_rule() -> None:
    assert Problem("toml.missing_package", "a", "x").advice == "pip install tomlkit"
    assert Problem("toml.missing_package", "a", "x", fix="y").advice == "y"
    assert Problem("toml.missing_package", "a", "x", allowed="y").advice is None


def test_plain_data_of_a_problem_has_no_value() -> None:
    problem = Problem("input.conflict", "node_groups[3].a\n", "x\ny", "hunter2", fix="z", group="web")
    expected = {"rule": "input.conflict", "path": "node_groups[3].a\\n", "message": "x\\ny", "fix": "z", "group": "web"}
    assert problem.plain() == expected


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("node_groups[3].labels", "node_groups[3] (web).labels"),
        ("sources[0].node_groups[12]", "sources[0].node_groups[12] (web)"),
        ("cluster.name", "cluster.name"),
        ('node_group.labels["node_groups[1]"]', 'node_group.labels["node_groups[1]"]'),
        ("node_group", "node_group"),
        ("node_groups", "node_groups"),
        ('cluster["node_group.x"]', 'cluster["node_group.x"]'),
    ],
)
def test_a_message_names_the_group(path: str, where: str) -> None:
    assert Problem("input.conflict", path, "x", group="web").where == where
    assert Problem("input.conflict", path, "x").where == path


@pytest.mark.parametrize("group", [{"name": "web"}, {"name": "x" * 64}, {"name": ""}, {"name": 3}, {}, None, "web"])
def test_an_error_gets_the_name_of_its_group(group: Any) -> None:
    error = SpecError([Problem("input.conflict", "node_group.labels", "x"), Problem("input.conflict", "cluster.name", "x")])
    groups = {problem.path: problem.group for problem in error.in_group(group).problems}
    assert groups == {"node_group.labels": "web" if group == {"name": "web"} else None, "cluster.name": None}


def test_every_line_can_show_its_rule() -> None:
    error = SpecError([Problem("input.conflict", "b", "x"), Problem("input.empty", "a", "x")])
    assert [line.rpartition(" ")[2] for line in error.with_rules().split("\n")] == ["[input.empty]", "[input.conflict]"]


def test_a_value_can_be_withheld() -> None:
    problems = Problems()
    problems.add("input.conflict", "a", "x", value="secret")
    problems.add("input.conflict", "b", "x", value="open")
    problems.add("input.conflict", "c", "x")
    problems.withhold_values(lambda problem: problem.value == "secret")
    assert [(problem.path, problem.has_value) for problem in problems] == [("a", False), ("b", True), ("c", False)]


@given(anything, st.text(), st.text())
def test_any_value_is_shown_in_one_line(value: Any, path: str, message: str) -> None:
    assert str(Problem("input.conflict", path, message, value)).isprintable()
    if isinstance(value, Hashable):
        assert joined(path, value).startswith(path)
