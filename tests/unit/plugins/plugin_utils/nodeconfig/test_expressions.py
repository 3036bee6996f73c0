# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""maxPodsExpression: what comes to a number, what CEL refuses, and what is left to CEL."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig.expression_values import ExpressionError, UnsupportedExpression
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig.expressions import evaluate
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

M5_LARGE = {"default_enis": 3, "ips_per_eni": 10, "max_pods": 29}

NUMBERS = {
    "42": 42,
    "0x1F": 31,
    "08": 8,
    "5u": 5,
    "1.9": 1,
    "-1.9": -1,
    ".5e1": 5,
    "'7'": 7,
    "-7 / 2": -3,
    "-7 % 2": -1,
    "7 / -2": -3,
    "7.0 / 2.0": 3,
    "2 + 3 * 4 - 6 / 2": 11,
    "(2 + 3) * 4": 20,
    "10 - 2 - 3": 5,
    "- - 5": 5,
    "-(-5)": 5,
    "!!1.5": 1,
    "- -'5'": 5,
    "1 % !!-0x1F": 1,
    "-9223372036854775808 + 1": -(2**63) + 1,
    "max_pods > 110 ? 110 : max_pods": 29,
    "max_pods > 110 ? 1 : default_enis < 2 ? 2 : 3": 3,
    "(default_enis - 1) * (ips_per_eni - 1) + 2": 20,
    "true || 1 / 0 > 0 ? 1 : 2": 1,
    "1 / 0 > 0 || true ? 1 : 2": 1,
    "false && 1 / 0 > 0 ? 1 : 2": 2,
    "1 / 0 > 0 && false ? 1 : 2": 2,
    "true ? 5 : 1 / 0": 5,
    "!(1 == 1) ? 1 : 2": 2,
    "'a' + 'b' == 'ab' ? 1 : 2": 1,
    "'a' < 'b' ? 1 : 2": 1,
    "int(5.9) + int('4') + int(3u)": 12,
    "uint(5) + 1u": 6,
    "double(3) * 1.5": 4,
    "string(12) == '12' ? 1 : 2": 1,
    "bool('true') ? 1 : 2": 1,
    "dyn(1) == 1.0 ? 1 : 2": 1,
    "dyn(1) == 'a' ? 1 : 2": 2,
    "dyn(2) + 3": 5,
    "-dyn(2) * -1": 2,
    "dyn(1) < 1.5 ? 1 : 2": 1,
    "max_pods // all of them\n + 1": 30,
}

REFUSED = [
    "", "1 +", "(1", "1)", "1 2", "foo", "min(1, 2)", "math.least(1, 2)", "1 + 1.5", "1 + 1u", "1 == 1.0", "1 < 1.5", "1 ? 2 : 3",
    "true ? 1", "true ? 1 : 2.0", "true", "'x'", "''", "'5.0'", "1 / 0", "1 % 0", "5.0 % 2.0", "true + true", "-true", "-1u", "!1",
    "-!true",
    "9223372036854775807 + 1", "9223372036854775808", "-9223372036854775808 - 1", "0u - 1u", "1u * -1", "18446744073709551616u", "1e999",
    "1e300", "0.0 / 0.0", "1.0 / 0.0", "-1.0 / 0.0", "9" * 5000, "int(true)", "int('x')", "uint(-1)", "uint(-0.5)",
    "int(-9223372036854775808.0)", "bool(1)", "int(1, 2)",
    "int()", "max_pods.foo", "max_pods[0]", "dyn(true)", "dyn(1) + dyn('a')", "dyn(1) && true", "dyn(1) ? 1 : 2",
    "-dyn('a')", "as",
    "true ? false ? 1 : 2 : 3",
]  # fmt: skip

LEFT_TO_CEL = [
    "[1, 2].size()", "size('abc')", "max_pods in [29] ? 1 : 2", "{'a': 1}.a", "'abc'.size()", "type(1) == int ? 1 : 2", "null", "b'abc'",
    "r'a' == 'a' ? 1 : 2", "'a\\n' == 'b' ? 1 : 2", "string(1.5) == '1.5' ? 1 : 2", ".max_pods", "timestamp('x')",
    "(" * 100 + "1" + ")" * 100,
    "1" + " + 1" * 300, "1 + 2;", "1 & 2",
]  # fmt: skip


@pytest.mark.parametrize(("expression", "number"), NUMBERS.items())
def test_a_number(expression: str, number: int) -> None:
    assert evaluate(expression, M5_LARGE) == number


@pytest.mark.parametrize("expression", REFUSED, ids=lambda text: text[:20])
def test_no_number(expression: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(expression, M5_LARGE)


@pytest.mark.parametrize("expression", LEFT_TO_CEL, ids=lambda text: text[:20])
def test_only_cel_can_tell(expression: str) -> None:
    with pytest.raises(UnsupportedExpression):
        evaluate(expression, M5_LARGE)


@pytest.mark.parametrize("name", ["vcpus", "physical_memory_mib"])
def test_what_newer_images_know_is_left_to_them(name: str, golden_message: GoldenMessages) -> None:
    with pytest.raises(UnsupportedExpression) as caught:
        evaluate(f"{name} * 10", M5_LARGE)
    golden_message(caught.value)


WORDS = st.sampled_from(
    [*"+-*/%<>!?:(),.[]{}0159", "==", "&&", "||", " ", "max_pods", "int(", "dyn(", "double(", "string(", "true", "'a'", "1.5", "2u"]
)


@given(st.one_of(st.lists(WORDS, max_size=12).map("".join), st.text(max_size=12)))
def test_any_text_is_a_number_or_refused(expression: str) -> None:
    with contextlib.suppress(ExpressionError, UnsupportedExpression):
        assert -(2**63) <= evaluate(expression, M5_LARGE) < 2**63
