# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes join with rendered configuration that its real consumers read: they are Ready and match their group."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts import post_commands
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabError, LabNode
from ansible_collections.nodebootstrap.eks.tests.lab.joining import (
    CASES,
    LIVE,
    PATIENCE,
    boot,
    booted,
    effective,
    group,
    matches_group,
    play,
)
from ansible_collections.nodebootstrap.eks.tests.lab.node import is_ready
from ansible_collections.nodebootstrap.eks.tests.lab.progress import say, wait_for
from ansible_collections.nodebootstrap.eks.tests.matrix import repeated

pytestmark = pytest.mark.docker

CNI, MARKER = "/etc/cni/net.d/10-lab.conflist", "/var/lib/marker"

#: Seconds from nothing to Ready on an idle machine of two CPUs. The figures are printed; no test depends on them.
GOALS = {"user data": 20, "live play": 25}


@pytest.fixture(scope="module")
def times() -> Iterator[dict[tuple[str, str], float]]:
    """Seconds from nothing (nothing rendered, no machine) to Ready, by way and case; printed in the end."""
    taken: dict[tuple[str, str], float] = {}
    yield taken
    for (way, case), seconds in sorted(taken.items(), key=lambda item: -item[1]):
        over = " OVER" if seconds > GOALS[way] else ""
        say(f"zero to Ready: {seconds:5.1f} s of {GOALS[way]} s by {way:<9} {case}{over}")


@pytest.fixture(scope="module")
def born(lab: Lab, times: dict[tuple[str, str], float], request: pytest.FixtureRequest) -> Iterator[tuple[str, LabNode]]:
    """A node that joined by user data alone."""
    case: str = request.param
    began = time.monotonic()
    with boot(lab, case) as node:
        node.wait_ready(PATIENCE)
        times["user data", case] = time.monotonic() - began
        yield case, node


@pytest.mark.parametrize("born", repeated(CASES, "al2023"), indirect=True)
def test_user_data_joins(born: tuple[str, LabNode]) -> None:
    """With real cloud-init, on Amazon Linux 2023 with the real nodeadm, and without Ansible."""
    case, node = born
    matches_group(node, case)


@pytest.mark.parametrize("born", repeated(CASES, "al2023"), indirect=True)
def test_commands_wait_while_the_node_is_not_ready(lab: Lab, born: tuple[str, LabNode]) -> None:
    """kubelet is healthy all the time. The condition of the Node follows the configuration of the network."""
    case, node = born
    network = node.read(CNI)
    post = [f"touch {MARKER}-healthy", {"run": f"touch {MARKER}", "when": "ready", "timeout": PATIENCE}]
    files = {file["path"]: file for file in node_files(lab.cluster(CASES[case].minor), group(case, commands={"post": post}))}
    node.exec(["rm", CNI], check=True)
    wait_for("a Node that is not Ready", lambda: not is_ready(node.object() or {"status": {}, "spec": {}}), PATIENCE)
    node.write({path: (files[path]["content"], int(files[path]["mode"], 8)) for path in post_commands.FILES})
    node.exec(["systemctl", "daemon-reload"], check=True)
    node.exec(["systemctl", "start", "--no-block", post_commands.UNIT], check=True)
    wait_for("the first command", lambda: node.exists(f"{MARKER}-healthy"), PATIENCE)
    time.sleep(3)
    assert node.property(post_commands.UNIT, "ActiveState") == "activating" and not node.exists(MARKER)
    node.write({CNI: network})
    wait_for("the second command", lambda: node.exists(MARKER), PATIENCE)
    wait_for("the end of the unit", lambda: node.property(post_commands.UNIT, "ActiveState") == "active", PATIENCE)
    node.wait_ready(PATIENCE)
    assert node.journal(post_commands.UNIT).count("commands.post:") == 0


@pytest.mark.parametrize("born", repeated(LIVE), indirect=True)
def test_a_play_joins_a_live_node_as_user_data_does(lab: Lab, born: tuple[str, LabNode], times: dict[tuple[str, str], float]) -> None:
    case, other = born
    began = time.monotonic()
    with booted(lab, case) as live:
        play(live, case)
        live.wait_ready(PATIENCE)
        times["live play", case] = time.monotonic() - began
        matches_group(live, case)
        assert effective(live) == effective(other)


def test_a_node_of_another_cluster_does_not_join(lab: Lab) -> None:
    """Shows that the other tests are meaningful: with one wrong word, the API server does not recognize the node."""
    with boot(lab, "al2-static", cluster={"name": "other"}) as node:
        wait_for("a refused kubelet", lambda: "Unable to register node" in node.journal("kubelet.service"), PATIENCE, 1)
        assert 'err="Unauthorized"' in node.journal("kubelet.service")
        assert node.object() is None
        with pytest.raises(LabError) as failure:
            node.wait_ready(0)
        assert "Unauthorized" in str(failure.value), "the reason is in the message"
