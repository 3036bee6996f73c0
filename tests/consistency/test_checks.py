# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""tools/check.py: a test that failed, was skipped or did not run is never counted as passed."""

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
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tools.checking import results, runner, steps
from ansible_collections.nodebootstrap.eks.tools.checking.results import (
    EXIT_UNAVAILABLE,
    Outcome,
    add_missing_layers,
    count_tests,
    exit_status,
    table,
)
from ansible_collections.nodebootstrap.eks.tools.checking.runner import Step, StepResult, StepRunner
from ansible_collections.nodebootstrap.eks.tools.checking.steps import cores, layers, matrix

STEP = Step("unit", ("true",))
PASSED = '<testcase classname="tests.unit.test_a" name="test_b" time="1.5"/>'
FAILED = '<testcase classname="tests.unit.test_a" name="test_c" time="0.5"><failure message="no"/></testcase>'
SKIPPED = '<testcase classname="tests.unit.test_a" name="test_d" time="0.0"><skipped message="no Docker"/></testcase>'


def write_report(folder: Path, *cases: str) -> list[Path]:
    path = folder / "report.xml"
    path.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    return [path]


# --- results ------------------------------------------------------------------------------------------------


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
    found = count_tests(StepResult(STEP, status), write_report(tmp_path, *cases))
    assert (found.passed, found.failed, found.note) == expected
    assert exit_status([found]) == int(expected[1] > 0)


def test_a_missing_report_is_a_failure() -> None:
    assert count_tests(StepResult(STEP, 0), []).failed == 1


@pytest.mark.parametrize(("status", "counts"), [(0, (1, 0)), (1, (0, 1)), (-2, (0, 1)), (None, (0, 1)), (EXIT_UNAVAILABLE, (0, 0))])
def test_a_step_without_a_report_counts_as_one(status: int | None, counts: tuple[int, int]) -> None:
    found = count_tests(StepResult(STEP, status, problem="not run, because of x" if status is None else ""), None)
    assert (found.passed, found.failed) == counts
    assert bool(found.note) is (status != 0)


def test_in_ci_a_step_that_cannot_run_has_failed() -> None:
    found = count_tests(StepResult(STEP, EXIT_UNAVAILABLE), None, in_ci=True)
    assert (found.passed, found.failed) == (0, 1) and exit_status([found]) == 1


def test_a_layer_without_any_result_has_failed() -> None:
    nothing = Outcome("units: ansible-core 2.16", 1, 1, 0, 0, "NOT RUN")
    assert exit_status(add_missing_layers([nothing], ["units"])) == 1
    assert exit_status(add_missing_layers([nothing, Outcome("units: ansible-core 2.19", 1, 1, 1, 0)], ["units"])) == 0


def test_the_table_has_the_slowest_first(tmp_path: Path) -> None:
    tests = results.tests_of(write_report(tmp_path, PASSED, FAILED))
    outcomes = [Outcome("lint: ruff", 2, 1, 1, 0), Outcome("oracle", 90, 40, 1, 1, tests=tuple(tests)), Outcome("lint: mypy", 8, 7, 1, 0)]
    text = "\n".join(table(outcomes, 60))
    words = [line.split() for line in text.splitlines()]
    assert [line[0] for line in words[1:4]] == ["oracle", "lint:", "lint:"] and words[2][1] == "mypy"
    assert text.index("1.5  oracle: unit/test_a::test_b") < text.index("0.5  oracle: unit/test_a::test_c")
    assert ["oracle", "90.0", "90%"] in words and ["lint", "10.0", "10%"] in words
    assert "100 s of work in 60 s (1.0 min)" in text
    assert text.endswith("\n3 passed, 1 failed")


# --- runner --------------------------------------------------------------------------------------------------------------


def script(name: str, code: str, **more: str) -> Step:
    return Step(name, (sys.executable, "-c", code), **more)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., list[StepResult]]:
    def run(steps: Iterable[Step], jobs: int = 2) -> list[StepResult]:
        found: list[StepResult] = []

        def environment(step: Step) -> dict[str, str]:
            return {**os.environ, "FOLDER": str(tmp_path), **dict(step.variables)}

        StepRunner(jobs, tmp_path, environment, found.append).run([*steps])
        return found

    return run


