# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a run on a node: verification, registration, failures. Whole runs: tests/oracle/test_apply_plan.py."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import (
    apply,
    apply_run,
    crash_loop,
    failures,
    registration,
    service_commands,
    transactions,
)
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.drift_watch import DriftWatch
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.manifest import Manifest, RegistrationChange
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.observe import Membership
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.plan import Cluster, Registration, Verify
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.registration import RegistrationDecision
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.validation import ValidationSandbox
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import wait
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import Finding, JoinResult
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.placeholders import Identity
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.recovery import Command
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.store import Store
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.transaction import StepFailed
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import node_state, typed_plan, unit

KUBELET = "kubelet.service"
FINAL = JoinResult(finding=Finding("unknown_flag", "kubelet does not know --x", "remove it", final=True))
LACKS = ["kubelet.service is activating (auto-restart)"]


class Node:
    """Reports what a test sets: what is missing after how many seconds, and the state of its join."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lacks: list = []
        self.takes = 0.0
        self.now = 50.0
        self.asked: list = []
        monkeypatch.setattr(apply.health, "wait_until_healthy", self.missing)
        monkeypatch.setattr(crash_loop, "evidence", lambda units: [f"{name} fails" for name in units])
        monkeypatch.setattr(wait, "wait", self.join)
        monkeypatch.setattr(apply.time, "monotonic", lambda: self.now)

    def missing(self, expected: Any, seconds: float, known: Any) -> list:
        self.now += self.takes
        return self.lacks

    def join(self, options: Any) -> JoinResult:
        self.asked.append((options.wait_for, round(options.timeout, 3)))
        return FINAL

    def verify(self, active: str = "active", **options: Any) -> apply_run.RunResult:
        plan = typed_plan("al2")._replace(verify=Verify((KUBELET,), None))
        run = apply_run.ApplyRun(apply_run.Options(plan, apply_run.PHASES, **options), Store(), ValidationSandbox(), Identity())
        node = node_state(units={KUBELET: unit(KUBELET, active, active)})
        configured = apply.Configured(apply_run.RunResult(), node, has_started=True)
        return apply._verify(run, configured, RegistrationDecision(False, None, True), DriftWatch(plan, "repair", Manifest()))


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Node:
    return Node(monkeypatch)


@pytest.mark.parametrize("wait_for", ["ready", "registered"])
def test_the_remaining_time_is_for_the_join(node: Node, wait_for: str) -> None:
    node.takes = 1.5
    result = node.verify(wait_timeout=5.0, wait_for=wait_for)
    assert node.asked == [(wait_for, 3.5)]
    assert (result.healthy, result.waited, result.join) == (True, 1.5, FINAL)


def test_a_wait_for_a_healthy_node_does_not_ask_the_api_server(node: Node) -> None:
    assert node.verify().join is None
    assert node.asked == []


@pytest.mark.parametrize(("lacks", "takes"), [(LACKS, 5.0), ([], 5.0), ([], 7.0)])
def test_without_remaining_time_the_join_is_checked_until_the_answer_is_certain(node: Node, lacks: list, takes: float) -> None:
    """More than 0 seconds: a cause that ends the wait must be stable for a while."""
    node.lacks, node.takes = lacks, takes
    result = node.verify(wait_timeout=5.0, wait_for="ready")
    assert node.asked == [("ready", apply.MIN_JOIN_WAIT)]
    assert (result.healthy, result.missing, result.join) == (not lacks, tuple(lacks), FINAL)
    assert result.evidence == ((f"{KUBELET} fails",) if lacks else ())


@pytest.mark.parametrize("lacks", [LACKS, []])
def test_without_a_timeout_the_answer_is_certain_too(node: Node, lacks: list) -> None:
    node.lacks = lacks
    assert node.verify(wait_timeout=0.0, wait_for="ready").join == FINAL
    assert node.asked == [("ready", apply.MIN_JOIN_WAIT)]


def test_with_restart_never_a_stopped_kubelet_is_not_waited_for(node: Node) -> None:
    node.lacks = LACKS
    result = node.verify(active="inactive", restart="never", wait_for="ready")
    assert (result.healthy, result.join, node.asked) == (None, None, [])


class Standing:
    """A node with a manifest, before anything is changed; C(certain) is whether it is certain that it never joined."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, certain: bool = True) -> None:
        self.asked = 0
        self.certain = certain
        self.served = False
        monkeypatch.setattr(wait, "never_joined", self.never_joined)

    def never_joined(self) -> bool:
        self.asked += 1
        return self.certain

    def check(
        self,
        manifest: Manifest,
        labels: dict[str, str] | None = None,
        cluster: str = "demo",
        take_over: bool = False,
        reconcile: bool = False,
        checks_join: bool = True,
    ) -> RegistrationDecision:
        plan = typed_plan("al2")._replace(cluster=Cluster(cluster, "https://x"), registration=Registration(labels or {}, ()))
        membership = Membership("demo", "https://x", "the manifest") if manifest.cluster else None
        node = node_state(manifest=manifest, membership=membership, has_served=self.served)
        return registration.decide(plan, node, take_over, reconcile, checks_join)


