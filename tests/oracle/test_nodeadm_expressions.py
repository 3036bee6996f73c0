# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""maxPodsExpression comes to what Google's own Common Expression Language, the one inside nodeadm, makes of it (a small Go program)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig.expression_values import ExpressionError, UnsupportedExpression
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig.expressions import evaluate
from ansible_collections.nodebootstrap.eks.tests.oracle import go_programs
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.nodeconfig.test_expressions import (
    LEFT_TO_CEL,
    M5_LARGE,
    NUMBERS,
    REFUSED,
)

#: Expressions → what CEL makes of each, None where it makes no number.
Cel = Callable[[list[str]], list[int | None]]


@pytest.fixture(scope="session")
def cel() -> Cel:
    program = go_programs.built("cel_reader")

    def ask(expressions: list[str]) -> list[int | None]:
        lines = "\n".join(json.dumps({"expression": expression, "variables": M5_LARGE}) for expression in expressions)
        answers = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout
        return [json.loads(line).get("number") for line in answers.splitlines()]

    return ask


def ours(expression: str) -> int | str | None:
    try:
        return evaluate(expression, M5_LARGE)
    except ExpressionError:
        return None
    except UnsupportedExpression:
        return "left to CEL"


def differing(cel: Cel, expressions: list[str]) -> list[tuple[str, int | str | None, int | None]]:
    found = [(expression, ours(expression), theirs) for expression, theirs in zip(expressions, cel(expressions), strict=True)]
    return [row for row in found if row[1] not in ("left to CEL", row[2])]


def test_the_tables_of_the_unit_tests_are_right(cel: Cel) -> None:
    assert dict(zip(NUMBERS, cel(list(NUMBERS)), strict=True)) == NUMBERS
    assert [expression for expression, number in zip(REFUSED, cel(REFUSED), strict=True) if number is not None] == []
    assert any(number is not None for number in cel(LEFT_TO_CEL)), "what is left to CEL may well be a number"


ATOMS = st.sampled_from(
    [
        *M5_LARGE, "0", "1", "2", "7", "10", "0x1F", "9223372036854775807", "9223372036854775808", "3u", "18446744073709551615u", "1.5",
        "0.0", "2.0", "1e300", "'a'", "'5'", "'-3'", "''", "true", "false", "unknown",
    ]
)  # fmt: skip
OPERATORS = st.sampled_from(["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"])


def larger(below: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{} {} {}".format, below, OPERATORS, below),
        st.builds("({})".format, below),
        st.builds("{}{}".format, st.sampled_from(["-", "!", "- -", "!!", "-!"]), below),
        st.builds("{} ? {} : {}".format, below, below, below),
        st.builds("{}({})".format, st.sampled_from(["int", "uint", "double", "string", "bool", "dyn", "dyn", "min"]), below),
    )


#: Expressions in which the kinds agree, more often than not.
SOUND = st.recursive(
    st.sampled_from([*M5_LARGE, "0", "1", "2", "7", "31", "9223372036854775807"]),
    lambda below: st.one_of(
        st.builds("({} {} {})".format, below, st.sampled_from(["+", "-", "*", "/", "%"]), below),
        st.builds("({} {} {} ? {} : {})".format, below, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), below, below, below),
        st.builds("-{}".format, below),
        st.builds("int({}({}))".format, st.sampled_from(["uint", "double", "string", "dyn"]), below),
    ),
    max_leaves=8,
)


@pytest.mark.fuzz
@pytest.mark.parametrize("expressions", [SOUND, st.recursive(ATOMS, larger, max_leaves=6)], ids=["sound", "any"])
def test_any_expression(cel: Cel, expressions: st.SearchStrategy[str]) -> None:
    collected: set[str] = set()

    @given(expressions)
    def collect(expression: str) -> None:
        collected.add(expression)

    collect()
    assert differing(cel, sorted(collected)) == []
    assert sum(ours(expression) == "left to CEL" for expression in collected) < len(collected) / 4