# Waits until another one runs at the same time; prints the greatest number that it saw at once.
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


def test_two_steps_run_at_a_time_and_never_three(run: Callable[..., list[StepResult]], tmp_path: Path) -> None:
    ended = run([Step(f"a: {n}", (sys.executable, "-c", MEET, *(["stay"] if n > 1 else []))) for n in range(4)])
    assert [one.status for one in ended] == [0] * 4
    seen = [int((tmp_path / f"a-{n}.log").read_text()) for n in range(4)]
    assert seen[0] == 2 and max(seen) == 2


def test_output_stays_whole_and_a_failure_stops_nothing(run: Callable[..., list[StepResult]], capfd: pytest.CaptureFixture[str]) -> None:
    wanted = {"one": 0, "two": 4, "three": 0}
    code = "import sys, time\nfor n in range(3): print('{0}', flush=True); time.sleep(0.05)\nsys.exit({1})"
    ended = run([script(f"b: {name}", code.format(name, status)) for name, status in wanted.items()])
    assert {one.step.name: one.status for one in ended} == {f"b: {name}": status for name, status in wanted.items()}
    text = capfd.readouterr().out
    for name in wanted:
        assert re.search(rf"== b: {name}, after \d+ s\n{name}\n{name}\n{name}\n", text)


# Prints its argument, then waits until the file C(heard) exists.
SPEAKER = """
import os, pathlib, sys, time
print(sys.argv[1], flush=True)
limit = time.monotonic() + 300
while time.monotonic() < limit and not pathlib.Path(os.environ["FOLDER"], "heard").exists():
    time.sleep(0.05)
"""


def test_progress_is_reported(run: Callable[..., list[StepResult]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = {
        "g: tests": "......  [  7%]\n.....  [ 43%]\n...",
        "g: programs": "[lab] 1/6 etcd\n[lab] 2/6 kubelet: 20 s\n",
        "g: plain": "what",
    }
    wanted = re.compile(r"   running: g: tests \d:\d\d 43%, g: programs \d:\d\d \[lab\] 2/6 kubelet: 20 s, g: plain \d:\d\d; 0 waiting")
    heard: list[str] = []

    def say(line: str) -> None:
        if wanted.fullmatch(line):
            heard.append(line)
            (tmp_path / "heard").touch()

    monkeypatch.setattr(runner, "PROGRESS_SECONDS", 0.1)
    monkeypatch.setattr(runner, "say", say)
    run([Step(name, (sys.executable, "-c", SPEAKER, text)) for name, text in outputs.items()], 3)
    assert heard


def test_a_step_waits_for_the_step_that_it_needs(run: Callable[..., list[StepResult]], tmp_path: Path) -> None:
    there = "import os, pathlib; {} (pathlib.Path(os.environ['FOLDER'], 'built'))"
    both = [
        script("c: tests", there.format("assert (lambda p: p.exists())"), after="c: programs"),
        script("c: programs", "import time; time.sleep(0.3);" + there.format("(lambda p: p.touch())")),
    ]
    assert [(one.step.name, one.status) for one in run(both)] == [("c: programs", 0), ("c: tests", 0)]
    assert [one.status for one in run(both[:1])] == [0], "alone it does not wait"


def test_a_step_that_needs_a_failed_step_has_failed(run: Callable[..., list[StepResult]]) -> None:
    ended = run([script("d: programs", "raise SystemExit(1)"), script("d: tests", "", after="d: programs")])
    assert ended[1].status is None and ended[1].problem == "not run, because of d: programs"
    assert count_tests(ended[1], []).failed == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_missing_program_is_named(run: Callable[..., list[StepResult]], jobs: int) -> None:
    missing, other = run([Step("e: x", ("no-such-program",)), script("e: y", "")], jobs)
    assert missing.status is None and missing.problem.startswith("no-such-program cannot be run")
    assert other.status == 0


def test_processor_time_is_measured_for_each_step(run: Callable[..., list[StepResult]]) -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}])"
    found = {one.step.name: one.cpu for one in run([script("f: busy", child), script("f: idle", "import time; time.sleep(0.3)")])}
    assert found["f: busy"] >= 0.3 > found["f: idle"]


