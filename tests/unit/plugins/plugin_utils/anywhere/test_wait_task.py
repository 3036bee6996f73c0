# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for a cluster: what is printed, and which causes end it before the time limit."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import cause, wait_task
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.capi_objects import (
    condition,
    creation,
    event,
    made,
    pod,
)

GONE = 'Back-off pulling image "a:9": manifest unknown'
MANAGER = pod("capd-manager", "capd-system", "ImagePullBackOff", GONE)
LIMIT = 3600.0


class Cluster:
    """Answers with one list of objects after the other. The last one stays."""

    def __init__(self, *answers: list[dict[str, Any]] | None) -> None:
        self.answers = list(answers)
        self.seconds = 0.0
        self.said: list[str] = []

    def call(self, **options: Any) -> dict[str, Any]:
        self.seconds += options["timeout"]
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if found is None:
            return {"reached": True}
        return {"reached": False, "lines": ["Cluster dev: Available is False"], "evidence": found}

    def wait(self, timeout: float = LIMIT) -> str | None:
        return wait_task.wait(self.call, self.said.append, timeout)


def kubeadm_failed() -> list[dict[str, Any]]:
    failed = condition("BootstrapExecSucceeded", "False", "BootstrapFailed", "error execution phase wait-control-plane")
    return [made("DockerMachine", "dev-cp", failed), *creation()[:5]]


HOPELESS = {
    "an image that does not exist": [MANAGER],
    "an image without credentials": [pod("capi", "capi-system", "ErrImagePull", "failed to pull: 401 Unauthorized")],
    "a container with a wrong configuration": [pod("capi", "capi-system", "CreateContainerConfigError", 'secret "x" not found')],
    "a container of a machine that cannot start": [
        *creation(),
        event(creation()[5], "Failed", "unable to apply caps: operation not permitted"),
    ],
    "kubeadm init": kubeadm_failed(),
    "a failure that a controller calls final": [made("Cluster", "dev", status={"failureReason": "E", "failureMessage": "broken"})],
}
HOPEFUL = {
    "a registry that cannot be reached": [pod("capi", "capi-system", "ImagePullBackOff", "failed to pull: dial tcp: i/o timeout")],
    "a container that ends and starts again": [pod("capi", "capi-system", "CrashLoopBackOff", "back-off 5m0s")],
    "machines that wait": creation()[:5],
    "no cause at all": [],
    "an old event of another object": [*creation()[:5], event(MANAGER, "Failed", GONE)],
}


@pytest.mark.parametrize("name", HOPELESS)
def test_what_cannot_succeed_ends_after_the_back_off(name: str) -> None:
    cluster = Cluster(HOPELESS[name])
    problem = cluster.wait()
    found = cause.find(HOPELESS[name])
    assert problem is not None and found is not None and found.name in problem
    assert wait_task.BACK_OFF_SECONDS <= cluster.seconds <= wait_task.BACK_OFF_SECONDS + 2 * wait_task.CALL_SECONDS


@pytest.mark.parametrize("name", HOPEFUL)
def test_what_can_still_succeed_is_waited_for(name: str) -> None:
    cluster = Cluster(HOPEFUL[name])
    assert cluster.wait() is not None
    assert cluster.seconds == LIMIT


def test_another_object_or_a_pause_starts_the_time_anew() -> None:
    other = [pod("other", "capi-system", "ImagePullBackOff", GONE)]
    nearly = int(wait_task.BACK_OFF_SECONDS / wait_task.CALL_SECONDS)
    assert Cluster(*[[MANAGER]] * nearly, *[other] * nearly, [], *[other] * nearly, None).wait() is None


def test_the_message_has_the_cure() -> None:
    problem = Cluster([MANAGER]).wait()
    assert problem is not None and "eks_anywhere_images" in problem and "a:9" in problem


def test_the_reason_is_printed_when_it_changes_only() -> None:
    cluster = Cluster(*[creation()] * 4, *[[]] * 4, None)
    assert cluster.wait() is None
    assert len(cluster.said) == 2 and "DockerMachine dev-cp" in cluster.said[0] and "DockerMachine" not in cluster.said[1]


def test_after_the_time_limit_the_cause_is_told() -> None:
    problem = Cluster(creation()).wait(60.0)
    assert problem is not None and "Cluster dev: Available" in problem and "DockerMachine dev-cp" in problem
