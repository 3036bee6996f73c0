# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""tools/mutants.py: a seed chooses the same faults every time, and a fault is found again after the code has moved."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.tests.consistency import project
from ansible_collections.nodebootstrap.eks.tools.mutation import choose, operators, stages, trees

MUTANTS = json.loads(project.text("tools/mutation/mutants.json"))["mutants"]
CODE = """
def first(values, limit):
    \"\"\"Not mutated.\"\"\"
    if len(values) > limit and not values[0]:
        raise ValueError("too many values")
    count = 1
    return values[count]
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "plugins/plugin_utils/code.py"
    path.parent.mkdir(parents=True)
    path.write_text(CODE)
    return tmp_path


def test_every_layer_has_at_least_five_of_sixty_mutants() -> None:
    counts = Counter(mutant["layer"] for mutant in MUTANTS)
    assert sum(counts.values()) == len({mutant["id"] for mutant in MUTANTS}) == 60
    assert {name: count for name, count in counts.items() if count < 5} == {}
    assert set(counts) == set(choose.LAYERS)


def test_python_is_mutated_but_not_its_prose() -> None:
    found = {(mutant.operator, mutant.after) for mutant in operators.python(CODE)}
    assert found == {
        ("other comparison", "if len(values) >= limit and not values[0]"),
        ("and, or", "if len(values) > limit or not values[0]"),
        ("negate condition", "if len(values) > limit and (values[0])"),
        ("other constant", "if len(values) > limit and not values[1]"),
        ("drop statement", "pass"),
        ("other constant", "count = 2"),
        ("return nothing", "return None"),
    }


def test_a_mutant_is_found_after_its_code_has_moved(tree: Path) -> None:
    mutant = {"file": "plugins/plugin_utils/code.py", "symbol": "first", "before": "count = 1", "after": "count = 2"}
    place = trees.locate(mutant, tree)
    assert place is not None and place.mutated == CODE.replace("count = 1", "count = 2")
    moved = tree / "plugins/plugin_utils/model/other.py"
    moved.parent.mkdir()
    shutil.move(place.path, moved)
    moved.write_text(CODE.replace("def first", "def first_value").replace("count = 1", "count  =  1"))
    place = trees.locate(mutant, tree)
    assert place is not None and place.path == moved
    moved.write_text(CODE + CODE.replace("first", "second"))
    assert trees.locate({**mutant, "symbol": ""}, tree) is None, "two places"
    moved.write_text(CODE.replace("count = 1", "number = 1"))
    assert trees.locate(mutant, tree) is None
    rewritten = {"before": "number = 1", "after": "number = 2"}
    assert trees.locate({**mutant, "after_refactoring": rewritten}, tree) is not None


def test_a_failure_counts_only_if_it_needs_the_mutant() -> None:
    stage = stages.Stage("mirror", (*stages.PYTEST, "tests/unit/test_a.py"))
    result = stages.Result(1, 2.0, "F\nFAILED tests/unit/test_a.py::test_b[x] - AssertionError\n1 failed")
    assert stages.confirmation(stage, result).command == (*stages.PYTEST, "tests/unit/test_a.py::test_b[x]")
    assert stages.confirmation(stage, stages.Result(2, 2.0, "ERROR tests/unit/test_a.py")) == stage
    assert stages.failed_test(stages.Result(3, 2.0, "")) == "exit code 3"
