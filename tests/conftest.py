# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes plain C(pytest) work in a checkout, and sets how many examples the property tests try.

The collection is imported by its full name, so the checkout must be visible at C(ansible_collections/nodebootstrap/eks).
In a checkout this is a symbolic link under C(.cache). Under C(ansible-test) the directory has such a path and
ansible-test arranges the imports, so nothing is changed here.

Tests choose one of three hypothesis settings:

* the default, for one small property;
* C(settings.get_profile("part")), used as a decorator, for a property of one field or one output of a family;
* C(settings.get_profile("family")) for a property over everything that a family renders (one test).

HYPOTHESIS_PROFILE sets how many examples each of them tries: C(ci) (the default, and C(make test)), C(matrix), C(fuzz).
All but C(fuzz) try the same examples in every run.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parents[1]
UNDER_ANSIBLE_TEST = REPOSITORY.parts[-3:] == ("ansible_collections", "nodebootstrap", "eks")

# profile → examples for a small property, for a part of a family, for a family
EXAMPLES = {
    "ansible-test": (10, 20, 20),
    "ci": (25, 50, 100),
    "matrix": (200, 1_000, 3_000),
    "fuzz": (2_000, 100_000, 100_000),
}


MARKERS = (
    "fuzz: a property over a whole family; 'make fuzz' runs these with 100,000 examples",
    "docker: starts containers; needs a Docker daemon",
    "matrix: repeats on another family or release what another test shows; 'make matrix' runs it, 'make test' does not",
)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers: not in pyproject.toml, because ansible-test uses its own pytest settings."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


def _register_profiles() -> None:
    chosen = os.environ.get("HYPOTHESIS_PROFILE") or ("ansible-test" if UNDER_ANSIBLE_TEST else "ci")
    small, part, family = EXAMPLES[chosen]
    common = settings(
        deadline=None,  # on busy cores single examples are slow, which is not an error
        derandomize=chosen != "fuzz",  # the same checkout gives the same result; only fuzzing tries new examples
        database=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.register_profile("small", common, max_examples=small)
    settings.register_profile("part", common, max_examples=part)
    settings.register_profile("family", common, max_examples=family)
    settings.load_profile("small")


def _make_importable() -> None:
    root = REPOSITORY / ".cache"
    link = root / "ansible_collections" / "nodebootstrap" / "eks"
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink() or link.resolve() != REPOSITORY:
        fresh = link.with_name(f"eks.{os.getpid()}")
        fresh.symlink_to(REPOSITORY, target_is_directory=True)
        fresh.replace(link)  # atomically, because parallel workers do the same
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    # Tests start ansible-playbook and ansible-doc: use those of this Python, with this checkout.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    os.environ["ANSIBLE_COLLECTIONS_PATH"] = str(root)


_register_profiles()
if not UNDER_ANSIBLE_TEST:
    _make_importable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """While golden messages are written (C(tools/golden.py)), run only the tests that have some."""
    if os.environ.get("WRITE_GOLDEN_MESSAGES"):
        items[:] = [item for item in items if "golden_message" in getattr(item, "fixturenames", ())]


def pytest_collection_finish() -> None:
    """Start the server of Ansible (C(tests/unit/ansible_runs.py)) before ansible-test forks for each test, if any test has imported it.

    Otherwise each of the forks would start a server for itself.
    """
    runs = sys.modules.get("ansible_collections.nodebootstrap.eks.tests.unit.ansible_runs")
    if UNDER_ANSIBLE_TEST and runs is not None:
        runs.start()


@pytest.fixture
def golden_message(request: pytest.FixtureRequest) -> Any:
    """Compares messages with C(tests/golden/messages): see C(tests/unit/messages.py)."""
    from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

    replaced = {"TMP": str(request.getfixturevalue("tmp_path"))} if "tmp_path" in request.fixturenames else {}
    return GoldenMessages(request.path, request.node.name, replaced)