def remembered(joined: bool | None, **fields: Any) -> Manifest:
    registered = Registration({"a": "1"}, ())
    return Manifest(cluster=Cluster("demo", "https://x"), registered=registered, joined=joined, **fields)


@pytest.mark.parametrize(("joined", "certain", "asked"), [(True, True, 0), (None, True, 0), (False, False, 1)])
@pytest.mark.parametrize("change", [{"labels": {"a": "2"}}, {"cluster": "other", "labels": {"a": "1"}}])
def test_a_node_that_joined_or_may_have_joined_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
    joined: bool | None,
    certain: bool,
    asked: int,
    change: dict,
    golden_message: GoldenMessages,
) -> None:
    node = Standing(monkeypatch, certain)
    with pytest.raises(ApplyRefused) as caught:
        node.check(remembered(joined), **change)
    golden_message(caught.value)
    assert node.asked == asked


def test_a_node_that_never_joined_gets_other_labels_and_another_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    node = Standing(monkeypatch)
    assert node.check(remembered(False), {"a": "2"}).moves is False
    assert node.check(remembered(False), {"a": "1"}, "other").moves is True
    earlier = RegistrationChange({"b": "1"}, (), ())
    decision = node.check(remembered(False, patched=earlier), {"a": "2"}, reconcile=True)
    assert decision.patched is None, "there is no Node to patch"


def test_pods_on_a_node_are_a_sign_that_it_joined(monkeypatch: pytest.MonkeyPatch, golden_message: GoldenMessages) -> None:
    node = Standing(monkeypatch)
    node.served = True
    with pytest.raises(ApplyRefused) as caught:
        node.check(remembered(False), {"a": "1"}, "other")
    golden_message(caught.value)


def test_the_api_server_is_asked_only_if_the_answer_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    node = Standing(monkeypatch)
    node.check(remembered(False), {"a": "1"})
    node.check(remembered(False), {"a": "1"}, "other", take_over=True)
    assert node.asked == 0


@pytest.mark.parametrize(
    ("manifest", "options", "joined"),
    [
        (Manifest(), {}, False),
        (Manifest(), {"checks_join": False}, None),
        (remembered(None), {}, None),
        (remembered(True), {}, True),
        (remembered(False), {}, False),
        (remembered(True), {"cluster": "other", "take_over": True}, False),
    ],
)
def test_what_is_remembered_of_a_join(monkeypatch: pytest.MonkeyPatch, manifest: Manifest, options: Any, joined: bool | None) -> None:
    assert Standing(monkeypatch).check(manifest, {"a": "1"}, **options).joined is joined


@pytest.mark.parametrize(
    ("phases", "wait_for", "checks"),
    [
        (apply_run.PHASES, "ready", True),
        (apply_run.PHASES, "registered", True),
        (apply_run.PHASES, "healthy", False),
        (("start",), "ready", False),
    ],
)
def test_when_a_run_checks_the_join(phases: Any, wait_for: str, checks: bool) -> None:
    options = apply_run.Options(typed_plan("al2"), phases, wait_for=wait_for)
    run = apply_run.ApplyRun(options, Store(), ValidationSandbox(), Identity())
    assert apply._checks_join(run) is checks


