# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is run against a mutant, cheapest first, until something fails."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

#: Seconds after which a stage counts as failed: a mutant may loop for ever.
STAGE_SECONDS = 2400

PYTEST = ("python", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header")
NAMES = ("mirror", "users", "tests", "layer", "half", "roles", "consistency", "lint")


class Stage(NamedTuple):
    """A name, and the command to run in the copy of the tree."""

    name: str
    command: tuple[str, ...]


class Result(NamedTuple):
    """What ended a stage: 0 for success, and the last lines of the output."""

    code: int
    seconds: float
    tail: str


def stages(mutant: dict[str, Any], tree: Path, path: Path) -> list[Stage]:
    """The stages for a mutant in this file of a tree.

    First the unit tests of the module and of the modules that use it; then what the mutant names: C(tests), test files by the end of their
    path, and C(layer_commands), commands of its own layer; then everything that may notice it and takes minutes.
    """
    result = []
    if path.suffix == ".py":
        mirror = sorted((tree / "tests/unit").rglob(f"test_{path.stem}.py"))
        users = [found for found in _users(tree, path) if found not in mirror]
        result.append(Stage("mirror", (*PYTEST, *_names(tree, mirror))) if mirror else None)
        result.append(Stage("users", (*PYTEST, *_names(tree, users))) if users else None)
    tests = sorted(
        found for name in mutant.get("tests", ()) for found in (tree / "tests").rglob(Path(name).name) if found.as_posix().endswith(name)
    )
    result.append(Stage("tests", (*PYTEST, *_names(tree, tests))) if tests else None)
    result.extend(Stage(f"layer {number}", tuple(command)) for number, command in enumerate(mutant.get("layer_commands", ()), 1))
    half = "module_utils" if {"module_utils", "modules"} & set(path.parts) else "plugin_utils"
    if "plugins" in path.relative_to(tree).parts:
        folders = (half, "modules" if half == "module_utils" else "filter", "action")
        result.append(Stage("half", (*PYTEST, *(f"tests/unit/plugins/{folder}" for folder in folders))))
    result.append(Stage("roles", (*PYTEST, "tests/unit/roles")))
    result.append(Stage("consistency", (*PYTEST, "tests/consistency", "--deselect", "tests/consistency/test_checks.py")))
    result.append(Stage("lint", ("python", "tools/check.py", "lint")))
    return [stage for stage in result if stage is not None]


def _users(tree: Path, path: Path) -> list[Path]:
    """Unit tests that import the module."""
    imported = re.compile(rf"^(?:from|import) .*\b{re.escape(path.stem)}\b|^    {re.escape(path.stem)},$", re.MULTILINE)
    return sorted(found for found in (tree / "tests/unit").rglob("test_*.py") if imported.search(found.read_text(encoding="utf-8")))


def _names(tree: Path, paths: list[Path]) -> list[str]:
    return [path.relative_to(tree).as_posix() for path in paths]


def run(stage: Stage, tree: Path, prefix: tuple[str, ...] = ()) -> Result:
    """Run a stage in a tree. C(prefix) goes before the command of a layer's own stage, for instance a lock around what uses containers."""
    command = (*prefix, *stage.command) if stage.name.startswith("layer") else stage.command
    began = time.monotonic()
    process = subprocess.Popen(
        command, cwd=tree, env=_environment(tree), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip
    try:
        output, _unused = process.communicate(timeout=STAGE_SECONDS)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, code = process.communicate()[0], 124
    return Result(code, time.monotonic() - began, output.decode(errors="replace")[-4000:])


def confirmation(stage: Stage, result: Result) -> Stage:
    """What must succeed without the mutant, so that the failure counts: the test that failed, or the whole stage."""
    test = failed_test(result)
    if stage.command[: len(PYTEST)] == PYTEST and "::" in test:
        return Stage(stage.name, (*PYTEST, test))
    return stage


def failed_test(result: Result) -> str:
    """The first failed test that the output names, or the last line of the output."""
    # The name of a case may contain blanks; " - " comes before the error.
    found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", result.tail, re.MULTILINE)
    lines = [line for line in result.tail.splitlines() if line.strip()]
    return found[1] if found else (lines[-1][:160] if lines else f"exit code {result.code}")


def _environment(tree: Path) -> dict[str, str]:
    """Like that of tools/check.py."""
    result = dict(os.environ)
    result.pop("PYTHONDONTWRITEBYTECODE", None)
    result["PATH"] = f"{tree / '.venv' / 'bin'}{os.pathsep}{result.get('PATH', '')}"
    result["ANSIBLE_COLLECTIONS_PATH"] = result["MYPYPATH"] = str(tree / ".cache")
    result["PYTHONPYCACHEPREFIX"] = str(tree / ".cache" / "pycache")
    return result
