# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields given in two places: united where they are disjoint, refused where they disagree."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model import merge
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.plain import INVALID
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.schema import integer


def lines(problems: Problems) -> list[str]:
    return [str(problem) for problem in problems]


def both(config: Any, nodeadm: Any) -> dict[str, Any]:
    return {"kubelet": {"config": config}, "nodeadm": {"kubelet": {"config": nodeadm}}}


@pytest.mark.parametrize(
    ("tree", "value", "rest"),
    [
        ({"a": {"b": {"c": 1}}}, 1, {}),
        ({"a": {"b": {"c": 1, "d": 2}}}, 1, {"a": {"b": {"d": 2}}}),
        ({"a": {"b": {"c": 1}, "e": 3}}, 1, {"a": {"e": 3}}),
        ({"a": {"b": {"c": None}}}, None, {}),
        ({"a": {"b": 7}}, INVALID, {"a": {"b": 7}}),
        ({"a": []}, INVALID, {"a": []}),
        ({}, INVALID, {}),
    ],
)
def test_without_leaves_no_empty_mapping_and_the_tree_unchanged(tree: dict[str, Any], value: Any, rest: Any) -> None:
    before = copy.deepcopy(tree)
    assert merge.value_at(tree, ("a", "b", "c")) == value
    assert merge.without(tree, [("a", "b", "c"), ("x", "y")]) == rest
    assert tree == before


def test_the_path_of_a_place() -> None:
    assert merge.place_path(("kubelet", "config", "evictionHard", "memory.available")) == (
        'node_group.kubelet.config.evictionHard["memory.available"]'
    )


def test_disjoint_mappings_become_one_and_stay_as_they_were() -> None:
    first, second = {"a": {"b": 1}, "x": [1]}, {"a": {"c": 2}, "x": [1], "y": None}
    before = copy.deepcopy((first, second))
    problems = Problems()
    assert merge.merge_disjoint(first, "f", second, "s", problems) == {"a": {"b": 1, "c": 2}, "x": [1], "y": None}
    assert (lines(problems), (first, second)) == ([], before)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (1, 2, "s.k: conflicts with f.k, which is 1 (got 2); fix: set it in one place only"),
        (1, True, "s.k: conflicts with f.k, which is 1 (got true); fix: set it in one place only"),
        ([1], [2], "s.k: conflicts with f.k, which is [1] (got [2]); fix: set it in one place only"),
        ({"a": 1}, 1, 's.k: conflicts with f.k, which is {"a": 1} (got 1); fix: set it in one place only'),
        ({"a": 1}, {"a": 2}, "s.k.a: conflicts with f.k.a, which is 1 (got 2); fix: set it in one place only"),
    ],
)
def test_what_disagrees_names_both_places(first: Any, second: Any, message: str) -> None:
    problems = Problems()
    assert merge.merge_disjoint({"k": first}, "f", {"k": second}, "s", problems) == {"k": first}
    assert lines(problems) == [message]


@pytest.mark.parametrize(("path", "value"), [("s.password", "hunter22"), ("s.proxy", "http://u:hunter22@p:1")])
def test_what_disagrees_and_is_secret_is_not_said(path: str, value: str) -> None:
    problems = Problems()
    merge.report_twice(path, value, "f.x", "other", problems)
    merge.report_twice(path, "other", "f.x", value, problems)
    assert set(lines(problems)) == {f"{path}: conflicts with f.x; fix: set it in one place only"}


@pytest.mark.parametrize(
    ("own", "tree", "expected", "messages"),
    [
        (None, {}, (None, "o"), []),
        (3, {}, (3, "o"), []),
        (None, {"a": {"b": "4"}}, (4, "node_group.a.b"), []),
        (4, {"a": {"b": 4}}, (4, "o"), []),
        (3, {"a": {"b": 4}}, (3, "o"), ["node_group.a.b: conflicts with o, which is 3 (got 4); fix: set it in one place only"]),
        (3, {"a": {"b": None}}, (3, "o"), []),
        (3, {"a": {"b": 0}}, (3, "o"), ["node_group.a.b: is out of range (got 0); allowed: 1 to 9"]),
    ],
)
def test_one_value_of_several_places(own: Any, tree: dict[str, Any], expected: Any, messages: list[str]) -> None:
    problems = Problems()
    assert merge.merge_scalar(tree, [("a", "b")], own, "o", integer(1, 9), problems) == expected
    assert lines(problems) == messages
    assert merge.without(tree, [("a", "b")]) == {}


