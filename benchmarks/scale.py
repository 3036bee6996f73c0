# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the controller pays for each node: one hundred simulated nodes beside ten, the same play.

The nodes answer at once (live/connection_plugins/canned.py), so this is Ansible's work and ours: variables, rendering, sending,
reading the answer. Time for each node and peak memory must not grow with the number of nodes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter

from .inputs import COLLECTIONS, REPOSITORY, cluster, node_groups

COUNTS = (10, 55, 100)
ROUNDS = 5
LIMIT = 1.25
"""What each of the last 45 nodes takes beside each of the 45 before them; and memory with all beside that with ten."""

PLAYBOOKS = REPOSITORY / "benchmarks" / "live"
PROGRAM = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
PROGRAM += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"


def main() -> int:
    print(f"Simulated nodes, 10 forks; medians of {ROUNDS} rounds in turns")
    group = node_groups("al2", 1)[0] | {"strategy": "static"}
    runs: dict[int, list[tuple[float, float]]] = {count: [] for count in COUNTS}
    with tempfile.TemporaryDirectory() as folder:
        for count in COUNTS:
            _inventory(Path(folder), count).write_text(json.dumps(_hosts(count, group)), encoding="utf-8")
        for _unused in range(ROUNDS):
            for count in COUNTS:
                runs[count].append(_run(_inventory(Path(folder), count)))
    return _report(runs)


def _inventory(folder: Path, count: int) -> Path:
    return folder / f"{count}.json"


def _hosts(count: int, group: dict[str, object]) -> dict[str, object]:
    common = {"ansible_connection": "canned", "ansible_python_interpreter": "/usr/bin/python3"}
    hosts = {f"node-{number:03}": {"eks_node_group": group | {"name": f"workers-{number:03}"}} for number in range(count)}
    return {"nodes": {"hosts": hosts, "vars": common | {"eks_node_cluster": cluster()}}}


def _run(inventory: Path) -> tuple[float, float]:
    """Seconds on the clock and peak memory in MiB of the largest process."""
    playbook = str(Path(sys.executable).with_name("ansible-playbook"))
    command = [sys.executable, "-c", PROGRAM, playbook, "-f", "10", "-i", str(inventory), str(PLAYBOOKS / "apply.yml")]
    environment = os.environ | {
        "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
        "ANSIBLE_CONNECTION_PLUGINS": str(PLAYBOOKS / "connection_plugins"),
        "ANSIBLE_PIPELINING": "True",
    }
    begin = perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return perf_counter() - begin, int(done.stdout) / 1024


def _report(runs: dict[int, list[tuple[float, float]]]) -> int:
    seconds = {count: median(run[0] for run in found) for count, found in runs.items()}
    memory = {count: median(run[1] for run in found) for count, found in runs.items()}
    each = {more: (seconds[more] - seconds[fewer]) / (more - fewer) * 1e3 for fewer, more in pairwise(COUNTS)}
    print(f"{'nodes':>6}{'seconds':>10}{'ms a further node':>20}{'peak memory, MiB':>19}")
    for count in COUNTS:
        shown = f"{each[count]:.0f}" if count in each else ""
        print(f"{count:>6}{seconds[count]:>10.2f}{shown:>20}{memory[count]:>19.0f}")
    first, middle, last = COUNTS
    time_ratio, memory_ratio = each[last] / each[middle], memory[last] / memory[first]
    over = max(time_ratio, memory_ratio) > LIMIT
    verdict = "OVER" if over else "at most"
    print(f"The last {last - middle} nodes beside those before: {time_ratio:.2f} of the time a node, ", end="")
    print(f"{memory_ratio:.2f} of the memory that {first} take: {verdict} {LIMIT}")
    return int(over)
