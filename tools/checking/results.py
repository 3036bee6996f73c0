# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The results of the steps: how many tests passed and failed, and where the time went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from .runner import StepResult

#: How many of the slowest tests the table lists.
SLOWEST = 10

#: Exit status of a step that this machine cannot run (no Python for a release of ansible-core). It is reported, and counts as failed in CI.
EXIT_UNAVAILABLE = 77


@dataclass(frozen=True)
class Test:
    """A test in a report. C(outcome) is C(passed), C(failed) or C(skipped); C(seconds) include the fixtures of this test."""

    name: str
    seconds: float
    outcome: str


@dataclass(frozen=True)
class Outcome:
    """A step with its number of passed and failed tests. C(note) is the reason if the numbers do not show it."""

    name: str
    seconds: float
    cpu: float
    passed: int
    failed: int
    note: str = ""
    tests: tuple[Test, ...] = ()

    @property
    def layer(self) -> str:
        return self.name.partition(":")[0]


def tests_of(reports: Iterable[Path]) -> Iterator[Test]:
    """Read the tests from pytest's reports. Raises C(ElementTree.ParseError) if a report is incomplete."""
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            tags = {child.tag for child in case}
            outcome = "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
            place = case.get("classname", "").rpartition("tests.")[2].replace(".", "/")
            yield Test(f"{place}::{case.get('name')}", float(case.get("time", 0)), outcome)


def count_tests(result: StepResult, reports: Sequence[Path] | None, *, in_ci: bool = False) -> Outcome:
    """Count the tests in the reports of a step; a skipped test counts as failed.

    A step without reports (C(reports=None), not C([])) counts as one test. In CI, a step that this machine cannot run counts as failed.
    """
    status = result.status
    reason = result.problem.partition(":")[0] if status is None else f"exit status {status}"

    def outcome(passed: int, failed: int, note: str, tests: tuple[Test, ...] = ()) -> Outcome:
        return Outcome(result.step.name, result.seconds, result.cpu, passed, failed, note, tests)

    if status == EXIT_UNAVAILABLE:
        return outcome(0, int(in_ci), "NOT RUN: this machine lacks a requirement of this step")
    if reports is None or status is None:
        return outcome(int(status == 0), int(status != 0), "" if status == 0 else reason)
    try:
        tests = tuple(tests_of(reports))
    except ElementTree.ParseError as error:
        return outcome(0, 1, f"{reason}, and a report is broken: {error}")
    count = Counter(test.outcome for test in tests)
    skipped, bad = count["skipped"], count["failed"] + count["skipped"]
    if skipped:
        return outcome(count["passed"], bad, f"{skipped} skipped, which counts as failed", tests)
    if status == 0 and not tests:
        return outcome(0, 1, "no tests were found")
    if status != 0 and not bad:
        return outcome(count["passed"], 1, reason, tests)
    return outcome(count["passed"], bad, "", tests)


def table(outcomes: Sequence[Outcome], wall: float) -> list[str]:
    """Format the steps (slowest first), the slowest tests, the share of each layer, and the total: N passed, N failed."""
    lines = [f"{'step':<44} {'seconds':>8} {'CPU':>7} {'passed':>7} {'failed':>7}"]
    for one in sorted(outcomes, key=lambda one: -one.seconds):
        lines.append(f"{one.name:<44} {one.seconds:>8.1f} {one.cpu:>7.0f} {one.passed:>7} {one.failed:>7}  {one.note}".rstrip())
    slowest = sorted(((test, one.layer) for one in outcomes for test in one.tests), key=lambda pair: -pair[0].seconds)[:SLOWEST]
    if slowest:
        lines += ["", "slowest tests"]
        lines += [f"{test.seconds:>8.1f}  {layer}: {test.name}" for test, layer in slowest]
    layers = sorted({one.layer for one in outcomes}, key=lambda layer: -_seconds(outcomes, layer))
    if len(layers) > 1:
        total = sum(one.seconds for one in outcomes) or 1.0
        lines += ["", f"{'layer':<12} {'seconds':>8} {'share':>6}"]
        lines += [f"{layer:<12} {_seconds(outcomes, layer):>8.1f} {_seconds(outcomes, layer) / total:>6.0%}" for layer in layers]
        lines += ["", f"{total:.0f} s of work in {wall:.0f} s ({wall / 60:.1f} min)"]
    failed = sum(one.failed for one in outcomes)
    return [*lines, "", f"{sum(one.passed for one in outcomes)} passed, {failed} failed"]


def _seconds(outcomes: Iterable[Outcome], layer: str) -> float:
    return sum(one.seconds for one in outcomes if one.layer == layer)


def add_missing_layers(outcomes: Sequence[Outcome], layers: Iterable[str]) -> list[Outcome]:
    """Add a failure for each layer of which no step could run."""
    ran = {one.layer for one in outcomes if one.passed or one.failed}
    return [*outcomes, *(Outcome(layer, 0, 0, 0, 1, "no step of this layer could run") for layer in layers if layer not in ran)]


def exit_status(outcomes: Iterable[Outcome]) -> int:
    """Return 1 if a test failed, otherwise 0."""
    return 1 if any(one.failed for one in outcomes) else 0
