# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every blocker of a drain, made on real nodes with real pods: reported with the right pod, cured, and gone. Drains honor real budgets."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes.client import KubernetesClient, KubernetesError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.api import ClusterApi
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.finding import Settings
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.report_task import make_report
from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabNode, blockers
from ansible_collections.nodebootstrap.eks.tests.lab.blockers import HOOKED, MAIN, ZONE, Blocker, Nodes, idle
from ansible_collections.nodebootstrap.eks.tests.lab.drain_plays import report
from ansible_collections.nodebootstrap.eks.tests.lab.joining import PATIENCE
from ansible_collections.nodebootstrap.eks.tests.lab.progress import wait_for
from ansible_collections.nodebootstrap.eks.tests.lab.workloads import Namespace, can_evict, deployment, pod, user_data, worker

pytestmark = pytest.mark.docker

BUDGETS = {"drain.budget_never_allows", "drain.budget_exhausted", "drain.unhealthy_pod", "drain.several_budgets"}


class Stage(NamedTuple):
    """The nodes: two for pods, one with an old kubelet, and one that will not be ready."""

    lab: Lab
    nodes: Nodes
    old: LabNode
    broken: LabNode
    space: Namespace
    hooked: Namespace


@pytest.fixture(scope="module")
def stage(lab: Lab) -> Iterator[Stage]:
    with ExitStack() as stack:
        roomy = user_data(lab, "1.36", max_pods=60, labels=MAIN)
        first, second = (stack.enter_context(worker(lab, "1.36", text=roomy)) for _unused in range(2))
        old = stack.enter_context(worker(lab, "1.30"))
        broken = stack.enter_context(worker(lab, "1.36", text=user_data(lab, "1.36", labels={"role": "broken"})))
        space, hooked = (stack.enter_context(Namespace(lab, name)) for name in ("blockers", HOOKED))
        for node in (first, second, old, broken):
            node.wait_ready(PATIENCE)
        lab.api.patch(f"/api/v1/nodes/{second.name}", {"metadata": {"labels": {ZONE: "eu-central-1b"}}})
        # A pod counts as stuck a minute after its end was due: the other blockers are made meanwhile.
        stuck = pod("stuck", **idle())
        stuck["metadata"]["finalizers"] = [blockers.HOLD]
        space.create(stuck)
        space.wait_ready("stuck", 1)
        space.delete("Pod", "stuck", 1)
        yield Stage(lab, Nodes(first.name, second.name), old, broken, space, hooked)


def all_blockers(nodes: Nodes) -> list[Blocker]:
    return [*blockers.budgets(), *blockers.pods(), *blockers.places(nodes)]


def unsettled(space: Namespace) -> list[str]:
    """What does not run yet as the objects ask for."""
    found = [one for one in space.pods() if one["metadata"]["name"] != "stuck"]
    waiting = [one for one in found if one["status"]["phase"] == "Pending" and not is_zonal(one)]
    ending = [one for one in found if "deletionTimestamp" in one["metadata"]]
    rolling = [one for one in space.all("Deployment") if not is_rolled_out(one)]
    uncounted = [one for one in space.all("PodDisruptionBudget") if not is_current(one)]
    return [one["metadata"]["name"] for one in (*waiting, *ending, *rolling, *uncounted)]


def is_current(found: dict[str, Any]) -> bool:
    return bool(found["metadata"]["generation"] == found.get("status", {}).get("observedGeneration"))


def is_rolled_out(found: dict[str, Any]) -> bool:
    status = found["status"]
    return is_current(found) and found["spec"]["replicas"] == status.get("updatedReplicas") == status.get("replicas")


def is_zonal(found: dict[str, Any]) -> bool:
    """No CSI driver runs in the lab: this pod has its node, and waits for its volume."""
    return bool(found["metadata"]["labels"]["app"] == "zonal" and "nodeName" in found["spec"])


def apps_of(findings: list[dict[str, str]], space: Namespace) -> Counter[tuple[str, str, str]]:
    """How many pods of each app the findings are about: {(rule, severity, app or node): number}."""
    apps = {f"{space.name}/{one['metadata']['name']}": one["metadata"]["labels"]["app"] for one in space.pods()}
    return Counter((one["id"], one["severity"], apps.get(one["pod"], one["pod"] or one["node"])) for one in findings)


