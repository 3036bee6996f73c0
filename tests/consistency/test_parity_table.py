# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/parity.md: every weakness has a row, every row names a test, every test named there exists."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from itertools import pairwise

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.importers import eksctl_fields
from ansible_collections.nodebootstrap.eks.tests.consistency import project

PAGE = "docs/parity.md"
IDS = (
    *(f"W-{number:02}" for number in range(1, 43)),
    *(f"5A-{number}" for number in range(1, 14)),
    *(f"5B-{number}" for number in range(1, 15)),
    *(f"5C-{number}" for number in range(1, 15)),
)
NODE_ID = re.compile(r"`(tests/[^`]+\.py::[^`]+)`")


def rows(text: str) -> list[str]:
    """The rows of every table, without heads and rules."""
    lines = text.splitlines()
    return [line for before, line in pairwise(lines) if line.startswith("| ") and before.startswith("|") and not line.startswith("| ---")]


def ids_of(text: str) -> list[str]:
    """The ids of weaknesses that have a row, in order."""
    return [found[1] for row in rows(text) if (found := re.match(r"\| (W-\d\d|5[ABC]-\d+) \|", row))]


def missing_tests(text: str, collected: frozenset[str]) -> list[str]:
    """The tests that a page names and pytest does not find: a test is named with its parameters, or without for all of them."""
    functions = {name.partition("[")[0] for name in collected}
    return [name for name in NODE_ID.findall(text) if name not in collected and name not in functions]


@cache
def collected() -> frozenset[str]:
    """The ids of all tests in the files that the page names."""
    files = sorted({name.partition("::")[0] for name in NODE_ID.findall(project.text(PAGE)) if "test_parity_table" not in name})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files]
    listed = subprocess.run(command, cwd=project.TOP, check=True, capture_output=True, text=True).stdout
    own = {f"tests/consistency/test_parity_table.py::{name}" for name in globals() if name.startswith("test_")}
    return frozenset({line for line in listed.splitlines() if "::" in line} | own)


def test_every_weakness_has_one_row() -> None:
    assert ids_of(project.text(PAGE)) == list(IDS)


def test_every_row_names_a_test() -> None:
    assert [row for row in rows(project.text(PAGE)) if not NODE_ID.search(row)] == []


def test_every_named_test_exists() -> None:
    assert missing_tests(project.text(PAGE), collected()) == []


@pytest.mark.parametrize("name", sorted({*eksctl_fields.SELF_MANAGED_OURS, *eksctl_fields.MANAGED_OURS} - {"name"}))
def test_every_field_that_is_translated_is_on_the_page(name: str) -> None:
    assert re.search(rf"`(?:managedNodeGroups\[\]\.)?{name}\b", project.text(PAGE))


def test_the_checks_find_what_they_look_for() -> None:
    page = "| Id | Test |\n| --- | --- |\n| W-01 | `tests/a.py::test_x[y]` |\n| W-03 | `tests/a.py::test_z` |\n"
    assert ids_of(page) == ["W-01", "W-03"]
    assert missing_tests(page, frozenset({"tests/a.py::test_x[z]", "tests/a.py::test_z[1]"})) == ["tests/a.py::test_x[y]"]
