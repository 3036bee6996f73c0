# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the checks of one or more layers, all of them whatever fails, and ends with tables and one line: N passed, N failed.

    python3 tools/check.py [--lanes N] [--since SECONDS] LAYER...

LAYER is one of those that "make help" lists, or "all". Several steps run at a time (--lanes; as a rule one more than there are
processors, because some of them wait for containers), each with its output shown when it ends. --since, a time as of "date +%s",
counts what was done before as the setup. A pytest step counts as many as it has tests, every other step as one. A skipped test counts
as failed: what cannot run must not look as if it had. Needs nothing but the standard library, because it also says what the
setup could not bring.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time

from checking.lanes import Ended, Lanes, Step
from checking.results import Outcome, complete, judge, table, verdict
from checking.steps import REPORTS, TOP, layers, reports_of


def environment(step: Step) -> dict[str, str]:
    """Ours, with the tools of .venv first and the collection findable."""
    result = dict(os.environ)
    result["PATH"] = f"{TOP / '.venv' / 'bin'}{os.pathsep}{result.get('PATH', '')}"
    result.setdefault("HYPOTHESIS_PROFILE", "ci")
    # Ansible starts some hundred times, and without bytecode compiles its modules each time.
    result.pop("PYTHONDONTWRITEBYTECODE", None)
    result["PYTHONPYCACHEPREFIX"] = str(TOP / ".cache" / "pycache")
    result["ANSIBLE_COLLECTIONS_PATH"] = str(TOP / ".cache")
    result.update(step.variables)
    return result


def run(steps: list[Step], lanes: int) -> list[Outcome]:
    """Run steps; what the reports of an earlier run say is forgotten first."""
    for step in steps:
        for report in reports_of(step) or ():
            report.unlink()
    outcomes: list[Outcome] = []

    def ended(result: Ended) -> None:
        outcomes.append(judge(result, reports_of(result.step)))

    Lanes(lanes, REPORTS, environment, ended).run(steps)
    return outcomes


def main(words: list[str]) -> int:
    """Run the layers named by C(words)."""
    known = layers()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layers", nargs="+", choices=[*known, "all"], metavar="LAYER", help=f"all, {', '.join(known)}")
    parser.add_argument("--lanes", type=int, default=(os.cpu_count() or 1) + 1, metavar="N", help="steps at a time")
    parser.add_argument("--since", type=float, metavar="SECONDS", help="when the setup began")
    given = parser.parse_args(words)
    wanted = [*known] if "all" in given.layers else [*dict.fromkeys(given.layers)]
    # What takes long starts first, or one lane would be idle in the end.
    steps = sorted((step for layer in wanted for step in known[layer]), key=lambda step: -step.about)
    started = time.time()
    before = [Outcome("setup", started - given.since, 0, 1, 0)] if given.since else []
    REPORTS.mkdir(parents=True, exist_ok=True)
    # Whoever ends us ends what we started, too.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        outcomes = complete(run(steps, max(1, given.lanes)), wanted)
    except KeyboardInterrupt:
        print("\ninterrupted; what ran has been ended", flush=True)
        return 130
    print("\n" + "\n".join(table([*before, *outcomes], time.time() - (given.since or started))))
    return verdict(outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