@pytest.mark.parametrize("place", merge.MAX_PODS, ids=merge.place_path)
def test_max_pods_from_every_place(place: tuple[str, ...]) -> None:
    tree: dict[str, Any] = {}
    node = tree
    for key in place[:-1]:
        node = node.setdefault(key, {})
    node[place[-1]] = 42
    assert merge.merge_max_pods(tree, None, Problems()) == (42, merge.place_path(place))
    assert merge.without(tree, merge.COMPUTED_PLACES) == {}


def test_name_servers_say_who_gave_them() -> None:
    problems = Problems()
    assert merge.merge_dns_ips({}, ["10.0.0.10"], problems) == (["10.0.0.10"], False)
    assert merge.merge_dns_ips(both({"clusterDNS": "10.0.0.10"}, {}), None, problems) == (["10.0.0.10"], True)
    settings = {"bottlerocket": {"settings": {"kubernetes": {"cluster-dns-ip": "FD00::A"}}}}
    assert merge.merge_dns_ips(settings, None, problems) == (["fd00::a"], True)
    assert lines(problems) == []


@pytest.mark.parametrize(
    ("own", "tree", "expected", "messages"),
    [
        (None, {}, (False, {}), []),
        ("auto", {}, (True, {}), []),
        ("auto", both({"kubeReserved": {"cpu": "1"}}, {}), (True, {"cpu": "1"}), []),
        (
            {"cpu": "1"},
            both({"kubeReserved": {"memory": "1Gi"}}, {"kubeReserved": {"pid": 100}}),
            (False, {"cpu": "1", "memory": "1Gi", "pid": "100"}),
            [],
        ),
        ({"cpu": "auto", "memory": "1Gi"}, {}, (True, {"memory": "1Gi"}), []),
        (
            {"cpu": "1"},
            both({"kubeReserved": {"cpu": "2"}}, {}),
            (False, {"cpu": "1"}),
            ['node_group.kubelet.config.kubeReserved.cpu: conflicts with o.cpu, which is "1" (got "2"); fix: set it in one place only'],
        ),
        (
            None,
            both({"kubeReserved": {"gpu": "2"}}, {}),
            (False, {}),
            [
                "node_group.kubelet.config.kubeReserved.gpu: cannot be reserved;"
                " allowed: cpu, memory, ephemeral-storage, pid; fix: remove it"
            ],
        ),
    ],
)
def test_reservations_from_every_place(own: Any, tree: dict[str, Any], expected: Any, messages: list[str]) -> None:
    problems = Problems()
    assert merge.merge_reserved(tree, merge.KUBE_RESERVED, own, "o", problems) == expected
    assert lines(problems) == messages


def test_kubelet_configuration_of_both_places() -> None:
    problems = Problems()
    tree = both({"podPidsLimit": 1, "evictionHard": {"a": "1"}}, {"evictionHard": {"b": "2"}})
    assert merge.merge_kubelet_config(tree, problems) == {"podPidsLimit": 1, "evictionHard": {"a": "1", "b": "2"}}
    assert (merge.without(tree, merge.KUBELET_PLACES), lines(problems)) == ({}, [])
    assert merge.merge_kubelet_config({"nodeadm": {"kubelet": {"config": []}}}, problems) == {}
    assert lines(problems) == ["node_group.nodeadm.kubelet.config: must be a mapping (got []); allowed: KubeletConfiguration fields"]


def test_flags_of_both_places() -> None:
    problems = Problems()
    tree = {"kubelet": {"flags": {"v": "2", "x": ["a", "b"]}}, "nodeadm": {"kubelet": {"flags": ["--y=1", "--y=2=3", "--z="]}}}
    assert merge.merge_kubelet_flags(tree, problems) == {"v": ("2",), "x": ("a", "b"), "y": ("1", "2=3"), "z": ("",)}
    assert (merge.without(tree, merge.KUBELET_PLACES), lines(problems)) == ({}, [])


@pytest.mark.parametrize("word", ["v=2", "--v", "--v 2", "--=2", 7, None, ["--v=2"]])
def test_a_flag_is_one_word(word: Any) -> None:
    problems = Problems()
    assert merge.merge_kubelet_flags({"nodeadm": {"kubelet": {"flags": [word]}}}, problems) == {}
    assert len(problems) == 1
