# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long rendering takes beside writing the same input as YAML, and where the time goes.

The yardstick is PyYAML's own SafeDumper in Python, which every Ansible user waits for anyway; libyaml is a different
sport. Both get the same groups in the same run, in turns, and processor time is what counts: other work on the machine
is not measured.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

import yaml

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import family_module
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.compression import gzip_bytes
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.parse import parse
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render

from .inputs import FAMILIES, cluster, node_groups

GROUPS = 1_000
ROUNDS = 5
TOGETHER = 25
"""Groups in one turn of a contender."""
LIMIT = 0.6
"""Times of the yardstick."""

PHASES = ("parse", "check", "user_data", "encode")

Group = dict[str, Any]


def main() -> int:
    facts = cluster()
    print(f"Rendering {GROUPS} distinct node groups a family, {ROUNDS} times, {TOGETHER} at a time; medians, µs a group")
    print(f"{'family':<14}{'render':>8}{'safe_dump':>11}{'ratio':>7}  |" + "".join(f"{phase:>11}" for phase in PHASES) + "   unchecked")
    worst = 0.0
    for family in FAMILIES:
        groups = node_groups(family, GROUPS)
        ours, yardstick, ratio = _side_by_side(facts, groups)
        phases = _phases(facts, groups)
        worst = max(worst, ratio)
        columns = "".join(f"{phases[phase]:>11.0f}" for phase in PHASES)
        unchecked = phases["user_data"] + phases["encode"]
        print(f"{family:<14}{ours:>8.0f}{yardstick:>11.0f}{ratio:>7.2f}  |{columns}{unchecked:>12.0f}")
    verdict = "at most" if worst <= LIMIT else "OVER"
    print("render: plain. encode: gzip, not part of render. unchecked: user_data and encode alone, of a specification checked before.")
    print(f"Highest ratio {worst:.2f}: {verdict} {LIMIT:g}")
    return int(worst > LIMIT)


def _side_by_side(facts: Group, groups: list[Group]) -> tuple[float, float, float]:
    """Median µs a group of rendering and of the yardstick, and the median ratio.

    Each ratio is of the same few groups, one contender right after the other: the speed of a shared machine changes within seconds.
    """
    contenders: list[Callable[[Group], Any]] = [
        lambda group: render(facts, group),
        lambda group: yaml.dump({"cluster": facts, "node_group": group}, Dumper=yaml.SafeDumper),
    ]
    times: list[list[float]] = [[], []]
    for contender in contenders:
        contender(groups[0])
    for number in range(ROUNDS):
        for turn, start in enumerate(range(0, len(groups), TOGETHER)):
            few = groups[start : start + TOGETHER]
            # Who begins changes from turn to turn, so that neither always meets the warmer caches.
            for which in (0, 1) if (number + turn) % 2 else (1, 0):
                begin = process_time()
                for group in few:
                    contenders[which](group)
                times[which].append((process_time() - begin) / len(few) * 1e6)
    ratio = median(ours / yardstick for ours, yardstick in zip(*times, strict=True))
    return median(times[0]), median(times[1]), ratio


def _phases(facts: Group, groups: list[Group]) -> dict[str, float]:
    """Median µs a group of each phase."""
    rounds = [_phases_once(facts, groups[:: len(groups) // 200]) for _unused in range(ROUNDS)]
    return {phase: median(times[phase] for times in rounds) for phase in PHASES}


def _phases_once(facts: Group, groups: list[Group]) -> dict[str, float]:
    total = dict.fromkeys(PHASES, 0.0)
    family = family_module(groups[0]["family"])
    for group in groups:
        problems = Problems()
        marks = [process_time()]
        spec = parse(facts, group, problems)
        marks.append(process_time())
        assert spec is not None
        family.check(spec, problems)
        marks.append(process_time())
        document = family.user_data(spec)
        marks.append(process_time())
        gzip_bytes(document.text.encode())
        marks.append(process_time())
        problems.raise_any()
        for phase, begin, end in zip(PHASES, marks, marks[1:], strict=False):
            total[phase] += (end - begin) / len(groups) * 1e6
    return total
