# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the engine eksctl runs eksctl anywhere, and when it refuses, because a rerun would make it worse."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import eksctl_decide, eksctl_plan
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.eksctl_decide import ATTACH, NOTHING, START, STOP
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import problems_of

BOOT = ["dev-eks-a-cluster-control-plane"]
MOVE, INIT, VALIDATION = "capi-management-move", "workload-cluster-init", "setup-validate"


def seen(operation: str | None = None, state: str = "done", task: str = "", *, kubeconfig: bool = False, bootstrap: bool = False,
         digest: str = "d") -> dict[str, Any]:  # fmt: skip
    record = None
    if operation:
        record = {"operation": operation, "state": state, "task": task, "digest": digest, "pid": 7, "is_alive": state == "running"}
    return {"record": record, "kubeconfig": kubeconfig, "bootstrap": BOOT if bootstrap else [], "tools": [], "bundles": []}


@pytest.mark.parametrize(
    ("command", "what", "found"),
    [
        ("create", START, seen()),
        ("create", ATTACH, seen("create", "running")),
        ("create", STOP, seen("create", "running", digest="other")),
        ("create", STOP, seen("delete", "running")),
        ("create", NOTHING, seen("create", kubeconfig=True)),
        ("create", NOTHING, seen("upgrade", kubeconfig=True)),
        ("create", STOP, seen("create", kubeconfig=True, digest="other")),
        ("create", STOP, seen(kubeconfig=True)),
        ("create", STOP, seen(bootstrap=True)),
        ("create", START, seen("create", "failed", VALIDATION)),
        ("create", START, seen("create", "lost", "")),
        ("create", STOP, seen("create", "failed", "bootstrap-cluster-init", bootstrap=True)),
        ("create", STOP, seen("create", "failed", INIT)),
        ("create", STOP, seen("create", "lost", MOVE, bootstrap=True, kubeconfig=True)),
        ("create", START, seen("delete", "done")),
        ("upgrade", START, seen("create", kubeconfig=True, digest="old")),
        ("upgrade", START, seen("upgrade", "failed", "upgrade-core-components", kubeconfig=True)),
        ("upgrade", NOTHING, seen("upgrade", kubeconfig=True)),
        ("upgrade", START, seen(kubeconfig=True)),
        ("upgrade", STOP, seen()),
        ("upgrade", STOP, seen("create", "failed", INIT, kubeconfig=True)),
        ("upgrade", STOP, seen("delete", "lost", MOVE, kubeconfig=True)),
        ("upgrade", STOP, seen(kubeconfig=True, bootstrap=True)),
        ("delete", START, seen("create", kubeconfig=True)),
        ("delete", START, seen("create", "failed", "write-cluster-config", kubeconfig=True)),
        ("delete", START, seen("delete", "failed", "setup-and-validate-delete", kubeconfig=True)),
        ("delete", NOTHING, seen("delete", "done")),
        ("delete", STOP, seen("delete", "failed", "capi-management-move-for-delete", kubeconfig=True, bootstrap=True)),
        ("delete", STOP, seen("delete", "lost", "delete-management-cluster", kubeconfig=True)),
        ("delete", STOP, seen()),
    ],
)
def test_a_command_is_run_only_if_it_cannot_make_it_worse(command: str, what: str, found: dict[str, Any]) -> None:
    decision = eksctl_decide.decide(command, "dev", "d", found)
    assert decision.what == what
    assert bool(decision.reason and decision.way_out) == (what == STOP)


def test_the_user_can_say_that_the_machines_are_gone_but_not_that_a_bootstrap_cluster_is() -> None:
    assert eksctl_decide.decide("create", "dev", "d", seen("create", "failed", INIT), rerun=True).what == START
    assert eksctl_decide.decide("create", "dev", "d", seen("create", "failed", INIT, bootstrap=True), rerun=True).what == STOP


def test_the_way_out_of_a_left_bootstrap_cluster_looks_for_machines_before_it_is_deleted() -> None:
    way_out = eksctl_decide.decide("create", "dev", "d", seen("create", "failed", INIT, bootstrap=True)).way_out
    assert way_out.index("machines.cluster.x-k8s.io") < way_out.index("kind delete cluster --name dev-eks-a-cluster")


def options(**changes: Any) -> dict[str, Any]:
    return {"operation": "create", "cluster_file": "dev.yaml", "work_dir": "~/eks-anywhere", "eksctl": {}} | changes


def plan(environment: dict[str, str] | None = None, provider: str = "vsphere", **changes: Any) -> eksctl_plan.EksctlPlan:
    texts = {"cluster_file": clusters.file(provider), "eksctl.hardware_csv": clusters.hardware()}
    return eksctl_plan.plan_of(options(**changes), lambda _path, option: texts[option], environment or {})


def test_credentials_are_in_the_environment_and_not_in_the_command() -> None:
    found = plan({"EKSA_VSPHERE_PASSWORD": "very-secret", "EKSA_VSPHERE_USERNAME": "", "HOME": "/root", "LC_SECRET": "no"})
    assert found.environment == {"EKSA_VSPHERE_PASSWORD": "very-secret"}
    assert "very-secret" not in " ".join(found.command) and found.command[:4] == ("eksctl", "anywhere", "create", "cluster")
    assert found.digest == plan().digest


def test_hardware_is_for_what_needs_machines() -> None:
    eksctl = {"hardware_csv": "machines.csv", "arguments": ["--no-timeouts"]}
    created = plan(provider="tinkerbell", eksctl=eksctl)
    assert "hardware.csv" in created.command and created.command[-1] == "--no-timeouts"
    assert "hardware.csv" not in plan(provider="tinkerbell", eksctl=eksctl, operation="delete").command


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"eksctl": {"arguments": ["-f=x"]}}, [("input.conflict", "eksctl.arguments[0]")]),
        ({"operation": "recover"}, [("anywhere.engine", "operation")]),
        ({"work_dir": "x"}, [("input.invalid_text", "work_dir")]),
    ],
)
def test_bad_input_is_refused(changes: dict[str, Any], found: list[tuple[str, str]]) -> None:
    assert problems_of(plan, **changes) == found


def test_every_task_of_eks_anywhere_has_a_step() -> None:
    assert eksctl_decide.step_of("capi-management-move") == "move the management"
    assert eksctl_decide.step_of("a-new-task") == "a-new-task"
