# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Killed runs of every family and strategy: when the next run says healthy, the running kubelet says what the plan says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from nodelab import Al2Node, Al2023Node, Node, UbuntuNode, engine

from ansible_collections.nodebootstrap.eks.tests.oracle.live_nodes import CODE, GROUPS, HEALTHY, lay_code, plan

pytestmark = pytest.mark.docker

DRIVER = Path(__file__).with_name("apply_kills.py")
NODES: dict[str, type[Node]] = {"al2": Al2Node, "al2023": Al2023Node, "ubuntu": UbuntuNode}
PODS = (17, 23)

#: Kills for each of the five kinds: 40 in make test, 300 in make fuzz.
KILLS = [pytest.param(8, id="fixed"), pytest.param(60, id="many", marks=[pytest.mark.fuzz, pytest.mark.matrix])]


@pytest.mark.parametrize("kind", GROUPS)
@pytest.mark.parametrize("count", KILLS)
def test_healthy_means_the_configuration_of_the_plan(kind: str, count: int) -> None:
    turns = [(plan(kind, max_pods=pods, labels={"role": "web"}), {"maxPods": pods, "labels": {"role": "web"}}) for pods in PODS]
    with NODES[kind.split()[0]].start() as node:
        lay_code(node)
        node.write({HEALTHY: "", "/run/turns.json": json.dumps(turns), "/run/apply_kills.py": DRIVER.read_bytes()})
        environment = {"PYTHONPATH": CODE, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        done = node.exec(["python3", "/run/apply_kills.py", "/run/turns.json", str(count)], environment=environment, timeout=7200)
        assert done.returncode == 0, done.stderr.decode()[-3000:]
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    engine.say(f"{kind}: {result['kills']} kills at {result['steps']} steps")
    assert result["problems"] == [] and result["kills"] == count and result["steps"] > 10
