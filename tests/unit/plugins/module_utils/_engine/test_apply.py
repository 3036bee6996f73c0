# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The last phase of a call on a node: healthy first, then joined, with one time for both. Whole calls: tests/oracle/test_apply_plan.py."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import apply, service_commands
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import registration as _registration
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import wait
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.placeholders import Identity
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.systemd import Unit
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.transaction import StepFailed

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
        monkeypatch.setattr(apply.health, "wait_until_healthy", self.missing)
        monkeypatch.setattr(wait, "wait", self.join)
        monkeypatch.setattr(apply.time, "monotonic", lambda: self.now)

    def missing(self, units: Any, healthz: Any, seconds: float, known: Any) -> list:
        self.now += self.takes
        return self.lacks

    def join(self, options: Any) -> dict:
        self.asked.append((options.wait_for, round(options.timeout, 3)))
        return FINAL

    def verify(self, active: str = "active", **options: Any) -> dict:
        call = object.__new__(apply._Call)
        call.options = apply.Options({}, apply.PHASES, **options)
        call.joined = True
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
    assert node.asked == [("ready", apply.SURE)]
    assert (result["healthy"], result["missing"], result["join"]) == (not lacks, lacks, FINAL)


@pytest.mark.parametrize("lacks", [LACKS, []])
def test_who_waits_for_nothing_is_told_nothing_unsure(node: Node, lacks: list) -> None:
    node.lacks = lacks
    assert node.verify(wait=0.0, wait_for="ready")["join"] == FINAL
    assert node.asked == [("ready", apply.SURE)]


def test_a_kubelet_that_is_not_to_be_started_is_not_waited_for(node: Node) -> None:
    node.lacks = LACKS
    result = node.verify(active="inactive", restart="never", wait_for="ready")
    assert (result["healthy"], result["join"], node.asked) == (None, None, [])


class Standing:
    """A node with a manifest, before anything is touched; C(certain) is whether it is certain that it never joined."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, certain: bool = True) -> None:
        self.asked = 0
        self.certain = certain
        self.served = False
        monkeypatch.setattr(wait, "never_joined", self.never_joined)
        monkeypatch.setattr(_registration, "has_served", lambda _words: self.served)

    def never_joined(self) -> bool:
        self.asked += 1
        return self.certain

    def check(self, manifest: dict, labels: dict | None = None, cluster: str = "demo", phases: Any = apply.PHASES, **options: Any) -> Any:
        call = object.__new__(apply._Call)
        registration = {"labels": labels or {}, "taints": []}
        call.plan = {"cluster": {"name": cluster, "endpoint": "https://x"}, "registration": registration, "family": "al2"}
        call.options = apply.Options(call.plan, phases, **{"wait_for": "ready", **options})
        call.manifest, call.words, call.result = manifest, [], {"registration": None}
        call.identity = Identity()
        call.moves = call._check_registration()
        return call


def remembered(joined: bool | None, **fields: Any) -> dict:
    manifest = {"cluster": {"name": "demo", "endpoint": "https://x"}, "registered": {"labels": {"a": "1"}, "taints": []}, **fields}
    return manifest if joined is None else {**manifest, "joined": joined}


@pytest.mark.parametrize(("joined", "certain", "asked"), [(True, True, 0), (None, True, 0), (False, False, 1)])
@pytest.mark.parametrize("change", [{"labels": {"a": "2"}}, {"cluster": "other", "labels": {"a": "1"}}])
def test_a_node_that_joined_or_may_have_joined_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, joined: bool | None, certain: bool, asked: int, change: dict
) -> None:
    node = Standing(monkeypatch, certain)
    with pytest.raises(ApplyRefused, match=r"this node is registered already|this node belongs to cluster demo"):
        node.check(remembered(joined), **change)
    assert node.asked == asked


def test_a_node_that_never_joined_gets_other_labels_and_another_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    node = Standing(monkeypatch)
    assert node.check(remembered(False), {"a": "2"}).moves is False
    assert node.check(remembered(False), {"a": "1"}, "other").moves is True
    earlier = {"labels": {"b": "1"}, "taints": {"set": [], "remove": []}}
    call = node.check(remembered(False, patched=earlier), {"a": "2"}, reconcile=True)
    assert call.result["registration"] is None, "there is no Node to patch"


def test_pods_on_a_node_are_a_sign_that_it_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    node = Standing(monkeypatch)
    node.served = True
    with pytest.raises(ApplyRefused, match="take_over: true"):
        node.check(remembered(False), {"a": "1"}, "other")


def test_nobody_is_asked_who_need_not_be(monkeypatch: pytest.MonkeyPatch) -> None:
    node = Standing(monkeypatch)
    node.check(remembered(False), {"a": "1"})
    node.check(remembered(False), {"a": "1"}, "other", take_over=True)
    assert node.asked == 0


@pytest.mark.parametrize(
    ("manifest", "options", "joined"),
    [
        ({}, {}, False),
        ({}, {"wait_for": "healthy"}, None),
        ({}, {"phases": ("start",)}, None),
        (remembered(None), {}, None),
        (remembered(True), {}, True),
        (remembered(False), {}, False),
        (remembered(True), {"cluster": "other", "take_over": True}, False),
    ],
)
def test_what_is_remembered_of_a_join(monkeypatch: pytest.MonkeyPatch, manifest: dict, options: dict, joined: bool | None) -> None:
    assert Standing(monkeypatch).check(manifest, {"a": "1"}, **options).joined is joined


SWAP = (
    'E1121 21:00:00.000000       1 run.go:72] "command failed" err="failed to run Kubelet: running with swap on is not supported, '
    'please disable swap or set --fail-swap-on flag to false. /proc/swaps contained: [Filename]"'
)


class Failing:
    """A transaction whose watch over kubelet fails."""

    unit = KUBELET
    beside: tuple = ()

    def run(self, _progress: Any) -> None:
        raise StepFailed(service_commands.start([*self.beside, self.unit]), f"{self.unit} is activating (auto-restart)", 1)


def failure(monkeypatch: pytest.MonkeyPatch, lines: list) -> str:
    """The message of a run whose kubelet says this before it ends."""
    monkeypatch.setattr(apply.journald, "messages_between", lambda *_unused: lines)
    with pytest.raises(ApplyRefused) as caught:
        apply.run(Failing(), [], KUBELET)
    return str(caught.value)


def test_a_start_that_fails_says_what_the_last_words_of_kubelet_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    message = failure(monkeypatch, ["I1121 21:00:00.000000       1 server.go:1] noise", SWAP])
    assert message.startswith("the node did not join: kubelet exits because swap is on. Fix: turn swap off")
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


def test_what_an_earlier_kubelet_said_is_not_why_something_else_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Failing, "unit", "nodeadm-run.service")
    message = failure(monkeypatch, [SWAP])
    assert message.startswith("systemctl start nodeadm-run.service failed (status 1)")
    assert f"Last lines of nodeadm-run.service: {SWAP}. Last lines of {KUBELET}: {SWAP}" in message


def test_what_others_said_stays_beside_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Failing, "beside", ("containerd.service",))
    message = failure(monkeypatch, [SWAP])
    assert (
        message.startswith("the node did not join: kubelet exits because swap is on")
        and f"Last lines of containerd.service: {SWAP}" in message
    )
