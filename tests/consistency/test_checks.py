# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that runs the checks: nothing that failed, was skipped or did not run looks as if it had passed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.tests.consistency import project
from ansible_collections.nodebootstrap.eks.tools.checking import lanes, results, steps
from ansible_collections.nodebootstrap.eks.tools.checking.lanes import Ended, Lanes, Step
from ansible_collections.nodebootstrap.eks.tools.checking.results import NOT_HERE, Outcome, complete, judge, table, verdict
from ansible_collections.nodebootstrap.eks.tools.checking.steps import cores, layers

STEP = Step("unit", ("true",))
PASSED = '<testcase classname="tests.unit.test_a" name="test_b" time="1.5"/>'
FAILED = '<testcase classname="tests.unit.test_a" name="test_c" time="0.5"><failure message="no"/></testcase>'
SKIPPED = '<testcase classname="tests.unit.test_a" name="test_d" time="0.0"><skipped message="no Docker"/></testcase>'


def report(folder: Path, *cases: str) -> list[Path]:
    path = folder / "report.xml"
    path.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    return [path]


# --- what came of a step ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cases", "status", "expected"),
    [
        ((PASSED,), 0, (1, 0, "")),
        ((PASSED, FAILED), 1, (1, 1, "")),
        ((PASSED, SKIPPED), 0, (1, 1, "1 skipped, which counts as failed")),
        ((), 0, (0, 1, "no tests were found")),
        ((), 5, (0, 1, "exit status 5")),
        ((PASSED,), 3, (1, 1, "exit status 3")),
        ((PASSED,), -9, (1, 1, "exit status -9")),
        (("<testcase",), 0, (0, 1, "exit status 0, and a report is broken: not well-formed (invalid token): line 1, column 32")),
    ],
)
def test_tests_are_counted(tmp_path: Path, cases: tuple[str, ...], status: int, expected: tuple[int, int, str]) -> None:
    found = judge(Ended(STEP, status), report(tmp_path, *cases))
    assert (found.passed, found.failed, found.note) == expected
    assert verdict([found]) == int(expected[1] > 0)


def test_a_report_that_is_missing_is_a_failure() -> None:
    assert judge(Ended(STEP, 0), []).failed == 1


@pytest.mark.parametrize(("status", "counts"), [(0, (1, 0)), (1, (0, 1)), (-2, (0, 1)), (None, (0, 1)), (NOT_HERE, (0, 0))])
def test_a_step_without_a_report_counts_as_one(status: int | None, counts: tuple[int, int]) -> None:
    found = judge(Ended(STEP, status, problem="not run, because of x" if status is None else ""), None)
    assert (found.passed, found.failed) == counts
    assert bool(found.note) is (status != 0)


def test_a_layer_of_which_nothing_ran_has_failed() -> None:
    nothing = Outcome("units: ansible-core 2.16", 1, 1, 0, 0, "NOT RUN")
    assert verdict(complete([nothing], ["units"])) == 1
    assert verdict(complete([nothing, Outcome("units: ansible-core 2.19", 1, 1, 1, 0)], ["units"])) == 0


def test_the_table_has_the_slowest_first(tmp_path: Path) -> None:
    tests = results.tests_of(report(tmp_path, PASSED, FAILED))
    outcomes = [Outcome("lint: ruff", 2, 1, 1, 0), Outcome("oracle", 90, 40, 1, 1, tests=tuple(tests)), Outcome("lint: mypy", 8, 7, 1, 0)]
    text = "\n".join(table(outcomes, 60))
    words = [line.split() for line in text.splitlines()]
    assert [line[0] for line in words[1:4]] == ["oracle", "lint:", "lint:"] and words[2][1] == "mypy"
    assert text.index("1.5  oracle: unit/test_a::test_b") < text.index("0.5  oracle: unit/test_a::test_c")
    assert ["oracle", "90.0", "90%"] in words and ["lint", "10.0", "10%"] in words
    assert "100 s of work in 60 s (1.0 min)" in text
    assert text.endswith("\n3 passed, 1 failed")


# --- lanes --------------------------------------------------------------------------------------------------------------


def script(name: str, code: str, **more: str) -> Step:
    return Step(name, (sys.executable, "-c", code), **more)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., list[Ended]]:
    def run(steps: Iterable[Step], width: int = 2) -> list[Ended]:
        found: list[Ended] = []
        Lanes(width, tmp_path, lambda step: {**os.environ, "FOLDER": str(tmp_path), **dict(step.variables)}, found.append).run([*steps])
        return found

    return run