def rules_now(lab: Lab) -> set[str]:
    """The rules of the report, made in this process."""
    with KubernetesClient({"kubeconfig": str(lab.kubeconfig())}) as client:
        found = make_report(ClusterApi(client, KubernetesError), Settings(now=time.time()), asks=False)
    return {one.id for one in found.findings}


def wrong_verdicts(space: Namespace, findings: list[dict[str, str]]) -> dict[str, tuple[int, list[str]]]:
    """Pods for which the report and a dry run of the API server disagree on budgets: {pod: (status, rules)}."""
    found = {}
    for one in space.pods():
        rules = [each["id"] for each in findings if each["pod"] == f"{space.name}/{one['metadata']['name']}" and each["id"] in BUDGETS]
        status, _message = can_evict(space.lab, one)
        if status != {(): 201, ("drain.several_budgets",): 500}.get(tuple(rules), 429):
            found[one["metadata"]["name"]] = (status, rules)
    return found


def test_every_blocker_is_reported_cured_and_gone(stage: Stage, tmp_path: Path) -> None:
    lab, space, wanted = stage.lab, stage.space, all_blockers(stage.nodes)
    space.create(*(one for blocker in wanted for one in blocker.broken))
    stage.hooked.create(*blockers.guarded_by_webhook())
    stage.space.create(deployment("lonely", 1, **idle(nodeSelector=None, affinity=blockers.prefers({"role": "broken"}))))
    wait_for("the pods of the blockers", lambda: unsettled(space) == [], PATIENCE, 1)
    [guarded] = stage.hooked.wait_ready("guarded", 1)
    [lonely] = space.wait_ready("lonely", 1)
    assert lonely["spec"]["nodeName"] == stage.broken.name
    stage.hooked.create(blockers.webhook())
    lab.api.patch(f"/api/v1/nodes/{stage.old.name}", {"spec": {"unschedulable": True}})
    stage.broken.exec(["systemctl", "stop", "containerd"], check=True)
    wait_for("the node that is not ready", lambda: not is_ready(stage.broken), PATIENCE, 1)
    wait_for("the verdicts", lambda: wrong_verdicts(space, report(lab, tmp_path)["findings"]) == {}, 60, 1)
    # kubelet moves the time at which the end was due.
    wait_for("the pod that is stuck", lambda: "drain.stuck_terminating" in rules_now(lab), PATIENCE, 2)

    expected = Counter(
        {(rule, severity, blocker.app): blocker.pods for blocker in wanted for rule, severity in blocker.rules.items()}
        | {
            ("drain.stuck_terminating", "blocks", "stuck"): 1,
            ("drain.node_not_ready", "blocks", stage.broken.name): 1,
            ("drain.kubelet_too_old", "blocks", stage.old.name): 1,
            ("drain.already_cordoned", "notice", stage.old.name): 1,
            ("drain.webhook_unavailable", "blocks", ""): 1,
        }
    )
    found = report(lab, tmp_path)
    assert apps_of(found["findings"], space) == expected
    assert found["blocked"] and wrong_verdicts(space, found["findings"]) == {}
    [hook] = [one for one in found["findings"] if one["id"] == "drain.webhook_unavailable"]
    assert f"{HOOKED}/{guarded['metadata']['name']}" in hook["reason"]
    assert can_evict(lab, guarded)[0] == 500, "the API server refuses the eviction, too"

    for blocker in wanted:
        space.replace(blocker.broken, blocker.cured)
        blocker.cure(space)
    blockers.release("stuck")(space)
    stage.hooked.delete("ValidatingWebhookConfiguration", "evictions")
    stage.broken.exec(["systemctl", "start", "containerd"], check=True)
    stage.old.stop()
    wait_for("the node that is ready again", lambda: is_ready(stage.broken), PATIENCE, 1)
    wait_for("the cured pods", lambda: unsettled(space) == [], PATIENCE, 1)
    wait_for("the verdicts", lambda: wrong_verdicts(space, report(lab, tmp_path)["findings"]) == {}, 60, 1)
    found = report(lab, tmp_path)
    assert apps_of(found["findings"], space) == Counter() and not found["blocked"]
    assert can_evict(lab, guarded)[0] == 201


def is_ready(node: LabNode) -> bool:
    found = node.object()
    assert found is not None
    return {one["type"]: one["status"] for one in found["status"]["conditions"]}["Ready"] == "True"
