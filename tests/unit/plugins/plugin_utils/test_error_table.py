# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What users read when their input is refused: the whole message, for every kind of mistake.

The inputs are in C(error_rows), the messages in C(tests/golden/errors), one file for each topic, with the same titles.
C(make golden) writes them anew; read the difference as a user would.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows import (
    access,
    anywhere,
    families,
    images,
    inputs,
    kubelet,
    locks,
    outputs,
    rules,
    tables,
    user_data,
)
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.row import Row

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "errors"
TOPICS = {
    "access": access,
    "inputs": inputs,
    "kubelet": kubelet,
    "families": families,
    "user_data": user_data,
    "outputs": outputs,
    "locks": locks,
    "rules": rules,
    "tables": tables,
    "images": images,
    "anywhere": anywhere,
}
EVERY = [(topic, row) for topic, module in TOPICS.items() for row in module.ROWS]

_LONGEST = 4096
"""Characters of a line: a longer line is not read, and a log cuts it."""


def error_of(row: Row) -> SpecError:
    """The refusal of a row's input."""
    try:
        row.call()
    except SpecError as error:
        return error
    raise AssertionError(f"not refused: {row.id}")


def read(topic: str) -> dict[str, str]:
    """The messages of a topic by the words of their rows."""
    blocks = (GOLDEN / f"{topic}.txt").read_text(encoding="utf-8").split("\n\n")
    return dict(block.removeprefix("# ").rstrip("\n").split("\n", 1) for block in blocks)


def write(topic: str, module: ModuleType) -> None:
    """Write the messages of a topic anew."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    blocks = [f"# {row.id}\n{error_of(row).with_rules()}\n" for row in module.ROWS]
    (GOLDEN / f"{topic}.txt").write_text("\n".join(blocks), encoding="utf-8")


def ids(rows: Iterable[tuple[str, Row]]) -> list[str]:
    """Names of the tests."""
    return [f"{topic}: {row.id}" for topic, row in rows]


def test_every_row_has_its_message_and_every_message_its_row() -> None:
    for topic, module in TOPICS.items():
        assert list(read(topic)) == [row.id for row in module.ROWS]
    assert len(EVERY) == len(set(ids(EVERY))) >= 100


@pytest.mark.parametrize(("topic", "row"), EVERY, ids=ids(EVERY))
def test_message(topic: str, row: Row) -> None:
    error = error_of(row)
    text = str(error)
    assert error.with_rules() == read(topic)[row.id]
    lines = text.split("\n")
    assert lines == [str(problem) for problem in error.problems]
    assert len(lines) == len(set(lines)), "a problem is said twice"
    assert [problem.path for problem in error.problems] == sorted(problem.path for problem in error.problems)
    assert all(line.isprintable() and len(line) <= _LONGEST for line in lines)
    assert all("; fix: " in line or "; allowed: " in line or ": must be " in line for line in lines), "a message says what would be right"
    assert not any(secret in text for secret in row.secrets)