@pytest.mark.parametrize("certain", [True, False])
def test_a_removal_asks_whether_the_node_ever_joined(
    monkeypatch: pytest.MonkeyPatch, certain: bool, golden_message: GoldenMessages
) -> None:
    """A node that may have joined another cluster is not removed without take_over."""
    standing = Standing(monkeypatch, certain)
    plan = typed_plan("al2")._replace(cluster=Cluster("other", "https://y"))
    options = apply_run.Options(plan, ["preflight"], state="absent", check_mode=True)
    run = apply_run.ApplyRun(options, Store(), ValidationSandbox(), Identity())
    node = node_state(membership=Membership("demo", "https://x", "the manifest"), manifest=remembered(False))
    monkeypatch.setattr(apply, "observe", lambda *_unused: node)
    if certain:
        assert apply._remove(run, node.manifest, apply_run.RunResult()) == apply_run.RunResult()
    else:
        with pytest.raises(ApplyRefused) as caught:
            apply._remove(run, node.manifest, apply_run.RunResult())
        golden_message(caught.value)
    assert standing.asked == 1


SWAP = (
    'E1121 21:00:00.000000       1 run.go:72] "command failed" err="failed to run Kubelet: running with swap on is not supported, '
    'please disable swap or set --fail-swap-on flag to false. /proc/swaps contained: [Filename]"'
)


class Failing:
    """A transaction whose watch over kubelet fails."""

    unit = KUBELET
    beside: tuple[str, ...] = ()
    not_restored: tuple[Command, ...] = ()

    def run(self, _progress: Any) -> None:
        command = service_commands.start([*self.beside, self.unit])
        raise StepFailed(command, f"{self.unit} is activating (auto-restart)", 1, self.not_restored)


def failure(monkeypatch: pytest.MonkeyPatch, lines: list[str]) -> ApplyRefused:
    """The error of a run whose units write these lines before they end."""
    monkeypatch.setattr(failures.journald, "messages_between", lambda *_unused: lines)
    failing: Any = Failing()
    with pytest.raises(ApplyRefused) as caught:
        transactions.run(failing, [], KUBELET)
    return caught.value


def test_a_start_that_fails_says_what_the_last_lines_of_kubelet_mean(
    monkeypatch: pytest.MonkeyPatch, golden_message: GoldenMessages
) -> None:
    error = failure(monkeypatch, ["I1121 21:00:00.000000       1 server.go:1] noise", SWAP])
    golden_message(error)
    symptom = f"systemctl start {KUBELET} failed (status 1): {KUBELET} is activating (auto-restart)"
    assert error.evidence == (f"journal of {KUBELET}: {SWAP}", symptom)
    cause, fix, heading, *evidence = str(error).splitlines()
    assert (cause, fix, heading) == (error.cause, f"Fix: {error.fix}", "Evidence:")
    assert evidence == [f"  - {line}" for line in error.evidence]


def test_last_lines_of_unknown_meaning_are_quoted(monkeypatch: pytest.MonkeyPatch, golden_message: GoldenMessages) -> None:
    lines = ["I1121 21:00:00.000000       1 server.go:1] noise", "F1121 21:00:00.000000       1 server.go:1] it broke"]
    error = failure(monkeypatch, lines)
    assert "canary" not in str(failure(monkeypatch, ["Error: https://user:canary@proxy:3128 does not answer"]))
    golden_message(error)
    assert error.evidence == tuple(f"journal of {KUBELET}: {line}" for line in lines)
    assert failure(monkeypatch, []).evidence == ()


def test_what_an_earlier_kubelet_wrote_is_not_why_something_else_failed(
    monkeypatch: pytest.MonkeyPatch, golden_message: GoldenMessages
) -> None:
    monkeypatch.setattr(Failing, "unit", "nodeadm-run.service")
    error = failure(monkeypatch, [SWAP])
    golden_message(error)
    assert error.evidence == (f"journal of nodeadm-run.service: {SWAP}", f"journal of {KUBELET}: {SWAP}")


def test_what_others_wrote_stays_beside_the_reason(monkeypatch: pytest.MonkeyPatch, golden_message: GoldenMessages) -> None:
    monkeypatch.setattr(Failing, "beside", ("containerd.service",))
    error = failure(monkeypatch, [SWAP])
    assert f"journal of containerd.service: {SWAP}" in error.evidence
    golden_message(error)


def test_commands_that_could_not_be_undone_are_named(monkeypatch: pytest.MonkeyPatch, golden_message: GoldenMessages) -> None:
    monkeypatch.setattr(Failing, "not_restored", (service_commands.restart([KUBELET]),))
    error = failure(monkeypatch, [])
    assert mentions(error.cause, f"systemctl restart {KUBELET}")
    golden_message(error)