# Waits until as many as C(WANTED) run, writes how many it has seen at once at the most.
MEET = """
import os, pathlib, sys, time
folder = pathlib.Path(os.environ["FOLDER"], "here"); folder.mkdir(exist_ok=True)
mine = folder / str(os.getpid()); mine.touch()
seen, limit = 0, time.monotonic() + (300 if len(sys.argv) < 2 else 0.5)
while time.monotonic() < limit and (seen < 2 or len(sys.argv) > 1):
    seen = max(seen, len(list(folder.iterdir())))
    time.sleep(0.01)
mine.unlink()
print(seen)
"""


def test_two_steps_run_at_a_time_and_never_three(run: Callable[..., list[Ended]], tmp_path: Path) -> None:
    ended = run([Step(f"a: {n}", (sys.executable, "-c", MEET, *(["stay"] if n > 1 else []))) for n in range(4)])
    assert [one.status for one in ended] == [0] * 4
    seen = [int((tmp_path / f"a-{n}.log").read_text()) for n in range(4)]
    assert seen[0] == 2 and max(seen) == 2


def test_output_stays_whole_and_a_failure_stops_nothing(run: Callable[..., list[Ended]], capfd: pytest.CaptureFixture[str]) -> None:
    wanted = {"one": 0, "two": 4, "three": 0}
    code = "import sys, time\nfor n in range(3): print('{0}', flush=True); time.sleep(0.05)\nsys.exit({1})"
    ended = run([script(f"b: {name}", code.format(name, status)) for name, status in wanted.items()])
    assert {one.step.name: one.status for one in ended} == {f"b: {name}": status for name, status in wanted.items()}
    text = capfd.readouterr().out
    for name in wanted:
        assert re.search(rf"== b: {name}, after \d+ s\n{name}\n{name}\n{name}\n", text)


# Says something, then waits until somebody has heard it.
SPEAKER = """
import os, pathlib, sys, time
print(sys.argv[1], flush=True)
limit = time.monotonic() + 300
while time.monotonic() < limit and not pathlib.Path(os.environ["FOLDER"], "heard").exists():
    time.sleep(0.05)
"""


def test_it_is_seen_how_far_the_steps_are(run: Callable[..., list[Ended]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {
        "g: tests": "......  [  7%]\n.....  [ 43%]\n...",
        "g: programs": "[lab] 1/6 etcd\n[lab] 2/6 kubelet: 20 s\n",
        "g: plain": "what",
    }
    wanted = re.compile(r"   running: g: tests \d:\d\d 43%, g: programs \d:\d\d \[lab\] 2/6 kubelet: 20 s, g: plain \d:\d\d; 0 to come")
    heard: list[str] = []

    def say(line: str) -> None:
        if wanted.fullmatch(line):
            heard.append(line)
            (tmp_path / "heard").touch()

    monkeypatch.setattr(lanes, "PULSE", 0.1)
    monkeypatch.setattr(lanes, "say", say)
    run([Step(name, (sys.executable, "-c", SPEAKER, text)) for name, text in said.items()], 3)
    assert heard


def test_what_needs_another_step_waits_for_it(run: Callable[..., list[Ended]], tmp_path: Path) -> None:
    there = "import os, pathlib; {} (pathlib.Path(os.environ['FOLDER'], 'built'))"
    both = [
        script("c: tests", there.format("assert (lambda p: p.exists())"), after="c: programs"),
        script("c: programs", "import time; time.sleep(0.3);" + there.format("(lambda p: p.touch())")),
    ]
    assert [(one.step.name, one.status) for one in run(both)] == [("c: programs", 0), ("c: tests", 0)]
    assert [one.status for one in run(both[:1])] == [0], "alone it does not wait"


def test_what_needs_a_step_that_failed_has_failed(run: Callable[..., list[Ended]]) -> None:
    ended = run([script("d: programs", "raise SystemExit(1)"), script("d: tests", "", after="d: programs")])
    assert ended[1].status is None and ended[1].problem == "not run, because of d: programs"
    assert judge(ended[1], []).failed == 1


@pytest.mark.parametrize("width", [1, 2])
def test_a_program_that_is_missing_is_named(run: Callable[..., list[Ended]], width: int) -> None:
    missing, other = run([Step("e: x", ("no-such-program",)), script("e: y", "")], width)
    assert missing.status is None and missing.problem.startswith("no-such-program cannot be run")
    assert other.status == 0


def test_processor_time_is_that_of_the_step(run: Callable[..., list[Ended]]) -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}])"
    found = {one.step.name: one.cpu for one in run([script("f: busy", child), script("f: idle", "import time; time.sleep(0.3)")])}
    assert found["f: busy"] >= 0.3 > found["f: idle"]