# A step with a child; it writes both process ids to a file.
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


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("shell", ["", "trap '' INT; "], ids=["foreground", "background"])
def test_ending_the_checks_ends_every_step(tmp_path: Path, number: signal.Signals, shell: str) -> None:
    """Shells start background jobs with SIGINT ignored; the checks must end there, too."""
    command = [sys.executable, "-c", RUNNER, str(project.TOP / "tools"), str(tmp_path), PARENT]
    running = subprocess.Popen(["bash", "-c", f'{shell}exec "$@"', "bash", *command], stdout=subprocess.DEVNULL)
    try:
        limit = time.monotonic() + 300
        while not (tmp_path / "pids").exists():
            assert time.monotonic() < limit and running.poll() is None
            time.sleep(0.05)
        pids = json.loads((tmp_path / "pids").read_text())
        assert all(map(is_running, pids))
        running.send_signal(number)
        assert running.wait(300) == 130
        assert (tmp_path / "cleaned").exists(), "a step can clean up before it is killed"
        # They have been killed; on a busy machine they need a moment to end.
        limit = time.monotonic() + 60
        while any(map(is_running, pids)):
            assert time.monotonic() < limit
            time.sleep(0.05)
    finally:
        running.kill()
        running.wait()


@pytest.mark.parametrize(("text", "status"), [("lint: changelog", 0), ("no such step", 2)])
def test_steps_are_chosen_by_name(text: str, status: int) -> None:
    command = [sys.executable, "tools/check.py", "--step", text, "lint"]
    done = subprocess.run(command, check=False, cwd=project.TOP, capture_output=True, text=True)
    assert done.returncode == status
    assert ("1 passed, 0 failed" in done.stdout) == (status == 0)


# --- steps --------------------------------------------------------------------------------------------------------------


def every_step() -> list[Step]:
    return [*(step for layer in layers().values() for step in layer), *matrix()]


def words() -> set[str]:
    return {word for step in every_step() for word in step.command}


def test_every_layer_is_a_target_and_names_of_steps_are_unique() -> None:
    targets = set(re.findall(r"^([a-z-]+):", project.text("Makefile"), re.MULTILINE))
    assert {*layers(), "matrix"} <= targets
    assert all(step.layer == layer for layer, own in layers().items() for step in own)
    assert {step.layer for step in matrix()} <= set(layers())
    commands = {step.name: step for step in every_step()}
    assert all(commands[step.name] == step for step in every_step()), "the same name is the same step"
    assert {step.after for step in every_step()} - {""} <= set(commands)


def test_nothing_that_is_a_test_stays_outside() -> None:
    folders = {"/".join(name.split("/")[:2]) for name in project.files() if re.search(r"^tests/.*/test_[^/]*\.py$", name)}
    assert folders and folders <= words()
    scenarios = {name.split("/")[1] for name in project.under("molecule", "/molecule.yml")}
    assert scenarios and scenarios <= words()


@pytest.mark.parametrize(
    ("folder", "chosen"),
    [
        ("tests/oracle", ["not docker and not matrix", "docker and not matrix", "docker and matrix", "not docker"]),
        ("tests/lab", ["not matrix", "matrix"]),
        ("tests/unit", ["not matrix"]),
    ],
)
def test_every_marked_test_is_in_a_step(folder: str, chosen: list[str]) -> None:
    """The expressions divide the tests of a directory: a test is in one of the steps of make test, or marked matrix."""
    used = [step.command[step.command.index("-m", 3) + 1] for step in every_step() if folder in step.command and "-m" in step.command[3:]]
    assert set(chosen) <= set(used)


