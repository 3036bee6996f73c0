# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node should have, from the variables of its host or from its user data, and what drifts from it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor import drift
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.intent import INVENTORY, USER_DATA, Described, intent
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.node import node_report
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.doctor.nodes import NOW, node
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

GROUP: dict[str, Any] = {
    "name": "web",
    "family": "al2023",
    "labels": {"team": "web"},
    "taints": [{"key": "only", "value": "web", "effect": "NoSchedule"}],
    "max_pods": 58,
    "kubelet": {"config": {"containerLogMaxSize": "10Mi", "imageMinimumGCAge": "2m"}},
}
AS_DESCRIBED: dict[str, Any] = {
    "info.kubelet.flags": {"node-labels": ["extra=1,team=web"], "register-with-taints": "only=web:NoSchedule"},
    "info.kubelet.config.effective": {
        "maxPods": 58,
        "clusterDNS": ["10.100.0.10"],
        "containerLogMaxSize": "10240Ki",
        "imageMinimumGCAge": "120s",
        "podPidsLimit": 100,
    },
}


def drifted(parts: dict[str, Any], group: Any = None, cluster: Any = None) -> dict[str, tuple[Any, Any]]:
    """The settings that are not as the inventory describes them."""
    facts = node({**AS_DESCRIBED, **parts})["node"]
    found = intent(facts, Described(cluster or COMPLETE, group or GROUP))
    assert found is not None and found.origin == INVENTORY
    return {row.path: (row.before, row.after) for row in drift.from_intent(facts, found)}


@pytest.mark.parametrize("family", ["al2", "al2023", "ubuntu"])
def test_a_node_as_described(family: str) -> None:
    assert drifted({}, GROUP | {"family": family}) == {}


@pytest.mark.parametrize("family", ["al2", "al2023", "ubuntu"])
def test_each_setting_that_differs(family: str) -> None:
    config = {"maxPods": 58, "clusterDNS": ["10.100.0.11"], "containerLogMaxSize": "10Mi"}
    flags = {"node-labels": "team=db", "register-with-taints": ["only=web:NoExecute"]}
    found = drifted({"info.kubelet.config.effective": config, "info.kubelet.flags": flags}, GROUP | {"family": family})
    assert found == {
        "clusterDNS": (["10.100.0.10"], ["10.100.0.11"]),
        "labels.team": ("web", "db"),
        "taints": ("only=web:NoSchedule", "only=web:NoExecute"),
    }


def test_a_missing_label_and_a_missing_field() -> None:
    parts = {"info.kubelet.flags": {"v": "2"}, "info.kubelet.config.effective": {"maxPods": 58, "clusterDNS": ["10.100.0.10"]}}
    group = GROUP | {"taints": [], "kubelet": {"config": {"podPidsLimit": 7}}}
    assert drifted(parts, group) == {"labels.team": ("web", None), "podPidsLimit": (7, -1)}


def test_a_flag_replaces_the_field() -> None:
    assert drifted({"info.kubelet.flags": AS_DESCRIBED["info.kubelet.flags"] | {"max-pods": "9"}}) == {"maxPods": (58, 9)}


def test_nothing_is_said_about_a_node_without_kubelet() -> None:
    assert drifted({"info.kubelet.flags": {}, "info.kubelet.config.effective": None}) == {}


def test_user_data_counts_only_without_a_description_and_without_this_collection() -> None:
    parts = {"user_data.text": render(COMPLETE, GROUP | {"max_pods": 20}).document.text}
    ours, theirs = node({**AS_DESCRIBED, **parts})["node"], node({**AS_DESCRIBED, **parts, "info.ours": None})["node"]
    assert intent(ours, Described()) is None
    found = intent(theirs, Described())
    assert found is not None and found.origin == USER_DATA
    assert [row.path for row in drift.from_intent(theirs, found)] == ["maxPods"]
    described = intent(theirs, Described(COMPLETE, GROUP))
    assert described is not None and drift.from_intent(theirs, described) == []


def test_user_data_that_changes_the_files_itself_does_not_describe_them() -> None:
    text = "#!/bin/bash\njq '.maxPods=58' /etc/kubernetes/kubelet/kubelet-config.json > /tmp/a\n"
    text += "/etc/eks/bootstrap.sh demo --use-max-pods false --kubelet-extra-args '--max-pods=20 --node-labels=team=web'\n"
    found = intent(node({"user_data.text": text, "info.ours": None, "family": "al2"})["node"], Described())
    assert found is not None
    assert found.config == {} and found.flags == {"node-labels": "team=web"}


@pytest.mark.parametrize("family", ["bottlerocket", "windows"])
def test_other_families_are_not_compared(family: str) -> None:
    assert intent(node()["node"], Described(COMPLETE, {"name": "x", "family": family})) is None


def test_variables_with_problems_are_said_and_hide_nothing() -> None:
    parts = {"info.ours.interrupted": True}
    for group in ({"name": "x", "family": "al2024"}, "x", {"name": "x", "family": "al2023", "user_data_files": ["absent"]}):
        report = node_report("n1", node(parts), NOW, Described(COMPLETE, group))
        assert sorted(finding.rule.id for finding in report.findings) == ["doctor.interrupted_run", "doctor.not_checked"]
