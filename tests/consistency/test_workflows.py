# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The workflows of .github call targets of the Makefile, for every layer and every tested release of ansible-core."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import yaml

from ansible_collections.nodebootstrap.eks.tests.consistency import project
from ansible_collections.nodebootstrap.eks.tools.checking.steps import cores, layers, matrix

WORKFLOWS = project.under(".github/workflows", ".yml")
TARGETS = {
    target for line in re.findall(r"^([a-z][a-z -]*):(?!=)", project.text("Makefile"), flags=re.MULTILINE) for target in line.split()
}


def commands(workflow: dict[str, Any]) -> Iterator[str]:
    """Return the shell commands of a workflow, once for each combination of its matrix."""
    for job in workflow["jobs"].values():
        values: dict[str, list[str]] = job.get("strategy", {}).get("matrix", {})
        for combination in product(*values.values()):
            for step in job["steps"]:
                command = step.get("run", "")
                for name, value in (step.get("env") or {}).items():
                    command = command.replace(f"${name}", value)
                for name, value in zip(values, combination, strict=True):
                    command = command.replace(f"${{{{ matrix.{name} }}}}", value)
                yield command


def calls(text: str) -> list[str]:
    """Return the targets of the calls of make in a command."""
    return re.findall(r"^\s*make ([^\s]+)", text, flags=re.MULTILINE)


def every_command() -> list[str]:
    return [command for name in WORKFLOWS for command in commands(yaml.safe_load(project.text(name)))]


def test_workflows_call_targets_that_exist() -> None:
    called = {target for command in every_command() for target in calls(command)}
    assert called and called <= TARGETS


def test_every_layer_runs() -> None:
    assert set(layers()) <= {target for command in every_command() for target in calls(command)}


def test_the_matrix_has_every_tested_core() -> None:
    names = re.findall(r'make matrix STEP="(.+)"', "\n".join(every_command()))
    assert [name.removeprefix("units: ansible-core ") for name in names] == list(cores())
    assert all(any(name in step.name for step in matrix()) for name in names)


def test_the_release_builds_from_the_version_of_the_tag() -> None:
    found = list(commands(yaml.safe_load(project.text(".github/workflows/release.yml"))))
    assert found.index("make dist") > next(number for number, command in enumerate(found) if "galaxy.yml" in command)


def test_an_unknown_target_is_seen() -> None:
    workflow = {"jobs": {"a": {"strategy": {"matrix": {"layer": ["lint", "no-such"]}}, "steps": [{"run": "make ${{ matrix.layer }}"}]}}}
    assert [calls(command) for command in commands(workflow)] == [["lint"], ["no-such"]]
    assert "no-such" not in TARGETS