def test_files_of_the_oracle_groups_exist_and_run_once() -> None:
    grouped = [f"tests/oracle/{file}" for files in steps.ORACLE_GROUPS.values() for file in files]
    assert len(set(grouped)) == len(grouped) and set(grouped) <= set(project.files())
    [rest] = [step for step in layers()["oracle"] if step.name == "oracle"]
    assert {rest.command[at + 1] for at, word in enumerate(rest.command) if word == "--ignore"} == set(grouped)


def test_files_that_start_containers_are_marked() -> None:
    """Without the mark they would run in layer unit, which needs no Docker."""
    for name in project.under("tests/oracle", ".py"):
        if name.count("/") == 2 and name.startswith("tests/oracle/test_"):
            imports = bool(re.search(r"^from (nodelab|\S+\.live_nodes|\S+\.script_nodes) import", project.text(name), re.MULTILINE))
            assert imports == ("pytestmark = pytest.mark.docker" in project.text(name)), name


def test_the_newest_core_runs_the_sanity_tests_and_the_oldest_the_units() -> None:
    oldest, *_between, newest = cores()
    assert [step.command[2:] for step in layers()["units"]] == [(oldest, *steps.CORE_DEPENDENT)]
    assert [step.command[2:] for step in layers()["sanity"] if step.command[2] == newest] == [
        (newest, *(word for name in steps.SANITY for word in ("--test", name)))
    ]
    assert [step.command[2] for step in layers()["sanity"]] == [newest, oldest]


def test_the_matrix_runs_on_every_core_what_depends_on_it() -> None:
    *older, newest = cores()
    words = {what: {step.command[2:] for step in matrix() if step.command[1:2] == (what,)} for what in ("sanity-all-files", "units")}
    assert words["sanity-all-files"] == {(core,) for core in cores()}
    assert words["units"] == {(newest,), *((core, *steps.WITH_ANSIBLE) for core in older)}


def test_unit_tests_that_depend_on_ansible_are_those_that_import_it() -> None:
    names = [name for name in project.under("tests/unit", ".py") if Path(name).name.startswith("test_")]
    importing = re.compile(r"^(from|import) ansible\b|\bansible_runs\b|import .*AnsibleModule", re.MULTILINE)
    missed = [name for name in names if importing.search(project.text(name)) and not name.startswith(steps.WITH_ANSIBLE)]
    assert not missed
    assert all((project.TOP / path).exists() for path in steps.WITH_ANSIBLE)


def test_the_oldest_core_runs_each_kind_of_plugin_that_runs_on_the_controller_and_a_role() -> None:
    assert all((project.TOP / path).exists() for path in steps.CORE_DEPENDENT)
    for kind in ("plugins/action", "plugins/filter", "plugins/test", "roles"):
        assert any(path.startswith(f"tests/unit/{kind}/") for path in steps.CORE_DEPENDENT), kind


def test_files_of_the_labs_steps_exist_and_run_once() -> None:
    named = {steps.LAB_BAKE, *(f"tests/lab/{file}" for file in (*steps.LAB_JOINS, *steps.LAB_WORKLOADS))}
    assert named <= set(project.files())
    [rest] = [step for step in layers()["lab"] if "tests/lab" in step.command]
    assert {rest.command[at + 1] for at, word in enumerate(rest.command) if word == "--ignore"} == named


def test_a_scenario_of_molecule_runs_in_make_test_or_in_the_matrix() -> None:
    assert set(steps.REPEATED_SCENARIOS) <= set(steps.scenarios())
    names = [step.name for step in every_step() if step.layer == "molecule"]
    assert sorted(names) == sorted(f"molecule: {scenario}" for scenario in steps.scenarios())


def test_nox_has_a_session_for_every_layer() -> None:
    done = subprocess.run([sys.executable, "-m", "nox", "--list"], cwd=project.TOP, capture_output=True, text=True, check=False)
    sessions = set(re.findall(r"^[*-] (\S+)", done.stdout, re.MULTILINE))
    assert sessions == {*layers(), "test", "matrix"}, done.stdout + done.stderr


def test_an_unknown_layer_is_refused() -> None:
    done = subprocess.run([sys.executable, str(project.TOP / "tools" / "check.py"), "unitt"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and mentions(done.stderr, "unitt")
