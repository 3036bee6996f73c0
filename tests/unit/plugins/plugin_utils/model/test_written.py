# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems name the place where the user wrote the value, whichever of the possible places that is.

C(conftest.py) checks for all other tests that the paths exist.
"""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.plain import NamedFile
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.written import as_written
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.input_paths import exists, is_missing_field, missing_paths
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

EVICTION = "--eviction-hard=memory.available<much"
LONG = "k" * 96
NODE_CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {{containerd: {{config: {}}}}}\n"


def words(*flags: str) -> dict[str, Any]:
    return {"family": "al2023", "nodeadm": {"kubelet": {"flags": list(flags)}}}


def own(**flags: Any) -> dict[str, Any]:
    return {"family": "al2023", "kubelet": {"flags": {name.replace("_", "-"): value for name, value in flags.items()}}}


ROWS: dict[str, tuple[dict[str, Any], str]] = {
    "flag, a part of its text": (
        own(eviction_hard="memory.available<much"),
        'kubelet.flags.eviction-hard: ["memory.available"]: cannot be',
    ),
    "flag among words": (words("--v=2", EVICTION), 'nodeadm.kubelet.flags[1]: ["memory.available"]: cannot be read'),
    "unknown flag among words": (words("--v=2", "--evnt-burst=5"), "nodeadm.kubelet.flags[1]: kubelet does not have"),
    "second occurrence among words": (
        words("--feature-gates=NodeSwap=true", "--v=2", "--feature-gates=A"),
        "nodeadm.kubelet.flags[2]: cannot be read",
    ),
    "second item of a flag": (own(feature_gates=["NodeSwap=true", "A"]), "kubelet.flags.feature-gates[1]: cannot be read"),
    "flag of the image among words": (words("--v=2", "--kubeconfig=/x"), "nodeadm.kubelet.flags[1]: sets the path"),
    "gate of a flag among words": (words("--feature-gates=NodSwap=true"), "nodeadm.kubelet.flags[0]: NodSwap: "),
    "label in a flag": (own(node_labels="a=?"), "kubelet.flags.node-labels: a: a value can contain only"),
    "label in a flag that is a number": (own(node_labels=-1), "kubelet.flags.node-labels: -1: the name of a key can contain"),
    "item before an empty one": ({"family": "al2023", "taints": [b"", {}]}, "taints[0]: is bytes; a value must be"),
    "label in one of several flags": (own(node_labels=["b=1", "%b"]), 'kubelet.flags.node-labels[1]: ["%b"]: the name of a key'),
    "label in a word": (words("--node-labels=a=?"), "nodeadm.kubelet.flags[0]: a: a value can contain only"),
    "label in a flag and in the field": (
        {**own(node_labels="a=1"), "labels": {"a": "2"}},
        'kubelet.flags.node-labels: a: conflicts with node_group.labels.a, which is "2"',
    ),
    "label in a flag and in a word": (
        {**own(node_labels="a=1"), "nodeadm": {"kubelet": {"flags": ["--node-labels=a=2"]}}},
        'nodeadm.kubelet.flags[0]: a: conflicts with node_group.kubelet.flags.node-labels (a), which is "1"',
    ),
    "second taint in a flag": (own(register_with_taints="a=b:NoSchedule,c=?:NoSchedule"), "kubelet.flags.register-with-taints: value: "),
    "text for a list": ({"family": "al2023", "user_data": "echo hi\n"}, "user_data: is not something"),
    "list with one text": ({"family": "al2023", "user_data": ["echo hi\n"]}, "user_data[0]: is not something"),
    "file": ({"family": "al2023", "user_data_files": [NamedFile("a", b"echo hi\n")]}, "user_data_files[0]: is not something"),
    "file for a list": ({"family": "al2023", "user_data_files": NamedFile("a", b"echo hi\n")}, "user_data_files: is not something"),
    "second document": (
        {"family": "al2023", "user_data": [NODE_CONFIG.format("''"), NODE_CONFIG.format("'disabled_plugins = [\"cri\"]'")]},
        "user_data[1].spec.containerd.config.disabled_plugins[0]: ",
    ),
    "field and nodeadm": (
        {
            "family": "al2023",
            "local_storage": {"strategy": "raid0"},
            "nodeadm": {"instance": {"localStorage": {"strategy": "Mount"}}},
        },
        "nodeadm.instance.localStorage.strategy: conflicts with node_group.local_storage.strategy",
    ),
    "TOML of nodeadm and of user data": (
        {
            "family": "al2023",
            "nodeadm": {"containerd": {"config": "root = '/a'"}},
            "user_data": NODE_CONFIG.format("\"root = '/b'\""),
        },
        'user_data: sets spec.containerd.config.root to "/b", but node_group.nodeadm.containerd.config.root is "/a"',
    ),
    "strategy static without a size": ({"family": "al2", "strategy": "static", "max_pods": 20}, "strategy: is static, whose default"),
    "long key": ({"family": "al2", "labels": {LONG: "v"}}, f'labels["{LONG[:79]}… (98 characters)]: the name of a key is longer'),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_problem_names_the_place_of_the_user(name: str) -> None:
    group, message = ROWS[name]
    lines = [str(problem) for problem in error_of(render, COMPLETE | {"kubernetes_version": "1.32"}, group).problems]
    assert any(line.startswith(f"node_group.{message}") for line in lines), lines


@pytest.mark.parametrize("place", ["user_data", "user_data_files"])
def test_a_conflict_with_a_document_names_the_document(place: str) -> None:
    text = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 9}}}\n"
    group = {"family": "al2023", "max_pods": 8, place: [text if place == "user_data" else NamedFile("a", text.encode())]}
    assert [problem.path for problem in error_of(render, COMPLETE, group).problems] == [f"node_group.{place}[0]"]


def test_a_problem_of_the_place_that_the_user_wrote_does_not_change() -> None:
    problem = Problem("input.conflict", "node_group.labels.a", "conflicts with node_group.kubelet.flags.node-labels")
    assert as_written(problem, {"node_group": {"labels": {"a": "b"}, "kubelet": {"flags": {"node-labels": "a=c"}}}}) is problem


def test_the_check_of_paths_finds_paths_that_do_not_exist() -> None:
    given = {"node_group": {"kubelet": {"config": {}}, "labels": {LONG: "a"}, "override": "a: [{b: 1}]"}, "cluster": None}
    assert exists("node_group.kubelet.config", given)
    assert exists("node_group.override.a[0].b", given)
    assert not exists("node_group.override.a[1]", given)
    assert exists(f'node_group.labels["{LONG[:79]}… (98 characters)]', given)
    assert not exists("node_group.kubelet.config.evictionHard", given)
    assert not exists("node_group.kubelet.conf", given)
    assert is_missing_field("cluster.endpoint", given)
    assert not is_missing_field("node_group.proxy.http", given)
    problem = Problem("input.conflict", "node_group.kubelet", "conflicts with node_group.nodeadm.kubelet.config, which is cluster.a")
    assert missing_paths(problem, given) == ["node_group.nodeadm.kubelet.config", "cluster.a"]
    absent = Problem("kubelet.invalid_value", "node_group.kubelet.config.evictionHard", "is missing")
    assert missing_paths(absent, given) == [absent.path]
