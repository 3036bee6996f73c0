# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Systems Manager can answer to a run on a Bottlerocket node: refusals, timeouts, a node that is not there."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client, ssm
from ansible_collections.nodebootstrap.eks.tests.oracle.bottlerocket_lab import BOOTED, Lab, running
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    monkeypatch.setattr(ssm, "FIRST_PAUSE", 0.01)
    with running(tmp_path) as found:
        yield found


@pytest.mark.parametrize("error", ["InvalidInstanceId", "AccessDeniedException", "ExpiredTokenException", "InvalidDocument"])
def test_refusals_of_systems_manager(lab: Lab, error: str, golden_message: Any) -> None:
    lab.ssm.errors["SendCommand"] = error
    with pytest.raises(client.AwsError) as refused:
        lab.apply()
    golden_message(refused.value)
    assert lab.node.settings == BOOTED


@pytest.mark.parametrize(
    "ending",
    [
        {"Status": "TimedOut", "StatusDetails": "DeliveryTimedOut"},
        {"Status": "TimedOut", "StatusDetails": "ExecutionTimedOut"},
        {"Status": "Failed", "StatusDetails": "Undeliverable"},
        {"Status": "Cancelled"},
    ],
    ids=["not delivered", "timed out", "undeliverable", "cancelled"],
)
def test_commands_that_do_not_end_well(lab: Lab, ending: dict[str, Any], golden_message: Any) -> None:
    lab.ssm.endings = [dict(ending)]
    with pytest.raises(client.AwsError) as refused:
        lab.apply()
    # Nothing was changed yet, so the message must not say that settings may have changed.
    golden_message(refused.value)
    assert "transaction" not in str(refused.value)
    lab.ssm.endings = [lab.node.run(lab.ssm.scripts()[0]), dict(ending)]
    with pytest.raises(client.AwsError) as refused:
        lab.apply()
    golden_message(refused.value)


def test_a_wait_is_bounded_and_cancelled(lab: Lab, monkeypatch: pytest.MonkeyPatch, golden_message: Any) -> None:
    monkeypatch.setattr(ssm, "GRACE", 1.0 - ssm.LEAST_TIMEOUT)
    monkeypatch.setattr(ssm, "LINE_EVERY", 0.3)
    moments = itertools.count()
    monkeypatch.setattr(ssm, "time", SimpleNamespace(monotonic=lambda: next(moments) / 10, sleep=lambda _seconds: None))
    lab.ssm.slow = 1_000
    with pytest.raises(client.AwsError) as late:
        lab.apply()
    golden_message(late.value)
    assert lab.ssm.operations()[-1] == "CancelCommand"
    assert any(line.startswith("read the settings: InProgress (0 s of 30 s)") for line in lab.lines)


def test_an_answer_that_never_comes_is_no_secret_change(lab: Lab, monkeypatch: pytest.MonkeyPatch, golden_message: Any) -> None:
    """The change was made, and no program answered how it ended: that is said, and the next run finds nothing to do."""
    run = lab.node.run

    def last(script: str) -> dict[str, Any]:
        if "-m PATCH" in script:
            lab.ssm.errors["GetCommandInvocation"] = "InternalServerError"
        return run(script)

    monkeypatch.setattr(lab.node, "run", last)
    with pytest.raises(client.AwsError) as refused:
        lab.apply()
    golden_message(refused.value)
    lab.ssm.errors.clear()
    assert lab.node.settings["kubernetes"]["max-pods"] == 40
    assert not lab.apply()["changed"]


def test_questions_that_are_refused(lab: Lab, golden_message: Any) -> None:
    lab.ssm.errors["GetCommandInvocation"] = "AccessDeniedException"
    with pytest.raises(client.AwsError) as refused:
        lab.apply()
    golden_message(refused.value)


def test_a_throttled_question_is_asked_again(lab: Lab) -> None:
    lab.ssm.passing = ["ThrottlingException"] * 9
    assert "msg" not in lab.apply()
    assert lab.ssm.passing == []


def test_without_boto3_it_is_said(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "BOTO3_ERROR", "ImportError")
    with pytest.raises(client.AwsError) as missing:
        lab.apply()
    assert mentions(missing.value, "boto3")
