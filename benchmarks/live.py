# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Live nodes: one call a node beside C(ansible.builtin.ping) and beside the same result written the usual way.

Ten nodes in Docker, ssh with pipelining, ten forks, everything in turns in one run; medians. Then one node each of three families,
together and alone. Controller and nodes share the machine, so only the ratios mean something.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from .live_nodes import FAMILIES, GROUP, SCRIPT_GROUP, Al2Node, Fleet, Run, fleet

NODES = 10
ROUNDS = 5
LIMITS = {"apply, fresh": 2.6, "apply, unchanged": 1.5, "apply, unchanged, script": 1.5, "role, fresh": 3.3}
"""At most so many times the wall time of ping."""
TOGETHER = 2.0
"""Three families in one play take at most so many times what the slowest of them takes alone."""
USUAL = 5.0
"""The usual way takes at least so many times what the role takes."""


def main() -> int:
    print(f"{NODES} nodes (Amazon Linux 2, static) in Docker, ssh with pipelining, 10 forks; medians of {ROUNDS} rounds in turns")
    with tempfile.TemporaryDirectory() as folder, fleet([(Al2Node, GROUP)] * NODES, Path(folder)) as nodes:
        nodes.write_templates()
        # The first run opens the connections that the others share, and Python compiles what it has not compiled yet.
        nodes.play("ping")
        runs = _rounds(nodes)
    over = _report(runs)
    print("One node each of three families, unchanged, with the playbook's role; in the image's own way", flush=True)
    with tempfile.TemporaryDirectory() as folder, fleet([*FAMILIES.values()], Path(folder)) as nodes:
        return over | _report_families(_families(nodes))


def _rounds(nodes: Fleet) -> dict[str, list[Run]]:
    runs: dict[str, list[Run]] = {}

    def take(name: str, playbook: str, want: Callable[[int], bool], *arguments: str) -> None:
        run = nodes.play(playbook, *arguments)
        if not want(run.changed):
            raise SystemExit(f"{name}: {run.changed} changes on {NODES} nodes, so it did not do what it is measured for")
        runs.setdefault(name, []).append(run)

    for number in range(ROUNDS):
        print(f"  round {number + 1} of {ROUNDS}", flush=True)
        nodes.reset()
        take("ping", "ping", lambda changed: changed == 0)
        take("apply, fresh", "apply", lambda changed: changed == NODES)
        laid = nodes.content()
        take("apply, unchanged", "apply", lambda changed: changed == 0)
        take("ping", "ping", lambda changed: changed == 0)
        nodes.reset()
        take("role, fresh", "role", lambda changed: changed == NODES)
        take("role, unchanged", "role", lambda changed: changed == 0)
        nodes.reset()
        script = ("-e", json.dumps({"eks_node_group": SCRIPT_GROUP}))
        take("apply, fresh, script", "apply", lambda changed: changed == NODES, *script)
        take("apply, unchanged, script", "apply", lambda changed: changed == 0, *script)
        take("ping", "ping", lambda changed: changed == 0)
        nodes.reset()
        take("usual way, fresh", "usual", lambda changed: changed > NODES)
        if nodes.content() != laid:
            raise SystemExit("the usual way wrote other files than apply: the comparison is not fair")
        take("usual way, unchanged", "usual", lambda changed: changed == 0)
    return runs


def _report(runs: dict[str, list[Run]]) -> int:
    wall = {name: median(run.seconds for run in found) for name, found in runs.items()}
    print(f"{'':<26}{'seconds':>9}{'controller CPU':>16}{'x ping':>9}{'limit':>8}")
    over = False
    for name, seconds in wall.items():
        spent = median(run.processor for run in runs[name])
        limit = LIMITS.get(name)
        ratio = seconds / wall["ping"]
        over |= limit is not None and ratio > limit
        print(f"{name:<26}{seconds:>9.2f}{spent:>16.2f}{ratio:>9.2f}{limit or '':>8}")
    usual = wall["usual way, fresh"] / wall["role, fresh"]
    verdict = "at least" if usual >= USUAL else "UNDER"
    print(f"The usual way takes {usual:.1f} times what the role takes: {verdict} {USUAL:.0f}")
    return int(over or usual < USUAL)


def _families(nodes: Fleet) -> dict[str, list[float]]:
    """Seconds of every round: all families together, and each alone."""
    nodes.play("role")
    seconds: dict[str, list[float]] = {}
    for _round in range(ROUNDS):
        for name, limit in {"together": "all", **{family: f"node-{at:02}" for at, family in enumerate(FAMILIES)}}.items():
            run = nodes.play("role", "--limit", limit)
            if run.changed:
                raise SystemExit(f"{name}: {run.changed} changes on nodes that should not change")
            seconds.setdefault(name, []).append(run.seconds)
    return seconds


def _report_families(seconds: dict[str, list[float]]) -> int:
    wall = {name: median(found) for name, found in seconds.items()}
    slowest = max(wall[family] for family in FAMILIES)
    for name, value in wall.items():
        print(f"{name:<26}{value:>9.2f}{value / slowest:>9.2f}")
    ratio = wall["together"] / slowest
    verdict = "at most" if ratio <= TOGETHER else "OVER"
    print(f"Three families together take {ratio:.2f} times what the slowest takes alone: {verdict} {TOGETHER:g}")
    return int(ratio > TOGETHER)