# A step that has a child in a session of its own process group, and tells both.
PARENT = """
import json, os, pathlib, signal, subprocess, sys, time
signal.signal(signal.SIGINT, lambda *_unused: pathlib.Path(sys.argv[1], "cleaned").touch() or sys.exit(1))
child = subprocess.Popen(["sh", "-c", "trap '' INT; while :; do sleep 1; done"])
pathlib.Path(sys.argv[1], "pids.new").write_text(json.dumps([os.getpid(), child.pid]))
os.rename(pathlib.Path(sys.argv[1], "pids.new"), pathlib.Path(sys.argv[1], "pids"))
time.sleep(600)
"""

RUNNER = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import check
from checking import steps
check.REPORTS = pathlib.Path(sys.argv[2])
commands = [("true",), (sys.executable, "-c", sys.argv[3], sys.argv[2])]
check.layers = lambda: {"x": [steps.Step(f"x: {number}", command) for number, command in enumerate(commands)]}
sys.exit(check.main(["x"]))
"""


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whoever_ends_the_checks_ends_what_they_started(tmp_path: Path, number: signal.Signals) -> None:
    running = subprocess.Popen([sys.executable, "-c", RUNNER, str(project.TOP / "tools"), str(tmp_path), PARENT], stdout=subprocess.DEVNULL)
    try:
        limit = time.monotonic() + 300
        while not (tmp_path / "pids").exists():
            assert time.monotonic() < limit and running.poll() is None
            time.sleep(0.05)
        pids = json.loads((tmp_path / "pids").read_text())
        assert all(map(lives, pids))
        running.send_signal(number)
        assert running.wait(300) == 130
        assert (tmp_path / "cleaned").exists(), "it is asked before it is killed"
        assert not any(map(lives, pids))
    finally:
        running.kill()
        running.wait()


# --- steps --------------------------------------------------------------------------------------------------------------


def test_every_layer_is_a_target_and_every_step_can_be_told() -> None:
    found = layers()
    targets = set(re.findall(r"^([a-z-]+):", project.text("Makefile"), re.MULTILINE))
    assert set(found) <= targets
    every = [step for layer in found.values() for step in layer]
    names = [step.name for step in every]
    assert len(set(names)) == len(names)
    assert all(step.layer == layer for layer, own in found.items() for step in own)
    assert {step.after for step in every} - {""} <= set(names)


def test_nothing_that_is_a_test_stays_outside() -> None:
    words = {word for layer in layers().values() for step in layer for word in step.command}
    folders = {"/".join(name.split("/")[:2]) for name in project.files() if re.search(r"^tests/.*/test_[^/]*\.py$", name)}
    assert folders and folders <= words
    scenarios = {name.split("/")[1] for name in project.under("molecule", "/molecule.yml")}
    assert scenarios and scenarios <= words
    assert set(cores()) <= words


def test_what_depends_on_ansible_is_run_with_every_release(monkeypatch: pytest.MonkeyPatch) -> None:
    oldest, *_between, newest = cores()
    for here in ("", oldest, newest):
        monkeypatch.setattr(steps, "core_of_unit", lambda here=here: here)
        left_out = {step.command[2]: set(step.command[3:]) - {"--exclude"} for step in layers()["units"]}
        assert left_out[newest] == set(), "everything, the library included"
        assert all("tests/unit/plugins/plugin_utils/" in left_out[core] for core in cores() if core != newest)
        with_roles = {core for core, folders in left_out.items() if "tests/unit/roles/" not in folders}
        assert with_roles | {here} >= set(cores())
        assert all((project.TOP / folder).is_dir() for folders in left_out.values() for folder in folders)
    assert not any("modules/" in folder or "module_utils/" in folder for folders in left_out.values() for folder in folders)


def test_the_release_of_layer_unit_is_known() -> None:
    from ansible.release import __version__

    assert __version__.startswith(f"{steps.core_of_unit()}.")


def test_an_unknown_layer_is_refused() -> None:
    done = subprocess.run([sys.executable, str(project.TOP / "tools" / "check.py"), "unitt"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "invalid choice: 'unitt'" in done.stderr
