# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All or nothing, on a node with a real systemd: a transaction fails or is killed at every step, and the disk is full.

transaction_driver.py contains what happens on the node. Two nodes share the work, so the whole file takes about as long as half of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from nodelab import Al2Node, engine

from ansible_collections.nodebootstrap.eks.tests.matrix import repeated

pytestmark = pytest.mark.docker

HERE = Path(__file__).resolve().parent
MODULE_UTILS = HERE.parents[1] / "plugins" / "module_utils"
DRIVER = "/opt/driver"
PACKAGE = f"{DRIVER}/ansible_collections/nodebootstrap/eks/plugins/module_utils"

What = TypeVar("What")
Result = TypeVar("Result")


def lay_driver(node: Al2Node) -> None:
    engine_files = {f"{PACKAGE}/{path.relative_to(MODULE_UTILS)}": path.read_bytes() for path in MODULE_UTILS.rglob("*.py")}
    node.write({**engine_files, **{f"{DRIVER}/{path.name}": path.read_bytes() for path in HERE.glob("transaction_*.py")}})


def drive(node: Al2Node, *words: str) -> dict[str, Any]:
    """One pass of the driver: its report."""
    done = node.exec(["python3", "-B", f"{DRIVER}/transaction_driver.py", *words], timeout=7200)
    assert done.returncode == 0, f"{words}: {done.stderr.decode()[-3000:]}"
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    engine.say(f"{' '.join(words)}: {result['points']} points, {result['all_problems']} problems, {done.stderr.decode().strip()}")
    return result


@pytest.fixture(scope="module")
def nodes() -> Iterator[list[Al2Node]]:
    with Al2Node.start() as first, Al2Node.start() as second:
        for node in (first, second):
            lay_driver(node)
        yield [first, second]


def on_both(nodes: list[Al2Node], work: Callable[[Al2Node, What], Result], parts: Iterable[What]) -> list[Result]:
    """What each part of the work gave; they are begun in order, each on the first node that is free."""
    free = list(nodes)

    def one(part: What) -> Result:
        node = free.pop()
        try:
            return work(node, part)
        finally:
            free.append(node)

    with ThreadPoolExecutor(len(nodes)) as pool:
        return list(pool.map(one, parts))


def drive_both(nodes: list[Al2Node], *passes: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    results = on_both(nodes, lambda node, words: drive(node, *words), passes)
    return {" ".join(words): result for words, result in zip(passes, results, strict=True)}


def problems(results: dict[str, dict[str, Any]]) -> list[str]:
    return [f"{name}: {problem}" for name, result in results.items() for problem in result["problems"]]


#: The passes of make test, each with the least number of interruptions: fewer mean that the driver no longer reaches every step.
#: With "each", the next play and the boot take turns in recovering the node.
LEAST_POINTS = {"programs each": 100, "twice": 80, "failures": 150, "kills each": 100, "disk": 20}

#: The passes of make matrix: both recoveries after every interruption.
BOTH_RECOVERIES = {"programs play": 100, "programs boot": 100, "kills play": 100, "kills boot": 100}


@pytest.mark.parametrize("least", [LEAST_POINTS, pytest.param(BOTH_RECOVERIES, marks=pytest.mark.matrix)], ids=["alternating", "both"])
def test_every_step_of_the_operating_system(nodes: list[Al2Node], least: dict[str, int]) -> None:
    results = drive_both(nodes, *(tuple(name.split()) for name in least))
    assert problems(results) == []
    points = {name: result["points"] for name, result in results.items()}
    assert all(points[name] >= number for name, number in least.items()), points
    # Interrupted runs end in both states.
    assert all(result["ends"].keys() == {"old", "new"} for name, result in results.items() if name.startswith("kills "))
    assert "disk" not in results or results["disk"]["full"] > 10


@pytest.mark.parametrize("recovery", repeated(["boot", "play"], "boot"))
def test_with_the_real_systemctl(nodes: list[Al2Node], recovery: str) -> None:
    results = drive_both(nodes, ("real", recovery), ("guard",))
    assert problems(results) == []
    assert recovery == "play" or results["real boot"]["ends"].keys() == {"old", "new"}
    assert results[f"real {recovery}"]["points"] >= {"boot": 12, "play": 7}[recovery]


CASES = [
    ("abort", "old"),
    ("switch", "new"),
    ("commands", "new"),
    ("finish", "new"),
    ("back", "old"),
    ("undo", "old"),
    ("newer", "down"),
]


def reboot(node: Al2Node, row: tuple[str, str]) -> list[str]:
    """What is wrong with a node that was restarted in the middle of something; of several cases at once each says which it is."""
    case, expected = row
    try:
        left = drive(node, "leave", case)["problems"]
        # Its processes die at once, as in a power failure; what lies below /run is gone.
        node.leave()
        engine.docker("restart", "-t", "0", node.container)
        node.wait_boot()
        found = left + drive(node, "look", expected)["problems"]
    except (AssertionError, engine.HarnessError) as error:
        return [f"{case}: {error}"]
    return [f"{case}: {problem}" for problem in found + [node.journal("nodebootstrap-recover.service")[-2000:]] * bool(found)]


def test_a_reboot_in_the_middle(nodes: list[Al2Node]) -> None:
    assert [problem for found in on_both(nodes, reboot, CASES) for problem in found] == []


def test_the_driver_sees_an_engine_that_does_not_restore(nodes: list[Al2Node]) -> None:
    program = MODULE_UTILS / "_transaction/recovery.py"
    broken = program.read_text().replace('restore) restore "$@" ;;', "restore) ;;")
    assert broken != program.read_text()
    node = nodes[1]
    node.write({f"{PACKAGE}/_transaction/recovery.py": broken})
    try:
        assert any("mixed" in problem for problem in drive(node, "disk")["problems"])
    finally:
        lay_driver(node)
