# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.quantities import (
    parse_bool,
    parse_duration,
    parse_quantity,
)

QUANTITIES = [
    ("0", "0"),
    ("1", "1"),
    ("+1", "1"),
    ("-1", "-1"),
    ("1.", "1"),
    (".5", "0.5"),
    ("100m", "0.1"),
    ("1u", "0.000001"),
    ("1n", "0.000000001"),
    ("2k", "2000"),
    ("1.5Gi", "1610612736"),
    ("574Mi", "601882624"),
    ("1E", "1000000000000000000"),
    ("1Ei", "1152921504606846976"),
    ("1e3", "1000"),
    ("1E3", "1000"),
    ("1e-3", "0.001"),
    ("12e+2", "1200"),
]
NO_QUANTITIES = [
    "",
    ".",
    "+",
    "-",
    "1 ",
    " 1",
    "1e",
    "1K",
    "1ki",
    "1mi",
    "1Mi3",
    "1.1.M",
    "1+1.0M",
    "0.1mi",
    ".5i",
    "1i",
    "--1",
    "+-3",
    "1Me3",
]
NO_QUANTITIES += ["1e9999", "9" * 65, "١", "1\n", "NaN", "Infinity", "0x10", "1_000"]


@pytest.mark.parametrize(("text", "value"), QUANTITIES)
def test_a_quantity(text: str, value: str) -> None:
    assert parse_quantity(text) == Decimal(value)


@pytest.mark.parametrize("text", [*NO_QUANTITIES, None, 1, 1.5, True, [], {}])
def test_no_quantity(text: Any) -> None:
    assert parse_quantity(text) is None


DURATIONS = [
    ("0", "0"),
    ("-0", "0"),
    ("+0", "0"),
    ("0s", "0"),
    ("2m0s", "120"),
    ("5m0s", "300"),
    ("12h0m0s", "43200"),
    ("2m30s", "150"),
    ("1h5m", "3900"),
    ("250ms", "0.25"),
    ("1.5h", "5400"),
    (".5s", "0.5"),
    ("1.s", "1"),
    ("1s1h", "3601"),
    ("1us", "0.000001"),
    ("1µs", "0.000001"),
    ("1μs", "0.000001"),
    ("1ns", "0.000000001"),
    ("-1m", "-60"),
    ("2562047h", "9223369200"),
]


@pytest.mark.parametrize(("text", "seconds"), DURATIONS)
def test_a_duration(text: str, seconds: str) -> None:
    assert parse_duration(text) == Decimal(seconds)


@pytest.mark.parametrize(
    "text", ["", "30", "1.5", "s", ".s", "1d", "1w", "1 s", "1s ", "1h-5m", "1S", "2562048h", "٣s", "1s\n", "9" * 65 + "s", 30, None, True]
)
def test_no_duration(text: Any) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize("text", ["1", "t", "T", "true", "TRUE", "True"])
def test_a_true_boolean(text: str) -> None:
    assert parse_bool(text) is True


@pytest.mark.parametrize("text", ["0", "f", "F", "false", "FALSE", "False"])
def test_a_false_boolean(text: str) -> None:
    assert parse_bool(text) is False


@pytest.mark.parametrize("text", ["", "tRUE", "yes", "on", " true", "true ", "01", "-1", 1, True, None])
def test_no_boolean(text: Any) -> None:
    assert parse_bool(text) is None


@given(st.text())
def test_any_text_is_answered(text: str) -> None:
    for answer in (parse_quantity(text), parse_duration(text)):
        assert answer is None or isinstance(answer, Decimal)


@given(
    st.integers(-(10**18), 10**18), st.sampled_from(["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"])
)
def test_a_suffix_only_scales(number: int, suffix: str) -> None:
    unit = parse_quantity(f"1{suffix}")
    assert unit is not None
    value = parse_quantity(f"{number}{suffix}")
    assert value is not None and abs(value - number * unit) <= abs(value) * Decimal("1e-26")


@given(st.integers(0, 1000), st.integers(0, 59), st.integers(0, 59), st.integers(0, 999))
def test_the_terms_of_a_duration_add_up(hours: int, minutes: int, seconds: int, milliseconds: int) -> None:
    text = f"{hours}h{minutes}m{seconds}s{milliseconds}ms"
    assert parse_duration(text) == hours * 3600 + minutes * 60 + seconds + Decimal(milliseconds) / 1000
