# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the checks of one or more layers, all of them whatever fails, and ends with a table and one line: N passed, N failed.

    python3 tools/check.py LAYER...      unit consistency oracle molecule lint sanity units package, or: all

A pytest step counts as many as it has tests, every other step as one. A skipped test counts as failed: what cannot run
must not look as if it had. Needs nothing but the standard library, because it also says what the setup could not bring.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

TOP = Path(__file__).resolve().parents[1]
REPORTS = TOP / ".cache" / "reports"
COPY = TOP / ".cache" / "lint"
COLLECTION = COPY / "ansible_collections" / "nodebootstrap" / "eks"
LIBRARY = "ansible_collections.nodebootstrap.eks.plugins.plugin_utils"


@dataclass(frozen=True)
class Step:
    """One command. C(folder) is where it runs, C(variables) what it finds in its environment beside ours."""

    name: str
    command: tuple[str, ...]
    folder: Path = TOP
    variables: tuple[tuple[str, str], ...] = ()


def pytest(name: str, *arguments: str) -> Step:
    """A pytest step over C(tests/NAME), counted by its report."""
    report = ("--junitxml", str(REPORTS / f"{name}.xml"), "-o", "junit_family=xunit2")
    return Step(name, ("python", "-m", "pytest", "-q", *arguments, *report, f"tests/{name}"))


def molecule(scenario: str) -> Step:
    """The whole sequence of a scenario of C(molecule/), its nodes removed at the end, whatever comes of it."""
    return Step(f"molecule {scenario}", ("molecule", "test", "--scenario-name", scenario))


# Some linters walk or copy the whole folder, virtual environments included, so they run on a copy of what git knows.
LAYERS: dict[str, list[Step]] = {
    "lint": [
        Step("ruff check", ("ruff", "check", "--quiet", "--output-format=concise", ".")),
        Step("ruff format", ("ruff", "format", "--check", "--quiet", ".")),
        Step("mypy", ("mypy", "--config-file=pyproject.toml", "-p", LIBRARY), variables=(("MYPYPATH", str(TOP / ".cache")),)),
        Step("yamllint", ("yamllint", "--strict", ".")),
        Step("shellcheck", ("bash", "-c", "git ls-files -z '*.sh' .ci/run ':!tests/golden' | xargs -0 -r shellcheck -x")),
        Step("codespell", ("codespell",)),
        Step("reuse", ("reuse", "lint", "--quiet")),
        Step("changelog", ("antsibull-changelog", "lint")),
        Step("copy for linters", (str(TOP / "tools" / "collection_copy.sh"), str(COPY))),
        Step(
            "ansible-lint",
            ("ansible-lint", "--offline", "--profile", "production", "--strict", "--nocolor", "-q"),
            folder=COLLECTION,
            variables=(("ANSIBLE_COLLECTIONS_PATH", str(COPY)),),
        ),
        Step(
            # "dependent", not "all": "all" reads every collection that pip's ansible brings (two minutes), and whatever is neither ours
            # nor a dependency is refused anyway.
            "antsibull-docs",
            (
                "antsibull-docs",
                "lint-collection-docs",
                "--plugin-docs",
                "--check-extra-docs-refs",
                "--validate-collection-refs=dependent",
                "--disallow-unknown-collection-refs",
                ".",
            ),
            folder=COLLECTION,
            variables=(("ANSIBLE_COLLECTIONS_PATH", str(COPY)),),
        ),
    ],
    "consistency": [pytest("consistency", "-n", "2")],
    "unit": [pytest("unit", "-n", "2")],
    "units": [Step("ansible-test units", (str(TOP / "tools" / "ansible_test.sh"), "units"))],
    "sanity": [Step("ansible-test sanity", (str(TOP / "tools" / "ansible_test.sh"), "sanity"))],
    "package": [Step("package", (str(TOP / "tools" / "check_package.sh"),))],
    "oracle": [pytest("oracle", "--durations=10")],
    "molecule": [molecule(path.parent.name) for path in sorted((TOP / "molecule").glob("*/molecule.yml"))],
}


@dataclass(frozen=True)
class Outcome:
    """What came of a step. C(note) says why when it is not plain."""

    layer: str
    step: str
    seconds: float
    passed: int
    failed: int
    note: str = ""


def environment(step: Step) -> dict[str, str]:
    """Ours, with the tools of .venv first and the collection findable."""
    result = dict(os.environ)
    result["PATH"] = f"{TOP / '.venv' / 'bin'}{os.pathsep}{result.get('PATH', '')}"
    result.setdefault("HYPOTHESIS_PROFILE", "ci")
    result["ANSIBLE_COLLECTIONS_PATH"] = str(TOP / ".cache")
    result.update(step.variables)
    return result


def counted(report: Path) -> tuple[int, int, str]:
    """Passed and failed tests of a pytest report; skipped ones are failed ones."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(report).iter("testcase"):
        outcomes = {child.tag for child in case}
        skipped += "skipped" in outcomes
        failed += bool(outcomes & {"failure", "error", "skipped"})
        passed += not outcomes & {"failure", "error", "skipped"}
    return passed, failed, f"{skipped} skipped, which counts as failed" if skipped else ""


def run(layer: str, step: Step) -> Outcome:
    """Run one step, its output as it comes."""
    print(f"\n== {layer}: {step.name}", flush=True)
    report = REPORTS / f"{step.name}.xml"
    report.unlink(missing_ok=True)
    started = time.monotonic()
    try:
        status = subprocess.run(step.command, cwd=step.folder, env=environment(step), check=False).returncode
    except OSError as error:
        print(f"{step.command[0]} cannot be run: {error}. Did 'make setup' succeed?", flush=True)
        return Outcome(layer, step.name, time.monotonic() - started, 0, 1, "not run")
    seconds = time.monotonic() - started
    if not report.is_file():
        return Outcome(layer, step.name, seconds, int(status == 0), int(status != 0), "" if status == 0 else f"exit status {status}")
    passed, failed, note = counted(report)
    if status != 0 and not failed:
        failed, note = 1, f"pytest exit status {status}"
    if passed + failed == 0:
        failed, note = 1, "no tests were found"
    return Outcome(layer, step.name, seconds, passed, failed, note)


def main(words: list[str]) -> int:
    """Run the layers named by C(words)."""
    unknown = [word for word in words if word not in LAYERS and word != "all"]
    if unknown or not words:
        print(f"{__doc__}\nunknown: {', '.join(unknown) or 'nothing was named'}")
        return 2
    layers = list(LAYERS) if "all" in words else words
    REPORTS.mkdir(parents=True, exist_ok=True)
    outcomes = [run(layer, step) for layer in layers for step in LAYERS[layer]]
    print(f"\n{'layer':<12} {'step':<28} {'seconds':>8} {'passed':>7} {'failed':>7}")
    for outcome in outcomes:
        numbers = f"{outcome.seconds:>8.1f} {outcome.passed:>7} {outcome.failed:>7}"
        print(f"{outcome.layer:<12} {outcome.step:<28} {numbers}  {outcome.note}".rstrip())
    failed = sum(outcome.failed for outcome in outcomes)
    print(f"\n{sum(outcome.passed for outcome in outcomes)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
