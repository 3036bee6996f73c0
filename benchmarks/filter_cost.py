# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one use of the filter costs a run of Ansible.

Two runs of C(ansible localhost -m debug) that differ in their template only, in turns. The difference is what Ansible
needs to find the filter and compile the library, which it does anew in every run, and to render once. Processor time
(of the process and its workers) decides; the time on the clock is printed too, and means something on an idle machine.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from .inputs import COLLECTIONS, FAMILIES, cluster, node_groups

PAIRS = 9
LIMIT = 100.0
"""Milliseconds."""

TEMPLATES = ("{{ ng | string }}", "{{ ng | nodebootstrap.eks.user_data(c) }}")


def main() -> int:
    print(f"One use of the filter, beside {TEMPLATES[0]}; medians of {PAIRS} pairs, ms")
    print(f"{'family':<14}{'without':>9}{'with':>9}{'cost':>8}{'lowest':>9}{'highest':>9}  |{'on the clock':>14}")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for family in FAMILIES:
            inputs = Path(folder) / f"{family}.json"
            inputs.write_text(json.dumps({"c": cluster(), "ng": node_groups(family, 1)[0]}), encoding="utf-8")
            for template in TEMPLATES:
                _run(template, inputs)
            runs = [_pair(number, inputs) for number in range(PAIRS)]
            spent = [pair[1][0] - pair[0][0] for pair in runs]
            clock = [pair[1][1] - pair[0][1] for pair in runs]
            without, using = (median(pair[which][0] for pair in runs) for which in (0, 1))
            cost = median(spent)
            worst = max(worst, cost)
            figures = f"{without:>9.0f}{using:>9.0f}{cost:>8.0f}{min(spent):>9.0f}{max(spent):>9.0f}"
            print(f"{family:<14}{figures}  |{median(clock):>14.0f}")
    verdict = "at most" if worst <= LIMIT else "OVER"
    print(f"Highest cost {worst:.0f} ms: {verdict} {LIMIT:.0f} ms")
    return int(worst > LIMIT)


def _pair(number: int, inputs: Path) -> list[tuple[float, float]]:
    """Both runs, without the filter and with it; who begins changes from pair to pair."""
    order = (0, 1) if number % 2 else (1, 0)
    runs = {which: _run(TEMPLATES[which], inputs) for which in order}
    return [runs[0], runs[1]]


def _run(template: str, inputs: Path) -> tuple[float, float]:
    """Processor time and time on the clock of one run, in milliseconds."""
    command = [str(Path(sys.executable).with_name("ansible")), "localhost", "-m", "debug", "-a", f'msg="{template}"', "-e", f"@{inputs}"]
    environment = os.environ | {"ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS), "ANSIBLE_INVENTORY_UNPARSED_WARNING": "False"}
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    clock = perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1e3, clock * 1e3
