# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cause is found from: only facts leave the admin machine, and nothing that may be secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere import evidence
from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere.cluster_objects import ClusterObjects
from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere.kubectl import Kubectl
from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere.programs import AdminPrograms
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.programs import Result
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import cause
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.capi_objects import (
    condition,
    creation,
    event,
    made,
    pod,
)

PLANTED = "Planted-pass-word1"


def kubectl(answers: dict[str, list[dict[str, Any]]]) -> Kubectl:
    """A cluster that answers by the kind that is asked for, and fails for others."""

    def execute(argv: Any, _stdin: str, _timeout: float) -> Result:
        found = answers.get(argv[2])
        return Result(1, "", "refused") if found is None else Result(0, json.dumps({"kind": "List", "items": found}), "")

    return Kubectl(AdminPrograms(None, execute, lambda: 0.0, lambda _seconds: None), "kubeconfig", "eksa-system")


def test_nothing_secret_is_returned_and_the_cause_is_found(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text("users: []", encoding="utf-8")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "dev-kubeconfig"}, "data": {"value": PLANTED}}
    machine = creation()[5]
    machine["spec"] = {"bootstrap": {"password": PLANTED}}
    machine["metadata"]["annotations"] = {"last": PLANTED}
    manager = pod("capd-manager", "capd-system", "ImagePullBackOff", "manifest unknown")
    manager["spec"] = {"containers": [{"env": [{"name": "A", "value": PLANTED}]}]}
    healthy = made("Pod", "web", condition("Ready", "True"), namespace="default")
    spoken = event(machine, "Failed", f"curl -H 'Authorization: Bearer {PLANTED}' failed, password={PLANTED}")
    objects = ClusterObjects(None, {"Secret/dev-kubeconfig": secret, "DockerMachine/dev-cp": machine})
    found = evidence.collect(kubectl({"events": [spoken], "pods,deployments": [healthy, manager], "--raw": []}), objects, [str(path)])
    assert PLANTED not in json.dumps(found)
    assert {(one["kind"], one["metadata"].get("name")) for one in found if one["kind"] != "Event"} == {
        ("DockerMachine", "dev-cp"),
        ("Pod", "capd-manager"),
    }
    first = cause.find(found)
    assert first is not None and first.name == "Pod capd-manager in capd-system"


def test_a_cluster_that_is_gone_is_asked_once(tmp_path: Path) -> None:
    # kubectl tries several times for each kind, and a deletion would wait for minutes after its cluster is gone.
    path = tmp_path / "kubeconfig"
    path.write_text("users: []", encoding="utf-8")
    asked: list[str] = []

    def execute(argv: Any, _stdin: str, _timeout: float) -> Result:
        asked.extend([argv[2]] if str(path) in argv else [])
        return Result(1, "", "no route to host")

    here = Kubectl(AdminPrograms(None, execute, lambda: 0.0, lambda _seconds: None), "kubeconfig", "eksa-system")
    assert evidence.collect(here, ClusterObjects(None, {}), [str(path)]) == [] and asked == ["--raw"]


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    assert evidence.collect(kubectl({}), ClusterObjects(None, {}), [str(tmp_path / "none")]) == []
