# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of the steps: how many tests passed and failed, and where the time went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from .lanes import Ended

#: How many of the slowest tests are shown.
SLOWEST = 10

#: A step that exits with this says that this machine cannot have what it is about: told, and counted as nothing.
NOT_HERE = 77


@dataclass(frozen=True)
class Test:
    """A test of a report. C(outcome) is C(passed), C(failed) or C(skipped); C(seconds) include its own fixtures."""

    name: str
    seconds: float
    outcome: str


@dataclass(frozen=True)
class Outcome:
    """What came of a step. C(note) says why when it is not plain."""

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
    """The tests of pytest's reports. C(ElementTree.ParseError) says that one is no report, or not a whole one."""
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            tags = {child.tag for child in case}
            outcome = "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
            place = case.get("classname", "").rpartition("tests.")[2].replace(".", "/")
            yield Test(f"{place}::{case.get('name')}", float(case.get("time", 0)), outcome)


def judge(ended: Ended, reports: Sequence[Path] | None) -> Outcome:
    """Count the tests in the reports of a step, skipped ones as failed; a step that has none (None, not []) counts as one test."""
    status = ended.status
    told = ended.problem.partition(":")[0] if status is None else f"exit status {status}"

    def outcome(passed: int, failed: int, note: str, tests: tuple[Test, ...] = ()) -> Outcome:
        return Outcome(ended.step.name, ended.seconds, ended.cpu, passed, failed, note, tests)

    if status == NOT_HERE:
        return outcome(0, 0, "NOT RUN: this machine has not what it takes")
    if reports is None or status is None:
        return outcome(int(status == 0), int(status != 0), "" if status == 0 else told)
    try:
        tests = tuple(tests_of(reports))
    except ElementTree.ParseError as error:
        return outcome(0, 1, f"{told}, and a report is broken: {error}")
    count = Counter(test.outcome for test in tests)
    skipped, bad = count["skipped"], count["failed"] + count["skipped"]
    if skipped:
        return outcome(count["passed"], bad, f"{skipped} skipped, which counts as failed", tests)
    if status == 0 and not tests:
        return outcome(0, 1, "no tests were found")
    if status != 0 and not bad:
        return outcome(count["passed"], 1, told, tests)
    return outcome(count["passed"], bad, "", tests)


def table(outcomes: Sequence[Outcome], wall: float) -> list[str]:
    """Every step and the share of every layer, slowest first, the slowest tests, and what to remember: N passed, N failed."""
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


def complete(outcomes: Sequence[Outcome], layers: Iterable[str]) -> list[Outcome]:
    """The outcomes, and a failure for each layer of which nothing could run."""
    ran = {one.layer for one in outcomes if one.passed or one.failed}
    return [*outcomes, *(Outcome(layer, 0, 0, 0, 1, "nothing of this layer could run") for layer in layers if layer not in ran)]


def verdict(outcomes: Iterable[Outcome]) -> int:
    """Exit status."""
    return 1 if any(one.failed for one in outcomes) else 0
