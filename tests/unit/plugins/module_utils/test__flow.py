# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The last phase of a call on a node: healthy first, then joined, with one time for both. Whole calls: tests/oracle/test_apply_plan.py."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils import _flow, _join, _services
from ansible_collections.nodebootstrap.eks.plugins.module_utils._files import Refused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._services import Unit
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction import StepFailed

KUBELET = "kubelet.service"
FINAL = {"cause": "unknown_flag", "final": True}
LACKS = ["kubelet.service is activating (auto-restart)"]


class Node:
    """Says what it was told to say: what it lacks after so many seconds, and how its join stands."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lacks: list = []
        self.takes = 0.0
        self.now = 50.0
        self.asked: list = []
        monkeypatch.setattr(_services, "missing", self.missing)
        monkeypatch.setattr(_join, "wait", self.join)
        monkeypatch.setattr(_flow.time, "monotonic", lambda: self.now)

    def missing(self, verify: Any, seconds: float, known: Any) -> list:
        self.now += self.takes
        return self.lacks

    def join(self, options: Any) -> dict:
        self.asked.append((options.wait_for, round(options.timeout, 3)))
        return FINAL

    def verify(self, active: str = "active", **options: Any) -> dict:
        call = object.__new__(_flow._Call)
        call.options = _flow.Options({}, _flow.PHASES, **options)
        call.plan = {"verify": {"units": [KUBELET], "healthz": None}}
        call.units = {KUBELET: Unit(KUBELET, "loaded", active, active, "enabled", 7)}
        call.result = {"healthy": None, "missing": [], "waited": 0.0, "join": None}
        call._verify(ran=True)
        return call.result


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Node:
    return Node(monkeypatch)


@pytest.mark.parametrize("wait_for", ["ready", "registered"])
def test_what_is_left_of_the_time_is_for_the_join(node: Node, wait_for: str) -> None:
    node.takes = 1.5
    result = node.verify(wait=5.0, wait_for=wait_for)
    assert node.asked == [(wait_for, 3.5)]
    assert (result["healthy"], result["waited"], result["join"]) == (True, 1.5, FINAL)


def test_who_waits_for_a_healthy_node_asks_no_api_server(node: Node) -> None:
    assert node.verify()["join"] is None
    assert node.asked == []


@pytest.mark.parametrize(("lacks", "takes"), [(LACKS, 5.0), ([], 5.0), ([], 7.0)])
def test_when_no_time_is_left_a_join_gets_a_look_that_has_to_be_sure(node: Node, lacks: list, takes: float) -> None:
    """More than 0 seconds: a finding that ends the run has to stand for a while."""
    node.lacks, node.takes = lacks, takes
    result = node.verify(wait=5.0, wait_for="ready")
    assert node.asked == [("ready", _flow.SURE)]
    assert (result["healthy"], result["missing"], result["join"]) == (not lacks, lacks, FINAL)


@pytest.mark.parametrize("lacks", [LACKS, []])
def test_who_looks_once_looks_once(node: Node, lacks: list) -> None:
    node.lacks = lacks
    assert node.verify(wait=0.0, wait_for="ready")["join"] == FINAL
    assert node.asked == [("ready", 0.0)]


def test_a_kubelet_that_is_not_to_be_started_is_not_waited_for(node: Node) -> None:
    node.lacks = LACKS
    result = node.verify(active="inactive", restart="never", wait_for="ready")
    assert (result["healthy"], result["join"], node.asked) == (None, None, [])


SWAP = (
    'E1121 21:00:00.000000       1 run.go:72] "command failed" err="failed to run Kubelet: running with swap on is not supported, '
    'please disable swap or set --fail-swap-on flag to false. /proc/swaps contained: [Filename]"'
)


class Failing:
    """A transaction whose watch over kubelet fails."""

    def run(self, _progress: Any) -> None:
        raise StepFailed(_services.start([KUBELET]), "kubelet.service is activating (auto-restart)", 1)


def failure(monkeypatch: pytest.MonkeyPatch, lines: list) -> str:
    """The message of a run whose kubelet says this before it ends."""
    monkeypatch.setattr(_services, "journal", lambda *_unused: lines)
    with pytest.raises(Refused) as caught:
        _flow.run(Failing(), [], KUBELET)
    return str(caught.value)


def test_a_start_that_fails_says_what_the_last_words_of_kubelet_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    message = failure(monkeypatch, ["I1121 21:00:00.000000       1 server.go:1] noise", SWAP])
    assert message.startswith("the node did not join: kubelet exits: swap is on. Fix: switch it off")
    assert f"Evidence: journal of {KUBELET}: {SWAP} | systemctl start {KUBELET} failed (status 1): {KUBELET} is activating" in message
    assert message.endswith("The node is back in the state it was in; correct the cause and run again")
    assert "noise" not in message


def test_last_words_that_nobody_knows_are_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["I1121 21:00:00.000000       1 server.go:1] noise", "F1121 21:00:00.000000       1 server.go:1] it broke"]
    message = failure(monkeypatch, lines)
    assert "canary" not in failure(monkeypatch, ["Error: https://user:canary@proxy:3128 does not answer"])
    assert message.startswith(f"systemctl start {KUBELET} failed (status 1): {KUBELET} is activating (auto-restart). The node is back in")
    assert message.endswith(f"Last lines of {KUBELET}: " + " | ".join(lines))
    assert "Last lines" not in failure(monkeypatch, [])
