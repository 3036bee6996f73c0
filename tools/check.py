# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the checks of one or more layers and print a table of the results.

    python3 tools/check.py [--jobs N] [--since SECONDS] [--step TEXT] LAYER...

LAYER is a layer that "make help" lists, "all" (what "make test" runs), or "matrix". A failed step does not stop the others.
Several steps run at a time (--jobs, by default one more than there are processors, because some steps wait for containers), and
the output of each step is printed when it ends. --since, a time as "date +%s" prints it, counts the time since then as setup.

A pytest step counts as many tests as it has, every other step as one. A skipped test counts as failed, so that a check that cannot
run is noticed. The only exception is an ansible-core release for which this machine has no Python; if the environment
variable CI is set, this fails, too.

Uses the standard library only, because it also reports what the setup could not install.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time

from checking.results import Outcome, add_missing_layers, count_tests, exit_status, table
from checking.runner import Step, StepResult, StepRunner
from checking.steps import REPORTS, TOP, layers, matrix, reports_of


def environment(step: Step) -> dict[str, str]:
    """Return the current environment with the tools of .venv first on PATH, the collection, and the variables of the step."""
    result = dict(os.environ)
    result["PATH"] = f"{TOP / '.venv' / 'bin'}{os.pathsep}{result.get('PATH', '')}"
    result.setdefault("HYPOTHESIS_PROFILE", "ci")
    # Ansible starts several hundred times; without bytecode it compiles its modules each time.
    result.pop("PYTHONDONTWRITEBYTECODE", None)
    result["PYTHONPYCACHEPREFIX"] = str(TOP / ".cache" / "pycache")
    result["ANSIBLE_COLLECTIONS_PATH"] = str(TOP / ".cache")
    result.update(step.variables)
    return result


def run(steps: list[Step], jobs: int) -> list[Outcome]:
    """Run steps, after deleting the reports of an earlier run."""
    for step in steps:
        for report in reports_of(step) or ():
            report.unlink()
    outcomes: list[Outcome] = []

    def on_end(result: StepResult) -> None:
        outcomes.append(count_tests(result, reports_of(result.step), in_ci=bool(os.environ.get("CI"))))

    StepRunner(jobs, REPORTS, environment, on_end).run(steps)
    return outcomes


def commit() -> str:
    """Return the checked-out commit and whether there are uncommitted changes, for the table of the matrix."""
    command = ["git", "describe", "--always", "--dirty=, with uncommitted changes"]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def main(arguments: list[str]) -> int:
    """Run the layers that the arguments name."""
    known, repeated = layers(), matrix()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [*known, "all", "matrix"]
    parser.add_argument("layers", nargs="+", choices=names, metavar="LAYER", help=", ".join(names))
    parser.add_argument("--jobs", type=int, default=(os.cpu_count() or 1) + 1, metavar="N", help="steps at a time")
    parser.add_argument("--step", default="", metavar="TEXT", help="run only the steps whose name contains TEXT")
    parser.add_argument("--since", type=float, metavar="SECONDS", help="when the setup began")
    options = parser.parse_args(arguments)
    wanted = [*known] if "all" in options.layers else [*dict.fromkeys(name for name in options.layers if name in known)]
    steps = [step for layer in wanted for step in known[layer]]
    if "matrix" in options.layers:
        steps += [step for step in repeated if step.name not in {other.name for other in steps}]
    steps = [step for step in steps if options.step in step.name]
    if not steps:
        parser.error(f"no step has {options.step!r} in its name")
    # The longest steps start first, so that all processors are busy until the end.
    steps.sort(key=lambda step: -step.estimated_seconds)
    started = time.time()
    before = [Outcome("setup", started - options.since, 0, 1, 0)] if options.since else []
    REPORTS.mkdir(parents=True, exist_ok=True)
    # All three end the running steps. A shell starts background jobs with SIGINT ignored, and children would inherit that.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        outcomes = add_missing_layers(run(steps, max(1, options.jobs)), [*dict.fromkeys(step.layer for step in steps)])
    except KeyboardInterrupt:
        print("\ninterrupted; all running steps have been ended", flush=True)
        return 130
    print("\n" + "\n".join(table([*before, *outcomes], time.time() - (options.since or started))))
    if "matrix" in options.layers:
        print(f"matrix of commit {commit()}, {time.strftime('%Y-%m-%d %H:%M %Z', time.gmtime())}")
    return exit_status(outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
